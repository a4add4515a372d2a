"""Neovim, from inside of which the agent was started: its own remote procedure calls
(MessagePack-RPC) at `$NVIM`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any

import msgspec

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
from tersely.foundation.clock import Stopwatch

LOOK_SECONDS = 0.1  # between two looks at whether a command has ended
_SEVERITIES = ("error", "warning", "information", "hint")
_REQUEST, _RESPONSE, _ID = 0, 1, 1


class Neovim:
    """See `editor.EditorBridge`."""

    title = "Neovim"

    def __init__(self, place: str, root: Path) -> None:
        self._place = place
        self._root = root
        self._lua = (files("tersely.agent.tools.editors") / "neovim.lua").read_text("utf-8")

    def open(self, inside: str, line: int) -> None:
        """Show a file, in a window that holds no terminal."""
        self._ask("open", str(self._root / inside), line)

    def looked(self) -> Looked | None:
        """The place that the user looks at; what was selected last counts as selected."""
        return looked_at(self._root, self._ask("look"))

    def diagnostics(self, inside: str) -> Sequence[Diagnostic]:
        """Of one file, or of all that are open."""
        told = self._ask("diagnostics", str(self._root / inside) if inside else "")
        named = [{**one, "severity": _SEVERITIES[int(one["severity"]) - 1]} for one in told]
        return diagnostics_below(self._root, named)

    def read(self, inside: str) -> str | None:
        """The text of a file that is open."""
        text = self._ask("read", str(self._root / inside))
        return text if text is None else str(text)

    def write(self, inside: str, before: str, after: str) -> bool:
        """Put a text in the place of another, as one change to be undone."""
        return bool(self._ask("write", str(self._root / inside), before, after))

    def run(self, command: str) -> Ran:
        """Run a command line in a terminal below the other windows."""
        buffer = self._ask("run", command, str(self._root))
        watch, nothing = Stopwatch(), Event()
        while watch.seconds() < TERMINAL_SECONDS:
            told = self._ask("ended", buffer)
            if told:
                return Ran(str(told["output"]), int(told["status"]))
            nothing.wait(LOOK_SECONDS)
        raise failed(
            self.title,
            f"the command has not ended in {TERMINAL_SECONDS:g} s; it runs on in its terminal",
        )

    def _ask(self, name: str, *given: Any) -> Any:
        asked = [_REQUEST, _ID, "nvim_exec_lua", [self._lua, [name, *given]]]
        try:
            with connected(self._place) as connection:
                connection.sendall(msgspec.msgpack.encode(asked))
                data = received(
                    connection, EDITOR_ANSWER_SECONDS, MAX_EDITOR_ANSWER_BYTES, _is_whole
                )
            _, _, problem, result = msgspec.msgpack.decode(bytes(data))
        except (OSError, ValueError, TypeError) as error:
            raise failed(self.title, error) from error
        if problem:
            raise failed(self.title, problem[-1] if isinstance(problem, list) else problem)
        return result


def _is_whole(data: bytearray) -> bool:
    try:
        msgspec.msgpack.decode(bytes(data))
    except msgspec.DecodeError:
        return False
    return True
