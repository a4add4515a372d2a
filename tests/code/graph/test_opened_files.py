"""Questions open only the files that can add to their answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tersely.code.engine import Engine, StoredFacts
from tersely.code.graph.call_resolution import MAX_FLOW_FILES

MANY = 3 * MAX_FLOW_FILES
VIEWS = {
    f"view{number}.py": f"from views import View\nclass V{number}(View): pass\nV{number}.as_view()\n"
    for number in range(MANY)
}
LIBRARY = """\
class View:
    @classmethod
    def as_view(cls): ...
class Store:
    def put_in(self, thing): thing.kept()
class Thing:
    def kept(self): ...
def use(): Store().put_in(Thing())
"""


def callers(
    root: Path, files: Mapping[str, str], symbol: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], int]:
    """The callers of a symbol with their grades, and the number of files that were opened to find them."""
    for path, text in files.items():
        (root / path).write_text(text, encoding="utf-8")
    opened, read = set[int](), StoredFacts.file_facts

    def counting(facts: StoredFacts, file_id: int) -> object:
        opened.add(file_id)
        return read(facts, file_id)

    with Engine.open(root) as engine:
        engine.refresh()
        monkeypatch.setattr(StoredFacts, "file_facts", counting)
        edges = engine.graph.callers(symbol)
    found = {f"{edge.caller.partition(':')[2]} {edge.grade.value}" for edge in edges}
    return sorted(found), len(opened)


def test_what_methods_are_passed_is_followed_beside_many_dispatchers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"views.py": LIBRARY, **VIEWS}
    found, _ = callers(tmp_path, files, "views.py:Thing.kept", monkeypatch)
    assert found == ["Store.put_in inferred"]


def test_dispatchers_are_searched_for_the_methods_that_they_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"views.py": LIBRARY, **VIEWS}
    assert callers(tmp_path, files, "views.py:Store.put_in", monkeypatch) == (["use inferred"], 1)


def test_names_that_dispatchers_are_given_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = """\
    class Set(View):
        def approve(self): ...
        def reject(self): ...
        def other(self): ...
    WAYS = {"get": "reject"}
    path("a", Set.as_view({"get": "approve"}))
    path("b", Set.as_view(WAYS))
    """
    head = "from django.urls import path\nfrom rest_framework.viewsets import ViewSet as View\n"
    body = "\n".join(line[4:] for line in given.splitlines())
    for name, found in (("approve", [" inferred"]), ("reject", [" inferred"]), ("other", [])):
        files = {"urls.py": head + body}
        assert callers(tmp_path, files, f"urls.py:Set.{name}", monkeypatch)[0] == found


def test_classes_below_are_looked_for_where_something_is_based_on_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = {f"user{n}.py": f"from views import Thing\nx{n} = Thing()\n" for n in range(MANY)}
    below = (
        "import views\nfrom views import Thing as Other\n"
        "class Below(Other):\n    def kept(self): ...\n"
        "class More(views.Thing):\n    def kept(self): ...\n"
    )
    typed = f"{LIBRARY}def ask(thing: Thing): thing.kept()\n"
    files = {"views.py": typed, "below.py": below, **users}
    for name in ("Below", "More"):
        with monkeypatch.context() as patched:
            found, opened = callers(tmp_path, files, f"below.py:{name}.kept", patched)
        assert found == ["ask inferred"]
        assert opened == 2
