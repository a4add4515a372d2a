"""What is called and who calls are two views of the same edges."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

import tersely
from tersely.code.engine import Engine
from tersely.code.symbols import CLASS_KINDS, Kind

OWN_SOURCE = Path(tersely.__file__).parent / "code" / "graph"
CALLEES = CLASS_KINDS | {Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY}

NAMES = st.sampled_from(["a", "b", "c"])
CALLS = st.builds(
    lambda owner, name: f"{owner}.{name}()", st.sampled_from(["self", "super()"]), NAMES
)
CONSTRUCTED = st.builds(lambda number, name: f"C{number}().{name}()", st.integers(0, 3), NAMES)
BODIES = st.one_of(
    CALLS,
    CONSTRUCTED,
    st.sampled_from(["getattr(self, f'a_{self}')()", "type(self)()", "helper()"]),
)
METHODS = st.dictionaries(NAMES, st.tuples(st.sampled_from(["", "@wrap"]), BODIES), max_size=3)
CLASSES = st.lists(
    st.tuples(st.sets(st.integers(0, 3), max_size=2), METHODS), min_size=1, max_size=4
)

HEAD = "def wrap(function):\n    def inner(*args):\n        return function(*args)\n    return inner\n\n\n@wrap\n"
HEAD += "def helper(): ...\n\n\n"


def program(classes: list[tuple[set[int], dict[str, tuple[str, str]]]]) -> str:
    """Classes that inherit from those before them; methods call one another in many ways."""
    text = HEAD
    for number, (bases, methods) in enumerate(classes):
        written = ", ".join(f"C{base}" for base in sorted(bases, reverse=True) if base < number)
        text += f"class C{number}({written}):\n    def __init__(self): ...\n"
        for name, (decorator, body) in methods.items():
            text += (
                f"    {decorator}\n" if decorator else ""
            ) + f"    def {name}(self):\n        {body}\n"
    return text


def disagreements(root: Path) -> set[tuple[str, str]]:
    """The edges that only one direction has; calling a class is calling its constructor, and
    classes count as both.
    """
    with Engine.open(root) as engine:
        engine.refresh()
        graph = engine.graph
        symbols = {symbol.id: symbol for symbol in engine.store.symbols() if symbol.kind in CALLEES}
        forward = {
            (edge.caller, edge.callee)
            for edge in graph.edges(guesses=False)
            if edge.callee in symbols
        }
        backward = {
            (edge.caller, name) for name in symbols for edge in graph.callers(name, guesses=False)
        }
        constructed = {
            caller for caller, callee in forward if callee.endswith((".__init__", ".__new__"))
        }
        return {
            (caller, callee)
            for caller, callee in forward ^ backward
            if symbols[callee].kind not in CLASS_KINDS or caller not in constructed
        }


@settings(max_examples=examples())
@given(CLASSES)
def test_generated_classes(tmp_path_factory, classes) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path_factory.mktemp("program")
    (root / "m.py").write_text(program(classes), encoding="utf-8")
    assert disagreements(root) == set()


@pytest.mark.slow
def test_our_own_source(tmp_path: Path) -> None:
    shutil.copytree(OWN_SOURCE, tmp_path / "graph", ignore=shutil.ignore_patterns("__pycache__"))
    assert disagreements(tmp_path) == set()
