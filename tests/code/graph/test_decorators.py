"""Callers of a decorated function are found through what decorates it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from tests.code.languages.checks import check

from tersely.code.engine import Engine

DECORATORS = """\
def traced(function):
    def wrapper(*args):
        return function(*args)
    return wrapper


def tagged(tag):
    def decorate(function):
        def inner(*args):
            return function(*args)
        return inner
    return decorate


class Memo:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function(*args)


def kept(function):
    return function
"""

USES = """\
from decorators import Memo, kept, tagged, traced


@traced
def save(row): ...


@tagged("a")
def load(): ...


@Memo
def count(): ...


@kept
def plain(): ...


class Table:
    @traced
    def fill(self): ...


def main(table: Table):
    save(1)
    load()
    count()
    plain()
    table.fill()


def other():
    load()


def start():
    main(Table())
"""

CALLERS = {
    "uses.py:save": {"decorators.py:traced.wrapper", "uses.py:main"},
    "uses.py:load": {"decorators.py:tagged.decorate.inner", "uses.py:main", "uses.py:other"},
    "uses.py:count": {"decorators.py:Memo.__call__", "uses.py:main"},
    "uses.py:plain": {"uses.py:main"},
    "uses.py:Table.fill": {"decorators.py:traced.wrapper", "uses.py:main"},
    "decorators.py:traced.wrapper": {"uses.py:main"},
    "decorators.py:tagged.decorate.inner": {"uses.py:main", "uses.py:other"},
    "decorators.py:Memo.__call__": {"uses.py:main"},
}


def test_callers_go_through_what_decorates(tmp_path: Path) -> None:
    edges = [
        "main -> uses.py:save",
        "main -> uses.py:load",
        "main -> uses.py:count",
        "main -> uses.py:Table.fill",
    ]
    edges += ["main -> decorators.py:tagged.decorate.inner"]
    found = [
        f"uses.py:{edge} {'exact' if edge.endswith('inner') else 'inferred'}" for edge in edges
    ]
    check(tmp_path, {"decorators.py": DECORATORS, "uses.py": USES}, edges=found)
    with Engine.open(tmp_path) as engine:
        assert {
            name: {edge.caller for edge in engine.graph.callers(name)} for name in CALLERS
        } == CALLERS


def test_impact_does_not_spread_to_others_with_the_same_decorator(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        dedent(
            """\
            def traced(function):
                def wrapper():
                    function()
                return wrapper

            @traced
            def one(): ...

            @traced
            def two(): ...

            def uses_one():
                one()

            def uses_two():
                two()
            """
        ),
        encoding="utf-8",
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        reached, _ = engine.graph.walk("m.py:one", 5, limit=100)
    assert {one.symbol for one in reached} == {"m.py:traced.wrapper", "m.py:uses_one"}
