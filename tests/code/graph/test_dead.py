"""Definitions that nothing uses, and those that only interfaces of the standard library name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.graph.dead import ASKED_LIMIT, dead

GO = """\
package main

import "sort"

type by []int

func (b by) Len() int           { return len(b) }
func (b by) Less(i, j int) bool { return b[i] < b[j] }
func (b by) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type alone struct{}

func (a alone) Less(i, j int) bool { return true }
func (a alone) Error() string      { return "" }

func main() { sort.Sort(by{1}); _ = alone{} }
"""


def test_methods_by_which_a_type_fits_an_interface_are_not_dead(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(GO)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == ["alone.Less"]


SPRING = """\
package shop;

import org.springframework.web.bind.annotation.*;

@RestController
class Orders {
  @GetMapping("/orders") String all() { return ""; }
  @Override public String old() { return ""; }
}

class Alone {
  @Deprecated void old() { }
}
"""


def test_what_annotations_of_a_framework_call_is_not_dead(tmp_path: Path) -> None:
    (tmp_path / "Orders.java").write_text(SPRING)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == ["Orders.old", "Alone"]


def test_a_function_that_is_passed_where_it_stands_is_not_dead(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(
        "run(function named() {});\nfunction alone() { run(function inner() {}); }\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == ["alone"]


VISITOR = """\
class Visitor:
    def visit(self, node):
        return getattr(self, f"visit_{node.kind}")(node)

    def visit_name(self, node):
        return node

    def leave_name(self, node):
        return node


Visitor().visit(1)
"""


def test_what_names_put_together_reach_is_not_dead(tmp_path: Path) -> None:
    (tmp_path / "visitor.py").write_text(VISITOR)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == ["Visitor.leave_name"]


def test_of_many_the_callers_of_some_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.code.graph.dead.MAX_ASKED", 1)
    (tmp_path / "visitor.py").write_text("def alone():\n    pass\n\n\n" + VISITOR)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found, notes = engine.notes.collect(
            dead, engine.store.unmentioned_symbols(), engine.graph, engine.source
        )
        assert notes == {ASKED_LIMIT}
    assert [symbol.qualname for symbol in found] == [
        "alone",
        "Visitor.visit_name",
        "Visitor.leave_name",
    ]


UNUSED = {
    "a.go": (
        "package a\nfunc init() { x() }\nfunc x() {}\n//export Exported\nfunc Exported() {}\nfunc unused() {}\n",
        ["unused"],
    ),
    "a.c": (
        """\
__attribute__((constructor)) static void setup(void) {}
void Java_com_x_Y_z(void) {}
int LLVMFuzzerTestOneInput(char *data, int n) { return 0; }
struct { int b; } one;
enum Color { RED, GREEN };
int main(void) { return one.b + RED; }
int unused(void) { return 1; }
""",
        ["unused"],
    ),
    "a.cc": (
        """\
class K { public: K(); ~K(); int begin(); int end(); operator bool() const; int unused(); };
void* operator new(unsigned long n) { return 0; }
int main() { K k; for (auto x : k) {} return 0; }
""",
        ["K.unused"],
    ),
    "A.java": (
        """\
class A {
  public static void main(String[] a) { new Object() { int one() { return 1; } }; f(Op.PLUS.at()); }
  static void f(int o) {}
  private Object readResolve() { return this; }
  void unused() {}
}
enum Op { PLUS { int at() { return 1; } }; abstract int at(); }
""",
        ["A.unused"],
    ),
    "a.kt": (
        """\
fun main() { val (a, b) = P(1); for (x in Q()) {}; val o = object : Runnable { override fun run() {} }; P.make() }
class P(val n: Int) { operator fun component1() = n; operator fun component2() = n; companion object { fun make() {} } }
class Q { operator fun iterator() = R() }
class R { operator fun hasNext() = true; operator fun next() = 1 }
object Holder { fun String.up() = this }
fun other() { "a".up() }
""",
        ["other"],
    ),
    "a.cs": (
        """\
class P { static void Main() { using (var r = new R()) {} foreach (var x in new L()) {} new R().Up(); } static P() {} }
class R { public void Dispose() {} public static R operator +(R a, R b) => a; }
class L { public E GetEnumerator() => new E(); }
class E { public bool MoveNext() => false; public int Current => 1; public void Unused() {} }
static class Ext { public static void Up(this R r) {} }
""",
        ["E.Unused"],
    ),
    "a.rb": (
        """\
