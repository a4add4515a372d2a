"""The tool `git`: what reads is free and runs nothing that the repository names; the rest counts as
running one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.agent.tools.box import call, tool

from tersely.agent.tools.running import git
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities.declaration.declaration import Effect

AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b.c"]


@pytest.fixture
def commit(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "first words"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def sign_head(root: Path) -> None:
    """Give the last commit a signature, which nobody has checked."""
    text = subprocess.run(
        ["git", "cat-file", "commit", "HEAD"], cwd=root, check=True, capture_output=True
    ).stdout
    head, _, message = text.partition(b"\n\n")
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    commit = head + b"\n" + signature + b"\n\n" + message
    words = ["git", "hash-object", "-t", "commit", "-w", "--stdin"]
    made = subprocess.run(words, cwd=root, check=True, capture_output=True, input=commit).stdout
    subprocess.run(["git", "update-ref", "HEAD", made.decode().strip()], cwd=root, check=True)


@pytest.mark.parametrize(
    "words",
    [
        "status", "git status --short", "log --oneline -3", "diff --stat HEAD~1", "show HEAD:a.py", "blame -L1,5 a.py",
        "branch -a", "stash list", "tag -l", "remote -v", "grep -n word", "log --format=%s -n 5", "diff -- --output=x",
    ],
)  # fmt: skip
def test_what_reads_is_known(words: str) -> None:
    assert git.effect_of({"arguments": words}) is Effect.READ


@pytest.mark.parametrize(
    "words",
    [
        "commit -m x", "diff --output=x", "diff --outp=x", "-c core.pager=x log", "log --ext-diff", "grep -Ox word",
        "branch x", "tag x", "stash", "remote add a b", "-C / status", "--git-dir=x status", "show --textconv",
        "diff --no-index a /etc/x",
        "stash list drop", "branch -D x", "rev-parse --parseopt", "status; rm x", "shortlog --output x", "'", "",
        "log --show-signature", "config -l", "grep --open-files-in-pager=x w", "blame --contents /etc/passwd a",
        "blame -S/etc/passwd a.txt", "blame -S list a.txt",
    ],
)  # fmt: skip
def test_what_may_write_or_run_is_not_taken_for_reading(words: str) -> None:
    assert tool("git").effect_of({"arguments": words}) is Effect.EXECUTE


@pytest.mark.usefixtures("commit")
def test_words_are_given_to_git_as_they_are(toolbox: Toolbox, root: Path) -> None:
    (root / "a.txt").write_text("two\n")
    assert call(toolbox, "git", arguments="status --short").text == " M a.txt"
    assert "+two" in call(toolbox, "git", arguments="diff").text
    assert "first words" in call(toolbox, "git", arguments="log --oneline").text
    told = call(toolbox, "git", arguments=f"{' '.join(AUTHOR)} commit -qam 'x; touch $(y) > z'")
    assert told.status == "ok", told
    assert "x; touch $(y) > z" in call(toolbox, "git", arguments="log --oneline").text
    assert sorted(path.name for path in root.iterdir()) == [".git", "a.txt"]


@pytest.mark.usefixtures("commit")
@pytest.mark.parametrize(
    "words",
    [
        "diff /dev/null {out}",
        "diff -- a.txt ../secret",
        "diff HEAD:a.txt link/secret",
        "diff HEAD:a.txt :/link/secret",
    ],
)
def test_nothing_outside_of_the_repository_is_compared(
    toolbox: Toolbox, root: Path, words: str
) -> None:
    secret = root.parent / "secret"
    secret.write_text("hunter2\n")
    (root / "link").symlink_to(root.parent)
    told = call(toolbox, "git", arguments=words.format(out=secret))
    assert "leads out of the repository" in told.text
    assert "hunter2" not in told.text


@pytest.mark.usefixtures("commit")
@pytest.mark.parametrize(
    "words", ["status", "diff", "log -p", "log --format=%G?", "show", "blame a.txt", "grep two"]
)
def test_what_only_reads_runs_nothing_that_the_repository_names(
    toolbox: Toolbox, root: Path, words: str
) -> None:
    ran = root / "ran"
    program = root / "program.sh"
    program.write_text(f'#!/bin/sh\ntouch {ran}\ncat "$1" 2>/dev/null || cat\n')
    program.chmod(0o755)
    sign_head(root)
    (root / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    settings = {"filter.evil.clean": program, "filter.evil.smudge": program, "diff.evil.textconv": program,
                "diff.evil.command": program, "diff.external": program, "core.pager": program,
                "core.fsmonitor": program,
                "gpg.program": program, "format.pretty": "%G? %s", "log.showSignature": "true"}  # fmt: skip
    for name, value in settings.items():
        subprocess.run(["git", "config", name, str(value)], cwd=root, check=True)
    (root / "a.txt").write_text("two\n")
    told = call(toolbox, "git", arguments=words)
    assert told.status == "ok", told
    assert not ran.exists()


def test_where_there_is_no_repository_git_says_so(toolbox: Toolbox) -> None:
    assert call(toolbox, "git", arguments="status").status == "failed"
