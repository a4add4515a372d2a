"""Kotlin: extensions, companions, properties, trailing lambdas."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "okio/Bar.kt": """\
package okio
class Bar { fun run(): Bar = this }
""",
    "okio/a.kt": """\
package okio
import other.Helper as H
import other.*
/** doc */
abstract class Foo(val bar: Bar, z: Int) : Base(z), I {
  companion object { const val K = 1; fun make(): Foo = Impl(Bar()) }
  private var q: Bar? = null
  val p: Bar get() = bar.run()
  override fun go(x: Int): Bar { q = bar; q?.run(); this.p.run(); helper(x); return bar }
  abstract fun hook()
  fun callHook() { hook(); ext(); bar.let { it.run() } }
}
class Impl(b: Bar) : Foo(b, 1) { override fun hook() { super.go(1) } }
open class Base(z: Int)
interface I { fun go(x: Int): Bar }
fun Foo.ext(): Bar = this.go(1)
fun main() {
  val f = Foo.make()
  f.go(2)
  f.ext().run()
  val l = listOf<Bar>()
  val xs: List<Bar> = l
  xs.forEach { it.run() }
  for (x in xs) { x.run() }
  val fn = { b: Bar -> b.run() }
  fn(Bar())
  val o = object : I { override fun go(x: Int): Bar = Bar() }
  o.go(1)
  H().help { 1 }
  val i: I = f
  i.go(3)
  val lz by lazy { Bar() }
  lz.run()
}
""",
    "other/b.kt": """\
package other
class Helper { fun help(f: () -> Int) { f() } }
fun helper(x: Int) {}
""",
}

DEFINITIONS = [
    "okio/Bar.kt:Bar class 2",
    "okio/Bar.kt:Bar.run method 2",
    "okio/a.kt:Foo class 5",
    "okio/a.kt:Foo.bar field 5",
    "okio/a.kt:Foo.Companion class 6",
    "okio/a.kt:Foo.Companion.K constant 6",
    "okio/a.kt:Foo.Companion.make method 6",
    "okio/a.kt:Foo.q field 7",
    "okio/a.kt:Foo.p property 8",
    "okio/a.kt:Foo.go method 9",
    "okio/a.kt:Foo.hook method 10",
    "okio/a.kt:Foo.callHook method 11",
    "okio/a.kt:Impl class 13",
    "okio/a.kt:Impl.hook method 13",
    "okio/a.kt:Base class 14",
    "okio/a.kt:I interface 15",
    "okio/a.kt:I.go method 15",
    "okio/a.kt:ext function 16",
    "okio/a.kt:main function 17",
    "other/b.kt:Helper class 2",
    "other/b.kt:Helper.help method 2",
    "other/b.kt:helper function 3",
]

IMPORTS = [
    "okio/a.kt: other Helper H",
    "okio/a.kt: other *",
]

EDGES = [
    "okio/a.kt:Foo.Companion.make -> okio/Bar.kt:Bar exact",
    "okio/a.kt:Foo.Companion.make -> okio/a.kt:Impl exact",
    "okio/a.kt:Foo.callHook -> okio/a.kt:Impl.hook exact",
    "okio/a.kt:Foo.callHook -> okio/a.kt:ext exact",
    "okio/a.kt:Foo.go -> okio/Bar.kt:Bar.run inferred",
    "okio/a.kt:Foo.go -> okio/a.kt:Foo.p inferred",
    "okio/a.kt:Foo.go -> other/b.kt:helper exact",
    "okio/a.kt:Foo.p -> okio/Bar.kt:Bar.run inferred",
    "okio/a.kt:Impl.hook -> okio/a.kt:Foo.go exact",
    "okio/a.kt:ext -> okio/a.kt:Foo.go exact",
    "okio/a.kt:main -> external:kotlin.lazy exact",
    "okio/a.kt:main -> external:kotlin.listOf exact",
    "okio/a.kt:main -> okio/Bar.kt:Bar exact",
    "okio/a.kt:main -> okio/Bar.kt:Bar.run inferred",
    "okio/a.kt:main -> okio/a.kt:Foo.Companion.make exact",
    "okio/a.kt:main -> okio/a.kt:Foo.go inferred",
    "okio/a.kt:main -> okio/a.kt:ext inferred",
    "okio/a.kt:main -> okio/a.kt:main.<class3>.go inferred",
    "okio/a.kt:main -> other/b.kt:Helper exact",
    "okio/a.kt:main -> other/b.kt:Helper.help inferred",
    "okio/a.kt:main.<class3>.go -> okio/Bar.kt:Bar exact",
]

ABSENT = [
    "okio/a.kt:main -> okio/a.kt:I.go",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=DEFINITIONS,
        docs={"okio/a.kt:Foo": "/** doc */"},
        signatures={},
    )


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "kotlin")


def test_names_in_backticks_are_the_names_between_them(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.kt": "class T {\n  fun `works well`() { `in`() }\n  fun `in`() {}\n}\nval (left, right) = pair()\n"
        },
        definitions=[
            "a.kt:T.works well method 2",
            "a.kt:T.in method 3",
            "a.kt:left variable 5",
            "a.kt:right variable 5",
        ],
        edges=["a.kt:T.works well -> a.kt:T.in exact"],
    )


def test_operators_call_their_functions(tmp_path: Path) -> None:
    files = {
        "a.kt": (
            "class Way {\n  operator fun div(child: String): Way = this\n  fun go() {}\n}\n"
            'class T(val base: Way) {\n  fun f(n: Int) {\n    val x = base / "a"\n'
            "    x.go()\n    val m = 1 / n\n  }\n}\n"
        )
    }
    check(
        tmp_path,
        files,
        edges=["a.kt:T.f -> a.kt:Way.div inferred", "a.kt:T.f -> a.kt:Way.go inferred"],
        absent=["a.kt:T.f -> external:kotlin.Int"],
    )


def test_constructors_of_one_platform(tmp_path: Path) -> None:
    text = "actual open class Text\ninternal actual constructor(\n  val data: Int,\n) {\n  fun size() = data\n}\n"
    check(
        tmp_path,
        {"a.kt": text},
        definitions=["a.kt:Text class 1", "a.kt:Text.data field 3", "a.kt:Text.size method 5"],
    )


MEMBERS = """\
package okio
open class Source {
  open fun read(count: Int): Int = count
}

