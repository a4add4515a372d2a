"""What a symbol needs to compile, and packs that hold it before who calls it."""

from __future__ import annotations

import ast
import builtins
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.asking import Ask
from tests.depth import examples

import tersely
from tersely.capabilities.invoke import ask as ask_python
from tersely.workspace import Workspace

PACKAGE = Path(tersely.__file__).parent
# What the target may name: how it is written in it, and the symbols that it then needs.
USES = {
    "base": ("class Target(Base):\n", {"a.py:Base"}),
    "decorator": ("    @decorate\n    def m1(self): ...\n", {"a.py:decorate"}),
    "annotation": (
        "    def m2(self, x: 'Kind | None') -> Shape: ...\n",
        {"a.py:Kind", "b.py:Shape"},
    ),
    "constant": ("    size = LIMIT + b.DEPTH\n", {"a.py:LIMIT", "b.py:DEPTH"}),
    "member": ("    colour = Colour.RED\n", {"a.py:Colour", "a.py:Colour.RED"}),
    "call": ("    def m3(self):\n        return helper(far(1))\n", {"a.py:helper", "b.py:far"}),
    "reference": ("    def m4(self):\n        return map(helper, [])\n", {"a.py:helper"}),
    "caught": (
        "    def m5(self):\n        try: pass\n        except Broken: pass\n",
        {"b.py:Broken"},
    ),
    "aliased": (
        "    def m6(self):\n        from b import far as f\n        return f\n",
        {"b.py:far"},
    ),
    "hidden": (
        "    def m7(self, helper, LIMIT=1):\n        Kind = helper\n        return Kind, LIMIT\n",
        set(),
    ),
    "default": ("    def m8(self, size=LIMIT): ...\n", {"a.py:LIMIT"}),
    "outside": ("    def m9(self):\n        return os.path.join(*deque())\n", set()),
}
DEFINED = """import os
from collections import deque
import b
from b import Shape, Broken, far

LIMIT = 3
def decorate(f): return f
def helper(x): return x
class Base: ...
class Kind: ...
class Colour:
    RED = 1
"""
OTHER = "DEPTH = 2\nclass Shape: ...\nclass Broken(Exception): ...\ndef far(x): return x\n"


def module(uses: list[str], callers: int) -> tuple[str, set[str]]:
    """A module with a class that uses some names, and the symbols that it needs."""
    chosen = sorted(set(uses) - {"base"})
    head = USES["base"][0] if "base" in uses else "class Target:\n"
    body = "".join(USES[use][0] for use in chosen) + "    end = None\n"
    needed = set().union(*(USES[use][1] for use in uses)) if uses else set()
    calling = "".join(f"def caller{n}():\n    return Target()\n" for n in range(callers))
    return f"{DEFINED}\n{head}{body}\n\n{calling}", needed


def pack_ids(found: Any, workspace: Workspace) -> set[str]:
    """The symbols that a pack shows, those in files that it shows whole among them."""
    ids = {item.id for item in found.items}
    for line in found.text.splitlines():
        if line.startswith("=== ") and line.endswith(" whole"):
            ids.update(symbol.id for symbol in workspace.engine.store.symbols_of(line[4:-6]))
    texts = {item.id for item in found.items if item.detail in {"body", "skeleton"}}
    return ids | {one.id for one in workspace.engine.store.symbols() if one.parent in texts}


@settings(max_examples=examples(), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(sorted(USES)), max_size=8), st.integers(0, 12), st.integers(60, 700)
)
def test_all_that_is_needed_is_there_before_any_caller(
    uses: list[str], callers: int, budget: int
) -> None:
    source, needed = module(uses, callers)
    with tempfile.TemporaryDirectory() as directory:
        for path, text in {"a.py": source, "b.py": OTHER, ".git/HEAD": ""}.items():
            (Path(directory) / path).parent.mkdir(exist_ok=True)
            (Path(directory) / path).write_text(text)
        with Workspace.open(directory) as workspace:
            listed = ask_python(workspace, "code.symbol.deps", symbol="a.py:Target").needs.items
            assert {one.id for one in listed if one.kind} == needed
            outside = {one.id for one in listed if not one.kind}
            assert outside == (
                {"external:os", "external:collections.deque"} if "outside" in uses else set()
            )
            found = ask_python(
                workspace, "code.symbol.slice", symbols=("a.py:Target",), budget=budget
            )
            shown = pack_ids(found, workspace)
            calling = {one for one in shown if "caller" in one}
            assert not calling or needed <= shown
            assert found.used <= budget
            roomy = ask_python(
                workspace, "code.symbol.slice", symbols=("a.py:Target",), budget=4_000
            )
            assert needed <= pack_ids(roomy, workspace)


def test_each_need_says_what_it_is(ask: Ask, shop: Path) -> None:
    source, _ = module(sorted(USES), 1)
    (shop / "a.py").write_text(source)
    (shop / "b.py").write_text(OTHER)
    listed = ask("symbol", "deps", "a.py:Target", "--json").result["needs"]["items"]
    kinds = {one["id"].partition(":")[2]: one["need"] for one in listed}
    expected = {"Base": "base", "Kind": "type", "LIMIT": "constant", "os": "import"}
    assert kinds | expected == kinds
    decorated = ask("symbol", "deps", "a.py:Target.m1", "--json").result["needs"]["items"]
    assert [(one["id"], one["need"]) for one in decorated] == [
        ("a.py:Target", "class"),
        ("a.py:decorate", "decorator"),
    ]
    assert kinds["far"] == "callee"
    some = ask("symbol", "deps", "a.py:Target", "--limit", "2").out
    assert f"{len(listed) - 2} more dependencies" in some


