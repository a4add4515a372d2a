"""Files as an editor has them, where the front of the agent is one: what is not saved yet is read,
and edits go there.

Where no editor has a file, or there is none, files are those on the disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tersely.agent.tools.files import places, replacing
from tersely.agent.tools.files.content import read_content
from tersely.agent.tools.files.places import FoundFile
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_EDITED_BYTES

_NEW_MODE = 0o644


class OpenFiles(Protocol):
    """Files as an editor has them. Asked from threads beside the event loop; paths are from the
    root.
    """

    def read(self, inside: str) -> str | None:
        """The text of a file as it is in the editor, saved or not; None where the editor does not
        say.
        """

    def write(self, inside: str, text: str) -> bool:
        """Have the editor change the text of a file; whether it could be asked. Raises
        `unwritable_output`.
        """


class RepositoryFiles:
    """The files of a repository, as whoever edits it sees them."""

    def __init__(self, root: Path, opened: OpenFiles | None) -> None:
        self._root = root
        self._opened = opened

    def read(self, inside: str, most_bytes: int = MAX_EDITED_BYTES) -> FoundFile:
        """A file by its resolved path; raises as `places.read`."""
        text = self._opened.read(inside) if self._opened else None
        if text is None:
            return places.read(self._root, inside, most_bytes)
        try:
            saved = places.read(self._root, inside)
        except TerselyError as error:
            if error.code != "path_not_found" or not text:
                raise
            saved = FoundFile(b"", _NEW_MODE)  # a buffer that was never saved
        data = _encoded(text, saved.data, inside)
        if len(data) > MAX_EDITED_BYTES:
            raise TerselyError(
                "unreadable_file",
                f"{inside} has more than {MAX_EDITED_BYTES:,} bytes in the editor",
            )
        return FoundFile(data, saved.mode)

    def replace(self, inside: str, expected: bytes, data: bytes, mode: int) -> None:
        """Put `data` in place of `expected`, in the editor where it has the file; raises as
        `replacing.replace`.
        """
        text = self._opened.read(inside) if self._opened else None
        if text is None or self._opened is None:
            replacing.replace(self._root, inside, expected, data, mode)
            return
        if self.read(inside).data != expected:
            raise TerselyError(
                "version_conflict", f"{inside} was changed by somebody else", "read it again"
            )
        changed = "".join(read_content(data, inside).lines)
        if not self._opened.write(
            inside, changed if "\r\n" in text else changed.replace("\r\n", "\n")
        ):
            replacing.replace(self._root, inside, expected, data, mode)


def _encoded(text: str, saved: bytes, inside: str) -> bytes:
    """The text of an editor as the file would have it, with the encoding and the endings of what is
    saved.
    """
    content = read_content(saved, inside)
    if content.ending == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if text.rstrip("\r\n") == "".join(content.lines).rstrip("\r\n"):
        return saved  # editors disagree on whether the last line has an ending
    return content._replace(lines=tuple(text.splitlines(keepends=True))).encoded()
