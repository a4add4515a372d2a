"""Listeners: each takes frames from connections, keeps messages, and answers every frame with a
frame of JSON. Whatever is not kept is answered with an error.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from . import inbox, place
from .failures import TalkError, told
from .messages import (
    MAX_MESSAGE_BYTES,
    TalkFrame,
    cut,
    encode,
    malformed,
    message_of,
    parsed_object,
    stored,
    timestamp,
)
from .place import HOST, TalkPlace

MAX_INBOX_MESSAGES = 100
CONNECTIONS_PER_SECOND = 50
START_SECONDS = 15.0  # for a listener to listen
STOP_SECONDS = 5.0  # for a listener to end by itself, beside what it drains
ONCE_SECONDS = 5.0  # for one message to come, where nothing else is said
DRAIN_SECONDS = 2.0  # for senders that are not done when a listener ends
FRAME_SECONDS = 10.0  # for a connection to send a whole frame
LINGER_SECONDS = 1.0  # in which a refused sender may read why
LINGER_BYTES = 8_000_000  # read of what a refused sender still sends
GONE_SECONDS = 30.0  # after which a listener sees that its files were removed
MAX_CONNECTIONS = 64  # open at once; the oldest makes room
MAX_BACKLOG_CONNECTIONS = 1_024  # not accepted yet
_READ_BYTES = 65_536
_GLANCE_SECONDS = 0.5  # who looks whether a pid file is held holds it for a moment
_LOOK_SECONDS = 0.01
# The first process ends at once, so that the listener is nobody's child, whom it could outlive as a
# zombie.
_PROGRAM = (
    "import os, sys; os.fork() and os._exit(0); sys.path.insert(0, sys.argv[1]); "
    "from importlib import import_module; import_module(sys.argv[2]).run(sys.argv[3])"
)


class Limits(NamedTuple):
    """The limits of a listener."""

    max_message_bytes: int = MAX_MESSAGE_BYTES
    max_inbox_messages: int = MAX_INBOX_MESSAGES
    connections_per_second: int = CONNECTIONS_PER_SECOND
    connection_burst: int = 2 * CONNECTIONS_PER_SECOND  # at once, after a silence


_MOST = Limits(MAX_MESSAGE_BYTES, 10_000, 100_000, 100_000)  # that may be set


class Listening(NamedTuple):
    """The request to a listener."""

    home: str
    port: int  # 0 for any
    message_file: str | None = None
    name: str | None = None
    tls: bool = False


def start(asked: Listening) -> dict[str, Any]:
    """Start a listener; what it says of itself. Raises what kept it from listening."""
    sources = Path(__file__).parents[__name__.count(".")]  # where this package is found
    words = [str(sources), __name__, json.dumps(asked)]
    try:
        said = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *words], start_new_session=True, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, timeout=START_SECONDS,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise TalkError("LISTENER_FAILED", f"the listener does not start: {error}") from error
    answer = parsed_object(said)
    if answer.get("status") != "started":
        code, why = answer.get("error_code", "LISTENER_FAILED"), answer.get("error_message", "")
        raise TalkError(code, why, **answer.get("details", {}))
    return answer


def run(words: str) -> None:
    """Be the listener that the words, JSON, ask for; its beginning is said on standard output."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        asyncio.run(_serve(Listening(*json.loads(words)), _until_told))
    except (OSError, TalkError) as error:
        _say(told(error))


def wait_for_one(at: TalkPlace, tls: bool, seconds: float) -> None:
    """Return when the inbox of a port has a message, or the time is over, for which this process
    listens; raises `PORT_IN_USE`.
    """

    async def until_one(served: Listener) -> None:
        if not inbox.peek(at.inbox):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(served.has_kept.wait(), seconds)

    asyncio.run(_serve(Listening(str(at.home), at.port, str(at.inbox), tls=tls), until_one))


