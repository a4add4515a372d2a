"""C#: namespaces, partial classes, properties, extension methods."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

FILES = {
    "a.cs": """\
using System;
using B.C;
namespace A.B {
  /// <summary>doc</summary>
  public interface IFoo { void Go(); int P { get; } }
  public class Foo : IFoo {
    private readonly Bar _bar, _baz = new Bar(1);
    public Bar Prop { get; set; }
    public int Q => _bar.Run();
    public Foo(Bar bar) : base() { _bar = bar; }
    public void Go() { _bar.Run(); this.Prop.Run();
      Prop?.Run()?.ToString(); Ext.Twice(this); this.Twice(); new Bar(1) { X = this }.Run(); }
    static void Over(int a) {} static void Over(string a) {} static void Over(int a, int b) {}
    void M(IFoo f) { f.Go();
      Over(1); Over("x"); Over(1,2); var x = Q;
      Func<int,int> g = y => _bar.Run(); g(1);
      List<Bar> l = new(); foreach (var b in l) b.Run(); l.Select(z => z.Run()); }
    partial class P1 { void A() { B(); } } partial class P1 { void B() {} }
  }
  public static class Ext { public static void Twice(this Foo f) { f.Go(); } }
  enum E { One, Two = 2 }
}
""",
    "b.cs": """\
namespace A.B;
public class Bar { public Foo X { get; set; } public Bar(int a) {} public int Run() { return 1; } }
""",
}

DEFINITIONS = [
    "a.cs:A.B namespace 3",
    "a.cs:IFoo interface 5",
    "a.cs:IFoo.Go method 5",
    "a.cs:IFoo.P property 5",
    "a.cs:Foo class 6",
    "a.cs:Foo._bar field 7",
    "a.cs:Foo._baz field 7",
    "a.cs:Foo.Prop property 8",
    "a.cs:Foo.Q property 9",
    "a.cs:Foo.Foo method 10",
    "a.cs:Foo.Go method 11",
    "a.cs:Foo.Over method 13",
    "a.cs:Foo.Over#2 method 13",
    "a.cs:Foo.Over#3 method 13",
    "a.cs:Foo.M method 14",
    "a.cs:Foo.P1 class 18",
    "a.cs:Foo.P1.A method 18",
    "a.cs:Foo.P1#2 class 18",
    "a.cs:Foo.P1.B method 18",
    "a.cs:Ext class 20",
    "a.cs:Ext.Twice method 20",
    "a.cs:E enum 21",
    "a.cs:E.One constant 21",
    "a.cs:E.Two constant 21",
    "b.cs:A.B namespace 1",
    "b.cs:Bar class 2",
    "b.cs:Bar.X property 2",
    "b.cs:Bar.Bar method 2",
    "b.cs:Bar.Run method 2",
]

IMPORTS = [
    "a.cs: System *",
    "a.cs: B.C *",
]

EDGES = [
    "a.cs:Ext.Twice -> a.cs:Foo.Go exact",
    "a.cs:Foo -> b.cs:Bar.Bar exact",
    "a.cs:Foo.Go -> a.cs:Ext.Twice exact",
    "a.cs:Foo.Go -> b.cs:Bar.Bar exact",
    "a.cs:Foo.Go -> b.cs:Bar.Run inferred",
    "a.cs:Foo.Go -> external:System.int.ToString inferred",
    "a.cs:Foo.M -> a.cs:Foo.Go inferred",
    "a.cs:Foo.M -> a.cs:Foo.Over exact",
    "a.cs:Foo.M -> a.cs:Foo.Over#2 exact",
    "a.cs:Foo.M -> a.cs:Foo.Over#3 exact",
    "a.cs:Foo.M -> b.cs:Bar.Run inferred",
    "a.cs:Foo.P1.A -> a.cs:Foo.P1.B exact",
    "a.cs:Foo.Q -> b.cs:Bar.Run inferred",
]

ABSENT = [
    "a.cs:Foo.M -> a.cs:IFoo.Go",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=DEFINITIONS,
        docs={"a.cs:IFoo": "/// <summary>doc</summary>"},
        signatures={},
    )


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "csharp")


def test_a_bare_name_reads_a_property_of_what_is_around_it(tmp_path: Path) -> None:
    text = (
        "class Base { protected virtual int Size => 1; }\nclass A : Base {\n  int Twice() { return Size * 2; }\n"
        "  int Local(int Size) { return Size; }\n  static int Few => 2;\n}\nclass B { int Get() { return A.Few; } }\n"
    )
    edges = ["a.cs:A.Twice -> a.cs:Base.Size inferred", "a.cs:B.Get -> a.cs:A.Few inferred"]
    check(tmp_path, {"a.cs": text}, edges=edges, absent=["a.cs:A.Local -> "])
