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
        found = dead(engine.store.unmentioned_symbols(), engine.graph)
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
        found = dead(engine.store.unmentioned_symbols(), engine.graph)
    assert [symbol.qualname for symbol in found] == ["Orders.old", "Alone"]


def test_a_function_that_is_passed_where_it_stands_is_not_dead(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(
        "run(function named() {});\nfunction alone() { run(function inner() {}); }\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph)
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
        found = dead(engine.store.unmentioned_symbols(), engine.graph)
    assert [symbol.qualname for symbol in found] == ["Visitor.leave_name"]


def test_of_many_the_callers_of_some_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.code.graph.dead.MAX_ASKED", 1)
    (tmp_path / "visitor.py").write_text("def alone():\n    pass\n\n\n" + VISITOR)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = dead(engine.store.unmentioned_symbols(), engine.graph)
        assert engine.limits_hit == {ASKED_LIMIT}
    assert [symbol.qualname for symbol in found] == [
        "alone",
        "Visitor.visit_name",
        "Visitor.leave_name",
    ]
