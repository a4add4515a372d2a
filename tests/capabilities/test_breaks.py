"""What still uses something as it was before a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.repositories import repository, write

from tersely.capabilities.graph.breaks import LINE_PLACES
from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

HELPER = "def helper():\n    return 1\n"
USER = "from helper import helper\n\nprint(helper())\n"


def breaks(root: Path) -> Any:
    with Workspace.open(root) as workspace:
        return ask(workspace, "code.breaks")


def test_a_function_that_its_file_is_named_after(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "user.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    uses = breaks(tmp_path).uses
    assert {place for one in uses for place in one.places} == {"user.py:1", "user.py:3"}


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


def places(root: Path) -> set[str]:
    return {place for one in breaks(root).uses for place in one.places}


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
