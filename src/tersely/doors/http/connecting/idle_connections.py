"""Connections that ask for nothing: whoever opens them and falls silent holds them from others.

The server closes a connection that has been answered and stays silent. One that never finishes its
first request, or a later one, it would keep for ever, and a process may only have so many files
open.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

MAX_WEB_CONNECTIONS = 1_000  # at one place where the relay listens
# parts of the files that a process may have open: the socket, the port, the address for others,
# those who send messages, and files
CONNECTION_SHARES = 5
REQUEST_HEAD_SECONDS = 10  # for a request to begin, once a connection is open


def allow_connections() -> None:
    """Let this process have as many files open as its connections may need, or as many as the
    system permits.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTION_SHARES * MAX_WEB_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def close_stalled(connections: Iterable[Any]) -> None:
    """Close, for ever, connections without a request in time.

    `connections` are the server's protocols. One that answers a request is left alone.
    """
    before: dict[Any, Any] = {}  # those that asked for nothing, with the last request of each
    while True:
        await asyncio.sleep(REQUEST_HEAD_SECONDS / 2)
        # a WebSocket looks after itself
        now = [one for one in connections if hasattr(one, "cycle")]
        waiting = {
            one: one.cycle for one in now if one.cycle is None or one.cycle.response_complete
        }
        for one, last in waiting.items():
            has_been_silent = one in before and before[one] is last
            if has_been_silent:
                one.transport.close()
        before = waiting
