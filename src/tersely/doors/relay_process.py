"""The relay's own process: it takes the lock of its home, listens on this machine, and serves until told not to."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import tersely
from tersely.capabilities.relay.documents import RelayTold
from tersely.daemon.asking import Asking
from tersely.doors.home import DEFAULT_PORT, LOCK, LOG, NO_PORT, PORT
from tersely.doors.http.app import make_apps
from tersely.doors.http.connections import make_server
from tersely.doors.http.idle_connections import allow_connections, close_stalled
from tersely.doors.http.workspaces import Workspaces
from tersely.doors.socket import serve as router
from tersely.doors.socket.bridge.bridge import Bridge
from tersely.doors.socket.socket_paths import HTTP_SOCKET, SOCKET_BACKLOG, listen, socket_path
from tersely.foundation import settings
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.beginning import Report, log_to
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held
from tersely.foundation.tokens import Tokenizer
from tersely.relay.relay import Relay, Token, have_token, make_home
from tersely.relay.services import configuration
from tersely.relay.services.configuration import Bridged

RELAY_PORTS = 100  # that are tried, from the one that was asked for
THREAD_SWITCH_SECONDS = 0.001  # for which the loop may keep the thread that writes from going on, and vice versa
SWEEP_EVERY_SECONDS = 3_600
SWEEP_AFTER_SECONDS = 86_400  # for which an artifact that no thread refers to stays
_LOG = logging.getLogger("tersely.doors.http")
_HOST = "127.0.0.1"
_MAX_PORT = 65_535
_PORT_CHARACTERS = 10


class Listening(NamedTuple):
    """Where the relay listens: two sockets in its home, and a TCP port unless that stays closed."""

    frames: socket.socket
    http: socket.socket
    tcp: socket.socket | None
    wanted_port: int  # that was taken, 0 if it was not

    @property
    def url(self) -> str:
        """The address of the TCP port, empty without one."""
        return "" if self.tcp is None else f"http://{_HOST}:{self.tcp.getsockname()[1]}"


def main(home_path: str, port: str, workspace: str, answer_words: str, ready: str) -> None:
    """Serve a home. What is written to the descriptor `ready` says how it began.

    `port` is a number, "" for that at which the home was last served, or `NO_PORT`. `answer_words` is the
    `module:function` that prints for the command line, which stands above this package.
    """
    report = Report(ready)
    home = Path(home_path)
    try:
        os.umask(0o077)
        sys.setswitchinterval(THREAD_SWITCH_SECONDS)
        make_home(home)
        allow_connections()
        with held(str(home / LOCK)):
            log_to(str(home / LOG), "the relay")
            bridged = configuration.load(os.environ)
            with _listening(home, port) as listening:
                secret = have_token(home)
                with Relay.open(home, Tokenizer().count, url=_store(home)) as relay:
                    relay.load_plugins()
                    relay.services.settings = [one.told() for one in bridged]
                    for complaint in relay.complaints:
                        _LOG.warning("not loaded: %s", complaint)
                    told = _told(home, listening, workspace)
                    report.running(pid=told.pid)
                    _run(relay, listening, told, secret, answer_words, bridged)
                    _LOG.info("ended")
    except BlockingIOError:
        report.already_running()
    except (TerselyError, OSError) as error:
        _LOG.exception("the relay has ended")
        report.failed(error)


@contextlib.contextmanager
def _listening(home: Path, port: str) -> Iterator[Listening]:
    with contextlib.ExitStack() as stack:
        frames = stack.enter_context(listen(home))
        http = stack.enter_context(listen(home, HTTP_SOCKET))
        stack.callback(socket_path(home, HTTP_SOCKET).unlink, missing_ok=True)
        if port == NO_PORT:
            yield Listening(frames, http, None, 0)
            return
        wanted = int(port) if port else _last_port(home)
        tcp = stack.enter_context(_listen_tcp(wanted))
        found = tcp.getsockname()[1]
        _keep_port(home, found)
        yield Listening(frames, http, tcp, wanted if wanted not in {0, found} else 0)


def _store(home: Path) -> str:
    """The database of PostgreSQL that everything is to be kept in, empty without one."""
    wanted = settings.load(home).store
    return "" if wanted == "none" else wanted


def _last_port(home: Path) -> int:
    """The port at which the home was last served, so that addresses which were noted down stay right."""
    try:
        with open(os.open(home / PORT, os.O_RDONLY | os.O_NONBLOCK)) as file:  # a pipe would keep the relay waiting
            port = int(file.read(_PORT_CHARACTERS))
    except (OSError, ValueError):
        return DEFAULT_PORT
    return port if 0 < port <= _MAX_PORT else DEFAULT_PORT


def _keep_port(home: Path, port: int) -> None:
    """Write it into a new file, whatever is in its place."""
    (home / PORT).unlink(missing_ok=True)
    with (home / PORT).open("x") as file:
        file.write(f"{port}\n")


def _listen_tcp(port: int) -> socket.socket:
    """Listen on this machine alone: at the port, or the next that is free."""
    last = min(port + RELAY_PORTS - 1, _MAX_PORT)
    for candidate in range(port, last + 1) if port else (0,):
        try:
            return socket.create_server((_HOST, candidate), backlog=SOCKET_BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    hint = "free one, choose another with --port, or do without with --no-tcp"
    raise TerselyError("port_unavailable", f"ports {port} to {last} are taken", hint)


def _told(home: Path, listening: Listening, workspace: str) -> RelayTold:
    return RelayTold(
        str(home), os.getpid(), listening.url, tersely.__version__, program_identity(), round(wall_seconds()),
        workspace, listening.wanted_port,
    )  # fmt: skip


def _run(
    relay: Relay, listening: Listening, told: RelayTold, secret: Token, answer_words: str, bridged: Iterable[Bridged]
) -> None:
    try:
        import uvloop
    except ModuleNotFoundError:  # an accelerator, which not every platform has
        runner = asyncio.Runner()
    else:
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)

    async def serving() -> None:
        asking = Asking(answer_words)
        workspaces = Workspaces(asking, asyncio.get_running_loop(), told.workspace, relay.count_tokens, relay.store)
        for offer in workspaces.offers():
            relay.calls.offer(offer)
        apps = make_apps(relay, told, secret.text)
        servers = {listening.http: make_server(apps.own)}
        if listening.tcp is not None and apps.tcp is not None:
            servers[listening.tcp] = make_server(apps.tcp)

        def end() -> None:
            for server in servers.values():
                server.should_exit = True

        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, end)
        beside = [
            asyncio.create_task(_sweep(relay)),
            *(asyncio.create_task(close_stalled(one.server_state.connections)) for one in servers.values()),
        ]
        _LOG.info("serving %s at %s as process %d", relay.home, told.url or "its sockets", told.pid)
        bridges = [Bridge(one, told.workspace, answer_words) for one in bridged if one.is_enabled]
        try:
            async with router.serving(relay, listening.frames, bridges):
                await asyncio.gather(*(server.serve([one]) for one, server in servers.items()))
        finally:
            for task in beside:
                task.cancel()
            asking.close()
            for bridge in bridges:
                bridge.close()

    with runner:
        runner.run(serving())


async def _sweep(relay: Relay) -> None:
    """Now and then see whether the database is whole, and remove the artifacts that no thread refers to any more."""
    while True:
        older_than_ms = relay.store.now_ms() - SWEEP_AFTER_SECONDS * 1000
        try:
            await asyncio.to_thread(relay.store.check)
            removed = await asyncio.to_thread(relay.store.sweep, older_than_ms)
            forgotten = await asyncio.to_thread(relay.mail.sweep)
            retired = await asyncio.to_thread(relay.mail.retire_silent)
        except TerselyError:
            _LOG.exception("looking after the database has failed")
        else:
            if removed:
                _LOG.info("%d artifacts that nobody refers to are gone", removed)
            if forgotten:
                _LOG.info("%d old messages are forgotten", forgotten)
            if retired:
                _LOG.info("%d names that nobody uses are free again", len(retired))
        await asyncio.sleep(SWEEP_EVERY_SECONDS)
