"""The process of a listener: what it holds while it lives, and how it begins and ends."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from . import files, place, tls
from .failures import TalkError, told
from .listener import Keep, Listener, inbox_keeper
from .messages import timestamp
from .place import HOST, Limits, Listening, Place

MAX_BACKLOG_CONNECTIONS = 1_024  # not accepted yet
WATCH_SECONDS = 2.0  # between looks of a listener at whether its files are still there
_GLANCE_SECONDS = 0.5  # who looks whether a pid file is held holds it for a moment


class Held(NamedTuple):
    """The messages that one listener holds."""

    place: Place
    server: socket.socket
    record: dict[str, Any]


# where messages go while a listener lives
Keeping = Callable[[Held, Limits], AbstractAsyncContextManager[Keep]]


@contextmanager
def holding(asked: Listening) -> Iterator[Held]:
    """The port, its pid file and its name; raises `PORT_IN_USE`, `NAME_IN_USE`, `STORAGE_FAILED`,
    `UNSAFE_PATH`.
    """
    server = _bound(asked.port)
    port = server.getsockname()[1]
    at, lock = Place.of(asked.home, port, asked.message_file), -1
    try:
        place.make(at.directory)
        with files.locked(asked.home / "names.lock"):
            if asked.name and any(one.get("name") == asked.name for one in place.live(asked.home)):
                raise TalkError(
                    "NAME_IN_USE", f"another listener is called {asked.name}", name=asked.name
                )
            lock = _held_pid_file(at)
            record = _record(asked, at)
            files.replace(at.record, json.dumps(record).encode())
        server.listen(MAX_BACKLOG_CONNECTIONS)
        yield Held(at, server, record)
    except OSError as error:
        raise TalkError(
            "STORAGE_FAILED", f"{at.directory}: {error.strerror}", path=str(at.directory)
        ) from error
    finally:
        server.close()
        if lock >= 0:
            at.pid_file.unlink(missing_ok=True)
            os.close(lock)


@asynccontextmanager
async def keeping_here(held: Held, limits: Limits) -> AsyncIterator[Keep]:
    """Messages go into the inbox."""
    yield inbox_keeper(held.place, limits)


def run(words: str, ready: int, keeping: Keeping = keeping_here) -> None:
    """Be the listener that the words, JSON, ask for; say on the descriptor how the beginning went."""
    said = json.loads(words)
    asked = Listening(**{**said, "home": Path(said["home"])})
    with os.fdopen(ready, "w") as tell:
        try:
            limits = place.limits_of(asked.home)
            with holding(asked) as held:
                os.dup2(files.open_own(held.place.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
                sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
                asyncio.run(_serve(held, limits, keeping, lambda: _tell(tell, held.record)))
        except TalkError as error:
            _tell(tell, told(error))


async def _serve(
    held: Held, limits: Limits, keeping: Keeping, is_ready: Callable[[], None]
) -> None:
    loop, until = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, until.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    context = tls.server_context(held.place.home) if held.record.get("tls") else None
    async with keeping(held, limits) as keep:
        watch = loop.create_task(_watch(held.place, until))
        is_ready()
        await Listener(keep, limits, context).serve(held.server, until)
        watch.cancel()


async def _watch(at: Place, until: asyncio.Event) -> None:
    """End when the pid file is gone or another's: nobody would find this process any more."""
    while (files.read(at.pid_file) or b"").strip() == str(os.getpid()).encode():
        await asyncio.sleep(WATCH_SECONDS)
    until.set()


def _tell(tell: Any, said: dict[str, Any]) -> None:
    if not tell.closed:
        json.dump(said, tell)
        tell.close()


def _bound(port: int) -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, port))
        server.listen(1)  # a port that is only bound may be bound by two
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise TalkError(
                "PORT_IN_USE", f"port {port} is in use by another process", port=port
            ) from error
        raise TalkError("LISTENER_FAILED", f"port {port}: {error.strerror}", port=port) from error
    return server


def _held_pid_file(at: Place) -> int:
    try:
        lock = files.lock(at.pid_file, _GLANCE_SECONDS)
    except TalkError as error:
        raise TalkError("PORT_IN_USE", f"a listener holds {at.pid_file}", port=at.port) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _record(asked: Listening, at: Place) -> dict[str, Any]:
    said = {
        "port": at.port,
        "pid": os.getpid(),
        "started": timestamp(timespec="seconds"),
        "message_file": str(at.inbox),
    }
    return {
        **said,
        **({"name": asked.name} if asked.name else {}),
        **({"tls": True} if asked.tls else {}),
        **_joining(asked),
    }


def _joining(asked: Listening) -> dict[str, Any]:
    """Only who can read the record, this user, may speak to the relay through the listener."""
    return {"relay": True, "relay_key": os.urandom(16).hex()} if asked.relay else {}
