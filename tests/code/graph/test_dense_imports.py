"""Files that import all names of each other, in any graph: who reaches whom decides, and what is
cut is said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.graph import definition
from tersely.code.graph.pointsto import fixpoint
from tersely.code.graph.program import program
from tersely.code.graph.searches import argument_flow

Graph = dict[int, frozenset[int]]  # from a file to those whose names it imports wholesale
SIZE = 5
DENSE = 40
NAME_COLUMN = len("    return ")

nodes = st.integers(0, SIZE - 1)
graphs = st.fixed_dictionaries({node: st.frozensets(nodes, min_size=1) for node in range(SIZE)})


def complete(size: int) -> Graph:
    """Every file imports every other."""
    return {node: frozenset(range(size)) - {node} for node in range(size)}


def python_files(graph: Graph) -> dict[str, str]:
    """Each file has one function, which calls that of the next file and one that is nowhere."""
    return {
        f"m{node}.py": "".join(f"from m{other} import *\n" for other in sorted(others))
        + f"def f{node}(x):\n    return f{(node + 1) % len(graph)}(x) + nowhere(x)\n"
        for node, others in graph.items()
    }


def c_files(graph: Graph) -> dict[str, str]:
    """The same in headers."""
    return {
        f"m{node}.h": "".join(f'#include "m{other}.h"\n' for other in sorted(others))
        + f"static int f{node}(int x)\n{{ return f{(node + 1) % len(graph)}(x) + nowhere(x); }}\n"
        for node, others in graph.items()
    }


@contextmanager
def indexed(files: dict[str, str]) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory() as directory:
        for path, text in files.items():
            (Path(directory) / path).write_text(text, encoding="utf-8")
        with Engine.open(Path(directory)) as engine:
            engine.refresh()
            yield engine


def reached(graph: Graph, start: int) -> set[int]:
    found, pending = {start}, [start]
    while pending:
        new = graph[pending.pop()] - found
        found |= new
        pending += new
    return found


def calls(engine: Engine) -> set[tuple[str, str]]:
    """Calls of what the files define."""
    return {
        (edge.caller, edge.callee)
        for edge in engine.graph.edges()
        if not edge.callee.startswith("external:")
    }


@settings(max_examples=examples(fast=12))
@given(graphs)
def test_a_name_is_found_where_imports_lead(graph: Graph) -> None:
    with indexed(python_files(graph)) as engine:
        expected = {
            (f"m{node}.py:f{node}", f"m{after}.py:f{after}")
            for node in graph
            if (after := (node + 1) % SIZE) in reached(graph, node)
        }
        assert calls(engine) == expected
        for node, others in graph.items():
            line = len(others) + 2
            after = (node + 1) % SIZE
            paths = [place.path for place in engine.definition(f"m{node}.py", line, NAME_COLUMN)]
            assert (f"m{after}.py" in paths) == (after in reached(graph, node))


@pytest.mark.parametrize("size", [12, DENSE])
def test_a_name_that_is_nowhere_is_looked_for_once_in_each_file(size: int) -> None:
    with indexed(python_files(complete(size))) as engine:
        column = NAME_COLUMN + len("f1(x) + ")
        found, notes = engine.notes.collect(engine.definition, "m0.py", size + 2, column)
        assert found == []
        assert notes == set()


@pytest.mark.parametrize("files", [python_files, c_files])
def test_files_that_all_import_each_other_are_answered_whole(
    files: Callable[[Graph], dict[str, str]],
) -> None:
    with indexed(files(complete(DENSE))) as engine:
        found, notes = engine.notes.collect(calls, engine)
        assert len(found) == DENSE
        assert notes == set()


def test_a_search_through_imports_that_is_cut_says_so_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program, "MAX_STAR_FILES", 3)
    with indexed(python_files(complete(SIZE))) as engine:
        for _ in range(2):
            assert engine.notes.collect(calls, engine)[1] == {program.STAR_LIMIT}
        # it may be behind
        assert "external:builtins.nowhere" not in {edge.callee for edge in engine.graph.edges()}


def test_values_that_are_not_followed_to_their_end_are_said_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fixpoint, "MAX_UNKNOWNS", 0)
    with indexed(python_files(complete(3))) as engine:
        for _ in range(2):
            assert engine.notes.collect(calls, engine)[1] == {fixpoint.UNKNOWNS_LIMIT}


def test_definitions_of_a_name_that_every_file_binds_are_cut_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(definition, "MAX_PLACES", 3)
    files = {
        f"m{node}.py": "".join(f"from m{other} import x\n" for other in others) + "x = 1\n"
        for node, others in complete(SIZE).items()
    }
    with indexed({**files, "use.py": "from m0 import x\nx\n"}) as engine:
        found, notes = engine.notes.collect(engine.definition, "use.py", 2, 0)
        assert len(found) == 3
        assert notes == {definition.PLACES_LIMIT}


HANDLERS = "\n".join(f"class H{n}:\n    def run(self): return {n}" for n in range(4))
WIDE = f"{HANDLERS}\ndef start(handler):\n    return handler.run()\n"
CALLS_OF_START = "from wide import H0, start\nstart(H0())\n"


def test_calls_whose_receiver_comes_from_everywhere_are_said_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(argument_flow, "MAX_FLOW_FILES", 1)
    with indexed({"wide.py": WIDE, "a.py": CALLS_OF_START, "b.py": CALLS_OF_START}) as engine:
        graph, hear = engine.graph, engine.notes.collect
        for _ in range(2):
            assert hear(graph.callers, "wide.py:H0.run") == ([], {argument_flow.FLOW_LIMIT})
            assert hear(graph.callees, "wide.py:start") == ([], {argument_flow.FLOW_LIMIT})
            found, notes = hear(graph.callers, "wide.py:start")
            assert found
            assert notes == set()


def test_a_set_of_too_many_values_is_said_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MAX_VALUES", 3)
    choice = " or ".join(f"H{n}()" for n in range(4))
    start = f"def pick():\n    return {choice}\ndef start():\n    return pick().run()\n"
    with indexed({"wide.py": f"{HANDLERS}\n{start}"}) as engine:
        for _ in range(2):
            found, notes = engine.notes.collect(engine.graph.callees, "wide.py:start")
            assert found
            assert notes == {fixpoint.VALUES_LIMIT}
