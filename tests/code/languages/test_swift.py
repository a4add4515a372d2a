"""Swift: extensions, protocols, conditional bindings."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

FILES = {
    "Sources/M/a.swift": """\
import Foundation
/// doc
public class Foo: Base, I {
  let x: Bar = Bar(); private var y: Bar?, z = Bar()
  static let shared = Foo(a: 1)
  var p: Bar { return x.run() }
  init(a: Int, _ b: String...) { y = x; super.init() ; hook() }
  convenience init?() { self.init(a: 1) }
  func go(at a: Int, b: Bar = Bar(), c: (Int) -> Void) -> Bar { c(a); y?.run(); _ = self.p; return x }
  func hook() {}
}
class Sub: Foo { override func hook() { super.hook() } }
class Base { init() {} }
protocol I { func go(at a: Int, b: Bar, c: (Int) -> Void) -> Bar }
struct Bar { func run() -> Bar { self } }
extension Bar { func ext() { run() } }
enum E { case a, b(Bar); func f() {} }
func top(_ i: I, xs: [Bar]) {
  i.go(at: 1) { y in print(y) }
  xs.forEach { $0.run() }
  for x in xs { x.ext() }
  if let u = xs.first { u.run() }
  Foo.shared.go(at: 1, c: { _ in }).run()
  let q = Foo(a: 3)
  q.hook()
}
""",
}

DEFINITIONS = [
    "Sources/M/a.swift:Foo class 3",
    "Sources/M/a.swift:Foo.x field 4",
    "Sources/M/a.swift:Foo.y field 4",
    "Sources/M/a.swift:Foo.z field 4",
    "Sources/M/a.swift:Foo.shared field 5",
    "Sources/M/a.swift:Foo.p property 6",
    "Sources/M/a.swift:Foo.init method 7",
    "Sources/M/a.swift:Foo.init#2 method 8",
    "Sources/M/a.swift:Foo.go method 9",
    "Sources/M/a.swift:Foo.hook method 10",
    "Sources/M/a.swift:Sub class 12",
    "Sources/M/a.swift:Sub.hook method 12",
    "Sources/M/a.swift:Base class 13",
    "Sources/M/a.swift:Base.init method 13",
    "Sources/M/a.swift:I interface 14",
    "Sources/M/a.swift:I.go method 14",
    "Sources/M/a.swift:Bar struct 15",
    "Sources/M/a.swift:Bar.run method 15",
    "Sources/M/a.swift:Bar#2 extension 16",
    "Sources/M/a.swift:Bar.ext method 16",
    "Sources/M/a.swift:E enum 17",
    "Sources/M/a.swift:E.a constant 17",
    "Sources/M/a.swift:E.b constant 17",
    "Sources/M/a.swift:E.f method 17",
    "Sources/M/a.swift:top function 18",
]

IMPORTS = [
    "Sources/M/a.swift: Foundation *",
]

EDGES = [
    "Sources/M/a.swift:Bar.ext -> Sources/M/a.swift:Bar.run exact",
    "Sources/M/a.swift:Foo -> Sources/M/a.swift:Bar exact",
    "Sources/M/a.swift:Foo -> Sources/M/a.swift:Foo.init exact",
    "Sources/M/a.swift:Foo.go -> Sources/M/a.swift:Bar.run inferred",
    "Sources/M/a.swift:Foo.go -> Sources/M/a.swift:Foo.p inferred",
    "Sources/M/a.swift:Foo.init -> Sources/M/a.swift:Base.init exact",
    "Sources/M/a.swift:Foo.init -> Sources/M/a.swift:Foo.hook inferred",
    "Sources/M/a.swift:Foo.init -> Sources/M/a.swift:Sub.hook inferred",
    "Sources/M/a.swift:Foo.init#2 -> Sources/M/a.swift:Foo.init exact",
    "Sources/M/a.swift:Foo.p -> Sources/M/a.swift:Bar.run inferred",
    "Sources/M/a.swift:Sub.hook -> Sources/M/a.swift:Foo.hook exact",
    "Sources/M/a.swift:top -> Sources/M/a.swift:Bar.ext inferred",
    "Sources/M/a.swift:top -> Sources/M/a.swift:Bar.run inferred",
    "Sources/M/a.swift:top -> Sources/M/a.swift:Foo.go inferred",
    "Sources/M/a.swift:top -> Sources/M/a.swift:Foo.hook inferred",
    "Sources/M/a.swift:top -> Sources/M/a.swift:Foo.init exact",
    "Sources/M/a.swift:top -> external:Swift.print exact",
]

ABSENT = [
    "Sources/M/a.swift:top -> Sources/M/a.swift:I.go",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=DEFINITIONS,
        docs={"Sources/M/a.swift:Foo": "/// doc"},
        signatures={},
    )


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "swift")


def test_a_bare_name_reads_a_property_of_what_is_around_it(tmp_path: Path) -> None:
    text = (
        "struct A {\n  var size: Int { return 1 }\n  func twice() -> Int { return size * 2 }\n"
        "  func local(size: Int) -> Int { return size }\n}\nextension A {\n  var half: Int { size / 2 }\n}\n"
    )
    edges = [
        "a.swift:A.twice -> a.swift:A.size inferred",
        "a.swift:A.half -> a.swift:A.size inferred",
    ]
    check(tmp_path, {"a.swift": text}, edges=edges, absent=["a.swift:A.local -> "])
