"""Answers that were given before are given again as long as they are what would be found now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities import kept
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.code.index.storage.store import Store
from tersely.workspace import Workspace

PIECES = (
    "# nothing\n",
    "\n",
    "from a import *\n",
    "from b import Base, run\n",
    "import a as other\n",
    "class Base:\n    def go(self):\n        return run(self)\n",
    "class Base(other.Base):\n    def go(self):\n        return super().go()\n",
    "class Late(Base):\n    field = 1\n    def go(self):\n        return self.field\n",
    "def run(value):\n    return value.go()\n",
    "def run(value):\n    return getattr(value, 'go')()\n",
    "def start():\n    return run(Late())\n",
    "def start(made=Base):\n    made().go()\n    return [run]\n",
    "run(Base())\n",
    "table = {'go': run}\n",
    "def used():\n    return table['go'](Base())\n",
    "def broken(:\n",
)
PATHS = ("a.py", "b.py", "c.py", "folder/d.py")
FILE = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
TREE = st.fixed_dictionaries(
    dict.fromkeys(PATHS[:2], FILE), optional=dict.fromkeys(PATHS[2:], FILE)
)
EDIT = st.tuples(st.sampled_from(PATHS), FILE | st.none())
QUESTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("code.calls", {"symbol": "run", "direction": "callers"}),
    ("code.calls", {"symbol": "start"}),
    ("code.impact", {"symbol": "Base.go"}),
    ("code.context", {"symbols": ["run"], "budget": 600}),
    ("code.context", {"symbols": ["Base"], "format": "json"}),
    ("code.symbol.references", {"symbol": "Base"}),
)  # fmt: skip


def asked(root: Path, name: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """What a new process would be answered."""
    with Workspace.open(root) as workspace:
        return invoke(load(name), workspace, arguments).envelope()


def all_asked(root: Path) -> list[dict[str, Any]]:
    """What a new process would be answered to each of the questions, at the index as it is."""
    with Workspace.open(root, refresh=False) as workspace:
        return [invoke(load(name), workspace, given).envelope() for name, given in QUESTIONS]


def fresh(root: Path) -> list[dict[str, Any]]:
    """The same where nothing is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERSELY_KEPT_ANSWERS", "off")
        return all_asked(root)


def write(root: Path, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(exist_ok=True, parents=True)
        if text is None:
            place.unlink(missing_ok=True)
        else:
            place.write_text(text)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nothing is kept yet."""
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TERSELY_KEPT_ANSWERS", "use")
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(
        tmp_path / "code",
        {
            "a.py": "class Base:\n    def go(self):\n        return run(self)\n\n\ndef run(value):\n    return value\n",
            "b.py": "from a import run\n\n\ndef start():\n    return run(1)\n",
            "c.py": "def alone():\n    return 1\n",
        },
    )
    return tmp_path / "code"


@settings(max_examples=examples(), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREE, edits=st.lists(EDIT, max_size=3))
def test_whatever_changes_an_answer_is_that_of_now(
    tree: dict[str, str], edits: list[tuple[str, str | None]]
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for files in ({**tree}, *({path: text} for path, text in edits)):
            write(root, files)
            with Workspace.open(root) as workspace:
                workspace.refresh()
            assert all_asked(root) == fresh(root)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The files whose facts are opened from now on."""
    ids: list[int] = []
    facts = Store.facts

    def counted(store: Store, file_id: int) -> Any:
        ids.append(file_id)
        return facts(store, file_id)

    monkeypatch.setattr(Store, "facts", counted)
    return ids


CALLERS = QUESTIONS[0]


@pytest.mark.parametrize(
    "edit",
    [
        {},
        {"c.py": "def alone():\n    return 2\n\n\ndef more():\n    return alone()\n"},
        {"b.py": "from a import run\n\n\ndef start():\n    return run(1)\n# said at the end\n"},
    ],
)
def test_an_answer_is_given_again_while_what_it_asked_stands(
    root: Path, opened: list[int], edit: dict[str, str]
) -> None:
    before = asked(root, *CALLERS)
    write(root, edit)
    with Workspace.open(root) as workspace:
        workspace.refresh()
        opened.clear()
    after = asked(root, *CALLERS)
    assert after["result"] == before["result"]
    assert len(opened) <= len(edit)  # one that has changed is looked at


def test_a_file_with_an_expression_of_many_parts_changes_answers(root: Path) -> None:
    write(root, {"c.py": f"from a import run\n\n\ndef alone():\n    return {'run(1) + ' * 800}1\n"})
    before = asked(root, *CALLERS)
    assert "c.py:alone" in str(before)
    write(root, {"c.py": "def alone():\n    return 1\n"})
    assert "c.py:alone" not in str(asked(root, *CALLERS))


def test_another_worktree_is_given_the_same_answer(
    root: Path, tmp_path: Path, opened: list[int]
) -> None:
    copytree(root, tmp_path / "other")
    before = asked(root, *CALLERS)
    opened.clear()
    assert asked(tmp_path / "other", *CALLERS) == before
    assert not opened


def test_what_no_index_has_is_read_anew(root: Path, tmp_path: Path) -> None:
    ask = ("code.context", {"symbols": ["alone"], "include": [".env"], "budget": 300})
    write(root, {".env": "PASSWORD=one\n"})
    copytree(root, tmp_path / "other")
    assert "PASSWORD=one" in str(asked(root, *ask))
    write(tmp_path / "other", {".env": "PASSWORD=two\n"})
    assert "PASSWORD=two" in str(asked(tmp_path / "other", *ask))
    write(root, {".env": None})
    assert asked(root, *ask)["error"]["code"] == "path_not_found"


def test_nothing_is_kept_where_that_is_off(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_KEPT_ANSWERS", "off")
    asked(root, *CALLERS)
    assert not (home / "answers").exists()


def answers(home: Path) -> list[Path]:
    return sorted(path for path in (home / "answers").rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", ["others may read it", "a byte is another", "it is cut off"])
def test_what_others_may_have_written_and_what_is_damaged_is_not_believed(
    root: Path, home: Path, opened: list[int], damage: str
) -> None:
    before = asked(root, *CALLERS)
    (path,) = answers(home)
    content = path.read_bytes()
    if damage == "others may read it":
        path.chmod(0o644)
    else:
        path.write_bytes(content[:-1] + (b"\xff" if damage == "a byte is another" else b""))
    opened.clear()
    assert asked(root, *CALLERS) == before
    assert opened


def test_answers_lie_where_their_user_alone_may_look(root: Path, home: Path) -> None:
    asked(root, *CALLERS)
    (path,) = answers(home)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {folder.stat().st_mode & 0o777 for folder in (path.parent, path.parent.parent)} == {
        0o700
    }


def test_what_was_not_used_for_longest_makes_room(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MAX_KEPT_BYTES", 1)
    for symbol in ("run", "start", "alone", "Base.go"):
        asked(root, "code.calls", {"symbol": symbol})
    folders = [path.parent for path in answers(home)]
    assert len(folders) == len({*folders})  # the newest of each folder stays
