"""Limits that a search hits are named in the answer."""

from __future__ import annotations

from pathlib import Path

from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.context.lenses.neighbours import MAX_VISIBLE_FILES, VISIBLE_LIMIT
from tersely.workspace import Workspace


def test_a_limit_that_a_search_hits_is_named(tmp_path: Path) -> None:
    last = MAX_VISIBLE_FILES + 1
    for number in range(last):
        (tmp_path / f"h{number}.h").write_text(f'#include "h{number + 1}.h"\n')
    (tmp_path / f"h{last}.h").write_text("struct wanted { int size; };\n")
    (tmp_path / "use.c").write_text('#include "h0.h"\n\nint use(void) { struct wanted w; return w.size; }\n')
    with Workspace.open(tmp_path) as workspace:
        outcome = invoke(load("code.context"), workspace, {"symbols": ["use.c:use"]})
        assert VISIBLE_LIMIT in outcome.notes
        (tmp_path / "h3.h").write_text("struct wanted { int size; };\n")
        outcome = invoke(load("code.context"), workspace, {"symbols": ["use.c:use"]})
        assert outcome.notes == ()
