"""The socket of a relay's home, for as long as the relay runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from tersely.foundation.private import make_private
from tersely.protocols.socket.place import socket_path
from tersely.relay.relay import Relay
from tersely.router.connection import Connection
from tersely.router.router import Router
from tersely.router.services import Own, Services

_BACKLOG = 512


@contextlib.asynccontextmanager
async def listening(relay: Relay, own: Iterable[Own] = ()) -> AsyncIterator[Router]:
    """Serve the socket of a relay whose lock this process holds; the router of those who come.

    `own` are the services that the relay brings itself.
    """
    loop = asyncio.get_running_loop()
    services = Services(relay.services)
    router = Router(relay.mail, services)
    relay.services.attach(loop.call_soon_threadsafe, services)
    for service in own:
        services.bring(service)
    path = _cleared(relay.home)
    server = await loop.create_unix_server(lambda: Connection(router), str(path), backlog=_BACKLOG)
    os.chmod(path, 0o600)
    looking = router.start(loop)
    try:
        yield router
    finally:
        looking.cancel()
        server.close()
        relay.services.detach()
        services.close()
        router.close()
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        relay.mail.detach()


def _cleared(home: Path) -> Path:
    """The path of the socket, without what an earlier process has left there."""
    path = socket_path(home)
    if path.parent != home.absolute():
        make_private(str(path.parent))
    path.unlink(missing_ok=True)
    return path
