"""No question is without an end: what it costs is bounded, and what is left out is said."""

from __future__ import annotations

from collections import Counter
from math import inf
from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.graph import callgraph
from tersely.code.graph import references as references_module
from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.calls import call_resolution
from tersely.code.graph.dispatch.classes.class_members import ClassMembers
from tersely.code.graph.dispatch.classes.overriding import OVERRIDES_LIMIT
from tersely.code.graph.pointsto.containers import MAX_STORES, NEAR_STORES_LIMIT
from tersely.code.graph.pointsto.fixpoint import MAX_UNKNOWNS
from tersely.code.graph.pointsto.values import ClassObject
from tersely.code.graph.program.file import File
from tersely.code.graph.program.work import Work
from tersely.code.graph.searches import searches
from tersely.code.symbols import Grade

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
    edges, bounds = graph.program.notes.collect(graph.callers, symbol)
    return [edge.caller for edge in edges], bounds


@pytest.mark.parametrize(
    ("left", "most", "after"), [(inf, inf, inf), (inf, 9, inf), (5, 9, 2), (9, 5, 6)]
)
def test_what_is_spent_inside_a_limit_is_spent_around_it(
    left: float, most: float, after: float
) -> None:
    work = Work()
    work.left = left
    with work.limited(most):
        work.spend(3)
    assert work.left == after


def test_the_nearest_files_are_searched_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with written(tmp_path, FILES) as engine:
        every, bounds = callers(engine.graph, "package/home.py:step")
        assert (every, bounds) == ([f"{FAR}:use", f"{NEAR}:use"], frozenset())
    with written(tmp_path, FILES) as engine:
        # enough to open one file
        monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 13)
        monkeypatch.setattr(searches, "MAX_CHEAP_WORK", 0)
        near, bounds = callers(engine.graph, "package/home.py:step")
        assert (near, bounds) == ([f"{NEAR}:use"], {searches.SEARCH_LIMIT})


def test_the_nearest_readers_of_a_property_are_found_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = "from package.home import Shop\ndef use(): return Shop().total\n"
    home = "class Shop:\n    @property\n    def total(self): ...\n"
    files = {"package/home.py": home, NEAR: read, FAR: read}
    with written(tmp_path, files) as engine:
        every, bounds = callers(engine.graph, "package/home.py:Shop.total")
        assert (every, bounds) == ([f"{FAR}:use", f"{NEAR}:use"], frozenset())
    with written(tmp_path, files) as engine:
        monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 9)
        monkeypatch.setattr(searches, "MAX_CHEAP_WORK", 0)
        near, bounds = callers(engine.graph, "package/home.py:Shop.total")
        assert (near, bounds) == ([f"{NEAR}:use"], {searches.SEARCH_LIMIT})


def references(engine: Engine, symbol: str) -> tuple[list[str], frozenset[str]]:
    found, bounds = engine.notes.collect(engine.references.of, symbol)
    return [f"{each.path}:{each.line}" for each in found], bounds


def test_references_are_looked_for_in_the_nearest_files_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = "from package.home import STEP\n"
    files = {"package/home.py": "STEP = 1\n", NEAR: use, FAR: use}
    with written(tmp_path, files) as engine:
        every, bounds = references(engine, "package/home.py:STEP")
        assert (every, bounds) == ([f"{FAR}:1", f"{NEAR}:1"], frozenset())
    with written(tmp_path, files) as engine:
        # enough to open one file
        monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 5)
        near, bounds = references(engine, "package/home.py:STEP")
        assert (near, bounds) == ([f"{NEAR}:1"], {searches.SEARCH_LIMIT})


@pytest.mark.parametrize("step", ["step = 1", "def step(self): ..."])
def test_a_file_that_costs_much_does_not_end_a_search_for_references(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 200)
    monkeypatch.setattr(references_module, "MAX_WORK_UNCALLED", 200, raising=False)
    given = "".join(f"def give{n}(one): return give{n - 1}(one)\n" for n in range(1, 60))
    near = f"def give0(one): return one\n{given}def use(): give59(1).step\n"
    files = {"package/home.py": f"class Home:\n    {step}\n", NEAR: near}
    files[FAR] = "from package.home import Home\nHome.step\n"
    with written(tmp_path, files) as engine:
        work = engine.graph.program.bounds
        with work.limited(10**9):
            found, bounds = references(engine, "package/home.py:Home.step")
            assert 10**9 - work.left < 200
        assert (found, bounds) == ([f"{FAR}:2"], {searches.SEARCH_LIMIT})


