"""What still uses something as it was before a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.repositories import git, repository, write

from tersely.capabilities.catalogue import load
from tersely.capabilities.graph.breaks import LINE_PLACES
from tersely.capabilities.invoke import ask, invoke
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

HELPER = "def helper():\n    return 1\n"
USER = "from helper import helper\n\nprint(helper())\n"


GO_MUX = "package mux\n\ntype Mux struct{}\n\nfunc (mx *Mux) handle() {}\n"
GO_USER = "package mux\n\nfunc (mx *Mux) Get() { mx.handle() }\n"


def breaks(root: Path, *files: str) -> Any:
    with Workspace.open(root) as workspace:
        return ask(workspace, "code.breaks", files=files)


def test_a_function_that_its_file_is_named_after(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "user.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    uses = breaks(tmp_path).uses
    assert {place for one in uses for place in one.places} == {"user.py:1", "user.py:3"}


def test_of_the_files_and_directories_that_are_named(tmp_path: Path) -> None:
    code = {"lib/helper.py": HELPER, "user.py": USER, "lib/mux.go": GO_MUX, "lib/get.go": GO_USER}
    repository(tmp_path, {**code, "other.py": "def gone():\n    pass\n\n\ngone()\n"})
    write(tmp_path, {"lib/helper.py": HELPER.replace("helper", "other"), "other.py": "gone()\n"})
    write(tmp_path, {"lib/mux.go": GO_MUX.replace("handle", "serve")})
    assert places(tmp_path, "lib", "user.py") == {"user.py:1", "user.py:3", "lib/get.go:3"}
    with pytest.raises(TerselyError, match=r"no\.py is not there"):
        breaks(tmp_path, "no.py")


def test_the_line_is_one_whatever_a_file_is_called(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "evil\x1b[31m\nGo on.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    line = breaks(tmp_path).line
    assert "Go on.py:3" in line
    assert line.isprintable()


def test_a_line_says_that_there_are_more(tmp_path: Path) -> None:
    users = {f"user{number}.py": USER for number in range(LINE_PLACES)}
    repository(tmp_path, {"helper.py": HELPER, **users})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    found = breaks(tmp_path)
    assert found.line.endswith("; and more")
    assert sum(len(one.places) for one in found.uses) == 2 * LINE_PLACES


def places(root: Path, *files: str) -> set[str]:
    return {place for one in breaks(root, *files).uses for place in one.places}


def test_uses_by_way_of_a_package_beside_a_method_of_the_name(tmp_path: Path) -> None:
    repository(
        tmp_path,
        {
            "web/helpers.py": "def redirect(to):\n    return to\n",
            "web/__init__.py": "from .helpers import redirect as redirect\n",
            "web/app.py": "class App:\n    def redirect(self, to):\n        return to\n",
            "by_name.py": "from web import redirect\n\nredirect('/')\n",
            "by_package.py": "import web\n\nweb.redirect('/')\n",
            "of_method.py": "from web.app import App\n\nApp().redirect('/')\n",
        },
    )
    write(tmp_path, {"web/helpers.py": "def forward(to):\n    return to\n"})
    expected = {"web/__init__.py:1", "by_name.py:1", "by_name.py:3", "by_package.py:3"}
    assert places(tmp_path) == expected


def test_brackets_in_texts_end_no_call(tmp_path: Path) -> None:
    calls = "from helper import made\n\nmade('(')\nprint(1)\nprint(')')\n"
    repository(tmp_path, {"helper.py": "def made(one):\n    return one\n", "odd.py": calls})
    write(tmp_path, {"helper.py": "def made(one, two):\n    return one\n"})
    write(tmp_path, {"odd.py": calls.replace("print(')')", "print('>')")})
    assert places(tmp_path) == {"odd.py:3"}


def test_what_a_name_means_now_is_not_gone(tmp_path: Path) -> None:
    repository(
        tmp_path,
        {
            "tools.py": "def helper():\n    return 1\n",
            "more.py": "",
            "user.py": "from tools import helper\n\nhelper()\n",
        },
    )
    moved = {"tools.py": "from more import helper\n", "more.py": "def helper():\n    return 1\n"}
    write(tmp_path, moved)
    assert places(tmp_path) == set()


CALLS = """from area%s import area

