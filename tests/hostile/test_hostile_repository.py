"""Every command and every tool on a repository that does its worst, through every door.

`bench.hostile` makes the repository and judges the answers; there it has 100,000 files more.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from bench.hostile import __main__ as hostile
from bench.hostile.questions import QUESTIONS
from bench.hostile.repository import MARK, OUTSIDE, SECRET, make

from laconic.capabilities import catalogue
from laconic.cli.daemon import ANSWER_WORDS
from laconic.cli.main import main
from laconic.daemon import lifecycle

WORDS = list(hostile.command_lines())
ANSWER_SECONDS = 120.0


class Opened:
    """What this process opens below the directory that nobody may read: a hook can be turned off, not taken away."""

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
    OPENED.outside, OPENED.found = f"{folder / OUTSIDE}/", []
    yield folder / "root"
    OPENED.outside = ""
    assert OPENED.found == []
    assert not (folder / OUTSIDE / MARK).exists()


def test_there_is_a_question_for_every_capability() -> None:
    assert set(QUESTIONS) == set(catalogue.NAMES)


def test_the_watch_sees_who_looks_outside(folder: Path) -> None:
    OPENED.outside = f"{folder / OUTSIDE}/"
    (folder / "root" / "links" / "file.py").read_bytes()
    OPENED.outside = ""
    assert OPENED.found


@pytest.mark.parametrize("words", WORDS, ids=lambda words: ascii(" ".join(words)))
def test_every_command_answers_or_says_why(
    root: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LACONIC_DAEMON", "off")
    status = main(words)
    printed = capsys.readouterr()
    ending = hostile.judged(" ".join(words), status, printed.out, printed.err, 0.0)
    assert not ending.is_bad, (ending, printed.out[:500], printed.err[:500])
    assert SECRET not in printed.out


def test_every_tool_answers_or_says_why(root: Path) -> None:
    endings = anyio.run(hostile._by_tool, root, ANSWER_SECONDS)
    assert len(endings) == len(QUESTIONS)
    assert [ending for ending in endings if ending.is_bad] == []


def test_a_daemon_answers_all_the_same(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="laconic-") as runtime:
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
