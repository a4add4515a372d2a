"""The completions of the word before the cursor: a command after `/`, a file or a symbol of the
index after `@`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Strings
from tersely.workspace import Workspace

MAX_COMPLETIONS = 50
MAX_WORD_CHARACTERS = 120  # of a word that is completed
_COMMAND = re.compile(r"/[a-z]*")
_REFERENCE = re.compile(r"(?:^|(?<=[\s(,;]))@([^\s@]*)\Z")


class TypedWord(NamedTuple):
    """The word before the cursor: `mark` is / or @, `start` the column where it begins."""

    mark: str
    typed: str
    start: int


class Completion(NamedTuple):
    """A text that may be put in place of a word, and a few words about it."""

    text: str
    note: str = ""


def word_before(line: str, *, is_first_line: bool = True) -> TypedWord | None:
    """The word to complete at the end of what was typed on a line."""
    if is_first_line and _COMMAND.fullmatch(line):
        return TypedWord("/", line[1:], 0)
    found = _REFERENCE.search(line)
    if found and len(found[1]) <= MAX_WORD_CHARACTERS:
        return TypedWord("@", found[1], found.start())
    return None


class Index:
    """Files and symbols of a repository, as its index knows them now; a completion never waits for
    a refresh.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._workspace: Workspace | None = None
        self._paths: tuple[str, Strings] = ("", ())  # of a revision
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="completion")  # the one that may ask

    def complete(self, typed: str) -> list[Completion]:
        """Files whose path has the typed letters in order, the closest first, then symbols that
        begin so.

        Without an index there is nothing to offer.
        """
        try:
            workspace = self._opened()
            paths = [Completion(path) for path in closest(typed, self._indexed_paths(workspace))]
            found = self._symbols(workspace, typed) if typed else ()
            named = {path.text for path in paths}
            # a module is its file
            symbols = [symbol for symbol in found if symbol.text not in named]
        except TerselyError:
            return []
        room = MAX_COMPLETIONS // 2 if symbols else MAX_COMPLETIONS
        return [*paths[:room], *symbols][:MAX_COMPLETIONS]

    def close(self) -> None:
        """Let go of the index."""
        self.thread.submit(self._close)
        self.thread.shutdown(wait=True)

    def _close(self) -> None:
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None

    def _opened(self) -> Workspace:
        if self._workspace is None:
            self._workspace = Workspace.open(self._root, refresh=False)
        return self._workspace

    def _indexed_paths(self, workspace: Workspace) -> Strings:
        revision = workspace.revision
        if self._paths[0] != revision:
            self._paths = (revision, tuple(file.path for file in workspace.engine.store.files()))
        return self._paths[1]

    @staticmethod
    def _symbols(workspace: Workspace, typed: str) -> Iterator[Completion]:
        for symbol in workspace.engine.lookup(f"{typed.replace('*', '')}*", limit=MAX_COMPLETIONS):
            yield Completion(symbol.id, symbol.kind.value)


def closest(typed: str, paths: Sequence[str]) -> list[str]:
    """The paths that have the typed letters in order: those with it in the name first, then the
    shorter ones.
    """
    letters = ".*?".join(map(re.escape, typed))
    pattern = re.compile(letters, re.IGNORECASE)
    wanted = typed.lower()

    def distance(path: str) -> tuple[bool, bool, int, str]:
        lower = path.lower()
        return (
            not lower.rpartition("/")[2].startswith(wanted),
            wanted not in lower,
            len(path),
            path,
        )

    return sorted((path for path in paths if pattern.search(path)), key=distance)[:MAX_COMPLETIONS]


def referred(candidate: str) -> str:
    """The text by which a candidate is written into a prompt."""
    return f"@{visible_line(candidate)} "
