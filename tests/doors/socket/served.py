"""A relay with its socket, on the loop of the test, and a client that says exactly what it is told
to.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tersely.client.peer import Delivery, Peer
from tersely.doors.socket.router import Router
from tersely.doors.socket.serve import serving as routing
from tersely.doors.socket.services import Own
from tersely.foundation.clock import wall_seconds
from tersely.relay.mail.mail import Mail
from tersely.relay.relay import Relay
from tersely.relay.wire.frames import framed
from tersely.relay.wire.home import listen, socket_path

WAIT_SECONDS = 60


class Served(NamedTuple):
    """One relay that is running."""

    home: Path
    relay: Relay
    router: Router

    @property
    def mail(self) -> Mail:
        return self.relay.mail

    async def peer(self, name: str, **given: Any) -> Peer:
        return await Peer.connect(name, home=self.home, **given)

    async def raw(self) -> Raw:
        return Raw(*await asyncio.open_unix_connection(str(socket_path(self.home))))

    async def hello(self, name: str, **payload: Any) -> Raw:
        """A raw client that has been let in."""
        raw = await self.raw()
        raw.say("HELLO", {"agent": name, **payload})
        assert (await raw.hear())["type"] == "WELCOME"
        return raw


class Raw:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, type: str, payload: Any, id: str = "1", **parts: Any) -> None:
        self.put(
            json.dumps(
                {"v": 1, "type": type, "id": id, "ts": 1, **parts, "payload": payload}
            ).encode()
        )

    def put(self, body: bytes) -> None:
        self.writer.write(framed(body))

    async def hear(self) -> dict[str, Any]:
        """The next envelope."""
        async with asyncio.timeout(WAIT_SECONDS):
            length = int.from_bytes(await self.reader.readexactly(4), "big")
            told: dict[str, Any] = json.loads(await self.reader.readexactly(length))
            return told

    async def rest(self) -> list[dict[str, Any]]:
        """What is still said before the relay hangs up."""
        found = []
        try:
            while True:
                found.append(await self.hear())
        except (asyncio.IncompleteReadError, ConnectionResetError):
            self.close()
            return found

    def close(self) -> None:
        self.writer.close()


@asynccontextmanager
async def served(
    home: Path,
    *,
    durable: bool = False,
    clock: Callable[[], float] = wall_seconds,
    url: str = "",
    tenant: str = "default",
    bring: Callable[[], Iterable[Own]] = tuple,
) -> AsyncIterator[Served]:
    """A relay for as long as it is wanted, with the services that it is to bring itself."""
    with Relay.open(home, len, url=url, tenant=tenant, durable=durable, clock=clock) as relay:
        async with routing(relay, listen(relay.home), bring()) as router:
            yield Served(relay.home, relay, router)


async def take(peer: Peer, count: int, *, acks: bool = True) -> list[Delivery]:
    """The next deliveries."""
    found: list[Delivery] = []
    if not count:
        return found
    async with asyncio.timeout(WAIT_SECONDS):
        async for delivery in peer.deliveries():
            found.append(delivery)
            if acks:
                await peer.ack(delivery)
            if len(found) == count:
                break
    return found


async def until(holds: Callable[[], bool]) -> None:
    """Let others work until something holds."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not holds():
            await asyncio.sleep(0.005)
