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


CALLS = """from area import area

area(2, 3)
area(2, height=3)
area(width=2, height=3)
area(*[2, 3])
"""


def test_only_calls_that_fit_no_more_are_named(tmp_path: Path) -> None:
    signatures = {
        "def area(w, height):": {"user.py:5"},
        "def area(width, height, depth):": {f"user.py:{line}" for line in (3, 4, 5, 6)},
        "def area(width, height, depth=1):": set(),
        "def area(a, b):": {"user.py:4", "user.py:5"},
    }
    before = "def area(width, height):\n    return 1\n"
    repository(tmp_path, {"area.py": before, "user.py": CALLS})
    for signature, expected in signatures.items():
        write(tmp_path, {"area.py": f"{signature}\n    return 1\n"})
        assert places(tmp_path) == expected, signature


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