def stop(at: TalkPlace) -> dict[str, Any]:
    """End a listener; raises `LISTENER_NOT_RUNNING`, `LISTENER_FAILED` where it goes on."""
    pid = at.pid
    if pid is None:
        raise TalkError("LISTENER_NOT_RUNNING", f"no listener runs on port {at.port}", port=at.port)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        until = time.monotonic() + STOP_SECONDS + DRAIN_SECONDS
        while time.monotonic() < until:
            if at.pid != pid:
                return {"status": "stopped", "port": at.port, "pid": pid}
            time.sleep(_LOOK_SECONDS)
    raise TalkError("LISTENER_FAILED", f"process {pid} does not end", port=at.port, pid=pid)


def status(at: TalkPlace) -> dict[str, Any]:
    """The status of a listener: whether it runs, and what it says of itself."""
    kept, is_running = inbox.peek(at.inbox), at.pid is not None
    return {
        "status": "running" if is_running else "not_running",
        **(at.public if is_running else {"port": at.port}),
        "message_file": str(at.inbox),
        "message_count": len(kept),
        "unread": sum(map(inbox.is_unread, kept)),
    }


def limits_of(home: Path) -> Limits:
    """The limits that the user has set in `config.json`; raises `INVALID_CONFIG`."""
    path = home / "config.json"
    said, most = parsed_object(place.read(path)), _MOST._asdict()
    wrong = [
        name
        for name, value in said.items()
        if type(value) is not int or not 1 <= value <= most.get(name, 0)
    ]
    if wrong or (path.exists() and not said):
        why = f"{path} sets {', '.join(wrong) or 'nothing'}"
        raise TalkError("INVALID_CONFIG", why, path=str(path), most=most)
    return Limits(**said)


class Listener:
    """The conversations at one port, each a task."""

    def __init__(self, at: TalkPlace, limits: Limits) -> None:
        self._at, self._limits = at, limits
        self._open: dict[asyncio.Task[None], StreamReader] = {}  # the oldest first
        self._left, self._since = float(limits.connection_burst), time.monotonic()  # see `_wait`
        self.has_kept = asyncio.Event()

    def came(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Converse with who has connected; where too many do, the oldest makes room."""
        if len(self._open) >= MAX_CONNECTIONS:
            self._open.pop(next(iter(self._open))).set_exception(_rate_limited(LINGER_SECONDS))
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer, self._wait()))
        self._open[task] = reader
        task.add_done_callback(lambda ended: self._open.pop(ended, None))

    async def end(self) -> None:
        """Let those finish who have connected."""
        await asyncio.sleep(0)  # what is connected already has come by then
        if self._open:
            await asyncio.wait(self._open, timeout=DRAIN_SECONDS)

    def _wait(self) -> float:
        """Seconds until the next connection may come, 0 for this one: a bucket of tokens."""
        now, rate = time.monotonic(), self._limits.connections_per_second
        gained, self._since = (now - self._since) * rate, now
        self._left = min(self._limits.connection_burst, self._left + gained)
        if self._left < 1:
            return (1 - self._left) / rate
        self._left -= 1
        return 0.0

    async def _converse(self, reader: StreamReader, writer: StreamWriter, wait: float) -> None:
        """Serve a connection to its end, whatever it does."""
        with suppress(OSError):  # the sender has gone
            try:
                if wait:
                    raise _rate_limited(wait)
                await self._take_frames(reader, writer)
            except asyncio.TimeoutError:
                why = f"no whole frame came within {FRAME_SECONDS:.0f} s"
                slow = TalkError("CONNECTION_TIMEOUT", why, timeout=FRAME_SECONDS)
                await _refuse(reader, writer, slow)
            except TalkError as error:
                await _refuse(reader, writer, error)
        writer.close()

    async def _take_frames(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer frame by frame, until the sender ends."""
        held, most = bytearray(), self._limits.max_message_bytes
        while frame := await asyncio.wait_for(_next(reader, held, most), FRAME_SECONDS):
            try:
                line = stored(message_of(frame), most)
                count = inbox.append(self._at, line, self._limits.max_inbox_messages)
                answer: dict[str, Any] = {"status": "received", "message_count": count}
                self.has_kept.set()
            except (OSError, TalkError) as error:
                answer = told(error)
            await _write(writer, answer)


async def _next(reader: StreamReader, held: bytearray, most: int) -> TalkFrame | None:
    """The next frame; None at the end of the connection. Raises what `cut` raises, `OSError`."""
    while (frame := cut(held, most)) is None:
        data = await reader.read(_READ_BYTES)
        if not data:
            if held:
                raise malformed()
            return None
        held += data
    return frame


async def _write(writer: StreamWriter, said: dict[str, Any]) -> None:
    """Answer; who does not read it may have sent more."""
    writer.write(encode(json.dumps(said).encode()))
    with suppress(OSError, asyncio.TimeoutError, TalkError):
        await asyncio.wait_for(writer.drain(), LINGER_SECONDS)


async def _refuse(reader: StreamReader, writer: StreamWriter, error: TalkError) -> None:
    """Answer, and read on for a while: closed with bytes unread, a connection takes the answer
    back.
    """

    async def rest() -> None:
        left = LINGER_BYTES
        while left > 0 and (data := await reader.read(_READ_BYTES)):
            left -= len(data)

    await _write(writer, told(error))
    if writer.can_write_eof():  # TLS has no half of a connection to end
        writer.write_eof()
    with suppress(asyncio.TimeoutError, TalkError):
        await asyncio.wait_for(rest(), LINGER_SECONDS)


def _rate_limited(seconds: float) -> TalkError:
    why = "more connections than a listener takes"
    return TalkError("RATE_LIMITED", why, retry_after_ms=max(1, round(seconds * 1_000)))


async def _serve(asked: Listening, until: Callable[[Listener], Any]) -> None:
    """Listen until something has come to pass; raises what keeps it from listening."""
    home, context = Path(asked.home), None
    limits = limits_of(home)
    if asked.tls:
        from . import tls  # loads OpenSSL

        context = tls.server_context(home)
    with _announced(asked, home) as (server, at):
        served = Listener(at, limits)
        listening = await asyncio.start_server(
            served.came, sock=server, backlog=MAX_BACKLOG_CONNECTIONS, ssl=context
        )
        await until(served)
        listening.close()
        await served.end()


async def _until_told(served: Listener) -> None:
    """Say that the listener has started, and wait until it is told to end, or its files are gone."""
    told_to, at = asyncio.Event(), served._at
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to.set)
    _say({"status": "started", **at.record})
    while not told_to.is_set() and at.file("listener.pid").exists():
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(told_to.wait(), GONE_SECONDS)