def test_a_call_that_costs_much_does_not_hide_those_that_cost_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 100)
    given = "".join(f"def give{n}(one): return give{n - 1}(one)\n" for n in range(1, 60))
    take = "from package.home import Home\n"
    near = f"{take}def give0(one): return one\n{given}def use(): give59(Home()).step()\n"
    files = {"package/home.py": "class Home:\n    def step(self): ...\n", NEAR: near}
    files[FAR] = f"{take}def use(): Home().step()\n"
    with written(tmp_path, files) as engine:
        found = callers(engine.graph, "package/home.py:Home.step")
        assert found == ([f"{FAR}:use"], frozenset({searches.SEARCH_LIMIT}))


def test_lists_are_filled_near_where_they_are_written_if_a_file_fills_many(tmp_path: Path) -> None:
    shop = "def step(): ...\ndef fill(steps): steps.append(step)\n"
    shop += "def use():\n    steps = []\n    fill(steps)\n    for step in steps: step()\n"
    shop += "def near():\n    steps = []\n    steps.append(step)\n    for one in steps: one()\n"
    filled = "".join(f"def fill{n}(one): one.append({n})\n" for n in range(MAX_STORES))
    with written(tmp_path, {"few.py": shop, "many.py": shop + filled}) as engine:
        hear, callees = engine.notes.collect, engine.graph.callees
        assert [edge.callee for edge in callees("few.py:use")] == ["few.py:fill", "few.py:step"]
        edges, bounds = hear(callees, "many.py:use")
        assert [edge.callee for edge in edges] == ["many.py:fill"]
        assert bounds == {NEAR_STORES_LIMIT}
        assert "many.py:step" in [edge.callee for edge in callees("many.py:near")]


def test_what_one_question_had_no_work_left_for_another_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with written(tmp_path, FILES) as engine, monkeypatch.context() as patched:
        patched.setattr(callgraph, "MAX_WALK_WORK", 3)
        walk = engine.graph.walk
        found, bounds = engine.notes.collect(lambda: walk("package/home.py:step", 1, limit=9))
        assert (found, bounds) == (([], False), {callgraph.WALK_LIMIT})
        every, bounds = callers(engine.graph, "package/home.py:step")
        assert (every, bounds) == ([f"{FAR}:use", f"{NEAR}:use"], frozenset())


