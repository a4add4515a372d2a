"""Who calls whom reads the same in both directions, and does not depend on how the index came to
be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.graph import callgraph
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import Edge, Grade, Kind
from tersely.code.syntax.extract import extract

# Extraction raises the limit for good, which a search by hypothesis must not see happen in its
# middle.
extract(b"", LANGUAGES["python"])

PROJECT = {
    "base.py": """\
class Base:
    def __init__(self): self.setup()
    def setup(self): ...
    def run(self): finish()


def finish(): ...
""",
    "derived.py": """\
from base import Base, finish


class Derived(Base):
    def setup(self): super().setup()
    def run(self):
        super().run()
        self.extra()
    def extra(self): finish()
""",
    "tables.py": """\
from derived import Derived
from base import finish

TABLE = {"finish": finish, "derived": Derived}


def make(): return Derived()
def through(callback): callback()
def chosen(): TABLE["finish"]()
""",
    "main.py": """\
import tables
from tables import make, through


def helper(): ...
def guess(unknown): unknown.extra()


def main():
    make().run()
    through(helper)
    tables.chosen()


if __name__ == "__main__":
    main()
""",
}

SHAPES = {
    "Shape.java": "interface Shape { double area(); default double twice() { return area() * 2; } }\n",
    "Square.java": "class Square implements Shape { public double area() { return 1; } }\n",
    "Round.java": "class Round implements Shape { public double area() { return 3; } }\n",
    "Main.java": """\
