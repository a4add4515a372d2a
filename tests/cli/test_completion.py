"""Completion: what can follow, and bash itself asking for it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.asking import Ask, run

from tersely.cli.commands import COMMANDS

MAX_SILENCE_SECONDS = 30.0  # of a shell that has been asked something


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tersely cont", ["context"]),
        ("tersely symbol c", ["callees", "callers", "checkout"]),
        ("tersely completion ", ["bash", "zsh", "fish"]),
        ("tersely help exi", ["exit-codes"]),
        ("tersely calls --cal", ["--callees", "--callers"]),
        (
            "tersely context x --format ",
            ["text", "ultracompact", "compact", "numbered", "json", "markdown"],
        ),
        ("tersely context x --no", ["--no-refresh"]),
        ("tersely --co", ["--color"]),
        ("tersely calls --color al", ["always"]),
        ("tersely calls checko", ["checkout"]),
        ("tersely calls --depth 2 checko", ["checkout"]),
        ("tersely context checkout Price.val", ["Price.validate"]),
        ("tersely context src/shop/money.py:form", ["src/shop/money.py:format_cents"]),
        ("tersely extract sr", [":files"]),
        ("tersely --root sr", [":directories"]),
        ("tersely search x --in a.py sr", [":files"]),
        ("tersely search --in a.py b.py --kind cla", ["class"]),
        ("tersely nonsense x", []),
        ("tersely calls 'chec", ["checkout"]),
        ("tersely stats ", []),
        ("tersely clai", ["claim", "claims"]),
        ("tersely board t", ["take"]),
        ("tersely claim --sh", ["--shared"]),
        ("tersely relay art", ["artifact"]),
        ("tersely relay artifact ge", ["get"]),
        ("tersely relay state get --ver", ["--version"]),
        ("tersely claim sr", [":files"]),
    ],
)
def test_what_can_follow(ask: Ask, line: str, expected: list[str]) -> None:
    ask("index")
    assert sorted(ask("complete", line).out.split()) == sorted(expected)


def test_every_command_is_offered(ask: Ask) -> None:
    assert {command.words[0] for command in COMMANDS} <= set(
        ask("complete", "tersely ").out.split()
    )


@pytest.fixture
def tersely_on_path(tmp_path: Path) -> str:
    """A PATH with a `tersely` that runs this code."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program = directory / "tersely"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tersely "$@"\n', "utf-8")
    program.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tersely cont", {"context"}),
        ("tersely calls --cal", {"--callees", "--callers"}),
        ("tersely calls checko", {"checkout"}),
        # bash has taken the path and the colon for words of their own: only the rest is to be
        # replaced.
        ("tersely calls src/shop/money.py:form", {"format_cents"}),
    ],
)
def test_bash_completes(shop: Path, tersely_on_path: str, line: str, expected: set[str]) -> None:
    run(["index"], shop)
    program = f"""
        eval "$(tersely completion bash)"
        COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
        _tersely_complete
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", program],
        cwd=shop,
        env={**os.environ, "PATH": tersely_on_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == expected
    assert done.stderr == ""


# A line as typed, and what the shell makes of it when Tab is pressed: bash, zsh and fish insert
# what is left to say.
COMPLETED = {
    "tersely cont": "tersely context",
    "tersely calls --callee": "tersely calls --callees",
    "tersely calls checko": "tersely calls checkout",
    "tersely calls src/shop/money.py:form": "tersely calls src/shop/money.py:format_cents",
    "tersely calls 'checko": "tersely calls checkout",
    "tersely extract sr": "tersely extract src/",
    "tersely nonsense x": "tersely nonsense x",
    "tersely stats ": "tersely stats",
}


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
def test_fish_completes(shop: Path, tersely_on_path: str) -> None:
    run(["index"], shop)
    program = "tersely completion fish | source; for line in $argv; complete --do-complete $line; echo ==; end"
    done = subprocess.run(
        ["fish", "--no-config", "--command", program, *COMPLETED],
        cwd=shop,
        env={**os.environ, "PATH": tersely_on_path},
        capture_output=True,
        text=True,
        check=True,
    )
    offered = [block.split() for block in done.stdout.split("==\n")[:-1]]
    for (line, completed), words in zip(COMPLETED.items(), offered, strict=True):
        assert words == ([] if completed == line.rstrip() else [completed.split()[-1]]), line
    assert done.stderr == ""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
@pytest.mark.parametrize(
    "loaded_as", ['eval "$(tersely completion zsh)"', "fpath=($PWD/functions $fpath)"]
)
def test_zsh_completes(shop: Path, tersely_on_path: str, loaded_as: str) -> None:
    run(["index"], shop)
    (shop / "functions").mkdir()
    (shop / "functions" / "_tersely").write_text(run(["completion", "zsh"], shop).out, "utf-8")
    compinit = "autoload -U compinit; compinit -u -D"
    setup = (
        f"{compinit}; {loaded_as}" if loaded_as.startswith("eval") else f"{loaded_as}; {compinit}"
    )
    assert typed_into_zsh(setup, list(COMPLETED), shop, tersely_on_path) == [
        completed.rstrip("/") for completed in COMPLETED.values()
    ]


def typed_into_zsh(setup: str, lines: list[str], directory: Path, path: str) -> list[str]:
    """What an interactive zsh has in its line editor after each line and a Tab, words joined by
    single spaces.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.execvpe(
            "zsh",
            ["zsh", "-f", "-i"],
            {**os.environ, "PATH": path, "TERM": "dumb", "HOME": str(directory)},
        )
    try:
        # The quotes keep the marks out of the echo of what is typed: they appear as output alone.
        os.write(terminal, f"{setup}; print RE''ADY\n".encode())
        output = read_until(terminal, b"READY", b"")[1]
        found = []
        for line in lines:
            os.write(terminal, f"{line}\t\x01print -r -- BE''GIN \x05 EN''D\n".encode())
            output = read_until(terminal, b"BEGIN", output)[1]
            words, output = read_until(terminal, b"END", output)
            found.append(" ".join(words.decode().split()))
        return found
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def read_until(terminal: int, mark: bytes, output: bytes) -> tuple[bytes, bytes]:
    """What comes before a mark, and what was read behind it."""
    while mark not in output:
        assert select.select([terminal], [], [], MAX_SILENCE_SECONDS)[0], output
        output += os.read(terminal, 4096)
    before, _, after = output.partition(mark)
    return before, after


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_the_program_that_printed_them(shop: Path, shell: str) -> None:
    script = run(["completion", shell], shop).out
    assert "tersely complete" in script
    assert "PROGRAM" not in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0
