"""The places of talk, `~/.ai-talk/<port>/`, and what the user has set for all of it in
`~/.ai-talk/config.json`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from . import files
from .failures import TalkError
from .frames import MAX_MESSAGE_BYTES

HOST = "127.0.0.1"
MAX_INBOX_MESSAGES = 100
CONNECTIONS_PER_SECOND = 50
CONNECTION_BURST = 100  # at once, after a silence
DRAIN_SECONDS = 2.0  # for senders that are not done when a listener ends
LOWEST_PORT, HIGHEST_PORT = 1_025, 65_535
_WRITABLE_BY_OTHERS = 0o022


class Shelf(NamedTuple):
    """A file of messages, and what belongs to it."""

    messages: Path
    lock: Path  # held by who takes messages from it
    callback: Path | None = None  # exists while messages wait that nobody has read
    seen: Path | None = None  # which messages were read and left there


@dataclass(frozen=True)
class Place:
    """The files of one port."""

    home: Path
    port: int
    inbox: Path

    @classmethod
    def of(cls, home: Path, port: int, message_file: str = "") -> Place:
        """That of a port, with the inbox where the listener was told to keep it."""
        directory = home / str(port)
        told = message_file or record_of(directory).get("message_file")
        return cls(
            home, port, Path(told) if isinstance(told, str) and told else directory / "inbox.jsonl"
        )

    @property
    def directory(self) -> Path:
        """The directory of the port alone."""
        return self.home / str(self.port)

    @property
    def pid_file(self) -> Path:
        """It has the process id of the listener, which holds it locked for as long as it lives."""
        return self.directory / "listener.pid"

    @property
    def record(self) -> Path:
        """The path of the listener's record."""
        return self.directory / "listener.json"

    @property
    def outbox(self) -> Path:
        """The path of what was sent from the port."""
        return self.directory / "outbox.jsonl"

    @property
    def inbox_shelf(self) -> Shelf:
        """The messages that were sent to the port."""
        at = self.directory
        return Shelf(self.inbox, at / "check.lock", at / "callback", at / "seen.json")

    @property
    def receipt_shelf(self) -> Shelf:
        """The receipts of messages from the port that others read."""
        return Shelf(self.directory / "receipts.jsonl", self.directory / "check.lock")

    @property
    def log(self) -> Path:
        """The path of what the listener could tell nobody else."""
        return self.directory / "listener.log"


class Listening(NamedTuple):
    """The request to a listener."""

    home: Path
    port: int  # 0 for any
    message_file: str = ""
    name: str = ""
    tls: bool = False
    relay: bool = False  # joined to the relay under its name


@dataclass(frozen=True)
class Limits:
    """The limits of a listener; `config.json` may set lower or, for rates, other values."""

    max_message_bytes: int = MAX_MESSAGE_BYTES
    max_inbox_messages: int = MAX_INBOX_MESSAGES
    connections_per_second: int = CONNECTIONS_PER_SECOND
    connection_burst: int = CONNECTION_BURST
    tls: bool = False


_MOST = {"max_message_bytes": MAX_MESSAGE_BYTES, "max_inbox_messages": 100 * MAX_INBOX_MESSAGES}
_MOST_CONNECTIONS = 100_000


def home() -> Path:
    """`~/.ai-talk`, made where it is missing; raises `UNSAFE_PATH` where others may write there."""
    directory = Path("~/.ai-talk").expanduser()
    make(directory)
    return directory


def make(directory: Path) -> None:
    """A directory that this user alone may write to; raises `UNSAFE_PATH`, `STORAGE_FAILED`."""
    try:
        directory.mkdir(0o700, parents=True, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        raise TalkError(
            "STORAGE_FAILED", f"{directory}: {error.strerror}", path=str(directory)
        ) from error
    if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS:
        raise TalkError("UNSAFE_PATH", f"others may write to {directory}", path=str(directory))


def checked_port(value: object) -> int:
    """The port that is meant; raises `INVALID_PORT`."""
    text = str(value)
    if (
        text.isascii()
        and text.isdigit()
        and len(text) <= 5
        and LOWEST_PORT <= int(text) <= HIGHEST_PORT
    ):
        return int(text)
    raise TalkError(
        "INVALID_PORT", f"a port is a number from {LOWEST_PORT} to {HIGHEST_PORT}", port=value
    )


def record_of(directory: Path) -> dict[str, Any]:
    """The record of the last listener of a port; empty where there was none or it cannot be read."""
    return _object_in(directory / "listener.json") or {}


def live(home: Path) -> list[dict[str, Any]]:
    """The records of the listeners that run, by port."""
    found = []
    for port in sorted(
        int(one.name) for one in home.iterdir() if one.name.isascii() and one.name.isdigit()
    ):
        pid, record = pid_in(home / str(port) / "listener.pid"), record_of(home / str(port))
        if pid is not None:
            found.append({**(record if record.get("pid") == pid else {}), "port": port, "pid": pid})
    return found


def pid_in(path: Path) -> int | None:
    """The listener whose pid file it is; None where there is none, or a stale one.

    A listener holds the file locked while it lives: that a process of that number exists says
    nothing.
    """
    if not files.is_locked(path):
        return None
    said = (files.read(path) or b"").strip()
    return int(said) if said.isdigit() else None


def limits_of(directory: Path) -> Limits:
    """The limits that the user has set; raises `INVALID_CONFIG`."""
    path = directory / "config.json"
    if files.read(path) is None:
        return Limits()
    said = _object_in(path)
    if said is None:
        raise TalkError("INVALID_CONFIG", f"{path} is no object of JSON", path=str(path))
    kinds = {field.name: type(field.default) for field in fields(Limits)}
    for name, value in said.items():
        is_right = name in kinds and type(value) is kinds[name]
        if not is_right or (
            kinds[name] is int and not 1 <= value <= _MOST.get(name, _MOST_CONNECTIONS)
        ):
            raise TalkError(
                "INVALID_CONFIG",
                f"{path} sets {name} to {value!r}",
                path=str(path),
                known=list(kinds),
            )
    return Limits(**said)


def _object_in(path: Path) -> dict[str, Any] | None:
    try:
        said = json.loads(files.read(path) or b"")
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
