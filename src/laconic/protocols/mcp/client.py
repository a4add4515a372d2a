"""Asking servers of others. Each question is a conversation of its own: a server is started, asked, and ended."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import TOOL_SERVER_SECONDS

Server = tuple[tuple[str, ...], str, Mapping[str, str], Path]  # words to start it, or a URL; variables; where it works


async def described(server: Server) -> str:
    """The tools of a server, a line each, with what they take."""
    async with _connected(server) as client:
        listed = await client.list_tools()
        return "\n".join(_line(tool.name, tool.description or "", tool.input_schema) for tool in listed.tools)


async def call(server: Server, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """What a tool gives, as text; and whether that is a failure."""
    async with _connected(server) as client:
        result = await client.call_tool(tool, arguments)
        parts = [_text(part) for part in result.content]
        return "\n".join(parts), bool(result.is_error)


def _line(name: str, description: str, schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    taken = ", ".join(key if key in required else f"{key}?" for key in schema.get("properties", {}))
    return f"{name}({taken}) {description.strip().partition(chr(10))[0]}".rstrip()


def _text(part: Any) -> str:
    return str(part.text) if part.type == "text" else f"({part.type}, which is not shown)"


@asynccontextmanager
async def _connected(server: Server) -> AsyncIterator[Client]:
    words, url, variables, root = server
    try:
        with anyio.fail_after(TOOL_SERVER_SECONDS), open(os.devnull, "w", encoding="utf-8") as nowhere:
            if words:
                started = StdioServerParameters(command=words[0], args=list(words[1:]), env=dict(variables), cwd=root)
                target: Any = stdio_client(started, errlog=nowhere)
            else:
                target = url
            async with Client(target) as client:
                yield client
    except TimeoutError:
        raise LaconicError("timed_out", f"the server did not answer in {TOOL_SERVER_SECONDS} s") from None
    except (OSError, MCPError, ExceptionGroup) as error:
        raise LaconicError(
            "service_error", f"the server failed: {_why(error)}", "check that it can be started"
        ) from error


def _why(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
