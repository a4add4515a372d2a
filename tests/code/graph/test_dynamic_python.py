"""What Python programs call without writing its name beside the call."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.code.languages.checks import check

from tersely.code.engine import Engine
from tersely.code.graph.dispatch.member_stores import MAX_STORE_FILES, STORES_LIMIT
from tersely.code.graph.searches.argument_flow import MAX_FLOW_FILES

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
    "an operator that gives a union of types": (
        """\
        from typing import Self
        class Ops:
            def __or__(self, other) -> Self | None: return self
            def copy(self) -> Self: return self
        def use(one: Ops):
            (one | one).copy()
        """,
        ["use -> Ops.copy inferred"],
        [],
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
    "the parent of a class outside that is named": (
        """\
        from elsewhere import Outside
        class D(Outside):
            def go(self): ...
        class E(D):
            def go(self):
                super(Outside, self).go()
        """,
        [],
        ["E.go -> D.go"],
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
    "what overloads say of a call": (
        """\
        import typing as t
        class Command:
            def __call__(self): ...
            def main(self): ...
        @t.overload
        def command(name: t.Callable[..., int]) -> Command: ...
        @t.overload
        def command(name: str | None = None, **options) -> t.Callable[[t.Any], Command]: ...
        def command(name=None, **options):
            def decorate(function):
                return Command(function)
            return decorate(name) if callable(name) else decorate
        def build():
            command(kind=1)
        def use():
            made = command(kind=1)(use)
            made()
            made.main()
        """,
        ["use -> Command.__call__ inferred", "use -> Command.main inferred"],
        ["build -> Command.__call__"],
    ),
    "objects that are called where they are declared": (
        """\
        class Above:
            def __call__(self): ...
        class Below(Above):
            def __call__(self): ...
        def make() -> "Above": ...
        def take(given: Above):
            given()
        def use():
            made = make()
            made()
        def caught():
            try:
                use()
            except Above as error:
                held = error
                held()
        """,
        [
            "take -> Above.__call__ inferred",
            "take -> Below.__call__ inferred",
            "use -> Above.__call__ inferred",
            "caught -> Above.__call__ inferred",
        ],
        [],
    ),
    "classes that parameters are declared to hold": (
        """\
        class A:
            def __init__(self): ...
        def make(kind: type[A]):
            kind()
        """,
        ["make -> A.__init__ inferred"],
        [],
    ),
    "what is read from a table by a method": (
        """\
        import typing as t
        def one(): ...
        def two(): ...
        TABLE: t.Mapping[str, t.Callable[[], int]] = {"one": one, "two": two}
        def use(name):
            found = TABLE.get(name)
            found()
        def at_once(name):
            TABLE.get(name)()
        def all_of_them():
            for each in TABLE.values():
                each()
        """,
        ["use -> one inferred", "at_once -> one inferred", "all_of_them -> two inferred"],
        [],
    ),
    "arguments of types with dotted names": (
        """\
        import typing as t
        class A:
            def go(self): ...
        def use(found: t.Dict[str, A], made: t.Callable[[int], A]):
            found["a"].go()
            made(1).go()
        """,
        ["use -> A.go inferred"],
        [],
    ),
    "parts of tuples that are declared": (
        """\
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        def pair() -> tuple[A, B]: ...
        def many() -> tuple[B, ...]: ...
        def first():
            a, _ = pair()
            a.go()
        def second():
            pair()[1].go()
        def use():
            many()[1].go()
        """,
        ["first -> A.go inferred", "second -> B.go inferred", "use -> B.go inferred"],
        ["first -> B.go", "second -> A.go"],
    ),
    "what a cast says": (
        """\
        import typing as t
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        def use(x):
            t.cast(A, x).go()
        def quoted(x: B):
            t.cast("t.List[A]", x)[0].go()
        """,
        ["use -> A.go inferred", "quoted -> A.go inferred"],
        ["quoted -> B.go"],
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


def test_what_a_fixture_gives_is_called_in_tests(tmp_path: Path) -> None:
    fixture = (
        "import pytest\n@pytest.fixture\ndef make():\n    def maker(): ...\n    return maker\n"
    )
    files = {"conftest.py": fixture, "test_a.py": "def test_it(make):\n    make()\n"}
    edge = "test_a.py:test_it -> conftest.py:make.maker inferred"
    check(tmp_path, files, edges=[edge])
    with Engine.open(tmp_path) as engine:
        callers = engine.graph.callers("conftest.py:make.maker")
        assert [found.caller for found in callers] == ["test_a.py:test_it"]


def test_what_other_files_put_into_a_list_of_an_object_is_in_it(tmp_path: Path) -> None:
    files = {
        "app.py": """\
class Handler:
    def handle(self): ...
class App:
    def __init__(self):
        self.handlers = []
        self.table = {}
        self.empty = []
    def run(self):
        for handler in self.handlers:
            handler.handle()
    def look(self):
        self.table["a"].handle()
    def idle(self):
        self.empty[0].handle()
""",
        "setup.py": """\
from app import App, Handler
def fill(app: App):
    app.handlers.append(Handler())
    app.table["a"] = Handler()
""",
    }
    callers = [f"app.py:App.{name} -> app.py:Handler.handle" for name in ("run", "look", "idle")]
    edges = [f"{edge} inferred" for edge in callers[:2]]
    check(tmp_path, files, edges=edges, absent=[f"{callers[2]} inferred"])


def test_functions_given_to_a_constructor_are_called_however_widely_it_is_used(
    tmp_path: Path,
) -> None:
    button = """\
class Button:
    def __init__(self, label, on_click=None):
        self.label = label
        self.on_click = on_click
    def press(self):
        self.on_click()
"""
    form = "from button import Button\nclass Form:\n    def __init__(self):\n"
    form += "        Button(self.title, on_click=self.save)\n"
    form += "    def save(self): ...\n    def title(self): ...\n"
    forms = {f"form{number}.py": form for number in range(2 * MAX_FLOW_FILES)}
    press = "button.py:Button.press -> form3.py:Form"
    edges, absent = [f"{press}.save exact"], [f"{press}.title"]
    check(tmp_path, {"button.py": button, **forms}, edges=edges, absent=absent)


def test_a_script_in_a_package_imports_what_lies_beside_it(tmp_path: Path) -> None:
    files = {"tools/__init__.py": "", "tools/helper.py": "def aid(): ...\n"}
    files["tools/run.py"] = "from helper import aid\naid()\n"
    check(tmp_path, files, edges=["tools/run.py -> tools/helper.py:aid exact"])


def test_a_member_that_many_files_may_assign_is_said_to_be_unsearched(tmp_path: Path) -> None:
    shop = "class Shop:\n    def open(self): ...\ndef use(shop: Shop):\n    shop.late()\n"
    (tmp_path / "shop.py").write_text(f"{shop}def known(shop: Shop):\n    shop.open()\n")
    late = "from shop import Shop\ndef late(): ...\ndef assign(shop: Shop): shop.late = late\n"
    for number in range(MAX_STORE_FILES + 1):
        (tmp_path / f"late{number}.py").write_text(late)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        hear, callees = engine.notes.collect, engine.graph.callees
        assert hear(callees, "shop.py:use") == ([], {STORES_LIMIT})
        assert hear(callees, "shop.py:known")[1] == set()
