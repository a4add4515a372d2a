"""Tasks whose changes are known, and the lines that somebody has to see before he can make the
change.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from bench.history_tasks.history import description
from bench.scratch import git
from tersely.code.index.storage.store import Store
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol

LONG_LINES = 120  # a definition with more lines is needed only around its changes
AROUND_LONG = 50  # lines before and after a change that are needed of a long definition
AROUND_LOOSE = 2  # … and of what stands outside of definitions
LEAST_TEXT_CHARACTERS = 150  # of a message that can be a task
MAX_CHANGED_FILES = 8
MAX_CHANGED_LINES = 300
MAX_HISTORY_COMMITS = 8_000  # that are looked through for tasks
_TEST_MODULES = frozenset({"test", "tests"})  # tests that stand in the file of what they test
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|use\s|using\s|require(?:_relative)?\b|package\s)"
)
_COMMENT = re.compile(
    r"\s*(?:#(?!include|define|if|el|end|pragma|\[)|//|/\*|\*(?:\s|/|$)|--(?:\s|$)|<!--)"
)

Lines = dict[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Task:
    """A text that asks for a change, the commit before the change, and the change as a patch."""

    name: str
    repository: str
    base: str
    text: str
    patch: str
    language: str


@dataclass(frozen=True, slots=True)
class Need:
    """What has to be seen: the innermost definitions around the changes, and which of their lines."""

    definitions: tuple[Symbol, ...]
    lines: Lines  # by path


def read_tasks(path: Path, use: str = "") -> list[Task]:
    """The tasks of a file of JSON lines, with `use` only those that are marked so."""
    tasks = []
    for line in path.read_text("utf-8").splitlines():
        told = json.loads(line)
        if use and told.get("use", use) != use:
            continue
        tasks.append(
            Task(
                told["instance_id"],
                told["repo"],
                told["base_commit"],
                told["problem_statement"],
                told["golden_patch"],
                told.get("language", "python"),
            )
        )
    return tasks


def history_tasks(clone: Path, most: int, language: str) -> list[Task]:
    """The newest commits of a clone whose message describes behaviour and whose change is small, as
    tasks.
    """
    listed = git(
        clone, "log", "--no-merges", f"--max-count={MAX_HISTORY_COMMITS}", "--format=%H %P%n%B%x00"
    )
    tasks: list[Task] = []
    for part in listed.decode("utf-8", "replace").split("\0"):
        head, _, message = part.strip().partition("\n")
        commit, _, parent = head.partition(" ")
        text = description(message)
        if not parent or len(text) < LEAST_TEXT_CHARACTERS:
            continue
        patch = git(
            clone, "diff", "--no-renames", "--no-ext-diff", "--no-color", parent, commit
        ).decode("utf-8", "replace")
        if _is_small(patch):
            tasks.append(
                Task(f"{clone.name}-{commit[:10]}", clone.name, parent, text, patch, language)
            )
        if len(tasks) == most:
            break
    return tasks


def _is_small(patch: str) -> bool:
    changed = changed_places(patch)
    if not 1 <= len(changed) <= MAX_CHANGED_FILES:
        return False
    return sum(map(len, changed.values())) <= MAX_CHANGED_LINES


class Change(NamedTuple):
    """A changed place at the base: an old line that is taken out, or two lines between which
    something is put in.
    """

    lines: tuple[int, ...]
    text: str  # the first line that is taken out or put in


def changed_places(patch: str) -> dict[str, list[Change]]:
    """By path outside tests, what a patch changes; lines that take the place of others are no
    places of their own.
    """
    found: dict[str, list[Change]] = defaultdict(list)
    path, old, replaces = "", 0, False
    for line in patch.split("\n"):
        if line.startswith("--- "):
            path = "" if line.startswith("--- /dev/null") else line[6:].split("\t")[0].strip()
        elif hunk := _HUNK.match(line):
            old, replaces = int(hunk[1]) + (hunk[2] == "0"), False
        elif line.startswith(("+++ ", "diff ", "index ", "\\")) or not path or is_test(path):
            continue
        elif line.startswith("+"):
            if not replaces and line[1:].strip():
                found[path].append(Change((old - 1, old), line[1:]))
                replaces = True
        elif line.startswith("-"):
            found[path].append(Change((old,), line[1:]))
            old, replaces = old + 1, True
        else:
            old, replaces = old + 1, False
    return dict(found)


def need_of(task: Task, store: Store, texts: dict[str, list[str]]) -> Need:
    """What a task needs, in the files of its base; `texts` are their lines."""
    definitions: dict[str, Symbol] = {}
    lines: dict[str, set[int]] = defaultdict(set)
    for path, changes in changed_places(task.patch).items():
        if path not in texts or store.file(path) is None:
            continue
        listed = store.symbols_of(path)
        symbols = [one for one in listed if one.kind in CALLABLE_KINDS | CLASS_KINDS]
        tests = [one for one in listed if one.kind is Kind.NAMESPACE and one.name in _TEST_MODULES]
        imports = {one.line for one in store.imports(path)}
        for change in changes:
            if not change.text.strip() or _innermost(tests, change.lines) is not None:
                continue
            number = change.lines[-1]
            holder = _innermost(symbols, change.lines)
            if holder is not None:
                definitions[holder.id] = holder
                lines[path].update(_around(holder, number))
            elif not _IMPORT.match(change.text) and imports.isdisjoint(change.lines):
                lines[path].update(range(number - AROUND_LOOSE, number + AROUND_LOOSE + 1))
    documented = {path: _documentation(store.symbols_of(path), texts[path]) for path in lines}
    kept = {
        path: frozenset(
            one
            for one in found
            if _says_something(texts[path], one) and one not in documented[path]
        )
        for path, found in lines.items()
    }
    return Need(tuple(definitions.values()), {path: found for path, found in kept.items() if found})


def _innermost(symbols: Iterable[Symbol], lines: Sequence[int]) -> Symbol | None:
    """The smallest definition that has one of the lines: what is put in at the end of a function
    belongs to it.
    """
    holding = [
        one for one in symbols if any(one.start_line <= line <= one.end_line for line in lines)
    ]
    return min(holding, key=lambda one: one.end_line - one.start_line, default=None)


def _around(holder: Symbol, line: int) -> Iterable[int]:
    if holder.end_line - holder.start_line + 1 <= LONG_LINES:
        return range(holder.start_line, holder.end_line + 1)
    return range(
        max(holder.start_line, line - AROUND_LONG), min(holder.end_line, line + AROUND_LONG) + 1
    )


def _documentation(symbols: Iterable[Symbol], lines: Sequence[str]) -> set[int]:
    """The numbers of lines on which documentation begins or goes on."""
    starts = list(
        accumulate((len(line.encode("utf-8", "replace")) + 1 for line in lines), initial=0)
    )
    found: set[int] = set()
    for one in symbols:
        if one.doc_end_byte:
            found.update(
                range(
                    bisect_right(starts, one.doc_start_byte),
                    bisect_left(starts, one.doc_end_byte) + 1,
                )
            )
    return found


def _says_something(lines: Sequence[str], number: int) -> bool:
    if not 0 < number <= len(lines):
        return False
    return bool(lines[number - 1].strip()) and not _COMMENT.match(lines[number - 1])
