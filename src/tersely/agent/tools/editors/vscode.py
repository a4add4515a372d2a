"""A window of VS Code with the extension of `editors/vscode`: a line of JSON each way, one question
a connection.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tersely.agent.tools.editors.connection import connected, received
from tersely.agent.tools.editors.editor import (
    EDITOR_ANSWER_SECONDS,
    MAX_EDITOR_ANSWER_BYTES,
    TERMINAL_SECONDS,
    Diagnostic,
    Looked,
    Ran,
    diagnostics_below,
    failed,
    looked_at,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject

HELLO_SECONDS = 1.0  # for a window to say which folders it has open
MAX_TOLD_FOLDERS = 100  # of one window


class VsCode:
    """See `editor.EditorBridge`."""

    def __init__(self, place: str, title: str, base: str, root: Path) -> None:
        self._place = place
        self.title = title
        self._base = base  # the root, as the editor writes it
        self._root = root

    def open(self, inside: str, line: int) -> None:
        """Show a file."""
        self._ask("open", path=self._outside(inside), line=line)

    def looked(self) -> Looked | None:
        """The place that the user looks at."""
        return looked_at(self._root, self._ask("look"))

    def diagnostics(self, inside: str) -> Sequence[Diagnostic]:
        """Of one file, or of all."""
        told = self._ask("diagnostics", path=self._outside(inside) if inside else "")
        return diagnostics_below(self._root, told)

    def read(self, inside: str) -> str | None:
        """The text of a file that is open."""
        text = self._ask("read", path=self._outside(inside))
        return text if text is None else str(text)

    def write(self, inside: str, before: str, after: str) -> bool:
        """Put a text in the place of another."""
        return bool(
            self._ask("write", path=self._outside(inside), before=before, after=after)["saved"]
        )

    def run(self, command: str) -> Ran:
        """Run a command line in the terminal of the agent."""
        told = self._ask("run", TERMINAL_SECONDS, command=command, folder=self._base)
        output, status = told["output"], told["status"]
        return Ran(
            None if output is None else str(output), status if isinstance(status, int) else None
        )

    def _ask(self, method: str, seconds: float = EDITOR_ANSWER_SECONDS, **given: Any) -> Any:
        try:
            return asked(self._place, method, seconds, given)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise failed(self.title, error) from error

    def _outside(self, inside: str) -> str:
        return os.path.join(self._base, inside)


def window(place: str, root: Path) -> tuple[bool, VsCode] | None:
    """True if a window is in use, and the window, if it has the repository open; None for any
    other.
    """
    try:
        told = asked(place, "hello", HELLO_SECONDS, {})
        folders = [str(folder) for folder in told["folders"][:MAX_TOLD_FOLDERS]]
        title, is_focused = str(told["editor"]), bool(told["focused"])
    except (OSError, ValueError, TypeError, KeyError, TerselyError):
        return None
    for folder in folders:
        if base := _base(folder, root):
            return is_focused, VsCode(place, title, base, root)
    return None


def asked(place: str, method: str, seconds: float, given: JsonObject) -> Any:
    """The result of a method; raises `OSError` and `ValueError` for all else."""
    with connected(place) as connection:
        connection.sendall(json.dumps({"method": method, "params": given}).encode() + b"\n")
        line = received(
            connection, seconds, MAX_EDITOR_ANSWER_BYTES, lambda data: data.endswith(b"\n")
        )
    reply = json.loads(line)
    if "error" in reply:
        raise ValueError(str(reply["error"]))
    return reply["result"]


def _base(folder: str, root: Path) -> str:
    """The root as an editor writes it that has a folder open, "" where the folder has nothing to do
    with it.
    """
    real = Path(os.path.realpath(folder))
    if root == real or root.is_relative_to(real):
        return os.path.normpath(os.path.join(folder, root.relative_to(real)))
    return str(root) if real.is_relative_to(root) else ""
