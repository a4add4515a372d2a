"""Messages kept as lines of JSON until they are taken: what one process appends, another takes,
each exactly once.

Appending and removing happen while the file is held. Who takes messages removes them only after
they were printed, and holds a lock of its own meanwhile: a sender never waits for a reader, two
readers never get one message, and what a reader could not print stays where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from . import files
from .failures import TalkError
from .place import Shelf

MAX_OUTBOX_BYTES = 8_000_000  # then the log begins anew, and the one before is kept
_DIGEST_BYTES = 12


class Kept(NamedTuple):
    """A line of an inbox."""

    place: int  # among the lines
    line: bytes
    message: dict[str, Any]
    was_read: bool


class Box:
    """The file that a listener appends to. It remembers how many lines there are while nobody else
    writes.
    """

    def __init__(self, shelf: Shelf, most: int) -> None:
        self._shelf, self._most = shelf, most
        self._known: tuple[tuple[int, ...], int] = ((), 0)  # the file as it was left, its lines

    def append(self, message: dict[str, Any]) -> int:
        """Keep a message; how many there are. Raises `INBOX_FULL`, `INBOX_BUSY`, `STORAGE_FAILED`,
        `UNSAFE_PATH`.
        """
        path = self._shelf.messages
        with _storing(path), files.locked(path) as descriptor:
            count = self._count(descriptor)
            if count >= self._most:
                raise TalkError(
                    "INBOX_FULL", f"{count} messages wait already", max_messages=self._most
                )
            with _called(self._shelf.callback):
                files.append(descriptor, _line(message))
            self._known = (_identity(descriptor), count + 1)
            return count + 1

    def _count(self, descriptor: int) -> int:
        known, lines = self._known
        if known == _identity(descriptor):
            return lines
        content = _content(descriptor)
        if content and not content.endswith(b"\n"):
            # its writer was stopped, or writes by hand: it stays to be seen
            files.append(descriptor, b"\n")
        return len(_lines(content))


@contextmanager
def _called(callback: Path | None) -> Iterator[None]:
    """Make the file that says that messages wait, before there is one: what is refused must not
    have been kept.
    """
    if callback is None:
        yield
        return
    was_there = callback.exists()
    os.close(files.open_own(callback, os.O_WRONLY | os.O_CREAT))
    try:
        yield
    except OSError:
        if not was_there:
            callback.unlink(missing_ok=True)
        raise


def peek(shelf: Shelf) -> list[Kept]:
    """All that is kept, the oldest first."""
    if not shelf.messages.exists():
        return []
    with _storing(shelf.messages), files.locked(shelf.messages) as descriptor:
        content = _content(descriptor)
        seen = _seen(shelf)
    return [
        Kept(place, line, _message(line), _digest(line) in seen)
        for place, line in enumerate(_lines(content))
    ]


@contextmanager
def taking(
    shelf: Shelf, wanted: Callable[[Sequence[Kept]], Sequence[Kept]], *, remove: bool
) -> Iterator[list[Kept]]:
    """Those messages that are wanted; if the block ends well they count as read, and are removed if
    that is asked.

    Raises `INBOX_BUSY` while another process takes messages, `STORAGE_FAILED`, `UNSAFE_PATH`.
    """
    if not shelf.messages.exists():
        yield []
        return
    with _storing(shelf.lock):
        descriptor = files.lock(shelf.lock)
    try:
        chosen = list(wanted(peek(shelf)))
        yield chosen
        if chosen:
            with _storing(shelf.messages):
                _settle(shelf, chosen, remove=remove)
    finally:
        os.close(descriptor)


def _settle(shelf: Shelf, chosen: Sequence[Kept], *, remove: bool) -> None:
    """Meanwhile lines may have been appended, nothing else: only who holds the lock removes any."""
    with files.locked(shelf.messages) as descriptor:
        gone = {one.place for one in chosen} if remove else set()
        left = [
            line for place, line in enumerate(_lines(_content(descriptor))) if place not in gone
        ]
        read = {_digest(line) for line in left} & (
            _seen(shelf) | {_digest(one.line) for one in chosen}
        )
        if shelf.seen is not None and (read or shelf.seen.exists()):
            files.replace(shelf.seen, json.dumps(sorted(read)).encode())
        if shelf.callback is not None and all(_digest(line) in read for line in left):
            shelf.callback.unlink(missing_ok=True)
        if remove:
            files.replace(shelf.messages, b"".join(left))


def log_sent(path: Path, line: dict[str, Any]) -> None:
    """Add to a log of what was sent; one that has grown too long is kept beside as `….1`, in the
    place of the last.
    """
    content = _line(line)
    with _storing(path), files.locked(path) as descriptor:
        if os.fstat(descriptor).st_size + len(content) > MAX_OUTBOX_BYTES:
            os.replace(path, path.with_name(f"{path.name}.1"))
            files.replace(path, content)
        else:
            files.append(descriptor, content)


def _lines(content: bytes) -> list[bytes]:
    """Each with its newline, also the last."""
    pieces = content.split(b"\n")
    return [piece + b"\n" for piece in (pieces if pieces[-1] else pieces[:-1])]


def _message(line: bytes) -> dict[str, Any]:
    """The message in a line; one that was not written by a listener is shown as it stands."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    text = line.decode("utf-8", "replace").rstrip("\n")
    return {"timestamp": None, "sender_port": None, "message": text, "unreadable": True}


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def _digest(line: bytes) -> str:
    return blake2b(line, digest_size=_DIGEST_BYTES).hexdigest()


def _content(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read()


def _identity(descriptor: int) -> tuple[int, ...]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _seen(shelf: Shelf) -> set[str]:
    try:
        said = json.loads((files.read(shelf.seen) if shelf.seen is not None else None) or b"[]")
    except (ValueError, RecursionError):
        return set()
    return {one for one in said if isinstance(one, str)} if isinstance(said, list) else set()


@contextmanager
def _storing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TalkError(
            "STORAGE_FAILED", f"{path}: {error.strerror or error}", path=str(path)
        ) from error