@contextmanager
def _announced(asked: Listening, home: Path) -> Iterator[tuple[socket.socket, TalkPlace]]:
    """The socket and the place of a listener that others can find."""
    with _bound(asked.port) as server:
        at = TalkPlace(home, server.getsockname()[1])
        pid_file = place.made(home / str(at.port)) / "listener.pid"
        with place.locked(pid_file, "PORT_IN_USE", _GLANCE_SECONDS) as held:
            try:
                _announce(asked, at, held)
                yield server, at
            finally:
                pid_file.unlink(missing_ok=True)


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=1)
    except OSError as error:
        code = "PORT_IN_USE" if error.errno == errno.EADDRINUSE else "LISTENER_FAILED"
        raise TalkError(code, f"port {port}: {error.strerror}", port=port) from error


def _announce(asked: Listening, at: TalkPlace, pid_file: IO[bytes]) -> None:
    """Write what the listener says of itself; raises `NAME_IN_USE`, and `OSError` where messages
    could not be kept.
    """
    path = Path(asked.message_file or at.file("inbox.jsonl"))
    with inbox.changing(path):
        place.read(path)
    with place.locked(at.home / "names.lock"):
        if asked.name and any(one.get("name") == asked.name for one in place.live(at.home)):
            why = f"another listener is called {asked.name}"
            raise TalkError("NAME_IN_USE", why, name=asked.name)
        record = {
            "port": at.port,
            "pid": os.getpid(),
            "message_file": str(path),
            "started": timestamp("seconds"),
            **({"name": asked.name} if asked.name else {}),
            **({"tls": True} if asked.tls else {}),
        }
        place.replace(at.file("listener.json"), json.dumps(record).encode())
        pid_file.truncate(0)
        pid_file.write(f"{os.getpid()}\n".encode())
        pid_file.flush()


def _say(said: dict[str, Any]) -> None:
    """Tell who starts the listener, once."""
    print(json.dumps(said), flush=True)
    os.dup2(2, 1)
