"""The relay's own process: it takes the lock of its home, listens on this machine, and serves until
told not to.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

import tersely
from tersely.daemon.asking import Asking
from tersely.doors.http.app import Apps, make_apps
from tersely.doors.http.connecting.connections import make_remote_server, make_server
from tersely.doors.http.connecting.idle_connections import allow_connections, close_stalled
from tersely.doors.http.remote import RemoteDoor, Tenant
from tersely.doors.http.workspaces import Workspaces
from tersely.doors.listening import ListeningSockets, listening
from tersely.doors.socket import serve as router
from tersely.doors.socket.bridge.bridge import Bridge
from tersely.doors.tenants import Tenants
from tersely.foundation import settings
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.beginning import Report, log_to
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import frozen
from tersely.relay.access.tokens import Tokens
from tersely.relay.relay import HomeToken, Relay, have_token, make_home
from tersely.relay.services import configuration
from tersely.relay.services.configuration import Bridged
from tersely.relay.teams import spending
from tersely.relay.wire.addresses import Address
from tersely.relay.wire.documents import RelayTold
from tersely.relay.wire.home import LOCK, LOG

# for which the loop may keep the thread that writes from going on, and vice versa
THREAD_SWITCH_SECONDS = 0.001
SWEEP_EVERY_SECONDS = 3_600
SWEEP_AFTER_SECONDS = 86_400  # for which an artifact that no thread refers to stays
_LOG = logging.getLogger("tersely.doors.http")


def main(
    home_path: str, port: str, workspace: str, answer_words: str, remote: str, ready: str
) -> None:
    """Serve a home. What is written to the descriptor `ready` says how it began.

    `port` is a number, "" for that at which the home was last served, or `NO_PORT`. `remote` is the
    `Address` for other machines as JSON, "" for none. `answer_words` is the `module:function` that
    prints for the command line, which stands above this package.
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
            address = msgspec.json.decode(remote, type=Address) if remote else None
            with listening(home, port, address) as places:
                secret, url = have_token(home), _store(home)
                with Relay.open(home, Tokenizer().count, url=url) as relay:
                    relay.load_plugins()
                    relay.services.settings = [one.told() for one in bridged]
                    for complaint in relay.complaints:
                        _LOG.warning("not loaded: %s", complaint)
                    told = _self_description(home, places, workspace, address)
                    with closing(Tokens(relay.store)) as tokens:
                        process = _RelayProcess(
                            relay, places, told, secret, answer_words, bridged, tokens, address, url
                        )
                        process.run(lambda: report.running(pid=told.pid))
                    _LOG.info("ended")
    except BlockingIOError:
        report.already_running()
    except (TerselyError, OSError) as error:
        _LOG.exception("the relay has ended")
        report.failed(error)


def _store(home: Path) -> str:
    """The database of PostgreSQL that everything is to be kept in, empty without one."""
    wanted = settings.load(home).store
    return "" if wanted == "none" else wanted


def _self_description(
    home: Path, places: ListeningSockets, workspace: str, address: Address | None
) -> RelayTold:
    return RelayTold(
        str(home), os.getpid(), places.url, tersely.__version__, program_identity(), round(wall_seconds()),
        workspace, places.wanted_port, remote_url="" if address is None else address.url,
    )  # fmt: skip


@frozen
class _RelayProcess:
    """The server of this process."""

    relay: Relay
    places: ListeningSockets
    told: RelayTold
    secret: HomeToken
    answer_words: str
    bridged: Sequence[Bridged]
    tokens: Tokens
    address: Address | None
    url: str  # of the database of PostgreSQL, empty without one

    def run(self, began: Callable[[], None]) -> None:
        """Serve until a signal; `began` is called once all is open."""
        try:
            import uvloop
        except ModuleNotFoundError:  # an accelerator, which not every platform has
            runner = asyncio.Runner()
        else:
            runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        with runner:
            runner.run(self._serve(began))

    async def _serve(self, began: Callable[[], None]) -> None:
        relay, told = self.relay, self.told
        asking = Asking(self.answer_words)
        workspaces = Workspaces(
            asking, asyncio.get_running_loop(), told.workspace, relay.count_tokens, relay.store
        )
        for name, declare in workspaces.offers().items():
            relay.calls.offer_later(name, declare)
        apps = make_apps(relay, told, self.secret.text, self.tokens)
        bridges = [
            Bridge(one, told.workspace, self.answer_words) for one in self.bridged if one.is_enabled
        ]
        sweeping = asyncio.create_task(_sweep(relay))
        try:
            async with router.serving(relay, self.places.frames, bridges) as main_router:
                main = Tenant(relay, apps.bare, main_router)
                async with Tenants(main, self.url, self.tokens, _sweep) as tenants:
                    servers = self._servers(apps, main, tenants)
                    _end_at_signals(servers.values())  # before anybody is told of this process
                    _LOG.info(
                        "serving %s at %s as process %d",
                        relay.home,
                        told.url or "its sockets",
                        told.pid,
                    )
                    began()
                    await _serving(servers)
        finally:
            sweeping.cancel()
            asking.close()
            await asyncio.gather(*(bridge.close() for bridge in bridges))

    def _servers(self, apps: Apps, main: Tenant, tenants: Tenants) -> dict[socket.socket, Any]:
        """The server of each place; raises `OSError`."""
        servers = {self.places.http: make_server(apps.own)}
        if self.places.tcp is not None and apps.tcp is not None:
            servers[self.places.tcp] = make_server(apps.tcp)
        if self.places.remote is not None and self.address is not None:
            policy = self.relay.policy
            door = RemoteDoor(self.tokens, main, tenants.get, policy.trusted_hosts)
            servers[self.places.remote] = make_remote_server(
                door, self.address, policy.trusted_proxies
            )
        return servers


def _end_at_signals(servers: Iterable[Any]) -> None:
    """Have the servers end, also before they serve, when this process is told to."""

    def end() -> None:
        for server in servers:
            server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)


async def _serving(servers: Mapping[socket.socket, Any]) -> None:
    """Serve at each place until each server is told to end."""
    beside = [
        asyncio.create_task(close_stalled(one.server_state.connections)) for one in servers.values()
    ]
    try:
        await asyncio.gather(*(server.serve([place]) for place, server in servers.items()))
    finally:
        for task in beside:
            task.cancel()


async def _sweep(relay: Relay) -> None:
    """Now and then see whether the database is whole, and remove the artifacts that no thread
    refers to any more.
    """
    while True:
        older_than_ms = relay.store.now_ms() - SWEEP_AFTER_SECONDS * 1000
        try:
            await asyncio.to_thread(relay.store.check)
            removed = await asyncio.to_thread(relay.store.sweep, older_than_ms)
            forgotten = await asyncio.to_thread(relay.mail.sweep)
            retired = await asyncio.to_thread(relay.mail.retire_silent)
            await asyncio.to_thread(spending.forget, relay.store)
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
