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
from collections.abc import Iterable
from pathlib import Path

import tersely
from tersely.daemon.asking import Asking
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.private import make_private
from tersely.foundation.process.beginning import Report, log_to
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held, write_record
from tersely.foundation.tokens import Tokenizer
from tersely.protocols.relay.place import LOCK, LOG, Owner
from tersely.relay.relay import Relay, token
from tersely.relay.services import configuration
from tersely.relay.services.configuration import Bridged
from tersely.router import serve as router
from tersely.router.bridge.bridge import Bridge
from tersely.web.app import make_app
from tersely.web.stalled import allow_connections, close_stalled
from tersely.web.workspaces import Workspaces

RELAY_PORTS = 100  # that are tried, from the one that was asked for
THREAD_SWITCH_SECONDS = 0.001  # for which the loop may keep the thread that writes from going on, and vice versa
RELAY_DRAIN_SECONDS = 10  # for requests that are being answered when it ends
SWEEP_EVERY_SECONDS = 3_600
SWEEP_AFTER_SECONDS = 86_400  # for which an artifact that no thread refers to stays
_LOG = logging.getLogger("tersely.web")
_BACKLOG = 512


def main(home_path: str, port: str, workspace: str, answer_words: str, ready: str) -> None:
    """Serve a home. What is written to the descriptor `ready` says how it began, and on which port.

    `answer_words` is the `module:function` that prints for the command line, which stands above this package.
    """
    report = Report(ready)
    home = Path(home_path)
    try:
        os.umask(0o077)
        sys.setswitchinterval(THREAD_SWITCH_SECONDS)
        make_private(home_path)
        allow_connections()
        with held(str(home / LOCK)) as lock:
            log_to(str(home / LOG), "the relay")
            bridged = configuration.load(os.environ)
            listening = _listen(int(port))
            with listening, Relay.open(home, Tokenizer().count) as relay:
                relay.load_plugins()
                relay.services.settings = [one.told() for one in bridged]
                for complaint in relay.complaints:
                    _LOG.warning("not loaded: %s", complaint)
                found = _owner(listening.getsockname()[1], workspace)
                write_record(lock, found._asdict())
                report.running(pid=found.pid, port=found.port)
                _run(relay, listening, found, answer_words, bridged)
                _LOG.info("ended")
    except BlockingIOError:
        report.already_running()
    except (TerselyError, OSError) as error:
        _LOG.exception("the relay has ended")
        report.failed(error)


def _listen(port: int) -> socket.socket:
    """Listen on this machine alone: at the port, or the next that is free."""
    for candidate in range(port, port + RELAY_PORTS) if port else (0,):
        try:
            return socket.create_server(("127.0.0.1", candidate), backlog=_BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    hint = "free one, or choose another with --port"
    raise TerselyError("port_unavailable", f"ports {port} to {port + RELAY_PORTS - 1} are taken", hint)


def _owner(port: int, workspace: str) -> Owner:
    return Owner(os.getpid(), port, tersely.__version__, program_identity(), round(wall_seconds()), workspace)


def _run(relay: Relay, listening: socket.socket, found: Owner, answer_words: str, bridged: Iterable[Bridged]) -> None:
    import uvicorn

    try:
        import uvloop
    except ModuleNotFoundError:  # an accelerator, which not every platform has
        runner = asyncio.Runner()
    else:
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)

    async def serving() -> None:
        asking = Asking(answer_words)
        workspaces = Workspaces(asking, asyncio.get_running_loop(), found.workspace, relay.count_tokens, relay.store)
        for offer in workspaces.offers():
            relay.calls.offer(offer)
        hosts = [f"{name}:{found.port}" for name in ("127.0.0.1", "localhost")]
        app = make_app(relay, token(relay.home), hosts)
        config = uvicorn.Config(
            app, lifespan="off", ws="none", log_config=None, access_log=False,
            timeout_graceful_shutdown=RELAY_DRAIN_SECONDS, server_header=False,
        )  # fmt: skip
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, setattr, server, "should_exit", True)
        beside = [
            asyncio.create_task(_sweep(relay)),
            asyncio.create_task(close_stalled(server.server_state.connections)),
        ]
        _LOG.info("serving %s at %s as process %d", relay.home, found.url, found.pid)
        bridges = [Bridge(one, found.workspace, answer_words) for one in bridged if one.is_enabled]
        try:
            async with router.listening(relay, bridges):
                await server.serve(sockets=[listening])
        finally:
            for task in beside:
                task.cancel()
            asking.close()
            for bridge in bridges:
                bridge.close()

    with runner:
        runner.run(serving())


async def _sweep(relay: Relay) -> None:
    """Now and then remove the artifacts that no thread refers to any more."""
    while True:
        older_than_ms = relay.store.now_ms() - SWEEP_AFTER_SECONDS * 1000
        try:
            removed = await asyncio.to_thread(relay.store.sweep, older_than_ms)
            forgotten = await asyncio.to_thread(relay.mail.sweep)
        except TerselyError:
            _LOG.exception("sweeping has failed")
        else:
            if removed:
                _LOG.info("%d artifacts that nobody refers to are gone", removed)
            if forgotten:
                _LOG.info("%d old messages are forgotten", forgotten)
        await asyncio.sleep(SWEEP_EVERY_SECONDS)
