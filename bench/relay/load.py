"""`python -m bench.relay.load PORT CONNECTIONS SECONDS`: send the requests given on standard input
over and over.

One request a line, as JSON with its bytes as text; each connection keeps going through them. Prints
how many were answered, and how many of these not with success.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


async def keep_asking(
    port: int, requests: list[bytes], until: float, first: int
) -> tuple[int, int]:
    """One connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answered = failed = 0
    while time.monotonic() < until:
        writer.write(requests[(first + answered) % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        answered += 1
        failed += not head.startswith(b"HTTP/1.1 2")
    writer.close()
    return answered, failed


async def main(port: int, connections: int, seconds: float) -> None:
    """All connections."""
    requests = [json.loads(line).encode() for line in sys.stdin]
    until = time.monotonic() + seconds
    share = len(requests) // connections
    counts = await asyncio.gather(
        *(keep_asking(port, requests, until, one * share) for one in range(connections))
    )
    print(
        json.dumps([sum(answered for answered, _ in counts), sum(failed for _, failed in counts)])
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
