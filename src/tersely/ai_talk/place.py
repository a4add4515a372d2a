"""The places of talk, `~/.ai-talk/<port>/`, and who listens there."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from .failures import TalkError
from .messages import parsed_object

HOST = "127.0.0.1"
LOWEST_PORT, HIGHEST_PORT = 1_025, 65_535
LOCK_SECONDS = 5.0  # for another process to let go of a file
_RETRY_SECONDS = 0.005
_WRITABLE_BY_OTHERS = 0o022
_PUBLIC = ("port", "pid", "started", "name", "tls")  # of a listener's record


class TalkPlace(NamedTuple):
    """The files of one port."""

    home: Path
    port: int

    def file(self, name: str) -> Path:
        """One of them."""
        return self.home / str(self.port) / name

    @property
    def inbox(self) -> Path:
        """The messages, where the last listener was told to keep them."""
        told = self.record.get("message_file")
        return Path(told) if isinstance(told, str) else self.file("inbox.jsonl")

    @property
    def record(self) -> dict[str, Any]:
        """What the last listener said of itself; empty where there was none."""
        return parsed_object(read(self.file("listener.json")))

    @property
    def pid(self) -> int | None:
        """The process that listens and holds its pid file; None where that is missing or stale."""
        path = self.file("listener.pid")
        try:
            with opened(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            said = read(path).strip()
            return int(said) if said.isdigit() else None
        except OSError:  # none is there, or what no listener holds: a folder, a link
            pass
        return None

    @property
    def public(self) -> dict[str, Any]:
        """What a listener that runs says of itself to all."""
        said = {**self.record, "port": self.port, "pid": self.pid}
        return {name: said[name] for name in _PUBLIC if name in said}


def made(folder: Path) -> Path:
    """A folder that this user alone may write to; raises `UNSAFE_PATH`, `OSError`."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS:
        raise TalkError("UNSAFE_PATH", f"others may write to {folder}", path=str(folder))
    return folder


def opened(path: Path, mode: str) -> IO[bytes]:
    """A file that this user alone may read, links not followed; raises `OSError`."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    return open(path, mode, opener=lambda name, other: os.open(name, other | flags, 0o600))


def read(path: Path) -> bytes:
    """The content of a file; empty where there is none."""
    try:
        with opened(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def replace(path: Path, content: bytes) -> None:
    """Put a content in the place of a file, or leave all as it was."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with opened(draft, "wb") as file:
        file.write(content)
    os.replace(draft, path)


@contextmanager
def locked(
    path: Path, code: str = "INBOX_BUSY", seconds: float = LOCK_SECONDS
) -> Iterator[IO[bytes]]:
    """The file, made where it is missing, while nobody else has it so; raises `code` where another
    process does not let go of it.
    """
    until = time.monotonic() + seconds
    with opened(path, "ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > until:
                    why = f"another process holds {path}"
                    raise TalkError(code, why, path=str(path)) from error
                time.sleep(_RETRY_SECONDS)
        yield file


def checked_port(text: str) -> int:
    """The port that is meant; raises `INVALID_PORT`."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 5
    if is_number and LOWEST_PORT <= int(text) <= HIGHEST_PORT:
        return int(text)
    why = f"a port is a number from {LOWEST_PORT} to {HIGHEST_PORT}"
    raise TalkError("INVALID_PORT", why, port=text)


def port_named(home: Path, word: str) -> int:
    """The port of the listener that runs under a name; raises `UNKNOWN_NAME`."""
    for one in live(home):
        if one.get("name") == word:
            return int(one["port"])
    raise TalkError("UNKNOWN_NAME", f"no listener that runs is called {word}", name=word)


def live(home: Path) -> list[dict[str, Any]]:
    """What the listeners that run say of themselves, by port."""
    ports = sorted(int(one.name) for one in home.iterdir() if one.name.isdecimal())
    return [one.public for one in (TalkPlace(home, port) for port in ports) if one.pid is not None]
