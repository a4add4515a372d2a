"""`python -m bench.relay.bare`: the least that a server of HTTP can do, as the relay is served.
Prints its port.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

ANSWER = b'{"status":"ok"}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]


async def answering(scope: Any, receive: Any, send: Any) -> None:
    """One request."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})


def main() -> None:
    """Serve until killed."""
    import uvloop

    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        answering, lifespan="off", ws="none", log_config=None, access_log=False, server_header=False
    )
    asyncio.Runner(loop_factory=uvloop.new_event_loop).run(
        uvicorn.Server(config).serve([listening])
    )


if __name__ == "__main__":
    main()
