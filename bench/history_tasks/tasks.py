"""Tasks: commits whose tests were seen to fail before the change and to pass after it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.history_tasks.commands import TIME, Commands, EndedCommand, with_tests
from bench.history_tasks.history import Commit, commits
from bench.history_tasks.test_commands import is_source, test_command
from bench.history_tasks.transcripts import ending
from bench.history_tasks.trees import Trees

MAX_TRIED_COMMITS = 200  # whose tests are run for one measurement
# Of Python: what is installed may be another copy of the project, whose tests would say nothing of
# the folder's.
_OF_THE_FOLDER = "PYTHONPATH=src:. "
_PYTHON_FILE = ".py"

NO_COMMAND = "no command for their tests is known"
FAIL_AFTER = "their tests fail after the change"
NOT_NEEDED = "their tests pass before the change"
TOO_SLOW = "their tests take too long"


class Task(NamedTuple):
    """A commit as a task: `test_command` runs its tests, which fail without the change and pass
    with it.
    """

    commit: Commit
    test_command: str

    @property
    def name(self) -> str:
        """The beginning of the commit's id."""
        return self.commit.id[:10]

    @property
    def title(self) -> str:
        """The first line of what is asked."""
        return self.commit.text.partition("\n")[0]


class Skipped(NamedTuple):
    """The reason for which commits are no tasks: how many, and what the tests of the first of them
    printed last.
    """

    why: str
    commits: int
    example: str

    def __str__(self) -> str:
        return f"{self.commits:,} because {self.why}{f' ({self.example})' if self.example else ''}"


class Cut(NamedTuple):
    """The tasks that were cut, how many commits were tried for them, and why the others are no
    tasks.
    """

    tasks: tuple[Task, ...]
    tried: int
    skipped: tuple[Skipped, ...]


class _Tried(NamedTuple):
    """The outcome of trying a commit: the command for its tests, and why it is no task, "" if it is
    one.
    """

    command: str
    why_not: str = ""
    printed: str = ""  # by its tests


class Cutter:
    """Cuts tasks from the history of a repository. `given` is the user's command for tests, "" to
    find one.
    """

    def __init__(self, root: Path, scratch: Path, commands: Commands, given: str) -> None:
        self._root = root
        self._scratch = scratch
        self._commands = commands
        self._given = given
        self.trees = Trees(root, scratch)

    async def cut(self, most: int, progress: Callable[[str], None]) -> Cut:
        """Up to so many tasks, of the newest commits that are any; raises `git_unavailable`,
        `program_failed`.
        """
        tasks: list[Task] = []
        skipped: dict[str, Skipped] = {}
        tried = 0
        for commit in commits(self._root):
            if len(tasks) == most or tried == MAX_TRIED_COMMITS:
                break
            tried += 1
            progress(f"cutting tasks: {len(tasks)} of {most}, commit {tried}")
            found = await self._tried(commit)
            if not found.why_not:
                tasks.append(Task(commit, found.command))
                continue
            before = skipped.get(found.why_not) or Skipped(found.why_not, 0, ending(found.printed))
            skipped[found.why_not] = before._replace(commits=before.commits + 1)
            progress(f"{commit.id[:10]} is no task: {found.why_not}: {ending(found.printed)}")
        return Cut(tuple(tasks), tried, tuple(skipped.values()))

    async def _tried(self, commit: Commit) -> _Tried:
        folder = self._scratch / "after"
        try:
            self.trees.write(folder, commit.id)
            command = self._command(folder, self.trees.paths(commit.id, commit.tests))
            if not command:
                return _Tried("", NO_COMMAND)
            after = await self._commands.run_tests(folder, command)
            if not after.is_success:
                return _Tried(command, _why(after, FAIL_AFTER), after.output)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        folder = self._scratch / "before"
        try:
            self.write_base(folder, commit)
            before = await self._commands.run_tests(folder, command)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return _Tried(command, NOT_NEEDED if before.is_success else _why(before, ""), before.output)

    def write_base(self, folder: Path, commit: Commit) -> None:
        """Write what the task begins with: the commit before, and the tests of this one."""
        self.trees.write(folder, commit.parent)
        self.write_tests(folder, commit)

    def write_tests(self, folder: Path, commit: Commit) -> None:
        """Have the files of tests be those of the commit, whatever was made of them."""
        self.trees.write(folder, commit.id, commit.tests)

    def _command(self, folder: Path, tests: list[str]) -> str:
        if self._given:
            return with_tests(self._given, tests)
        paths = [path for path in tests if is_source(path)]
        found = test_command(folder, paths)
        is_python = any(path.endswith(_PYTHON_FILE) for path in paths)
        return f"{_OF_THE_FOLDER}{found}" if found and is_python else found


def _why(ran: EndedCommand, otherwise: str) -> str:
    return TOO_SLOW if ran.why == TIME else otherwise


def none_found(cut: Cut) -> SystemExit:
    """What to end with where no commit is a task."""
    reasons = "; ".join(map(str, cut.skipped))
    message = f"no task could be cut: {cut.tried} commits change code and tests{f', {reasons}' if reasons else ''}"
    hint = "--test COMMAND says how tests are run, with {tests} for their files; their programs must be installed"
    return SystemExit(f"{message}\n{hint}")
