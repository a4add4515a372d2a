"""The socket of a relay's home, for as long as the relay runs."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterable

from tersely.doors.socket.connection import SocketConnection
from tersely.doors.socket.router import Router
from tersely.doors.socket.services import Own, SocketServices
from tersely.relay.relay import Relay
from tersely.relay.wire.home import SOCKET_BACKLOG, socket_path


@contextlib.asynccontextmanager
async def serving(
    relay: Relay, listening: socket.socket, own: Iterable[Own] = ()
) -> AsyncIterator[Router]:
    """Serve the socket of a relay whose lock this process holds; the router of those who come.

    `own` are the services that the relay brings itself.
    """
    async with routing(relay, own) as router:
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(
            lambda: SocketConnection(router), sock=listening, backlog=SOCKET_BACKLOG
        )
        try:
            yield router
        finally:
            server.close()
    with contextlib.suppress(OSError):
        socket_path(relay.home).unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def routing(relay: Relay, own: Iterable[Own] = ()) -> AsyncIterator[Router]:
    """The router of those who come to a relay, by whatever door."""
    loop = asyncio.get_running_loop()
    services = SocketServices(relay.services)
    router = Router(relay.mail, services, relay.access, relay.permissions)
    relay.services.attach(loop.call_soon_threadsafe, services)
    for service in own:
        services.bring(service)
    looking = router.start(loop)
    try:
        yield router
    finally:
        looking.cancel()
        relay.services.detach()
        services.close()
        router.close()
        relay.mail.detach()
