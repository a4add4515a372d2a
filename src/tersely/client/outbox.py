"""The messages that the relay has not accepted yet, kept on disk: they outlive both."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.private import READING, read_bounded
from tersely.foundation.types import JsonMapping, JsonObject

MAX_UNSENT_MESSAGES = 1_000  # of one name
MAX_UNSENT_BYTES = 4_000_000  # of one message on the disk
MAX_DAMAGED_FILES = 20  # of one name that are kept; of more, the oldest goes
_NAME_BYTES = 12

MessageT = TypeVar("MessageT")
# raises `ValueError`, `TypeError` or `KeyError` for what is no message
Read = Callable[[JsonMapping], MessageT]


class Unsent(NamedTuple, Generic[MessageT]):
    """One message that waits: its file, whose name is the order, the id under which it is accepted
    once, and it.
    """

    path: Path
    id: str
    message: MessageT


class Outbox(Generic[MessageT]):
    """The unsent messages of one name, oldest first: dataclasses, which `read` makes of what is
    kept of them.
    """

    def __init__(self, home: Path, name: str, read: Read[MessageT]) -> None:
        self._read = read
        self._folder = home / "unsent" / blake2b(name.encode(), digest_size=_NAME_BYTES).hexdigest()
        paths = self._paths()
        self._last = max((int(path.stem) for path in paths), default=0)
        self._count = len(paths)
        self.damaged: list[Path] = []  # files that could not be read, where they are kept now

    def __len__(self) -> int:
        return self._count

    def put(self, message: MessageT) -> Unsent[MessageT]:
        """Keep a message until it is removed; raises `busy` where too many wait,
        `unwritable_output`.
        """
        if len(self) >= MAX_UNSENT_MESSAGES:
            raise TerselyError(
                "busy", f"{MAX_UNSENT_MESSAGES:,} messages wait for the relay; this one is not sent"
            )
        self._last += 1
        path = self._folder / f"{self._last:09}.json"
        sent_id = new_id()
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            kept = {"id": sent_id, "message": asdict(cast("Any", message))}
            write_private(path, json.dumps(kept).encode(), lasts=True)
        except OSError as error:
            raise TerselyError(
                "unwritable_output", f"the message cannot be kept: {error.strerror}"
            ) from error
        self._count += 1
        return Unsent(path, sent_id, message)

    def __iter__(self) -> Iterator[Unsent[MessageT]]:
        for path in self._paths():
            try:
                kept = _load(path)
                yield Unsent(path, str(kept["id"]), self._read(kept["message"]))
            except (OSError, ValueError, TypeError, KeyError, RecursionError):
                self._set_aside(path)

    def remove(self, unsent: Unsent[MessageT]) -> None:
        """A message is sent, or its program has heard why not."""
        self._drop(unsent.path)

    def _set_aside(self, path: Path) -> None:
        """Keep a damaged file under a name that is not read again."""
        kept = path.with_suffix(".damaged")
        path.replace(kept)
        self._count -= 1
        self.damaged = [*self.damaged, kept][-MAX_DAMAGED_FILES:]
        for oldest in sorted(self._folder.glob("*.damaged"))[:-MAX_DAMAGED_FILES]:
            oldest.unlink(missing_ok=True)

    def _drop(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._count -= 1

    def _paths(self) -> list[Path]:
        """Of regular files of ours, in order; what else lies there is left alone."""
        if not self._folder.is_dir():
            return []
        return sorted(
            path
            for path in self._folder.glob("*.json")
            if path.stem.isdecimal() and _is_regular(path)
        )


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _load(path: Path) -> JsonObject:
    """The content of a file, decoded; raises `OSError`, `ValueError`, `TypeError` or
    `RecursionError` for anything else.
    """
    kept = json.loads(read_bounded(path, MAX_UNSENT_BYTES, READING))
    if not isinstance(kept, dict) or not isinstance(kept.get("message"), dict):
        raise TypeError(f"{path} has no message")
    return kept