area(2, 3)
area(2, height=3)
area(width=2, height=3)
area(*[2, 3])
"""


def test_only_calls_that_fit_no_more_are_named(tmp_path: Path) -> None:
    """Each signature is that of a module of its own, with the lines of its calls that are named."""
    signatures = {
        "def area(w, height):": {5},
        "def area(width, height, depth):": {3, 4, 5},
        "def area(width, depth=1, height=2):": {3},
        "def area(\n    width,\n    height,\n    depth,\n):": {3, 4, 5},
        "def area(width, height, depth=1):": set(),
        "def area(height, width):": {3, 4},
        "def area(a, b):": {4, 5},
    }
    modules = {f"area{at}.py": "def area(width, height):\n    return 1\n" for at in range(7)}
    repository(tmp_path, {**modules, **{f"user{at}.py": CALLS % at for at in range(7)}})
    write(tmp_path, {f"area{at}.py": f"{one}\n    return 1\n" for at, one in enumerate(signatures)})
    assert places(tmp_path) == {
        f"user{at}.py:{line}" for at, lines in enumerate(signatures.values()) for line in lines
    }


def test_names_of_parameters_alone_break_no_call_by_place(tmp_path: Path) -> None:
    header = "package shop\n\nfunc price(%s) int { return 1 }\n"
    user = "package shop\n\nfunc total() int { return price(1) }\n"
    repository(tmp_path, {"price.go": header % "amount int", "total.go": user})
    for parameters, expected in [
        ("number int", set()),
        ("amount string", {"total.go:3"}),
    ]:
        write(tmp_path, {"price.go": header % parameters})
        assert places(tmp_path) == expected, parameters


def test_calls_of_methods_and_constructors_are_judged_by_what_they_pass(tmp_path: Path) -> None:
    shop = "class Shop:\n    def __init__(self, %s):\n        pass\n\n    def sell(self, %s):\n        pass\n"
    user = "from shop import Shop\n\nshop = Shop(1)\nshop.sell(1)\nshop.sell(1, price=2)\nShop.sell(shop, 1)\n"
    repository(tmp_path, {"shop.py": shop % ("size", "item, price=1"), "user.py": user})
    for changed, expected in [
        (("size", "item"), {"user.py:5"}),
        (("size, city", "item, price=1"), {"user.py:3"}),
        (("size, city=1", "item, *rest, price=1, **others"), set()),
    ]:
        write(tmp_path, {"shop.py": shop % changed})
        assert places(tmp_path) == expected, changed


def test_arguments_are_counted_where_types_are_checked(tmp_path: Path) -> None:
    header = "package shop\n\nfunc price(%s) %s { return 1 }\n"
    user = "package shop\n\nfunc total() int {\n\tprice(1)\n\treturn price(2)\n}\n"
    repository(tmp_path, {"price.go": header % ("amount int", "int"), "total.go": user})
    for changed, expected in [
        (("amount int, more ...int", "int"), set()),
        (("amount, more int", "int"), {"total.go:4", "total.go:5"}),
        (("amount int", "string"), {"total.go:5"}),
    ]:
        write(tmp_path, {"price.go": header % changed})
        assert places(tmp_path) == expected, changed


MEMBERS = """from abc import ABC

class Kept(dict):
    def get(self, key):
        return key

class Lost(ABC):
    def get(self, key):
        return key

class Below(Lost):
    pass

def use(kept: Kept, lost: Lost, below: Below, plain: dict):
    kept.get(1)
    lost.get(2)
    below.get(3)
    plain.get(4)
