"""Limits that a search hits are named in the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.code.graph import program
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
