"""`python -m bench.socket.echo PATH [bytes]`: sends envelopes back, each read and written, on a
loop as the relay's.

With `bytes`, whatever has come goes back unread, many frames by one call of the system.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from tersely.relay.wire import envelopes
from tersely.relay.wire.frames import Frames, framed


class Echo(asyncio.Protocol):
    """One connection."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember whom to answer."""
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer."""
        self.transport.write(data)


class ReadingEcho(Echo):
    """One connection whose envelopes are read."""

    def __init__(self) -> None:
        self.frames = Frames(1 << 20)

    def data_received(self, data: bytes) -> None:
        """Answer each."""
        for body in self.frames.feed(data):
            envelope = envelopes.read(body)
            self.transport.write(
                framed(envelopes.write(envelope.type, envelope.id, 1, envelope.payload))
            )


async def main(path: str, *, reads: bool) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_unix_server(
        ReadingEcho if reads else Echo, path
    )
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], reads=sys.argv[2:] != ["bytes"]))
