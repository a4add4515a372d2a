"""An editor that a user is in, as the tools see it, and its files as the planning of edits sees
them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tersely.agent.tools.files import places
from tersely.agent.tools.files.content import read_content
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping

EDITOR_ANSWER_SECONDS = 20.0  # for an editor to do what is asked
TERMINAL_SECONDS = 120.0  # for a command in one of its terminals
MAX_EDITOR_ANSWER_BYTES = 20_000_000


class Looked(NamedTuple):
    """The place that the user looks at: a path from the root, lines from 1, and the text that is
    selected, "" for none.
    """

    path: str
    line: int
    end_line: int
    text: str
    is_unsaved: bool


class Diagnostic(NamedTuple):
    """The remark of a tool of the editor on a place."""

    path: str
    line: int
    severity: str
    message: str
    source: str


class Ran(NamedTuple):
    """The outcome of a command in a terminal; None where the editor cannot tell."""

    output: str | None
    status: int | None


class EditorBridge(Protocol):
    """An editor with the repository open. Asked from threads beside the event loop; paths are from
    the root.

    Everything raises `editor_failed` where the editor does not do it.
    """

    @property
    def title(self) -> str:
        """The name that it is called by."""

    def open(self, inside: str, line: int) -> None:
        """Show a file."""

    def looked(self) -> Looked | None:
        """The place that the user looks at, None where that is no file of the repository."""

    def diagnostics(self, inside: str) -> Sequence[Diagnostic]:
        """Of one file, of all for ""."""

    def read(self, inside: str) -> str | None:
        """The text of a file that is open, its lines ending in one character; None for one that is
        not.
        """

    def write(self, inside: str, before: str, after: str) -> bool:
        """Put a text in the place of another, to be undone there; whether it was saved, too."""

    def run(self, command: str) -> Ran:
        """Run a command line in a terminal that the user sees."""


class EditedFiles:
    """See `files.opened.OpenFiles`: every edit goes through the editor, also of files that it has
    to open for it.
    """

    def __init__(self, editor: EditorBridge, root: Path) -> None:
        self._editor = editor
        self._root = root
        self._before: dict[str, str] = {}
        self.was_saved = False

    def read(self, inside: str) -> str | None:
        """The text in the editor, else the saved one."""
        text = self._editor.read(inside)
        if text is None:
            saved = read_content(places.read(self._root, inside).data, inside)
            text = "".join(saved.lines).replace("\r\n", "\n")
        self._before[inside] = text
        return text

    def write(self, inside: str, text: str) -> bool:
        """Change the text that was read."""
        self.was_saved = self._editor.write(inside, self._before[inside], text)
        return True


def looked_at(root: Path, told: JsonMapping | None) -> Looked | None:
    """The place that the user looks at by what an editor says, None where that is no file below the
    root.
    """
    path = path_below(root, told["path"]) if told else ""
    if not told or not path:
        return None
    return Looked(
        path,
        int(told["line"]),
        int(told["end_line"]),
        str(told["text"]),
        bool(told["unsaved"]),
    )


def diagnostics_below(root: Path, told: Iterable[JsonMapping]) -> Sequence[Diagnostic]:
    """What an editor finds in the files below the root, by what it says."""
    found = [(path_below(root, one["path"]), one) for one in told]
    return [
        Diagnostic(
            path, int(one["line"]), str(one["severity"]), str(one["message"]), str(one["source"])
        )
        for path, one in found
        if path
    ]


def path_below(root: Path, path: Any) -> str:
    """The path from the root, "" for one that is not below it."""
    real = os.path.realpath(str(path))
    top = f"{str(root).rstrip('/')}/"
    return real.removeprefix(top) if real.startswith(top) else ""


def failed(title: str, why: object) -> TerselyError:
    """The error that is raised where an editor does not do what is asked; `why` is a text or what
    was raised.
    """
    why = str(why) or type(why).__name__
    return TerselyError("editor_failed", f"{title}: {why}", "go on without the editor: edit, bash")
