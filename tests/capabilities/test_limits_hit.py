"""Limits that a search hits are named in the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.code.graph import call_resolution
from tersely.code.graph.program import program
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
        assert VISIBLE_LIMIT in outcome.notes
        (tmp_path / "h3.h").write_text("struct wanted { int size; };\n")
        outcome = invoke(load("code.context"), workspace, {"symbols": ["use.c:use"]})
        assert outcome.notes == ()


def test_one_limit_that_two_searches_hit_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method whose callers, and whose callees, depend on what is passed to functions that are
    used widely.
    """
    monkeypatch.setattr(call_resolution, "MAX_FLOW_FILES", 1)
    handlers = "".join(
        f"class H{number}:\n    def run(self, other): return other.go()\n" for number in range(4)
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
    assert notes["callers"] == (call_resolution.NAME_LIMIT,)
    assert notes["callees"] == (call_resolution.FLOW_LIMIT,)
    assert notes[None] == (call_resolution.FLOW_LIMIT,)


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
