"""The record of what the model was last shown of each file: the hash of the file, and which of its
lines.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from tersely.foundation.limits import MAX_SHOWN_FILES
from tersely.foundation.storage.hashing import content_hash


class ReadTracker:
    """Lines by the file's content: of another content nothing was shown."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, tuple[bytes, set[int]]] = OrderedDict()

    def add(self, path: str, data: bytes, lines: Iterable[int]) -> None:
        """These lines of this content were shown."""
        digest = content_hash(data)
        known, seen = self._lines.pop(path, (digest, set()))
        self._lines[path] = (digest, (seen if known == digest else set()) | set(lines))
        while len(self._lines) > MAX_SHOWN_FILES:
            self._lines.popitem(last=False)

    def was(self, path: str, data: bytes, lines: Iterable[int]) -> bool:
        """True if all these lines were, of exactly this content."""
        digest, seen = self._lines.get(path, (b"", set()))
        return digest == content_hash(data) and seen.issuperset(lines)

    def is_outdated(self, path: str, data: bytes) -> bool:
        """True if something of the file was shown, and it held something else then."""
        return path in self._lines and self._lines[path][0] != content_hash(data)

    def edited(
        self, path: str, before: bytes, after: bytes, start: int, removed: int, added: int
    ) -> None:
        """Lines were replaced at `start` by others that the model wrote; those below count as shown
        if they stay.
        """
        digest, seen = self._lines.get(path, (b"", set()))
        if digest != content_hash(before):
            seen = set()
        kept = {
            line for line in seen if line < start or (removed == added and line >= start + removed)
        }
        self._lines[path] = (content_hash(after), kept | set(range(start, start + added)))

    def forget(self, path: str) -> None:
        """Nothing of the file counts as shown."""
        self._lines.pop(path, None)
