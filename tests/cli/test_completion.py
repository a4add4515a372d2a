"""Completion: what can follow, and bash itself asking for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.asking import Ask, run

from laconic.cli.commands import COMMANDS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("laconic con", ["context"]),
        ("laconic symbol c", ["callees", "callers", "checkout"]),
        ("laconic completion ", ["bash", "zsh", "fish"]),
        ("laconic help exi", ["exit-codes"]),
        ("laconic calls --cal", ["--callees", "--callers"]),
        ("laconic context x --format ", ["text", "ultracompact", "compact", "json", "markdown"]),
        ("laconic context x --no", ["--no-refresh"]),
        ("laconic --co", ["--color"]),
        ("laconic calls --color al", ["always"]),
        ("laconic calls checko", ["checkout"]),
        ("laconic calls --depth 2 checko", ["checkout"]),
        ("laconic context checkout Price.val", ["Price.validate"]),
        ("laconic context src/shop/money.py:form", ["src/shop/money.py:format_cents"]),
        ("laconic extract sr", [":files"]),
        ("laconic --root sr", [":directories"]),
        ("laconic nonsense x", []),
        ("laconic calls 'chec", ["checkout"]),
        ("laconic stats ", []),
    ],
)
def test_what_can_follow(ask: Ask, line: str, expected: list[str]) -> None:
    ask("index")
    assert sorted(ask("complete", line).out.split()) == sorted(expected)


def test_every_command_is_offered(ask: Ask) -> None:
    assert {command.words[0] for command in COMMANDS} <= set(ask("complete", "laconic ").out.split())


@pytest.fixture
def laconic_on_path(tmp_path: Path) -> str:
    """A PATH with a `laconic` that runs this code."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program = directory / "laconic"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m laconic "$@"\n', "utf-8")
    program.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("laconic con", {"context"}),
        ("laconic calls --cal", {"--callees", "--callers"}),
        ("laconic calls checko", {"checkout"}),
        # bash has taken the path and the colon for words of their own: only the rest is to be replaced.
        ("laconic calls src/shop/money.py:form", {"format_cents"}),
    ],
)
def test_bash_completes(shop: Path, laconic_on_path: str, line: str, expected: set[str]) -> None:
    run(["index"], shop)
    program = f"""
        eval "$(laconic completion bash)"
        COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
        _laconic_complete
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", program],
        cwd=shop,
        env={**os.environ, "PATH": laconic_on_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == expected
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_the_program_that_printed_them(shop: Path, shell: str) -> None:
    script = run(["completion", shell], shop).out
    assert "laconic complete" in script
    assert "PROGRAM" not in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0
