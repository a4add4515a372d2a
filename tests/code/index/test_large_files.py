"""Of large files the definitions are known, and what joins them to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.index.building import rows
from tersely.code.index.unread import unread
from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.extract import extract
from tersely.code.syntax.outline import OUTLINED, outline_of

BUNDLE = """\
(function (root, factory) { root.Lib = factory() })(this, function () {
  function helper() { return hidden() }
  function hidden() {}
  class Shape { draw() { helper(); this.x = 1 } clone() { return new Shape() } }
  return { make: function make() { return new Shape() }, helper: helper }
})
"""
PAGE = """\
function start() { Lib.make().clone().draw() }
function other() { Lib.helper() }
"""


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(rows, "MAX_WHOLE_BYTES", len(BUNDLE) - 1)
    (tmp_path / "index.html").write_text(
        "<script src=lib.js></script><script src=page.js></script>"
    )
    (tmp_path / "lib.js").write_text(BUNDLE)
    (tmp_path / "page.js").write_text(PAGE)
    return tmp_path


def test_what_others_call_in_a_large_file_is_known(large: Path) -> None:
    with Engine.open(large) as engine:
        engine.refresh()
        edges = list(engine.graph.edges(guesses=False))
        called = {(edge.caller, edge.callee.rpartition(".")[2]) for edge in edges}
        for edge in edges:
            if edge.caller == "page.js:start" and edge.callee.startswith("lib.js:"):
                callers = engine.graph.callers(edge.callee, guesses=False)
                assert edge.caller in {each.caller for each in callers}
    assert {("page.js:start", "draw"), ("page.js:other", "helper")} <= called
    assert not {edge for edge in called if edge[1] == "hidden"}


def test_that_the_rest_was_not_read_is_said(large: Path) -> None:
    with Engine.open(large) as engine:
        engine.refresh()
        found = unread(str(large), engine.store, ["hidden"], "javascript", ())
        used = unread(str(large), engine.store, ["helper"], "javascript", {"lib.js"})
        nothing = unread(str(large), engine.store, ["elsewhere"], "javascript", ())
    assert (found, used, nothing) == ([f"lib.js ({OUTLINED})"], [f"lib.js ({OUTLINED})"], [])


def test_an_outline_has_the_same_definitions() -> None:
    whole = extract(BUNDLE.encode(), LANGUAGES["javascript"])
    outline = outline_of(whole)
    assert (outline.definitions, outline.imports) == (whole.definitions, whole.imports)
    assert outline.mentions == whole.mentions  # so that nothing it uses is taken for dead
