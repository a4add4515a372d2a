"""`python -m bench.socket.echo PATH`: sends frames back as they come, on the same loop and without reading them."""

from __future__ import annotations

import asyncio
import sys

import uvloop


class Echo(asyncio.Protocol):
    """One connection."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember whom to answer."""
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer."""
        self.transport.write(data)


async def main(path: str) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_unix_server(Echo, path)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
