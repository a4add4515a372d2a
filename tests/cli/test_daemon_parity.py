"""What a daemon answers is what the command would have printed by itself, to the byte."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.asking import Answer, Ask, as_repository, asks_inside, planted
from tests.cli.test_commands import QUESTIONS
from tests.cli.test_questions_without_answers import REFUSALS
from tests.cli.test_startup import loaded_by

from tersely.cli import daemon_client
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.cli.help.overview import OWN_COMMANDS, RELAY_COMMANDS
from tersely.cli.printing.recorded_output import answer
from tersely.daemon import lifecycle
from tersely.daemon.processes.analysis import Words
from tersely.foundation.process import identity
from tersely.workspace import Workspace

# Commands that tell what they have done themselves; no daemon answers them.
OWN_WORK = {"index"}

ODD = [
    ["tree", "--json", "--quiet"],
    ["stats", "--color", "always"],
    ["context", "checkout", "--explain", "--with-docs"],
    ["context", "checkout", "--format", "json"],
    ["context", "checkout", "--include", "README.md"],
    ["symbol", "find", "nothing*", "--json"],
    ["symbol", "validate"],
    ["calls", "validate"],
    ["calls", "--no-refresh", "checkout"],
    ["tree", "--root", "src"],
    ["tree", "--root", "nowhere"],
    ["tree", "--root"],
    ["--json", "tree", "src", "--depth", "1"],
    ["definition", "src/shop/orders.py:16:15"],
    ["extract", "./src/shop/money.py"],
    ["extract", "money.py", "--docs"],
    ["symbol", "find", "\udcff"],
    ["symbol", "find", "--", "--odd"],
    ["dead", "--limit", "1"],
    ["dead", "--limit", "-1"],
    ["fly"],
    ["tree", "a", "b"],
    ["tree", "--color", "blue"],
]


@pytest.fixture(scope="module")
def runtime() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="tersely-")
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, runtime: str) -> Iterator[Path]:
    """A repository with a daemon."""
    root = planted(tmp_path_factory.mktemp("served") / "repository")
    as_repository(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        lifecycle.start(str(root), ANSWER_WORDS, 600)
        # afterwards there is an index, by which its root is found from inside
        lifecycle.ask(str(root), {"cmd": "warm"})
        yield root
        lifecycle.stop(str(root))


@pytest.fixture
def shop(root: Path, runtime: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The repository that has a daemon, as the current directory."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    asks_inside(root, monkeypatch)
    yield root
    shutil.rmtree(root / "src/.tersely", ignore_errors=True)  # of a question about `--root src`


@pytest.fixture
def ask_twice(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask with the daemon and without: both must print the same."""

    def asked(*words: str) -> Answer:
        monkeypatch.setenv("TERSELY_DAEMON", "off")
        alone = ask(*words)
        monkeypatch.setenv("TERSELY_DAEMON", "use")
        helped = ask(*words)
        assert (helped.status, helped.out, helped.err) == (alone.status, alone.out, alone.err)
        return helped

    return asked


def test_every_answer_is_the_same(ask_twice: Ask) -> None:
    for name, (words, _) in QUESTIONS.items():
        if name not in OWN_WORK:
            for options in ([], ["--json"]):
                ask_twice(*name.split(), *words, *options)


def test_every_refusal_is_the_same(ask_twice: Ask) -> None:
    for words, _, _ in REFUSALS:
        if words and words[0] not in OWN_WORK:
            ask_twice(*words)


def test_odd_questions_are_answered_the_same(ask_twice: Ask) -> None:
    for words in ODD:
        ask_twice(*words)


def test_paths_are_those_of_the_directory_that_was_asked_in(
    ask_twice: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / "src/shop")
    for words in (
        ["extract", "money.py"],
        ["structure", "."],
        ["definition", "orders.py:16"],
        ["imports", "../../broken.py"],
    ):
        assert ask_twice(*words).status == 0


