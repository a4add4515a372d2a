"""Scala: packages, objects, parameterless methods, all lists of a call."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from laconic.code.engine import Engine

FILES = {
    "a.scala": """\
package a.b
import a.c.{Helper => H, _}
/** doc */
abstract class Foo[T <: Bar](val x: Bar, y: Int = 1) extends Base(y) with I {
  val p: Bar = x.run(); var q: Bar = _
  def n = x.run()
  def m(a: Int)(c: Int => Int): Bar = { c(a); q = x; this.q.run(); n; hook(); x }
  def hook(): Unit
  def over(a: Int) = a
  def over(a: String) = a
  def t() = { over(1); over("x") }
}
class Impl(z: Bar) extends Foo[Bar](z, 2) { override def hook(): Unit = { super.m(1)(w => w) } }
object Foo { def apply(x: Bar): Foo[Bar] = new Impl(x); val K = 1 }
class Base(y: Int)
trait I { def m(a: Int)(c: Int => Int): Bar }
class Bar { def run(): Bar = this }
object Main extends App {
  val f = Foo(new Bar)
  f.m(1) { x => x + 1 }
  val xs: List[Bar] = Nil
  xs.map(b => b.run()).foreach(_.run())
  for (b <- xs) b.run()
  f match { case c: Impl => c.hook() }
  val i: I = new I { def m(a: Int)(c: Int => Int) = { new Bar } }
  i.m(1)(identity)
  new H().help(f.n.run())
  "s".twice
}
extension (s: String) def twice = s + s
enum Col { case Red, Green; case Blue(x: Int) }
""",
    "b.scala": """\
package a.c
class Helper { def help(b: Any): Unit = {} }
""",
}

DEFINITIONS = [
    "a.scala:Foo class 4",
    "a.scala:Foo.x field 4",
    "a.scala:Foo.y field 4",
    "a.scala:Foo.p field 5",
    "a.scala:Foo.q field 5",
    "a.scala:Foo.n property 6",
    "a.scala:Foo.m method 7",
    "a.scala:Foo.hook method 8",
    "a.scala:Foo.over method 9",
    "a.scala:Foo.over#2 method 10",
    "a.scala:Foo.t method 11",
    "a.scala:Impl class 13",
    "a.scala:Impl.z field 13",
    "a.scala:Impl.hook method 13",
    "a.scala:Foo#2 class 14",
    "a.scala:Foo.apply method 14",
    "a.scala:Foo.K field 14",
    "a.scala:Base class 15",
    "a.scala:Base.y field 15",
    "a.scala:I trait 16",
    "a.scala:I.m method 16",
    "a.scala:Bar class 17",
    "a.scala:Bar.run method 17",
    "a.scala:Main class 18",
    "a.scala:Main.f field 19",
    "a.scala:Main.xs field 21",
    "a.scala:Main.i field 25",
    "a.scala:twice function 30",
    "a.scala:Col enum 31",
    "a.scala:Col.Red constant 31",
    "a.scala:Col.Green constant 31",
    "a.scala:Col.Blue class 31",
    "a.scala:Col.Blue.x field 31",
    "b.scala:Helper class 2",
    "b.scala:Helper.help method 2",
]

IMPORTS = [
    "a.scala: a.c Helper H",
    "a.scala: a.c *",
]

EDGES = [
    "a.scala:Foo -> a.scala:Bar.run inferred",
    "a.scala:Foo.apply -> a.scala:Impl exact",
    "a.scala:Foo.m -> a.scala:Bar.run inferred",
    "a.scala:Foo.m -> a.scala:Impl.hook exact",
    "a.scala:Foo.n -> a.scala:Bar.run inferred",
    "a.scala:Foo.t -> a.scala:Foo.over exact",
    "a.scala:Foo.t -> a.scala:Foo.over#2 exact",
    "a.scala:Impl.hook -> a.scala:Foo.m exact",
    "a.scala:Main -> a.scala:Bar exact",
    "a.scala:Main -> a.scala:Bar.run inferred",
    "a.scala:Main -> a.scala:Foo.apply exact",
    "a.scala:Main -> a.scala:Foo.m inferred",
    "a.scala:Main -> a.scala:Foo.n inferred",
    "a.scala:Main -> a.scala:I exact",
    "a.scala:Main -> a.scala:Impl.hook inferred",
    "a.scala:Main -> a.scala:Main.<class3>.m inferred",
    "a.scala:Main -> b.scala:Helper exact",
    "a.scala:Main -> b.scala:Helper.help inferred",
    "a.scala:Main -> external:scala.Int.+ inferred",
    "a.scala:Main.<class3>.m -> a.scala:Bar exact",
    "a.scala:twice -> external:scala.String.+ exact",
]

ABSENT = [
    "a.scala:Foo.apply -> a.scala:Foo.apply",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(tmp_path, FILES, definitions=DEFINITIONS, docs={"a.scala:Foo": "/** doc */"}, signatures={})


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "scala")


def test_values_of_blocks_that_are_arguments_are_no_members(tmp_path: Path) -> None:
    text = 'object Spec extends Suite {\n  val kept = 1\n  test("a") {\n    val gone = 2\n    gone\n  }\n}\n'
    check(tmp_path, {"a.scala": text}, definitions=["a.scala:Spec.kept field 2"])
    with Engine.open(tmp_path) as engine:
        assert [symbol.name for symbol in engine.store.symbols_of("a.scala")][1:] == ["Spec", "kept"]


def test_a_bare_name_reads_a_property_of_what_is_around_it(tmp_path: Path) -> None:
    text = (
        "trait Named { def name: String }\n"
        "class A extends Named { def name: String = full\n  def full: String = 'a'\n"
        "  def all(full: Int): Int = full\n  def each = List(1).map(x => name) }\n"
        "class B(a: Named) { def label = a.name\n  def name = 1 }\n"
        "object Only { def one = 1 }\nclass C { def two = Only.one }\n"
    )
    reads = [
        "A.name -> a.scala:A.full",
        "A.each -> a.scala:A.name",
        "B.label -> a.scala:A.name",
        "C.two -> a.scala:Only.one",
    ]
    absent = ["a.scala:A.all -> a.scala:A.full", "a.scala:B.label -> a.scala:B.name"]
    check(tmp_path, {"a.scala": text}, edges=[f"a.scala:{edge} inferred" for edge in reads], absent=absent)
    with Engine.open(tmp_path) as engine:
        assert [edge.caller for edge in engine.graph.callers("a.scala:A.full")] == ["a.scala:A.name"]
