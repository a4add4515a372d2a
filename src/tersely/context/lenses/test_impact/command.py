"""The line for a shell that runs some tests, with the programs that the repository uses."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fnmatch import filter as names_like
from functools import cache, partial
from pathlib import Path

from tersely.code.index.content import text_below
from tersely.code.languages.runners.conventions import CONVENTIONS
from tersely.code.languages.runners.runner import Runner, SelectedTest, path_word
from tersely.code.places import directory_of, outward

MAX_COMMAND_TESTS = 40  # named one by one in a command; of more, their files


class Projects:
    """The directories of one repository that say how their tests are run."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: Callable[[str], list[str]] = cache(self._listed)
        self._text: Callable[[str], str] = cache(partial(text_below, str(root)))
        self.runner: Callable[[str, str], tuple[str, Runner]] = cache(self._runner)

    def _runner(self, directory: str, language: str) -> tuple[str, Runner]:
        """The directory that tests of a directory are run from, "" for the root, and by what: the
        nearest says so.
        """
        runners = CONVENTIONS[language].runners
        around = outward(directory)
        for is_project in (True, False):
            for nearest in around:
                for runner in runners:
                    if (
                        runner.marker
                        and runner.is_project is is_project
                        and self._says(nearest, runner)
                    ):
                        return (nearest if is_project else ""), runner
        return "", runners[-1]

    def _says(self, directory: str, runner: Runner) -> bool:
        found = names_like(self._names(directory), runner.marker)
        paths = (f"{directory}/{name}" if directory else name for name in found)
        return any(not runner.says or re.search(runner.says, self._text(path)) for path in paths)

    def _listed(self, directory: str) -> list[str]:
        place = os.path.normpath(self._root / directory)
        try:
            return sorted(os.listdir(place)) if os.path.realpath(place) == place else []
        except OSError:
            return []


def command(
    tests: Sequence[SelectedTest],
    language_of: Callable[[str], str],
    root: Path,
    all_files: Iterable[str] = (),
) -> str:
    """One line that runs all the tests; of very many their files, or all there are. "" for no
    tests.

    `all_files` are those that hold tests, if the line is to say so where it would name each of a
    project.
    """
    projects = Projects(root)
    groups = _by_project(_few(tests), language_of, projects)
    whole = _by_project(map(SelectedTest, all_files), language_of, projects)
    lines = []
    for key, group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1].everything)):
        directory, runner = key
        is_all = len(whole[key]) > 1 and {test.path for test in whole[key]} <= {
            test.path for test in group if not test.name
        }
        line = (
            runner.everything if is_all or len(group) > MAX_COMMAND_TESTS else runner.command(group)
        )
        lines.append(f"(cd {path_word(directory)} && {line})" if directory else line)
    return " && ".join(filter(None, dict.fromkeys(lines)))


def _by_project(
    tests: Iterable[SelectedTest], language_of: Callable[[str], str], projects: Projects
) -> dict[tuple[str, Runner], list[SelectedTest]]:
    """Tests by the directory that they are run from and what runs them, their paths written from
    there.
    """
    groups: dict[tuple[str, Runner], list[SelectedTest]] = defaultdict(list)
    for test in sorted(tests):
        language = language_of(test.path)
        if language in CONVENTIONS:
            directory, runner = projects.runner(directory_of(test.path), language)
            inside = test.path.removeprefix(f"{directory}/") if directory else test.path
            groups[directory, runner].append(test._replace(path=inside))
    return groups


def _few(tests: Iterable[SelectedTest]) -> set[SelectedTest]:
    """The tests without those whose whole file is to be run; only files if there are too many."""
    listed = set(tests)
    whole = {test for test in listed if not test.name}
    paths = {test.path for test in whole}
    single = {test for test in listed if test.path not in paths}
    if len(single) > MAX_COMMAND_TESTS:
        return whole | {SelectedTest(test.path) for test in single}
    return whole | single
