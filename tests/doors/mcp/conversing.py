"""A server as a process of its own, and the official client that talks to it. Every wait has a
deadline.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

DEADLINE_SECONDS = 90
ROOT = Path(__file__).parents[3]  # where `bench` is found
COMMAND = ["-m", "tersely", "mcp"]


def converse(
    work: Callable[[Client], Awaitable[None]],
    *words: str,
    cwd: Path | None = None,
    mode: str = "legacy",
    **client: Any,
) -> None:
    """Have a client of a new server do some work."""

    async def conversation() -> None:
        with anyio.fail_after(DEADLINE_SECONDS):
            async with talking(*words, cwd=cwd, mode=mode, **client) as talk:
                await work(talk)

    anyio.run(conversation)


@asynccontextmanager
async def talking(*words: str, cwd: Path | None, mode: str, **client: Any) -> AsyncIterator[Client]:
    """A client of a new server over the standard streams."""
    started = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, *words],
        env=dict(os.environ),
        cwd=str(cwd) if cwd else None,
    )
    async with Client(started, mode=mode, **client) as talk:
        yield talk


@contextmanager
def serving_http(root: Path) -> Iterator[str]:
    """A server on a free port: its URL."""
    command = [sys.executable, "-m", "bench.mcp_http", "--root", str(root)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        try:
            assert said.startswith("serving at http://127.0.0.1:"), said
            yield said.split()[-1]
        finally:
            process.terminate()


def text_of(result: CallToolResult) -> str:
    """The answer itself, without what is said beside it."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text