def test_settings_are_those_of_whoever_asks(
    ask_twice: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("40", "300", "none"):
        monkeypatch.setenv("TERSELY_BUDGET_TOKENS", value)
        ask_twice("context", "checkout")
    monkeypatch.delenv("TERSELY_BUDGET_TOKENS")
    monkeypatch.setenv("TERSELY_NO_SUCH", "1")
    assert "no setting" in ask_twice("tree").err
    config = shop / ".tersely/config.toml"
    config.write_text("colour = true\n")
    assert "'colour'" in ask_twice("tree").err
    monkeypatch.delenv("TERSELY_DAEMON")
    config.write_text("daemon = 'off'\n")
    assert answered("tree") is None
    config.unlink()


def answered(*words: str) -> int | None:
    return daemon_client.answered("tersely", words)


def test_it_is_the_daemon_that_answers(ask: Ask, shop: Path) -> None:
    assert answered("tree") == 0
    assert answered("symbol", "find", "nothing") == 1
    assert answered("calls", "--depht", "2") == 2


@pytest.mark.parametrize(
    "words", [["index"], ["tree", "--help"], ["--version"], ["tree", "--root", "src"], ["help"], []]
)
def test_what_is_not_for_the_daemon_is_left_to_the_command(shop: Path, words: list[str]) -> None:
    assert answered(*words) is None


def test_a_daemon_of_another_program_is_not_used(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "program_identity", lambda: "another")
    assert answered("tree") is None


def test_a_daemon_that_hangs_is_not_waited_for(shop: Path) -> None:
    status = lifecycle.status(str(shop))
    assert status is not None
    os.kill(status["pid"], signal.SIGSTOP)
    try:
        assert answered("tree") is None
    finally:
        os.kill(status["pid"], signal.SIGCONT)


def test_a_command_that_a_daemon_answers_loads_next_to_nothing(ask: Ask, shop: Path) -> None:
    """What Python itself loads for `json` is most of it."""
    ours = {name for name in loaded_by("tree") if name.startswith("tersely")}
    assert ours == {
        *(
            "tersely",
            "tersely.cli",
            "tersely.cli.main",
            "tersely.cli.daemon_client",
            "tersely.cli.help",
            "tersely.cli.help.overview",
        ),
        *("tersely.cli.printing", "tersely.cli.printing.terminal"),
        *("tersely.daemon", "tersely.daemon.client", "tersely.daemon.endpoint"),
        "tersely.daemon.place",
        *(
            "tersely.foundation",
            "tersely.foundation.limits",
            "tersely.foundation.storage",
            "tersely.foundation.storage.private",
            "tersely.foundation.storage.roots",
            "tersely.foundation.system",
        ),
        *("tersely.foundation.process", "tersely.foundation.process.identity"),
    }
    assert (
        loaded_by("tree") & {"socket", "hashlib", "pathlib", "typing", "dataclasses", "subprocess"}
        == set()
    )


def test_no_daemon_answers_what_is_not_about_code(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*OWN_COMMANDS, *RELAY_COMMANDS]
    assert [
        name
        for name in names
        if daemon_client.answered("tersely", ["--quiet", name, "x"]) is not None
    ] == []
    monkeypatch.setattr(daemon_client, "_is_no_question", lambda word: False)
    assert [
        name for name in names if daemon_client.answered("tersely", [name, "x"]) is not None
    ] == []


def test_no_daemon_keeps_an_answer_for_a_command(tmp_path: Path) -> None:
    def open_workspace(environment: object, refresh: bool) -> Workspace:
        raise AssertionError("it was asked")

    for words in (["calls", "x", "--output", "cassette"], ["--output", "cassette", "stats"]):
        typed = Words(
            "tersely", words, str(tmp_path), {}, is_out_terminal=False, is_error_terminal=False
        )
        assert answer(typed, tmp_path.resolve(), open_workspace) is None
