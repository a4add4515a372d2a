"""A relay with the bridge, and servers of the protocol that are not ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.served import Served, served

from tersely.client.peer import Peer
from tersely.doors.socket.bridge.bridge import Bridge
from tersely.foundation.errors import TerselyError
from tersely.relay.services.configuration import Bridged

ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
SOURCE = '''def verify(token):
    """Validate authentication tokens."""
    return bool(token)


def login(token):
    return verify(token)
'''
# The commands of the appendix, each with what it is asked with here.
APPENDIX: dict[str, dict[str, Any]] = {
    "semantic": {"query": "validate tokens", "limit": 10},
    "context": {"target": "auth.py:verify", "depth": 2},
    "impact": {"target": "verify", "depth": 3},
    "calls": {"target": "verify", "direction": "callers"},
    "structure": {},
    "extract": {"symbol": "verify"},
    "cfg": {"target": "verify"},
    "dfg": {"target": "verify"},
    "slice": {"target": "auth.py:3", "variable": "token"},
}

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Reply = Callable[[dict[str, Any]], Any]  # the reply to a request; None: hang up; a coroutine: later


class Other:
    """A server of the protocol that is not ours."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.requests: list[dict[str, Any]] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while line := await reader.readline():
            request = json.loads(line)
            self.requests.append(request)
            told = self.reply(request)
            if asyncio.iscoroutine(told):
                told = await told
            if told is None:
                break
            writer.write((told if isinstance(told, bytes) else json.dumps(told).encode()) + b"\n")


@asynccontextmanager
async def serving(socket: Path, serve: Serve) -> AsyncIterator[None]:
    """A server until all whom it serves have left."""
    tasks = set()

    async def served_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        await serve(reader, writer)
        writer.close()

    server = await asyncio.start_unix_server(served_one, socket)
    yield
    server.close()
    await asyncio.gather(*filter(None, tasks))


@asynccontextmanager
async def listening(socket: Path, reply: Reply) -> AsyncIterator[Other]:
    other = Other(reply)
    async with serving(socket, other.serve):
        yield other


@asynccontextmanager
async def bridged(home: Path, workspace: Path, **given: Any) -> AsyncIterator[tuple[Served, Peer]]:
    """A relay with the bridge, and somebody who asks."""
    bridge = Bridge(replace(Bridged(), **given), str(workspace), ANSWER_WORDS)
    async with served(home, bring=lambda: [bridge]) as relay, await relay.peer("ann") as ann:
        yield relay, ann
    await bridge.close()


async def refused(waits: Any) -> tuple[str, str]:
    with pytest.raises(TerselyError) as raised:
        await waits
    return raised.value.code, raised.value.message


def with_id(**told: Any) -> Reply:
    return lambda request: {"id": request["id"], **told}
