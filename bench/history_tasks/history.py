"""Commits that may become tasks: small ones that change both tests and code, the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.history_tasks.test_commands import is_source, is_test
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import beginning

MAX_HISTORY_COMMITS = 5_000  # that are read for tasks
MAX_TASK_FILES = 8  # of code that the commit of a task changes
MAX_TASK_TESTS = 40  # files of tests that the commit of a task changes
MAX_TASK_LINES = 300  # of code that the commit of a task changes
MAX_TASK_CHARACTERS = 4_000  # of a task's description
LEAST_TASK_CHARACTERS = 20  # of a commit message that says what to do
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%P{_FIELD}%B{_FIELD}"
_TRAILER = re.compile(
    r"^(?:signed-off|co-authored|change-id|reviewed|acked|cc:|\W*-{3,})", re.IGNORECASE
)
_REFERENCE = re.compile(r"\s*\(?(?:closes |fixes |refs )?#\d+\)?", re.IGNORECASE)


class Commit(NamedTuple):
    """A commit that may become a task: `text` describes it, `tests` are the files of tests that it
    leaves.
    """

    id: str
    parent: str
    text: str
    tests: tuple[str, ...]


class _Changed(NamedTuple):
    path: str
    lines: int  # added and removed, 0 for a binary file


def commits(root: Path) -> Iterator[Commit]:
    """Commits that change code and tests, the newest first; raises `git_unavailable` where there is
    no history.
    """
    words = [
        "log",
        "--no-merges",
        "--no-renames",
        "--numstat",
        f"--max-count={MAX_HISTORY_COMMITS}",
        _FORMAT,
    ]
    printed = beginning(str(root), words).decode("utf-8", "replace")
    if not printed:
        raise TerselyError(
            "git_unavailable",
            f"{root} has no history that git can read",
            "tasks are cut from commits",
        )
    for record in printed.split(_RECORD)[1:]:
        commit = _commit(record)
        if commit is not None:
            yield commit


def _commit(record: str) -> Commit | None:
    fields = record.split(_FIELD)
    if len(fields) != 4 or not fields[1]:
        # cut at the end of what is read, or the first commit of all
        return None
    identity, parent, message, numbers = fields
    changed = [_changed(line) for line in numbers.splitlines() if line.count("\t") == 2]
    tests = tuple(one.path for one in changed if is_test(one.path))
    code = [one for one in changed if is_source(one.path) and not is_test(one.path)]
    text = description(message.strip())[:MAX_TASK_CHARACTERS]
    holds_tests = any(is_source(path) for path in tests)
    if not (code and holds_tests) or len(text) < LEAST_TASK_CHARACTERS:
        return None
    lines = sum(one.lines for one in code)
    if len(code) > MAX_TASK_FILES or len(tests) > MAX_TASK_TESTS or lines > MAX_TASK_LINES:
        return None
    return Commit(identity, parent, text, tests)


def _changed(line: str) -> _Changed:
    added, removed, path = line.split("\t")
    return _Changed(path, sum(int(count) for count in (added, removed) if count.isdigit()))


def description(message: str) -> str:
    """The task that a commit message describes, without trailers and numbers of issues."""
    subject, _, body = message.partition("\n")
    kept = [line for line in body.split("\n") if not _TRAILER.match(line)]
    return "\n".join([_REFERENCE.sub("", subject), *kept]).strip()