def test_a_field_of_the_same_package_is_nothing_that_its_name_means(ask: Ask, shop: Path) -> None:
    (shop / "a.go").write_text(
        "package p\n\nfunc work() int {\n\tcount := 1 // with status\n\treturn count + most\n}\n"
    )
    (shop / "b.go").write_text(
        "package p\n\nconst most = 3\n\ntype box struct {\n\tcount int\n\tstatus int\n}\n"
    )
    listed = ask("symbol", "deps", "a.go:work", "--json").result["needs"]["items"]
    assert [one["id"] for one in listed] == ["b.go:most"]


def test_names_mean_what_stands_in_the_classes_and_functions_around(ask: Ask, shop: Path) -> None:
    (shop / "p").mkdir()
    (shop / "p/Till.java").write_text(
        "package p;\nimport p.Kinds.Coin;\nclass Till extends Box {\n  enum State { OPEN, SHUT }\n"
        "  static final int MOST = 3;\n  class Drawer {\n"
        "    State state(Coin coin) { return MOST > LEAST ? State.OPEN : null; }\n"
        "  }\n  void fill(final int MOST) {\n    class Hand { int size() { return MOST; } }\n"
        "    new Object() { public String toString() { return new Hand().toString(); } };\n  }\n}\n"
    )
    (shop / "p/Box.java").write_text("package p;\nclass Box { static final int LEAST = 1; }\n")
    (shop / "p/Kinds.java").write_text("package p;\nclass Kinds { static class Coin {} }\n")

    def needed(symbol: str) -> dict[str, str]:
        listed = ask("symbol", "deps", f"p/Till.java:{symbol}", "--json").result["needs"]["items"]
        return {one["id"].partition(":")[2]: one["need"] for one in listed}

    assert needed("Till.Drawer.state") == {
        "Till.Drawer": "class", "Till.State": "type", "Till.State.OPEN": "constant", "Kinds.Coin": "type",
        "Till.MOST": "constant", "Box.LEAST": "constant",
    }  # fmt: skip
    # the parameter hides the constant
    assert needed("Till.fill.Hand.size") == {"Till.fill.Hand": "class"}
    assert "Till.fill.Hand" in needed("Till.fill.<class1>.toString")


def names_of(function: ast.AST) -> Iterator[str]:
    """The names that a function reads and does not bind."""
    bound = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id not in bound and not hasattr(builtins, node.id):
            yield node.id


@pytest.mark.slow
def test_nothing_is_missing_that_real_code_names(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE / "context", tmp_path / "tersely" / "context", ignore=ignored)
    with Workspace.open(tmp_path) as own_code:
        for path in ("context/pack/fitting/fit.py", "context/lenses/needs.py"):
            assert checked_needs(own_code, path) > 10


def checked_needs(own_code: Workspace, path: str) -> int:
    """How many needs the functions and classes of a file name: each is listed, and is in a roomy
    slice.
    """
    tree = ast.parse((PACKAGE / path).read_text())
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    store = own_code.engine.store
    own = {
        symbol.name: symbol.id
        for symbol in store.symbols_of(f"tersely/{path}")
        if "." not in symbol.qualname
    }
    checked = 0
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        needed = {own[name] for name in names_of(node) if name in own and name != node.name}
        for name in names_of(node):
            module, original = imported.get(name, ("", ""))
            home = f"{module.replace('.', '/')}.py:{original}"
            needed |= {home} if store.symbol(home) else set()
        target = (f"tersely/{path}:{node.name}",)
        listed = ask_python(own_code, "code.symbol.deps", symbol=target[0], limit=1_000).needs.items
        assert needed - {one.id for one in listed} == set(), node.name
        found = ask_python(own_code, "code.symbol.slice", symbols=target, budget=20_000)
        assert needed - pack_ids(found, own_code) == set(), node.name
        checked += len(needed)
    return checked


def test_a_slice_takes_part_in_a_session(ask: Ask) -> None:
    words = ("symbol", "slice", "Order.place", "--session", "me", "--budget", "400")
    first, second = ask(*words).out, ask(*words).out
    assert "unchanged" not in first
    assert "[unchanged" in second
    assert len(second) < len(first)


def test_a_string_an_argument_or_a_field_needs_nothing_of_its_name(ask: Ask, shop: Path) -> None:
    (shop / "a.py").write_text(
        "from b import limit, Kettle\n\n\ndef command(): ...\ndef colour(): ...\ndef count(): ...\n\n\n"
        "class Pot:\n    command: Kettle | None = None\n    count = limit\n\n\n"
        "def warn(pot):\n    # colour of the command\n"
        '    raise ValueError(f"no command {count()}", dict(colour=pot.command))\n'
    )
    (shop / "b.py").write_text("limit = 3\n\n\nclass Kettle: ...\n")

    def needs(symbol: str) -> list[str]:
        return [
            one["id"] for one in ask("symbol", "deps", symbol, "--json").result["needs"]["items"]
        ]

    assert needs("a.py:warn") == ["a.py:count"]
    assert needs("a.py:Pot") == ["b.py:Kettle", "b.py:limit"]
    assert "def command" not in ask("symbol", "slice", "a.py:warn").out
