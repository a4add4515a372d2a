"""Limits that a search hits are named in the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.code.graph.program import program
from tersely.code.graph.searches import argument_flow
from tersely.context.lenses.neighbours import MAX_VISIBLE_FILES, VISIBLE_LIMIT
from tersely.workspace import Workspace


def test_a_limit_that_a_search_hits_is_named(tmp_path: Path) -> None:
    last = MAX_VISIBLE_FILES + 1
    for number in range(last):
        (tmp_path / f"h{number}.h").write_text(f'#include "h{number + 1}.h"\n')
    (tmp_path / f"h{last}.h").write_text("struct wanted { int size; };\n")
    (tmp_path / "use.c").write_text(
        '#include "h0.h"\n\nint use(void) { struct wanted w; return w.size; }\n'
    )
    with Workspace.open(tmp_path) as workspace:
        outcome = invoke(load("code.context"), workspace, {"symbols": ["use.c:use"]})
        assert len(outcome.notes) == 1
        assert VISIBLE_LIMIT in outcome.notes[0]
        (tmp_path / "h3.h").write_text("struct wanted { int size; };\n")
        outcome = invoke(load("code.context"), workspace, {"symbols": ["use.c:use"]})
        assert outcome.notes == ()


def test_one_limit_that_two_searches_hit_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method whose callers, and whose callees, depend on what is passed to functions that are
    used widely.
    """
    monkeypatch.setattr(argument_flow, "MAX_FLOW_FILES", 1)
    handlers = "".join(
        f"class H{number}:\n    def run(self, other): return other.go()\n    def go(self): pass\n"
        for number in range(4)
    )
    start = "def start(handler):\n    return handler.run(handler)\n"
    (tmp_path / "wide.py").write_text(f"{handlers}{start}")
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(
            "from wide import H0, start\nstart(H0())\nH0().run(H0())\n"
        )
    with Workspace.open(tmp_path) as workspace:
        notes = {
            direction: invoke(
                load("code.calls"),
                workspace,
                {"symbol": "wide.py:H0.run", "direction": direction},
            ).notes
            for direction in ("callers", "callees", None)
        }
    for said in notes.values():
        assert len(said) == 1
        assert argument_flow.FLOW_LIMIT in said[0]


def test_a_definition_that_was_not_looked_for_everywhere_is_not_just_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "MAX_STAR_FILES", 2)
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text(f"from m{number + 1} import *\n")
    (tmp_path / "m4.py").write_text("def wanted():\n    pass\n")
    (tmp_path / "use.py").write_text("from m0 import *\n\nwanted()\n")
    with Workspace.open(tmp_path) as workspace:
        error = invoke(load("code.definition"), workspace, {"place": "use.py:3:1"}).envelope()[
            "error"
        ]
        assert error["code"] == "symbol_not_found"
        assert program.STAR_LIMIT in error["hint"]


WIDE = """\
class Red:
    def run(self, other): return other.go()
    def go(self): pass
class Blue:
    def run(self, other): return other.go()
    def go(self): pass
class Green:
    def run(self, other): return other.nowhere()
    def go(self): pass
class Black:
    def run(self, other): return known(other)
    def go(self): pass
def known(one): return one
def start(handler): return handler.run(handler)
def passing(handler): return start(handler)
def through(handler): return passing(handler)
class Keeper:
    def __init__(self, handler): self.handler = handler
    def use(self): return self.handler.go()
"""
USING = """\
from wide import Blue, Keeper, Red, known, start, through
def use():
    Keeper(Red()).use()
    start(Red())
    known(Blue()).run(Red())
    return through(Blue())
"""
KINDS = ("callers", "callees", "impact", "context")
ASKED = ("Red.run", "Blue.go", "Green.run", "Black.run", "start", "through", "Keeper.use")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose functions are used in more files than are searched for what they get."""
    root = tmp_path_factory.mktemp("wide")
    (root / "wide.py").write_text(WIDE)
    for number in range(argument_flow.MAX_FLOW_FILES + 1):
        (root / f"u{number}.py").write_text(USING)
    return root


def note_of(workspace: Workspace, kind: str, name: str) -> tuple[str, ...]:
    symbol = f"wide.py:{name}"
    if kind == "context":
        return invoke(load("code.context"), workspace, {"symbols": [symbol]}).notes
    if kind == "impact":
        return invoke(load("code.impact"), workspace, {"symbol": symbol}).notes
    return invoke(load("code.calls"), workspace, {"symbol": symbol, "direction": kind}).notes


@settings(max_examples=examples(fast=10))
@given(data=st.data())
def test_notes_do_not_depend_on_what_was_asked_before(wide: Path, data: st.DataObject) -> None:
    questions = [(kind, name) for kind in KINDS for name in ASKED]
    asked = data.draw(st.lists(st.sampled_from(questions), min_size=2, max_size=8))
    with Workspace.open(wide) as workspace:
        notes = [note_of(workspace, *question) for question in asked]
    with Workspace.open(wide) as workspace:
        assert note_of(workspace, *asked[-1]) == notes[-1]
    assert all(len(each) <= 1 for each in notes)


def test_a_note_is_said_where_the_bound_hides_something(wide: Path) -> None:
    """Not where the call that met it is of a name that nothing has, or reaches what it calls."""
    with Workspace.open(wide) as workspace:
        said = {
            (kind, name)
            for kind in ("callers", "callees")
            for name in ASKED
            if note_of(workspace, kind, name)
        }
        (note,) = note_of(workspace, "callers", "Red.run")
    assert said == {
        ("callers", "Red.run"),
        ("callers", "Blue.go"),
        ("callees", "Red.run"),
        ("callees", "start"),
        ("callees", "Keeper.use"),
    }
    assert note.startswith("not complete: calls on what is passed to functions")
    assert "search for the name" in note
