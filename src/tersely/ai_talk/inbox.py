"""Messages kept as lines of JSON until they are taken: what one process appends, another takes,
each exactly once.

Appending and removing happen while the file's lock is held. Who takes messages removes them only
after they were printed, and holds a lock of its own meanwhile: a sender never waits for a reader,
two readers never get one message, and what a reader could not print stays where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from .failures import TalkError
from .messages import parsed_object
from .place import TalkPlace, locked, made, opened, read, replace

MAX_OUTBOX_BYTES = 8_000_000  # then the log begins anew
_READ = "read"  # set in a line that was shown and left there

Kept = dict[str, Any]  # a message as it is stored


def append(at: TalkPlace, message: Kept, most: int) -> int:
    """Keep a message, and make the callback; how many there are. Raises `INBOX_FULL`,
    `INBOX_BUSY`, `OSError`.
    """
    path = at.inbox
    with changing(path):
        content = read(path)
        count = len(_lines(content))
        if count >= most:
            raise TalkError("INBOX_FULL", f"{count} messages wait already", max_messages=most)
        is_cut = content and not content.endswith(b"\n")  # whoever wrote it was stopped
        try:
            with opened(path, "ab") as file:
                file.write((b"\n" if is_cut else b"") + _line(message))
            opened(at.file("callback"), "ab").close()
        except OSError:  # a full disk leaves no half line
            if path.is_file():
                os.truncate(path, len(content))
            raise
        return count + 1


def changing(path: Path) -> AbstractContextManager[Any]:
    """The lock of who changes an inbox. It lies beside it: several listeners may have one."""
    return locked(path.with_name(f"{path.name}.lock"))


def peek(path: Path) -> list[Kept]:
    """All that is kept in an inbox, the oldest first."""
    return [_message(line) for line in _lines(read(path))]


def is_unread(message: Kept) -> bool:
    """True if no `check` has shown the message."""
    return not message.get(_READ)


@contextmanager
def taking(
    at: TalkPlace, wanted: Callable[[Kept], bool], most: int | None, *, remove: bool
) -> Iterator[list[Kept]]:
    """Those messages that are wanted, the oldest first; if the block ends well they count as read,
    and are removed if that is asked; where none is unread, the callback is gone.

    Raises `INBOX_BUSY` while another process takes messages, `OSError`.
    """
    path = at.inbox
    if not path.exists():
        yield []
        return
    with locked(path.with_name(f"{path.name}.check")):
        with changing(path):  # or a line that is being written would be half of one
            kept = peek(path)
        chosen = [one for one in kept if wanted(one)][:most]
        yield chosen
        with changing(path):  # only readers remove any: later ones are at the end
            later = _lines(read(path))[len(kept) :]
            taken = {id(one) for one in chosen}
            left = [one for one in kept if not (remove and id(one) in taken)]
            for one in chosen:
                one[_READ] = True
            if chosen:
                replace(path, b"".join([*map(_line, left), *later]))
            if not later and not any(map(is_unread, left)):
                at.file("callback").unlink(missing_ok=True)


def log_sent(path: Path, line: Kept) -> None:
    """Add to a log of what was sent; one that has grown too long begins anew."""
    made(path.parent)
    is_long = path.exists() and path.stat().st_size > MAX_OUTBOX_BYTES
    with opened(path, "wb" if is_long else "ab") as log:
        log.write(_line(line))


def _lines(content: bytes) -> list[bytes]:
    return [line + b"\n" for line in content.split(b"\n") if line]


def _message(line: bytes) -> Kept:
    """The message in a line; one that was not written by a listener is shown as it stands."""
    text = line.decode("utf-8", "replace").rstrip("\n")
    foreign = {"timestamp": None, "sender_port": None, "message": text, "unreadable": True}
    return parsed_object(line) or foreign


def _line(message: Kept) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"