"""


def test_a_member_that_a_base_outside_may_have_is_not_gone(tmp_path: Path) -> None:
    repository(tmp_path, {"members.py": MEMBERS})
    method = "    def get(self, key):\n        return key\n"
    write(tmp_path, {"members.py": MEMBERS.replace(method, "    pass\n")})
    assert places(tmp_path) == {"members.py:14", "members.py:15"}


def test_a_property_that_becomes_a_method_and_the_other_way(tmp_path: Path) -> None:
    decorated = "class Cart:\n    @property\n    def total(self):\n        return 1\n"
    plain = decorated.replace("    @property\n", "")
    user = "from cart import Cart\n\ncart = Cart()\nprint(cart.total)\nprint(cart.total())\n"
    for before, after, line in ((decorated, plain, 4), (plain, decorated, 5)):
        root = tmp_path / str(line)
        root.mkdir()
        repository(root, {"cart.py": before, "user.py": user})
        write(root, {"cart.py": after})
        assert places(root) == {f"user.py:{line}"}


# By the name of each: a file with a function as it was, a file of uses, and what the function becomes,
# with the lines of the uses that are broken by it.
FITTING: dict[str, tuple[str, str, str, str, dict[str, set[int]]]] = {
    "typescript_optional": (
        "a.ts",
        "export function f(a: number, b?: string, c = true) { return a }\n",
        "user.ts",
        "import {f} from './a'\nf(1)\nf(1, 'x')\nf(1, 'x', true)\n",
        {
            "export function f(a: number, b?: string) { return a }\n": {4},
            "export function f(a: number, b: string, c = true) { return a }\n": {2},
            "export function f(a: number, b?: string, c = true, d?: number) { return a }\n": set(),
            "export function f(a: number, b?: number, c = true) { return a }\n": {3, 4},
        },
    ),
    "typescript_fields_of_constructor": (
        "a.ts",
        "export class C { constructor(private a: number, readonly b?: number) {} }\n",
        "user.ts",
        "import {C} from './a'\nnew C(1)\nnew C(1, 2)\n",
        {
            "export class C { constructor(private a: number, readonly b: number) {} }\n": {2},
            "export class C { constructor(private a: number) {} }\n": {3},
        },
    ),
    "python_marks_between_parameters": (
        "a.py",
        "def f(a, b):\n    return a\n",
        "user.py",
        "from a import f\nf(1, 2)\nf(1, b=2)\nf(a=1, b=2)\nf(*x, **k)\nf(1, **k)\n",
        {
            "def f(a, *, b):\n    return a\n": {2},
            "def f(a, /, b):\n    return a\n": {4},
            "def f(a, *rest, b=1):\n    return a\n": {2},
            "def f(*rest, **others):\n    return 1\n": set(),
        },
    ),
    "python_receivers": (
        "a.py",
        "class C:\n    @classmethod\n    def f(cls, a):\n        return a\n",
        "user.py",
        "from a import C\nC.f(1)\nC().f(1)\n",
        {
            "class C:\n    def f(self, a):\n        return a\n": {2},
            "class C:\n    @staticmethod\n    def f(a):\n        return a\n": set(),
        },
    ),
    "kotlin_function_behind_the_brackets": (
        "a.kt",
        'fun f(a: Int, b: String = "", block: () -> Unit) { }\n',
        "user.kt",
        'fun g() {\n f(1) { }\n f(1, "x") { }\n f(a = 1, block = h)\n}\n',
        {
            'fun f(a: Int, b: String = "", c: Int = 1, block: () -> Unit) { }\n': set(),
            "fun f(a: Int, b: String, block: () -> Unit) { }\n": {2, 4},
            'fun f(x: Int, b: String = "", block: () -> Unit) { }\n': {4},
        },
    ),
    "java_overloads": (
        "A.java",
        "class A {\n static void f(int a) { }\n static void f(int a, int b) { }\n}\n",
        "User.java",
        "class User {\n void g() {\n  A.f(1);\n  A.f(1, 2);\n }\n}\n",
        {
            "class A {\n static void f(int a) { }\n static void f(int a, int b, int c) { }\n}\n": {
                4
            },
            "class A {\n static void f(int a, int... b) { }\n}\n": set(),
        },
    ),
    "ruby_keywords_and_blocks": (
        "a.rb",
        "def f(a, b = 1)\n  a\nend\n",
        "user.rb",
        "require_relative 'a'\nf(1)\nf(1, 2) { |x| x }\n",
        {
            "def f(a, b)\n  a\nend\n": {2},
            "def f(a, b = 1, c:)\n  a\nend\n": {2, 3},
            "def f(a, b = 1, c: 2, &block)\n  a\nend\n": set(),
        },
    ),
    "cpp_defaults": (
        "a.h",
        "int f(int a, int b = 1);\n",
        "user.cpp",
        '#include "a.h"\nint g() {\n  f(1);\n  return f(1, 2);\n}\n',
        {"int f(int a, int b);\n": {3}, "int f(int a, int b = 1, int c = 2);\n": set()},
    ),
    "go_results": (
        "a.go",
        "package a\n\nfunc f(a int) int { return a }\n",
        "b.go",
        "package a\n\nfunc g() {\n\tf(1)\n\tx := f(1)\n\tgo f(1)\n\tdefer f(2)\n}\n",
        {
            "package a\n\nfunc f(a int) (int, error) { return a, nil }\n": {5},
            "package a\n\nfunc f(a MyInt) Result { return a }\n": set(),
        },
    ),
    "python_fields_of_constructor": (
        "a.py",
        "from dataclasses import dataclass\n\n@dataclass\nclass D:\n    a: int\n    b: int = 1\n",
        "user.py",
        "from a import D\nD(1)\nD(1, 2)\nprint(D(1).b)\n",
        {
            "from dataclasses import dataclass\n\n@dataclass\nclass D:\n    a: int\n": {3, 4},
            "from dataclasses import dataclass\n\n@dataclass\nclass D:\n    a: int\n    b: int\n": {
                2,
                4,
            },
            "from dataclasses import dataclass, field\n\n@dataclass\nclass D:\n    a: int\n    b: int = 1\n"
            "    c: list = field(default_factory=list)\n": set(),
        },
    ),
    "typescript_promise": (
        "a.ts",
        "export function f(a: number): User { return a }\n",
        "user.ts",
        "import {f} from './a'\nf(1)\nconst x = f(1)\nf(1).name\nconst y = await f(1)\n",
        {"export function f(a: number): Promise<User> { return a }\n": {3, 4}},
    ),
    "javascript_given_by_the_function": (
        "a.js",
        "export function f(a = {}) { return a }\n",
        "user.js",
        "import {f} from './a'\nf()\n",
        {
            "export function f(a) { a = a || {}; return a }\n": set(),
            "export function f(a) { return a.b }\n": {2},
        },
    ),
    "javascript_that_lacked_it_before": (
        "a.js",
        "export function f(a) { a = a || {}; return a }\n",
        "user.js",
        "import {f} from './a'\nf()\n",
        {"export function f(b) { return other(b) }\n": set()},
    ),
    "python_generators_and_decorators": (
        "a.py",
        "def f(a):\n    yield a\n\ndef g(a):\n    return a\n",
        "user.py",
        "from a import f, g\nfor x in f(1): pass\nasync for x in f(1): pass\ng(1)\n",
        {
            "async def f(a):\n    yield a\n\ndef g(a):\n    return a\n": {2},
            "def f(a):\n    yield a\n\n@given\ndef g(context, a):\n    return a\n": set(),
        },
    ),
}


@pytest.mark.parametrize("number", range(max(len(changed) for *_, changed in FITTING.values())))
def test_calls_are_judged_by_what_their_language_lets_them_leave_out(
    tmp_path: Path, number: int
) -> None:
    before, after, broken = dict[str, str](), dict[str, str](), set[str]()
    for name, (path, text, user, calls, changed) in FITTING.items():
        before |= {f"{name}/{path}": text, f"{name}/{user}": calls}
        for changed_text, lines in [*changed.items()][number : number + 1]:
            after[f"{name}/{path}"] = changed_text
            broken |= {f"{name}/{user}:{line}" for line in lines}
    repository(tmp_path, before)
    write(tmp_path, after)
    assert places(tmp_path) == broken


def test_names_from_elsewhere_are_not_those_that_are_gone(tmp_path: Path) -> None:
    before = {
        "pack.go": "package pack\n\nfunc MustCompile(x string) string { return x }\n",
        "use.go": 'package pack\n\nimport "regexp"\n\nvar a = regexp.MustCompile("x")\nvar b = MustCompile("x")\n',
        "old.py": "def shown():\n    pass\n\n\ndef other():\n    pass\n",
        "new.py": "",
        "user.py": "from new import shown\nfrom old import other\n\nshown()\nother()\n",
    }
    repository(tmp_path, before)
    after = {
        "pack.go": "package pack\n",
        "old.py": "def other():\n    pass\n",
        "new.py": "def shown():\n    pass\n",
    }
    write(tmp_path, after)
    assert places(tmp_path) == {"use.go:6"}


def test_what_syntax_calls_and_a_call_that_was_changed_are_no_use(tmp_path: Path) -> None:
    lock = "class Lock:\n    def __enter__(self):\n        pass\n\n    def __exit__(self, %s):\n        pass\n"
    user = "from lock import Lock, made\n\nwith Lock():\n    made(\n        1,%s\n    )\n"
    made = "\n\ndef made(%s):\n    pass\n"
    repository(tmp_path, {"lock.py": lock % "*_" + made % "a", "user.py": user % ""})
    write(tmp_path, {"lock.py": lock % "kind, error, trace" + made % "a, b"})
    assert places(tmp_path) == {"user.py:4"}
    write(tmp_path, {"user.py": user % "\n        2,"})
    assert places(tmp_path) == set()


# By the name of each: the files as they are, those that change, and the lines that are named then.
GONE: dict[str, tuple[dict[str, str], dict[str, str], set[str]]] = {
    "fields": (
        {
            "a.go": "package a\n\ntype S struct {\n\tA int\n\tB int\n}\n",
            "b.go": "package a\n\nfunc g(s S) int { return s.A + s.B }\n",
            "a.java": "class A {\n static final int K = 1;\n int use() { return A.K; }\n}\n",
        },
        {
            "a.go": "package a\n\ntype S struct {\n\tB int\n}\n",
            "a.java": "class A {\n int use() { return A.K; }\n}\n",
        },
        {"b.go:3", "a.java:2"},
    ),
    "words_that_are_no_uses": (
        {
            "a.js": "export function close() {}\nexport function other() {}\n",
            "b.js": "import {other} from './a'\nother('close', {close: 1})\nthing.close()\nmade().close()\n",
        },
        {"a.js": "export function other() {}\n"},
        set(),
    ),
    "methods_of_a_type_that_is_gone": (
        {
            "a.go": "package a\n\ntype t struct{}\n\nfunc (x *t) Finished() {}\n",
            "b.go": "package a\n\nfunc g(c Other) { c.Finished() }\n",
        },
        {"a.go": "package a\n"},
        set(),
    ),
    "names_that_a_file_passes_on": (
        {
            "a.ts": "export type Level = string\n",
            "b.ts": "import { Level } from './a'\nlet a: Level\n",
        },
        {"a.ts": "import type { Any as Level } from 'log'\nexport type { Level }\n"},
        set(),
    ),
    "languages_without_types": (
        {
            "a.ex": "defmodule A do\n  def twice(x), do: x\n\n  def use(x), do: twice(x)\nend\n",
            "b.ex": "defmodule B do\n  def use(x), do: A.twice(x)\nend\n",
        },
        {"a.ex": "defmodule A do\n  def use(x), do: twice(x)\nend\n"},
        {"a.ex:2", "b.ex:2"},
    ),
    "a_class_named_as_its_namespace": (
        {
            "a.php": "<?php\nnamespace Made;\n\nclass Made {\n public $k = 1;\n function f() { return $this->k; }\n}\n",
        },
        {
            "a.php": "<?php\nnamespace Made;\n\nclass Made {\n function f() { return $this->k; }\n}\n"
        },
        {"a.php:5"},
    ),
    "methods_of_rust_by_path": (
        {
            "a.rs": "struct S;\nimpl S { fn m(&self) {} }\nfn g(s: &S) { S::m(s); s.m() }\n",
        },
        {"a.rs": "struct S;\nfn g(s: &S) { S::m(s); s.m() }\n"},
        {"a.rs:2"},
    ),
}


@pytest.mark.parametrize("name", GONE)
def test_what_names_something_that_is_gone(tmp_path: Path, name: str) -> None:
    before, after, expected = GONE[name]
    repository(tmp_path, before)
    write(tmp_path, after)
    assert places(tmp_path) == expected


def test_a_parameter_with_the_name_of_an_import_is_no_use(tmp_path: Path) -> None:
    own = "def own(helper):\n    return helper()\n\n\ndef each(all):\n    for helper in all:\n        helper()\n"
    local = "def late():\n    from helper import helper\n\n    return helper()\n"
    repository(tmp_path, {"helper.py": HELPER, "user.py": f"{USER}\n{own}", "late.py": local})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    assert places(tmp_path) == {"user.py:1", "user.py:3", "late.py:2", "late.py:4"}


def test_files_that_cannot_be_judged_are_named(tmp_path: Path) -> None:
    repository(tmp_path, {"data.py": HELPER, "logo.png": "1", "both.py": HELPER})
    write(tmp_path, {"data.py": "x\0", "logo.png": "\0"})
    write(tmp_path, {"both.py": f"<<<<<<< a\n{HELPER}=======\n>>>>>>> b\n"})
    with Workspace.open(tmp_path) as workspace:
        notes = "\n".join(invoke(load("code.breaks"), workspace, {}).notes)
    assert "data.py (binary)" in notes
    assert "both.py (not merged)" in notes
    assert "logo.png" not in notes


def test_names_that_are_gone_with_their_file(tmp_path: Path) -> None:
    package = "package mux\n\nconst isNew = true\n\nfunc serve() {}\n"
    user = "package mux\n\nfunc Get() {\n\tif isNew {\n\t\tserve()\n\t}\n}\n"
    repository(
        tmp_path, {"lib/serve.go": package, "lib/get.go": user, "helper.py": HELPER, "u.py": USER}
    )
    (tmp_path / "lib/serve.go").unlink()
    (tmp_path / "helper.py").unlink()
    # of a file that others import, the imports are enough
    assert places(tmp_path) == {"lib/get.go:4", "lib/get.go:5", "u.py:1"}


def test_defaults_that_stand_in_a_header(tmp_path: Path) -> None:
    header = (
        "int area(int w, int h = 1);\nclass Box { public: void grow(int by, int times = 1); };\n"
    )
    body = '#include "a.h"\nint area(int w, int h) { return w * h; }\nvoid Box::grow(int by, int times) {}\n'
    user = (
        '#include "a.h"\nint f() {\n  Box b;\n  b.grow(1);\n  b.grow(1, 2);\n  return area(1);\n}\n'
    )
    repository(tmp_path, {"a.h": header, "a.cpp": body, "u.cpp": user})
    write(tmp_path, {"a.h": header.replace(" = 1", "")})
    assert places(tmp_path) == {"u.cpp:4", "u.cpp:6"}
    git(tmp_path, "checkout", ".")
    # a default for what is new stands in the header alone
    write(tmp_path, {"a.h": header.replace("h = 1", "h = 1, int d = 2")})
    write(tmp_path, {"a.cpp": body.replace("int h", "int h, int d")})
    assert places(tmp_path) == set()


def test_a_file_that_has_only_another_mode_is_still_there(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "user.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    (tmp_path / "user.py").chmod(0o755)
    assert places(tmp_path) == {"user.py:1", "user.py:3"}
