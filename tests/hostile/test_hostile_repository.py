"""Every command and every tool on a repository that does its worst, through every door.

`bench.hostile` makes the repository and judges the answers; there it has 100,000 files more.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from bench.hostile import __main__ as hostile
from bench.hostile.questions import QUESTIONS
from bench.hostile.repository import MARK, OUTSIDE, SECRET, make

from tersely.capabilities import catalogue
from tersely.capabilities.invoke import invoke
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.cli.main import main
from tersely.daemon import lifecycle
from tersely.workspace import Workspace

WORDS = list(hostile.command_lines())
ANSWER_SECONDS = 120.0


class Opened:
    """What this process opens below the directory that nobody may read: a hook can be turned off,
    not taken away.
    """

    def __init__(self) -> None:
        self.outside = ""
        self.found: list[str] = []
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.outside or event not in ("open", "os.listdir", "os.scandir"):
            return
        path = arguments[0]
        follows = event != "open" or not int(str(arguments[2] or 0)) & os.O_NOFOLLOW
        if isinstance(path, str | bytes | os.PathLike):
            place = os.fsdecode(path)
            where = os.path.realpath(place if follows else os.path.dirname(place))
            if f"{where}/".startswith(self.outside):
                self.found.append(place)

    def watch(self, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Look out from now on; what is opened from a directory is known by where its descriptor
        leads.
        """
        self.outside, self.found = f"{outside.resolve()}/", []
        opens = os.open

        def watched(*arguments: Any, **named: Any) -> int:
            descriptor = opens(*arguments, **named)
            place = os.path.realpath(f"/dev/fd/{descriptor}")
            if self.outside and f"{place}/".startswith(self.outside):
                self.found.append(place)
            return descriptor

        monkeypatch.setattr(os, "open", watched)


OPENED = Opened()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository in `root`, and what lies beside it."""
    folder = tmp_path_factory.mktemp("hostile").resolve()
    make(folder, 120)
    return folder


@pytest.fixture
def root(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The repository as the current directory; nobody may have looked beside it."""
    monkeypatch.chdir(folder / "root")
    OPENED.watch(folder / OUTSIDE, monkeypatch)
    yield folder / "root"
    OPENED.outside = ""
    assert OPENED.found == []
    assert not (folder / OUTSIDE / MARK).exists()


def test_there_is_a_question_for_every_capability() -> None:
    assert set(QUESTIONS) == set(catalogue.CODE_NAMES)


def test_the_watch_sees_who_looks_outside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    OPENED.watch(folder / OUTSIDE, monkeypatch)
    (folder / "root" / "links" / "file.py").read_bytes()
    directory = os.open(folder, os.O_RDONLY)
    for name in ("outside/secret.py", "root/links/folder"):
        os.close(os.open(name, os.O_RDONLY, dir_fd=directory))
    os.close(directory)
    OPENED.outside = ""
    assert len(OPENED.found) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("words", WORDS, ids=lambda words: ascii(" ".join(words)))
def test_every_command_answers_or_says_why(
    root: Path,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERSELY_DAEMON", "off")
    status = main(words)
    printed = capsys.readouterr()
    ending = hostile.judged(" ".join(words), status, printed.out, printed.err, 0.0)
    assert not ending.is_bad, (ending, printed.out[:500], printed.err[:500])
    assert SECRET not in printed.out


@pytest.mark.slow
def test_every_tool_answers_or_says_why(root: Path) -> None:
    endings = anyio.run(hostile._by_tool, root, ANSWER_SECONDS)
    assert len(endings) == len(QUESTIONS)
    assert [ending for ending in endings if ending.is_bad] == []


@pytest.mark.slow
def test_a_daemon_answers_all_the_same(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="tersely-") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        lifecycle.start(str(root), ANSWER_WORDS, 600)
        try:
            for words in WORDS:
                status = main(words)
                printed = capsys.readouterr()
                ending = hostile.judged(" ".join(words), status, printed.out, printed.err, 0.0)
                assert not ending.is_bad, ending
        finally:
            lifecycle.stop(str(root))


def outside_paths(folder: Path) -> list[str]:
    """What leads out of the root, as paths, places and symbols are written."""
    secret = folder / OUTSIDE / "secret.py"
    return [
        str(secret),
        "../outside/secret.py",
        "links/folder/secret.py",
        "links/file.py:1",
        "a\0b",
    ]


def patch_of(path: str) -> str:
    """A patch of a line that is there already."""
    return (
        f"--- a/{path}\n+++ b/{path}\n@@ -2,1 +2,1 @@\n-# before\n+def {SECRET}(): ...\n".replace(
            SECRET, "x"
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_no_argument_of_any_capability_leads_out(folder: Path, root: Path, name: str) -> None:
    capability = catalogue.load(name)
    texts = [one for one in capability.parameters if one.type is str]
    with Workspace.open(root, refresh=False) as workspace:
        for parameter in texts:
            for path in outside_paths(folder):
                for given in (path, patch_of(path)) if parameter.name == "patch" else (path,):
                    asked = {
                        **QUESTIONS[name][1],
                        parameter.name: [given] if parameter.many else given,
                    }
                    outcome = invoke(capability, workspace, asked)
                    assert outcome.failure is None or not outcome.failure.is_defect, (
                        asked,
                        outcome.failure,
                    )
                    answer = outcome.envelope()
                    shown = str(answer.get("error") or answer["result"]).replace(given, "")
                    assert SECRET not in shown, asked


LATER = {
    "code.extract": {"path": "a/b.py"},
    "code.symbol.get": {"symbol": "a/b.py:inside"},
    "code.context": {"symbols": ["inside"], "include": ["a/b.py"]},
    "code.search": {"query": ['"def"']},
    "code.packet": {"task": "inside is wrong", "min_confidence": 0},
    "code.cfg": {"symbol": "inside"},
    "code.complexity": {},
    "code.dead": {},
    "code.duplicates": {},
    "code.map": {},
    "code.change_impact": {"files": ["a/b.py"]},
    "code.conflicts": {},
    "code.breaks": {},
    "code.enclosing": {"places": ["a/b.py:1"]},
}


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("link", ["a", "a/b.py"])
def test_a_link_that_was_made_after_the_index_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, link: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for directory, text in (
        (root / "a", "def inside(): ...\n"),
        (outside, f"def {SECRET}(): ...\n"),
    ):
        directory.mkdir(parents=True)
        (directory / "b.py").write_text(text)
        (directory / "test_b.py").write_text(
            "from a.b import inside\n\n\ndef test_inside():\n    inside()\n"
        )
    with Workspace.open(root) as workspace:
        workspace.refresh()
    (root / link).rename(tmp_path / "before")
    (root / link).symlink_to(outside if link == "a" else outside / "b.py")
    OPENED.watch(outside, monkeypatch)
    try:
        with Workspace.open(root, refresh=False) as workspace:
            outcome = invoke(catalogue.load(name), workspace, LATER[name])
    finally:
        OPENED.outside = ""
    assert OPENED.found == []
    assert SECRET not in str(outcome.envelope())