class Segment {
  fun copy() {}
}

class Other {
  fun copy() {}
}

class Buffer {
  var head: Segment? = null
  var size: Long = 0L

  fun size() = size

  fun add(value: Int) {}

  val handler: (Int) -> Unit = { value -> add(value) }

  fun fill(values: List<Int>) {
    values.forEach(::add)
    values.forEach(this::add)
    handler(3)
  }

  fun share() {
    val head = head!!
    head.copy()
  }

  fun apart(other: Segment) {
    val it = other
    listOf(1).forEach {
      val it = Other()
      it.copy()
    }
  }
}

fun reads(buffer: Buffer) {
  print(buffer.size)
}

fun refers(buffers: List<Buffer>) {
  buffers.map(Buffer::size)
}

fun limited(): Source {
  return object : Source() {
    override fun read(count: Int): Int {
      return super.read(count)
    }
  }
}
"""


def test_properties_functions_and_locals_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.kt").write_text(MEMBERS)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        known = {
            (edge.caller.partition(":")[2], edge.callee.partition(":")[2])
            for edge in engine.graph.edges()
        }
    assert {
        ("Buffer.fill", "Buffer.add"),
        ("Buffer.fill", "Buffer.<lambda1>"),
        ("Buffer.share", "Segment.copy"),
        ("Buffer.apart", "Other.copy"),
        ("refers", "Buffer.size#2"),
        ("limited.<class1>.read", "Source.read"),
    } <= known, sorted(known)
    assert not {("reads", "Buffer.size#2"), ("Buffer.apart", "Segment.copy")} & known


def test_a_bare_name_reads_a_property_of_what_is_around_it(tmp_path: Path) -> None:
    text = (
        "class A {\n  val size: Int get() = 1\n  fun twice() = size * 2\n  fun local(size: Int) = size\n}\n"
        "fun A.half() = size / 2\nval top: Int get() = 3\nfun more() = top\n"
    )
    edges = ["A.twice -> a.kt:A.size", "half -> a.kt:A.size", "more -> a.kt:top"]
    check(
        tmp_path,
        {"a.kt": text},
        edges=[f"a.kt:{edge} inferred" for edge in edges],
        absent=["a.kt:A.local -> "],
    )


SCOPES = {
    "a/Shop.kt": """\
package a

class Tag {
    fun mark() {}
    fun price() {}
}

data class Key(val name: String) {
    fun mark() {}
}

class Item(val tag: Tag) {
    fun price() {}
    fun only(): Boolean = true
}

data class Held(val key: Key, val item: Item)

interface Shape

class Circle : Shape {
    fun radius() {}
}

class Square : Shape {
    fun radius() {}
    fun side() {}
}

