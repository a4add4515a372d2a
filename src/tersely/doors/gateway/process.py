"""The process that serves a home whose machine has joined another relay: it holds the lock and the
sockets of a relay, and passes on what is asked there. What is sent while the network is gone it
keeps, and sends later.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path

import tersely
from tersely.client import joining
from tersely.client.joining import JoinedRelay
from tersely.doors.gateway.code import LocalCode, share
from tersely.doors.gateway.envelopes import Envelopes
from tersely.doors.gateway.requests import Requests
from tersely.doors.http.connecting.connections import make_server
from tersely.doors.http.connecting.idle_connections import allow_connections, close_stalled
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.beginning import Report, log_to
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held
from tersely.relay.relay import make_home
from tersely.relay.wire.documents import RelayTold
from tersely.relay.wire.home import HTTP_SOCKET, LOCK, LOG, listen, socket_path

_LOG = logging.getLogger("tersely.doors.gateway")


def main(home_path: str, workspace: str, answer_words: str, ready: str) -> None:
    """Serve a home. What is written to the descriptor `ready` says how it began."""
    report = Report(ready)
    home = Path(home_path)
    try:
        os.umask(0o077)
        make_home(home)
        allow_connections()
        with held(str(home / LOCK)):
            log_to(str(home / LOG), "the gateway")
            membership = joining.load(home)
            if membership is None:
                raise TerselyError(
                    "join_state", "this machine has joined no relay", "tersely join URL"
                )
            asyncio.run(_serve(home, membership, workspace, answer_words, report))
            _LOG.info("ended")
    except BlockingIOError:
        report.already_running()
    except (TerselyError, OSError) as error:
        _LOG.exception("the gateway has ended")
        report.failed(error)


async def _serve(
    home: Path, membership: JoinedRelay, workspace: str, answer_words: str, report: Report
) -> None:
    told = RelayTold(
        str(home), os.getpid(), "", tersely.__version__, program_identity(), round(wall_seconds()), workspace,
        remote_url=membership.url,
    )  # fmt: skip
    code = LocalCode(workspace, answer_words)
    requests = Requests(home, membership, told, code)
    with listen(home) as frames, listen(home, HTTP_SOCKET) as http_place:
        server = make_server(requests)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: setattr(server, "should_exit", True))
        envelopes = Envelopes(membership, code)
        door = await asyncio.start_unix_server(envelopes.serve, sock=frames)
        beside = [
            asyncio.create_task(close_stalled(server.server_state.connections)),
            asyncio.create_task(requests.send_later()),
            *(
                asyncio.create_task(share(home, membership, root, answer_words))
                for root in membership.shared
            ),
        ]
        _LOG.info("serving %s for %s as process %d", home, membership.url, told.pid)
        report.running(pid=told.pid)
        try:
            await server.serve([http_place])
        finally:
            for task in beside:
                task.cancel()
            door.close()
            await code.close()
            await requests.close()
            socket_path(home, HTTP_SOCKET).unlink(missing_ok=True)
            socket_path(home).unlink(missing_ok=True)