class A
  def to_s; ''; end
  def <=>(o); end
  def self.inherited(k); end
  def respond_to_missing?(n, p); end
  def unused; end
end
A.new
""",
        ["A.unused"],
    ),
    "a.rs": (
        """\
fn main() {}
#[no_mangle] pub extern "C" fn exported() {}
#[test] fn works() {}
#[export_name = "x"] fn named() {}
fn unused() {}
""",
        ["unused"],
    ),
    "a.swift": (
        """\
@main struct App { static func main() { for x in S() {} ; K() } }
struct S { func makeIterator() -> I { return I() } }
struct I { func next() -> Int? { return nil } }
class K { @objc func tapped() {} ; func unused() {} }
""",
        ["K.unused"],
    ),
    "a.scala": (
        """\
object Main { def main(a: Array[String]): Unit = { for (y <- new C()) yield y; go() } }
class C { def map(f: Int => Int) = this; def unused() = 1 }
""",
        ["C.unused"],
    ),
    "a.ex": (
        """\
defmodule G do
  use GenServer
  def init(x), do: {:ok, x}
  def handle_call(a, b, c), do: 1
  def unused, do: G
end
""",
        ["G.unused"],
    ),
    "a.js": (
        "class K { toJSON() {} [Symbol.iterator]() {} unused() {} }\nnew K()\n",
        ["K.unused"],
    ),
    "a.ts": (
        """\
declare module "x" { export function y(): void }
declare global { interface Window { z: number } }
function unused() {}
""",
        ["unused"],
    ),
    "versions/a.py": (
        "revision, down_revision = 1, None\ndef upgrade(): pass\ndef downgrade(): pass\ndef unused(): pass\n",
        ["unused"],
    ),
    "shop/apps.py": (
        (
            "from django.apps import AppConfig\nclass ShopConfig(AppConfig):\n    name = 'shop'\n"
            "class Base:\n    name = 'x'\n"
        ),
        ["Base"],
    ),
    "shop/management/commands/fill.py": (
        (
            "from django.core.management.base import BaseCommand\n"
            "class Command(BaseCommand):\n    help = 'x'\nclass Other: pass\n"
        ),
        ["Other"],
    ),
    "shop/migrations/0001_initial.py": (
        "from django.db import migrations\nclass Migration(migrations.Migration):\n    operations = []\n",
        [],
    ),
    "db/migrate/1_add.rb": (
        "class Add < ActiveRecord::Migration[7.0]\n  X = 1\nend\nclass Lone < Other::Migration\nend\n",
        ["Lone"],
    ),
    "Auth.php": (
        "<?php\nuse Illuminate\\Support\\ServiceProvider;\nclass Auth extends ServiceProvider {}\nclass Lone {}\n",
        ["Lone"],
    ),
    "Add.cs": ("using X;\nclass Add : Migration { int x; }\nclass Lone { int y; }\n", ["Lone"]),
    "spiders/news.py": (
        "import scrapy\nclass Base(scrapy.Spider):\n    name = 'x'\nclass News(Base):\n    name = 'y'\n",
        [],
    ),
    "conftest.py": ("def pytest_addoption(parser): pass\ndef unused(): pass\n", ["unused"]),
}


@pytest.mark.parametrize("path", UNUSED)
def test_what_is_reached_without_being_named_is_not_dead(tmp_path: Path, path: str) -> None:
    """By the runtime, by syntax, by a linker or a test runner; or it has no name, or something of
    it is used.
    """
    text, expected = UNUSED[path]
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == expected


def test_what_is_used_by_another_name_or_by_something_of_its_own_is_not_dead(
    tmp_path: Path,
) -> None:
    files = {
        "js/a.js": "export default function named() {}\n",
        "js/b.js": "import other from './a.js'\n",
        "js/alone.js": "export default function unread() {}\n",
        "p/Util.java": "package p;\npublic class Util { public static void help() {} }\n",
        "q/B.java": "package q;\nimport static p.Util.*;\nclass B { static void main() { help(); } }\n",
        "q/Alone.java": "package q;\nclass Alone { void one() { two(); } void two() {} }\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
    assert [symbol.qualname for symbol in found] == ["unread", "Alone"]