def equations(root: Path, classes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """What it costs to know who calls a method that each of so many classes overrides."""
    below = "".join(f"class C{n}(Base):\n    def step(self): ...\n" for n in range(classes))
    uses = "".join(f"def use{n}(one: Base): one.step()\n" for n in range(20))
    root.mkdir()
    with written(root, {"many.py": LIBRARY + below + uses}) as engine:
        monkeypatch.setattr(searches, "MAX_SEARCH_WORK", 10**9)
        bounds = engine.graph.program.bounds
        with bounds.limited(10**9):
            engine.graph.callers("many.py:Base.step")
            return 10**9 - int(bounds.left)


def test_overrides_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = equations(tmp_path / "few", 50, monkeypatch)
    many = equations(tmp_path / "many", 200, monkeypatch)
    assert many < 5 * few


def overriding(classes: int) -> dict[str, str]:
    """A method that each of so many classes overrides, each in a file that calls what it overrides."""
    library = (
        "class Base:\n    def step(self): ...\n    def go(self): self.step()\n"
        "def use(one: Base): one.step()\n"
    )
    below = "from below.home import Base\nclass C{}(Base):\n    def step(self): super().step()\n"
    return {"below/home.py": library} | {f"below/c{n}.py": below.format(n) for n in range(classes)}


def test_overrides_beyond_the_bound_are_said_and_their_callers_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.code.graph.dispatch.classes.overriding.MAX_OVERRIDES", 2)
    with written(tmp_path, overriding(5)) as engine:
        graph, home = engine.graph, "below/home.py"
        edges, bounds = engine.notes.collect(graph.callees, f"{home}:Base.go")
        reached = [edge.callee for edge in edges]
        assert reached == ["below/c0.py:C0.step", "below/c1.py:C1.step", f"{home}:Base.step"]
        assert bounds == {OVERRIDES_LIMIT}
        for n in range(5):
            edges, bounds = engine.notes.collect(graph.callers, f"below/c{n}.py:C{n}.step")
            assert [(edge.caller, edge.grade) for edge in edges] == [
                (f"{home}:Base.go", Grade.INFERRED),
                (f"{home}:use", Grade.INFERRED),
            ]
            assert not bounds


def test_many_overrides_are_all_reached(tmp_path: Path) -> None:
    with written(tmp_path, overriding(MAX_UNKNOWNS // 2)) as engine:
        edges, bounds = engine.notes.collect(engine.graph.callees, "below/home.py:Base.go")
        assert len(edges) == MAX_UNKNOWNS // 2 + 1
        assert not bounds


def test_the_calls_of_a_name_are_evaluated_once_for_all_that_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Counter[tuple[int, int, int]]()
    direct_at = call_resolution.Sites.direct_at

    def counted(self: call_resolution.Sites, file: File, scope: int, index: int) -> object:
        asked[file.id, scope, index] += 1
        return direct_at(self, file, scope, index)

    monkeypatch.setattr(call_resolution.Sites, "direct_at", counted)
    with written(tmp_path, overriding(20)) as engine:
        for n in range(20):
            engine.graph.callers(f"below/c{n}.py:C{n}.step")
    assert sum(asked.values()) < 20 * len(asked)


def chain(classes: int) -> dict[str, str]:
    """So many classes, each below the one before, each with a method that calls what it overrides."""
    below = "class C{}(C{}):\n    def step(self): super().step()\n"
    first = "class C0:\n    def step(self): ...\n"
    return {"chain.py": first + "".join(below.format(n, n - 1) for n in range(1, classes))}


def looked_at(root: Path, classes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many classes are looked at for the calls of a method in the middle of a chain."""
    looks, own = Counter[str](), ClassMembers.own

    def counted(self: ClassMembers, owner: ClassObject, name: str) -> object:
        looks[name] += 1
        return own(self, owner, name)

    root.mkdir()
    middle = classes // 2
    with written(root, chain(classes)) as engine, monkeypatch.context() as patched:
        patched.setattr(ClassMembers, "own", counted)
        callees, bounds = engine.notes.collect(engine.graph.callees, f"chain.py:C{middle + 1}.step")
        assert [edge.callee for edge in callees] == [f"chain.py:C{middle}.step"]
        assert not bounds
        found = callers(engine.graph, f"chain.py:C{middle}.step")
        assert found == ([f"chain.py:C{middle + 1}.step"], frozenset())
    return looks["step"]


def test_a_chain_of_classes_costs_what_it_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = looked_at(tmp_path / "short", 50, monkeypatch)
    assert looked_at(tmp_path / "long", 250, monkeypatch) < 6 * short


def test_the_files_of_a_name_are_not_searched_for_each_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched, search_file = Counter[int](), searches.Searches._search_file

    def counted(self: searches.Searches, *arguments: object) -> None:
        searched[id(arguments[-1])] += 1
        search_file(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(searches.Searches, "_search_file", counted)
    with written(tmp_path, overriding(20)) as engine:
        found, _ = engine.graph.walk("below/home.py:Base.step", 2, limit=99)
    assert len(found) == 22
    assert sum(searched.values()) < 4 * len(searched)


BESIDE = "class Side{0}:\n    def step(self): ...\nclass Both{0}(Mixin, Side{0}): ...\n"


def test_what_super_may_mean_beyond_the_bound_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.code.graph.dispatch.classes.overriding.MAX_OVERRIDES", 2)
    mixin = "class Mixin:\n    def go(self): super().step()\n"
    files = {
        f"beside/b{n}.py": "from beside.home import Mixin\n" + BESIDE.format(n) for n in range(5)
    }
    other = "class Other:\n    def step(self): ...\nclass Below(Other): ...\n"
    with written(tmp_path, {"beside/home.py": mixin, "beside/other.py": other} | files) as engine:
        for n in range(5):
            found, _ = callers(engine.graph, f"beside/b{n}.py:Side{n}.step")
            assert found == ["beside/home.py:Mixin.go"]
        assert callers(engine.graph, "beside/other.py:Other.step")[0] == []
