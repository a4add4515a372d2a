"""The daemon's own process: it takes the lock, listens, and ends when nobody has asked for a while."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import NamedTuple

import tersely
from tersely.daemon.connection import Connection
from tersely.daemon.endpoint import checked, listen
from tersely.daemon.freshness import Freshness
from tersely.daemon.ndjson.messages import encode, failure, line
from tersely.daemon.place import Place
from tersely.daemon.processes.dispatch import Dispatcher
from tersely.daemon.service import Service
from tersely.foundation.clock import elapsed_seconds, wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.beginning import Report, log_to
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held, release, write_record
from tersely.foundation.storage.private import make_private
from tersely.foundation.types import JsonObject

MAX_CONNECTIONS = 256
_LOG = logging.getLogger("tersely.daemon")
_IDLE_CHECKS_SECONDS = 1.0


def main(root: str, answer_words: str, idle_seconds: str, left_seconds: str, ready: str) -> None:
    """Serve the repository at `root` until nobody has asked for `idle_seconds`, for `left_seconds`
    where no client is connected. What is written to the descriptor `ready` says how it began.

    `answer_words` is the `module:function` that prints for the command line, which stands above
    this package.
    """
    report = Report(ready)
    try:
        place = Place.of(root)
        make_private(place.directory)
        with _locked(place) as locks:
            log_to(place.log, "the daemon")
            listening = listen(place.socket, MAX_CONNECTIONS)
            try:
                began = partial(_tell, locks, root, report)
                patience = _Patience(float(idle_seconds), float(left_seconds))
                asyncio.run(_serve(root, answer_words, patience, listening, began))
            finally:
                _stop_listening(place, listening)
    except BlockingIOError:
        report.already_running()
    except (TerselyError, OSError) as error:
        _LOG.exception("the daemon has ended")
        report.failed(error)


class _Patience(NamedTuple):
    """Seconds without a question after which a daemon ends."""

    idle: float
    left: float  # where no client is connected


class _Locks(NamedTuple):
    """Descriptors of the files that a daemon holds."""

    life: int  # as long as it lives
    start: int  # until it listens


@contextlib.contextmanager
def _locked(place: Place) -> Iterator[_Locks]:
    """Hold the locks of a place; `BlockingIOError` where another daemon serves it.

    A process that finds the start lock taken waits until the other daemon listens, so that daemon
    can be asked after this has failed.
    """
    with held(place.start_lock, waits=True) as start, held(place.lock) as life:
        yield _Locks(life, start)


def _tell(locks: _Locks, root: str, report: Report) -> None:
    """Let whoever waits for this daemon know that it can be asked."""
    write_record(locks.life, _record(root))
    release(locks.start)
    report.running(pid=os.getpid())


def _record(root: str) -> JsonObject:
    return {
        "pid": os.getpid(),
        "root": root,
        "version": tersely.__version__,
        "started": round(wall_seconds()),
    }


def _stop_listening(place: Place, listening: socket.socket) -> None:
    listening.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.socket)


async def _serve(
    root: str,
    answer_words: str,
    patience: _Patience,
    listening: socket.socket,
    began: Callable[[], None],
) -> None:
    """Serve until it is time to end; `began` is called once signals end this in order."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda _, context: _LOG.error(
            "%s", context.get("message"), exc_info=context.get("exception")
        )
    )
    dispatcher = Dispatcher(root, answer_words)
    freshness = Freshness(root, dispatcher)
    ends_when_left = patience.left < patience.idle
    service = Service(root, program_identity(), dispatcher, freshness, ends_when_left)
    connections: set[Connection] = set()
    with contextlib.suppress(NotImplementedError):  # Windows ends a process without a word
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, service.shutdown.set)
    _LOG.info("serving %s as process %d", root, os.getpid())
    began()
    begun = checked(Place.of(root).socket, lambda: _connection(service, connections))
    server = await loop.create_server(begun, sock=listening)
    dispatcher.start()
    freshness.start()
    try:
        reason = await _end(service, root, patience, connections)
        _LOG.info("ending: %s", reason)
    finally:
        server.close()
        for connection in list(connections):
            connection.close()
        freshness.close()
        dispatcher.close()
        await asyncio.sleep(0)  # closed connections send what they still have


def _connection(service: Service, connections: set[Connection]) -> Connection:
    connection = Connection(service.answer, connections.discard)
    if len(connections) >= MAX_CONNECTIONS:
        connection = _Refusal(service.answer, connections.discard)
    connections.add(connection)
    return connection


class _Refusal(Connection):
    """One connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say so, and good-bye."""
        super().connection_made(transport)
        self.send(
            line(
                None,
                encode(
                    failure(
                        TerselyError(
                            "busy",
                            f"the daemon has {MAX_CONNECTIONS} connections, the most it takes",
                            "try again later",
                        )
                    )
                ),
            )
        )
        self.close()


async def _end(
    service: Service, root: str, patience: _Patience, connections: Collection[Connection]
) -> str:
    """Return why it is time to end, when it is."""
    place = _identity(root)
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_IDLE_CHECKS_SECONDS):
                await service.shutdown.wait()
            return "it was asked to"
        if _identity(root) != place:  # no event tells of what a process still has open
            return "the repository is gone"
        idle_seconds = patience.idle if connections else patience.left
        unasked_seconds = 0.0 if service.is_busy else elapsed_seconds() - service.asked_seconds
        if unasked_seconds > idle_seconds:
            return f"nobody has asked for {idle_seconds:g} s"


def _identity(root: str) -> tuple[int, int] | None:
    """The directory that a path leads to now; None without one."""
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino
