"""Questions open only the files that can add to their answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tersely.code.engine import Engine, StoredFacts
from tersely.code.graph.searches.argument_flow import MAX_FLOW_FILES

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


TAKING = "def take(thing, name):\n    return getattr(thing, name)()\n"
THING = "class Thing:\n    def approve(self): ...\n"


def test_computed_names_are_followed_where_some_text_may_be_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = {f"take{number}.py": TAKING for number in range(MANY)}
    files = {"thing.py": f"{THING}other = 'approved'\n", **taking}
    assert callers(tmp_path, files, "thing.py:Thing.approve", monkeypatch) == ([], 1)


@pytest.mark.parametrize(
    "names",
    [
        "['approve']",
        "['app' + 'rove']",
        "{'approve': 1}",
        "dict(approve=1)",
        "[f'app{kind}']",
        "['app' + kind]",
        "['app%s' % kind]",
        "['app{}'.format(kind)]",
    ],
)
def test_a_name_may_be_computed_in_many_ways(
    names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = f"def use(kind):\n    for name in {names}: take(Thing(), name)\n"
    use = f"from take import take\nfrom thing import Thing\n{use}"
    files = {"take.py": TAKING, "thing.py": THING, "use.py": use}
    found, _ = callers(tmp_path, files, "thing.py:Thing.approve", monkeypatch)
    assert found == ["take inferred"]


def test_members_of_unrelated_classes_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = "class Base:\n    def run(self): self.step()\n    def step(self): ...\n"
    below = "from base import Base\nclass Below(Base):\n    def step(self): ...\n"
    unrelated = "from other import Other\nclass Unrelated(Other):\n    def step(self): ...\n"
    others = {f"other{number}.py": unrelated for number in range(MANY)}
    files = {"base.py": base, "below.py": below, "other.py": "class Other: ...\n", **others}
    with monkeypatch.context() as patched:
        found = callers(tmp_path, files, "below.py:Below.step", patched)
    assert found == (["Base.run inferred"], 2)
    with monkeypatch.context() as patched:
        assert callers(tmp_path, files, "other1.py:Unrelated.step", patched)[0] == []


def test_a_member_that_a_class_below_takes_from_beside_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "base.py": "class Base:\n    def run(self): self.step()\n    def step(self): ...\n",
        "mixin.py": "class Mixin:\n    def step(self): ...\n",
        "both.py": "import base, mixin\nclass Both(mixin.Mixin, base.Base): ...\n",
    }
    found, _ = callers(tmp_path, files, "mixin.py:Mixin.step", monkeypatch)
    assert found == ["Base.run inferred"]


def test_descriptors_are_known_by_the_classes_that_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = "class Field:\n    def __get__(self, thing, owner): ...\n"
    owners = {
        f"owner{number}.py": f"from field import Field\nclass O{number}:\n    made{number} = Field()\n"
        for number in range(MANY)
    }
    ask = "class Asking:\n    def ask(self): self.answer()\n    def answer(self): ...\n"
    files = {"field.py": field, "asking.py": ask, **owners}
    with monkeypatch.context() as patched:
        found = callers(tmp_path, files, "asking.py:Asking.answer", patched)
    assert found == (["Asking.ask exact"], 1)
    files["read.py"] = "from owner1 import O1\ndef read(): return O1().made1\n"
    with monkeypatch.context() as patched:
        found, _ = callers(tmp_path, files, "field.py:Field.__get__", patched)
    assert found == ["read inferred"]


def test_a_function_in_a_function_is_looked_for_in_that_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"other{n}.py": "def use(one): return one.key()\n" for n in range(MANY)}
    files["home.py"] = "def use():\n    def key(): ...\n    key()\ndef other(key): key()\n"
    found = callers(tmp_path, files, "home.py:use.key", monkeypatch)
    assert found == (["use exact"], 1)


def test_what_a_function_gives_is_asked_only_where_it_is_taken_for_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = "from part import part\ndef make(): return part()\ndef use():\n    made = make()\n    return made\n"
    files = {"made.py": made, "part.py": "def part(): ...\n"}
    assert callers(tmp_path, files, "made.py:make", monkeypatch) == (["use exact"], 1)
    again = "def make(): return again\nagain = make\ndef use():\n    made = make()\n    made()\n"
    found, _ = callers(tmp_path, {"again.py": again}, "again.py:make", monkeypatch)
    assert found == ["use exact"]
    files = {"again.py": again.replace("made()\n", "made()()\n")}
    assert callers(tmp_path, files, "again.py:make", monkeypatch)[0] == ["use exact"]