class Shop(val item: Item?, val items: List<Item>, val map: Map<Key, Item>) {
    fun lets() { item?.let { it.price() } }
    fun given() { item?.let { x -> x.tag }?.mark() }
    fun applied() { Item(Tag()).apply { price() }.only() }
    fun added() { Item(Tag()).also { it.price() }.only() }
    fun within() { with(Item(Tag())) { tag }.mark() }
    fun own() { with(item!!) { this.price() } }
    fun casts(s: Shape) { if (s is Circle) s.radius() }
    fun returned(s: Any) {
        if (s !is Circle) return
        s.radius()
    }
    fun chosen(s: Shape) = when (s) {
        is Square -> s.side()
        else -> Unit
    }
    fun joined(s: Any) = s is Item && s.only()
    fun parts() {
        val (k, i) = Held(Key(""), Item(Tag()))
        k.mark()
        i.price()
    }
    fun paired() {
        val (i, t) = Item(Tag()) to Tag()
        i.price()
        t.mark()
    }
    fun loops() { for ((k, v) in map) { k.mark(); v.price() } }
    fun entries() { map.forEach { (k, v) -> k.mark(); v.price() } }
    fun both() { map.forEach { k, v -> k.mark(); v.price() } }
    fun grouped() { items.groupBy { it.tag }.forEach { (t, l) -> t.mark(); l.first().price() } }
    fun named() { map.entries.forEach { e -> e.key.mark() } }
}
""",
    "a/Lines.kt": """\
package a

class Inside { fun first() { second() }; fun second() {} }
class Beside { fun first() {} fun second() { first() } }
interface Asked { fun asked() }
object Only { fun only() {} }
class Brace { val text = "a }"; fun last() { text.let { it } } }

fun after() { Only.only() }
""",
}


def test_scopes(tmp_path: Path) -> None:
    """What functions that take a block hand to it, what tests of types leave, and what values are
    taken apart into.
    """
    check(
        tmp_path,
        SCOPES,
        edges=[
            "a/Lines.kt:Beside.second -> a/Lines.kt:Beside.first exact",
            "a/Lines.kt:Inside.first -> a/Lines.kt:Inside.second exact",
            "a/Lines.kt:after -> a/Lines.kt:Only.only exact",
            "a/Shop.kt:Shop.added -> a/Shop.kt:Item exact",
            "a/Shop.kt:Shop.added -> a/Shop.kt:Item.only inferred",
            "a/Shop.kt:Shop.added -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.added -> a/Shop.kt:Tag exact",
            "a/Shop.kt:Shop.applied -> a/Shop.kt:Item exact",
            "a/Shop.kt:Shop.applied -> a/Shop.kt:Item.only inferred",
            "a/Shop.kt:Shop.applied -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.applied -> a/Shop.kt:Tag exact",
            "a/Shop.kt:Shop.both -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.both -> a/Shop.kt:Key.mark inferred",
            "a/Shop.kt:Shop.casts -> a/Shop.kt:Circle.radius inferred",
            "a/Shop.kt:Shop.chosen -> a/Shop.kt:Square.side inferred",
            "a/Shop.kt:Shop.entries -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.entries -> a/Shop.kt:Key.mark inferred",
            "a/Shop.kt:Shop.given -> a/Shop.kt:Tag.mark inferred",
            "a/Shop.kt:Shop.grouped -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.grouped -> a/Shop.kt:Tag.mark inferred",
            "a/Shop.kt:Shop.joined -> a/Shop.kt:Item.only inferred",
            "a/Shop.kt:Shop.lets -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.loops -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.loops -> a/Shop.kt:Key.mark inferred",
            "a/Shop.kt:Shop.named -> a/Shop.kt:Key.mark inferred",
            "a/Shop.kt:Shop.own -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.paired -> a/Shop.kt:Item exact",
            "a/Shop.kt:Shop.paired -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.paired -> a/Shop.kt:Tag exact",
            "a/Shop.kt:Shop.paired -> a/Shop.kt:Tag.mark inferred",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Held exact",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Item exact",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Item.price inferred",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Key exact",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Key.mark inferred",
            "a/Shop.kt:Shop.parts -> a/Shop.kt:Tag exact",
            "a/Shop.kt:Shop.returned -> a/Shop.kt:Circle.radius inferred",
            "a/Shop.kt:Shop.within -> a/Shop.kt:Item exact",
            "a/Shop.kt:Shop.within -> a/Shop.kt:Tag exact",
            "a/Shop.kt:Shop.within -> a/Shop.kt:Tag.mark inferred",
        ],
        absent=[
            "a/Shop.kt:Shop.casts -> a/Shop.kt:Square.radius",
            "a/Shop.kt:Shop.returned -> a/Shop.kt:Square.radius",
            "a/Shop.kt:Shop.loops -> a/Shop.kt:Tag.price",
            "a/Shop.kt:Shop.named -> a/Shop.kt:Tag.mark",
        ],
    )
