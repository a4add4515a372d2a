"""What Python programs call without writing its name beside the call."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.code.languages.checks import check

from tersely.code.engine import Engine

PROGRAMS = {
    "names put together from a prefix": (
        """\
        class Shell:
            def run(self, word):
                getattr(self, "_do_%s" % word)()
            def short(self, word):
                name = f"_do_{word}"
                getattr(self, name)()
            def _do_quit(self): ...
            def other(self): ...
        class Larger(Shell):
            def _do_list(self): ...
        """,
        [
            "Shell.run -> Shell._do_quit inferred",
            "Shell.run -> Larger._do_list inferred",
            "Shell.short -> Shell._do_quit inferred",
        ],
        ["Shell.run -> Shell.other"],
    ),
    "the parent of a class that is named": (
        """\
        class A:
            def go(self): ...
        class B(A):
            def go(self): ...
        class C(B):
            def go(self):
                super(B, self).go()
        """,
        ["C.go -> A.go exact"],
        ["C.go -> B.go"],
    ),
    "descriptors": (
        """\
        class Cache:
            def clear(self): ...
        class Option:
            def __init__(self, kind):
                self.kind = kind
            def __get__(self, instance, owner):
                return self.kind()
        class Settings:
            cache = Option(Cache)
        settings = Settings()
        def use():
            settings.cache.clear()
        """,
        ["use -> Cache.clear inferred"],
        [],
    ),
    "functions kept as keyword arguments": (
        """\
        import argparse
        def build(args): ...
        def clean(args): ...
        def main():
            parser = argparse.ArgumentParser()
            parser.add_subparsers().add_parser("build").set_defaults(func=build)
            args = parser.parse_args()
            args.func(args)
        """,
        ["main -> build inferred"],
        ["main -> clean"],
    ),
    "tables of tables": (
        """\
        def a(): ...
        def b(): ...
        TABLE = {"x": {"one": a}, "y": {"one": b}}
        def use():
            TABLE["x"]["one"]()
        """,
        ["use -> a inferred"],
        ["use -> b"],
    ),
    "rare names of receivers that may be anything": (
        """\
        from typing import Any
        class A:
            def rarely(self): ...
        class B:
            def rarely(self): ...
        def use(thing, other: Any):
            thing.rarely()
            other.rarely()
        """,
        ["use -> A.rarely by_name", "use -> B.rarely by_name"],
        [],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_found(tmp_path: Path, name: str) -> None:
    source, edges, absent = PROGRAMS[name]
    spelled, excluded = ([_in_file(edge) for edge in each] for each in (edges, absent))
    check(tmp_path, {"m.py": dedent(source)}, edges=spelled, absent=excluded)
    with Engine.open(tmp_path) as engine:
        for edge in spelled:
            caller, _, callee = edge.rpartition(" ")[0].partition(" -> ")
            assert caller in {found.caller for found in engine.graph.callers(callee)}


def _in_file(edge: str) -> str:
    caller, _, callee = edge.partition(" -> ")
    return f"m.py:{caller} -> m.py:{callee}"


def test_a_script_in_a_package_imports_what_lies_beside_it(tmp_path: Path) -> None:
    files = {"tools/__init__.py": "", "tools/helper.py": "def aid(): ...\n"}
    files["tools/run.py"] = "from helper import aid\naid()\n"
    check(tmp_path, files, edges=["tools/run.py -> tools/helper.py:aid exact"])
