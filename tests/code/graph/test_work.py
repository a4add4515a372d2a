"""No question is without an end: what it costs is bounded, and what is left out is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.graph import call_resolution, callgraph
from tersely.code.graph.callgraph import CallGraph

NEAR, FAR = "package/near.py", "elsewhere/far.py"
USE = "from package.home import step\ndef use(): step()\n"
FILES = {"package/home.py": "def step(): ...\n", NEAR: USE, FAR: USE}
LIBRARY = "class Base:\n    def step(self): ...\n"


def written(root: Path, files: dict[str, str]) -> Engine:
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    engine = Engine.open(root)
    engine.refresh()
    return engine


def callers(graph: CallGraph, symbol: str) -> tuple[list[str], frozenset[str]]:
    edges, bounds = graph.program.notes.hear(graph.callers, symbol)
    return [edge.caller for edge in edges], bounds


def test_the_nearest_files_are_searched_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with written(tmp_path, FILES) as engine:
        every, bounds = callers(engine.graph, "package/home.py:step")
        assert (every, bounds) == ([f"{FAR}:use", f"{NEAR}:use"], frozenset())
    with written(tmp_path, FILES) as engine:
        # enough to open one file
        monkeypatch.setattr(call_resolution, "MAX_SEARCH_WORK", 35)
        near, bounds = callers(engine.graph, "package/home.py:step")
        assert (near, bounds) == ([f"{NEAR}:use"], {call_resolution.SEARCH_LIMIT})


def test_what_one_question_had_no_work_left_for_another_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with written(tmp_path, FILES) as engine, monkeypatch.context() as patched:
        patched.setattr(callgraph, "MAX_WALK_WORK", 10)
        walk = engine.graph.walk
        found, bounds = engine.notes.hear(lambda: walk("package/home.py:step", 1, limit=9))
        assert (found, bounds) == (([], False), {callgraph.WALK_LIMIT})
        every, bounds = callers(engine.graph, "package/home.py:step")
        assert (every, bounds) == ([f"{FAR}:use", f"{NEAR}:use"], frozenset())


def equations(root: Path, classes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """What it costs to know who calls a method that each of so many classes overrides."""
    below = "".join(f"class C{n}(Base):\n    def step(self): ...\n" for n in range(classes))
    uses = "".join(f"def use{n}(one: Base): one.step()\n" for n in range(20))
    root.mkdir()
    with written(root, {"many.py": LIBRARY + below + uses}) as engine:
        monkeypatch.setattr(call_resolution, "MAX_SEARCH_WORK", 10**9)
        bounds = engine.graph.program.bounds
        with bounds.limited(10**9):
            engine.graph.callers("many.py:Base.step")
            return 10**9 - int(bounds.left)


def test_overrides_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = equations(tmp_path / "few", 50, monkeypatch)
    many = equations(tmp_path / "many", 200, monkeypatch)
    assert many < 5 * few
