"""Scala: packages, objects, parameterless methods, all lists of a call."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

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
    "a.scala:Main -> a.scala:Main.<class4>.m inferred",
    "a.scala:Main -> b.scala:Helper exact",
    "a.scala:Main -> b.scala:Helper.help inferred",
    "a.scala:Main -> external:scala.Int.+ inferred",
    "a.scala:Main.<class4>.m -> a.scala:Bar exact",
    "a.scala:twice -> external:scala.String.+ exact",
]

ABSENT = [
    "a.scala:Foo.apply -> a.scala:Foo.apply",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path, FILES, definitions=DEFINITIONS, docs={"a.scala:Foo": "/** doc */"}, signatures={}
    )


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
        assert [symbol.name for symbol in engine.store.symbols_of("a.scala")][1:] == [
            "Spec",
            "kept",
        ]


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
    check(
        tmp_path,
        {"a.scala": text},
        edges=[f"a.scala:{edge} inferred" for edge in reads],
        absent=absent,
    )
    with Engine.open(tmp_path) as engine:
        assert [edge.caller for edge in engine.graph.callers("a.scala:A.full")] == [
            "a.scala:A.name"
        ]


def test_a_call_reaches_the_constructor_that_it_fits(tmp_path: Path) -> None:
    text = (
        "package a\nclass Pair(one: Int, two: Int) {\n  def this(one: Int) = this(one, Pair.zero)\n"
        "  def kept = this.copied\n  def copied = new Pair(1)\n}\n"
        "object Pair { def zero = 0 }\nclass Given(x: Int)(implicit y: Int) { def this() = this(1) }\n"
        "object Use { def both = new Pair(1, 2)\n  def single = new Pair(1).kept\n  def made = new Given(1) }\n"
    )
    edges = [
        "a.scala:Pair.this -> a.scala:Pair exact",
        "a.scala:Pair.this -> a.scala:Pair.zero inferred",
        "a.scala:Pair.kept -> a.scala:Pair.copied inferred",
        "a.scala:Pair.copied -> a.scala:Pair.this exact",
        "a.scala:Use.both -> a.scala:Pair exact",
        "a.scala:Use.single -> a.scala:Pair.this exact",
        "a.scala:Use.single -> a.scala:Pair.kept inferred",
        "a.scala:Use.made -> a.scala:Given exact",
    ]
    absent = [
        "a.scala:Use.both -> a.scala:Pair.this",
        "a.scala:Use.single -> a.scala:Pair exact",
        "a.scala:Use.both -> a.scala:Pair#2",
    ]
    check(tmp_path, {"a.scala": text}, edges=edges, absent=absent)
    with Engine.open(tmp_path) as engine:
        callers = [edge.caller for edge in engine.graph.callers("a.scala:Pair.this")]
        assert callers == ["a.scala:Pair.copied", "a.scala:Use.single"]


def test_what_is_written_with_placeholders_is_a_function(tmp_path: Path) -> None:
    text = (
        "class Item(val size: Int) { def name: String = 'a'\n  def is(x: Int): Boolean = true }\n"
        "object Use {\n  def names(all: List[Item]) = all.map(_.name)\n"
        "  def some(all: List[Item]) = all filter { _.is(1) } map { _.name }\n"
        "  def nested(all: List[Item]) = all.map(x => all.exists(_.is(x.size)))\n"
        "  def local(all: List[Item]) = {\n    def few: List[Item] = all\n    few.foreach(_.is(2))\n  }\n}\n"
    )
    reads = ["names -> a.scala:Item.name", "some -> a.scala:Item.name", "some -> a.scala:Item.is"]
    reads += [
        "nested -> a.scala:Item.is",
        "local -> a.scala:Item.is",
        "local -> a.scala:Use.local.few",
    ]
    check(tmp_path, {"a.scala": text})
    with Engine.open(tmp_path) as engine:
        known = {f"{edge.caller} -> {edge.callee}" for edge in engine.graph.edges()}
        assert {f"a.scala:Use.{read}" for read in reads} <= known, known


def test_names_of_packages_and_members_of_objects(tmp_path: Path) -> None:
    files = {
        "build.scala": "object Build { }\nval lib = 1\n",
        "lib/a.scala": "package lib\nclass Parser { def parse(x: Int) = x }\nobject tools { def help(x: Int) = x }\n",
        "lib/b.scala": "package lib\nclass B { import tools._\n  def run = help(1) }\n",
        "use.scala": "package other\nobject Use { val parser = new lib.Parser()\n  def run = parser.parse(1) }\n",
    }
    edges = [
        "use.scala:Use -> lib/a.scala:Parser exact",
        "use.scala:Use.run -> lib/a.scala:Parser.parse inferred",
    ]
    check(tmp_path, files, edges=[*edges, "lib/b.scala:B.run -> lib/a.scala:tools.help exact"])