class Main {
    double any(Shape shape) { return shape.area(); }
    double one() { return new Square().area(); }
}
""",
}

PLAIN = {
    "Shape.java": "interface Shape { double area(); }\n",
    "Square.java": "class Square implements Shape { public double area() { return 1; } }\n",
    "Main.java": "class Main { double one() { return new Square().area(); } }\n",
}


def plant(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    plant(tmp_path, PROJECT)
    with Engine.open(tmp_path) as opened:
        opened.refresh()
        yield opened


def edges(root: Path) -> list[Edge]:
    """What an index built anew says."""
    with TemporaryDirectory() as directory:
        copy = Path(directory).resolve()
        plant(
            copy,
            {
                str(path.relative_to(root)): path.read_text()
                for path in root.rglob("*.*")
                if _is_source(path)
            },
        )
        with Engine.open(copy) as engine:
            engine.refresh()
            return list(engine.graph.edges())


def _is_source(path: Path) -> bool:
    return path.suffix in (".py", ".java") and path.is_file()


class TestCallers:
    def test_are_the_inverse_of_the_edges(self, engine: Engine) -> None:
        graph = engine.graph
        inverse: dict[str, set[Edge]] = defaultdict(set)
        for edge in graph.edges():
            inverse[edge.callee].add(edge)
        asked = 0
        for file in engine.store.files():
            for symbol in engine.store.symbols_of(file.path):
                if symbol.kind in (Kind.FUNCTION, Kind.METHOD):
                    assert set(graph.callers(symbol.id)) == inverse[symbol.id], symbol.id
                    asked += bool(inverse[symbol.id])
        assert asked >= 10

    def test_agree_with_callees(self, engine: Engine) -> None:
        graph = engine.graph
        for edge in graph.edges():
            assert edge in graph.callees(edge.caller)

    def test_of_a_class_are_those_who_construct_it(self, engine: Engine) -> None:
        found = {edge.caller: edge.grade for edge in engine.graph.callers("derived.py:Derived")}
        assert found == {"tables.py:make": Grade.EXACT}

    def test_guesses_can_be_left_out(self, engine: Engine) -> None:
        extra = "derived.py:Derived.extra"
        assert [edge.caller for edge in engine.graph.callers(extra)] == [
            "derived.py:Derived.run",
            "main.py:guess",
        ]
        assert [edge.caller for edge in engine.graph.callers(extra, guesses=False)] == [
            "derived.py:Derived.run"
        ]

    def test_of_nothing_are_none(self, engine: Engine) -> None:
        assert engine.graph.callers("main.py:nobody") == []
        assert engine.graph.callees("nowhere.py:nobody") == []

    def test_of_an_abstract_method_are_those_of_what_implements_it(self, tmp_path: Path) -> None:
        plant(tmp_path, PLAIN)
        with Engine.open(tmp_path) as engine:
            engine.refresh()
            (edge,) = engine.graph.callers("Shape.java:Shape.area")
            assert (edge.caller, edge.grade) == ("Main.java:Main.one", Grade.INFERRED)

    def test_of_an_implementation_include_those_of_the_interface(self, tmp_path: Path) -> None:
        plant(tmp_path, SHAPES)
        with Engine.open(tmp_path) as engine:
            engine.refresh()
            for method, own in (
                ("Square.java:Square.area", {"Main.java:Main.one"}),
                ("Round.java:Round.area", set()),
            ):
                callers = {edge.caller for edge in engine.graph.callers(method)}
                assert callers == {"Main.java:Main.any", "Shape.java:Shape.twice"} | own


class TestWalk:
    FINISH = "base.py:finish"

    def test_paths_lead_to_the_symbol_over_edges(self, engine: Engine) -> None:
        known = {(edge.caller, edge.callee): edge.grade for edge in engine.graph.edges()}
        reached, is_cut = engine.graph.walk(self.FINISH, 10, limit=100)
        assert not is_cut
        assert {one.symbol for one in reached} >= {
            "main.py:main",
            "main.py",
            "derived.py:Derived.extra",
        }
        weaker = [Grade.EXACT, Grade.INFERRED, Grade.BY_NAME]
        for one in reached:
            assert one.path[0] == one.symbol
            assert one.path[-1] == self.FINISH
            steps = list(zip(one.path, one.path[1:], strict=False))
            assert len(steps) == one.depth
            assert max((known[step] for step in steps), key=weaker.index) == one.grade

    def test_nearest_come_first_and_once(self, engine: Engine) -> None:
        reached, _ = engine.graph.walk(self.FINISH, 10, limit=100)
        depths = [one.depth for one in reached]
        assert depths == sorted(depths)
        assert len({one.symbol for one in reached}) == len(reached)
        assert self.FINISH not in {one.symbol for one in reached}

    def test_depth_is_respected(self, engine: Engine) -> None:
        whole, _ = engine.graph.walk(self.FINISH, 10, limit=100)
        for depth in range(4):
            reached, _ = engine.graph.walk(self.FINISH, depth, limit=100)
            assert reached == [one for one in whole if one.depth <= depth]

    def test_callees_are_the_callers_of_the_other_end(self, engine: Engine) -> None:
        reached, _ = engine.graph.walk("main.py:main", 10, limit=100, to_callees=True)
        inside = [one for one in reached if not one.symbol.startswith("external:")]
        assert self.FINISH in {one.symbol for one in inside}
        for one in inside:
            back, _ = engine.graph.walk(one.symbol, 10, limit=100)
            assert "main.py:main" in {other.symbol for other in back}

    def test_a_function_that_calls_itself_is_found_once(self, tmp_path: Path) -> None:
        plant(tmp_path, {"a.py": "def f():\n    g()\n    f()\n\n\ndef g():\n    f()\n"})
        with Engine.open(tmp_path) as engine:
            engine.refresh()
            for to_callees in (False, True):
                reached, _ = engine.graph.walk("a.py:f", 10, limit=100, to_callees=to_callees)
                assert sorted((one.symbol, one.depth) for one in reached) == [
                    ("a.py:f", 1),
                    ("a.py:g", 1),
                ]

    def test_limit_is_respected_and_told(self, engine: Engine) -> None:
        whole, _ = engine.graph.walk(self.FINISH, 10, limit=100)
        for limit in range(1, len(whole) + 2):
            reached, is_cut = engine.graph.walk(self.FINISH, 10, limit=limit)
            assert reached == whole[:limit]
            assert is_cut == (limit < len(whole))


class TestHistory:
    """The edges of a repository follow from its files, not from what happened to its index."""

    def test_the_order_in_which_files_come_does_not_matter(self, tmp_path: Path) -> None:
        found = []
        for number, names in enumerate((sorted(PROJECT), sorted(PROJECT, reverse=True))):
            root = tmp_path / str(number)
            root.mkdir()
            with Engine.open(root) as engine:
                for name in names:
                    plant(root, {name: PROJECT[name]})
                    engine.refresh()
                found.append(list(engine.graph.edges()))
        assert found[0] == found[1] == edges(tmp_path / "0")

    def test_a_file_that_sorts_first_comes_last(self, tmp_path: Path, engine: Engine) -> None:
        before = list(engine.graph.edges())
        plant(
            tmp_path,
            {
                "a/__init__.py": "",
                "a/a.py": "from base import finish\nclass A:\n    def setup(self): finish()\n",
            },
        )
        engine.refresh()
        after = list(engine.graph.edges())
        assert before != after == edges(tmp_path)


NAMES = ("one", "two", "run")
MODULES = ("a", "b", "c")
CALLS = (
    "one()", "two()", "run()", "a.one()", "b.two()", "c.run()", "A().run()", "B().one()", "x.run()", "x()", "take(one)",
    "take(B)", "for x in [A(), two]: x.run()", "x = B()", "x = two", "TABLE['k']()", "self.one()", "super().run()",
    "return A()", "return one", "TABLE['k'] = run", "one(two)", "self.it = x", "self.it()",
)  # fmt: skip
IMPORTS = (
    "import a, b", "import c", "from a import *", "from b import *", "from c import one", "from a import A, two as run",
    "from b import B", "from c import A as B",
)  # fmt: skip


@st.composite
def functions(draw: st.DrawFn, indent: str = "", receiver: str = "") -> str:
    name, body = (
        draw(st.sampled_from(NAMES)),
        draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=3)),
    )
    lines = "".join(f"{indent}    {line}\n" for line in body)
    return f"{indent}def {name}({receiver}x=None):\n{lines}"


@st.composite
def modules(draw: st.DrawFn) -> str:
    parts = [f"{line}\n" for line in draw(st.lists(st.sampled_from(IMPORTS), max_size=3))]
    parts.append(
        draw(st.sampled_from(["", "TABLE = {'k': one}\n", "one = two\n", "def take(f): f()\n"]))
    )
    parts += draw(st.lists(functions(), max_size=3))
    for name in draw(st.lists(st.sampled_from("AB"), max_size=2, unique=True)):
        base = draw(st.sampled_from(["", "(A)", "(B)", "(a.A)"]))
        parts.append(
            f"class {name}{base}:\n"
            + "".join(draw(st.lists(functions("    ", "self, "), min_size=1, max_size=2)))
        )
    return "".join(parts)


edits = st.lists(
    st.dictionaries(st.sampled_from(MODULES), st.none() | modules(), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples())
@given(edits)
def test_edges_after_refreshes_are_those_of_a_new_index(
    history: list[dict[str, str | None]],
) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        with Engine.open(root) as engine:
            for edit in history:
                for name, text in edit.items():
                    path = root / f"{name}.py"
                    if text is None:
                        path.unlink(missing_ok=True)
                    else:
                        path.write_text(text)
                engine.refresh()
                found = list(engine.graph.edges())
                assert [
                    edge for edge in found if edge not in engine.graph.callees(edge.caller)
                ] == []
            assert found == edges(root)


def test_a_member_that_subclasses_take_from_each_other_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "class Base:\n    def use(self): return self.part()\n\n\n"
        "class Child(Base):\n"
        "    def take(self, base: Base): self.part = base.part\n"
        "    def give(self): self.part = run\n\n\n"
        "def run(): ...\n"
    )
    with Engine.open(tmp_path.resolve()) as engine:
        engine.refresh()
        assert [edge.callee for edge in engine.graph.callees("a.py:Base.use")] == ["a.py:run"]


def test_a_guess_ends_where_the_receiver_is_known_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many files use the name, so that callers are looked for with less flow."""
    monkeypatch.setattr(callgraph, "MENTIONS_PER_LEVEL", (0, 0))
    (tmp_path / "shelf.py").write_text(
        "import queue\nclass Shelf:\n    def put(self, item): ...\n"
        "def fill(items):\n    items.put(1)\ndef fill_queue():\n    fill(queue.Queue())\n"
        "def fill_any(items):\n    items.put(1)\n"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        edges = engine.graph.callers("shelf.py:Shelf.put")
        assert [edge.caller for edge in edges] == ["shelf.py:fill_any"]
