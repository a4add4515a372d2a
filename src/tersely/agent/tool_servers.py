"""Asking the servers of others. There is one conversation for each server: it begins with the first
question, and ends when nothing was asked for a while, when something went wrong, or when whoever
asks is done.

    servers = ToolServers()
    answer = await servers.call("files", server, "read", {"path": "a.py"})
    await servers.close()
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

# how the package itself makes a client with headers
from mcp.shared._httpx_utils import create_mcp_http_client

from tersely.agent.tools.others.tool_server import ToolServer
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping, JsonObject

TOOL_SERVER_SECONDS = 60  # for one answer of such a server
TOOL_SERVER_IDLE_SECONDS = 300  # after which the conversation with it ends
TOOL_SERVER_CLOSE_SECONDS = 5  # for it to end

AnswerT = TypeVar("AnswerT")
# the package's: what matters is told to who asks
logging.getLogger("client").addHandler(logging.NullHandler())
MAX_WAITING_QUESTIONS = 2  # a question, and the `None` that ends the conversation


class ServerPlace(NamedTuple):
    """A server, and where one works that is started."""

    server: ToolServer
    root: Path


class ToolAnswer(NamedTuple):
    """The texts that a tool gives, whether that is a failure, and the first PNG file in Base64."""

    text: str
    is_error: bool = False
    picture: str = ""


class ToolServers:
    """The servers that are talked to, one question at a time. Another event loop begins
    conversations of its own.
    """

    def __init__(self, idle_seconds: float = TOOL_SERVER_IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._links: dict[str, _ServerLink] = {}
        self._turn = asyncio.Lock()

    async def described(self, name: str, place: ServerPlace) -> str:
        """The tools of a server, a line each, with what they take."""

        async def listed(client: Client) -> str:
            tools = (await client.list_tools()).tools
            return "\n".join(
                _line(tool.name, tool.description or "", tool.input_schema) for tool in tools
            )

        return await self._ask(name, place, listed)

    async def call(
        self, name: str, place: ServerPlace, tool: str, arguments: JsonObject
    ) -> ToolAnswer:
        """The answer of a tool."""

        async def called(client: Client) -> ToolAnswer:
            result = await client.call_tool(tool, arguments)
            text = "\n".join(map(_text, result.content))
            pictures = (each.data for each in result.content if each.type == "image")
            return ToolAnswer(text, bool(result.is_error), next(pictures, ""))

        return await self._ask(name, place, called)

    async def close(self) -> None:
        """End every conversation, and the servers that were started for one."""
        links, self._links = list(self._links.values()), {}
        await asyncio.gather(*(link.end() for link in links))

    async def _ask(
        self, name: str, place: ServerPlace, ask: Callable[[Client], Awaitable[AnswerT]]
    ) -> AnswerT:
        async with self._turn:
            link = self._links.get(name)
            if link is None or not link.is_open:
                link = self._links[name] = _ServerLink(place, self._idle_seconds)
            return await link.ask(ask)


class _ServerQuestion(NamedTuple):
    """The question to the server, and who waits for it."""

    ask: Callable[[Client], Awaitable[Any]]
    answered: asyncio.Future[Any]


class _ServerLink:
    """One conversation, held by a task of its own: a client has to be left by the task that entered
    it.
    """

    def __init__(self, place: ServerPlace, idle_seconds: float) -> None:
        self._questions: asyncio.Queue[_ServerQuestion | None] = asyncio.Queue(
            MAX_WAITING_QUESTIONS
        )
        self._idle_seconds = idle_seconds
        self._is_open = True
        self._holding = asyncio.create_task(self._hold(place))
        # told to who asks, if any
        self._holding.add_done_callback(lambda task: task.cancelled() or task.exception())

    @property
    def is_open(self) -> bool:
        """True if it can be asked; not where its event loop has ended, or was another one."""
        return (
            self._is_open
            and not self._holding.done()
            and self._holding.get_loop() is asyncio.get_running_loop()
        )

    async def ask(self, ask: Callable[[Client], Awaitable[AnswerT]]) -> AnswerT:
        """Ask, and wait; a question that nobody waits for any more ends the conversation."""
        answered: asyncio.Future[AnswerT] = asyncio.get_running_loop().create_future()
        self._questions.put_nowait(_ServerQuestion(ask, answered))
        try:
            waited: set[asyncio.Future[Any]] = {answered, self._holding}
            await asyncio.wait(
                waited, timeout=TOOL_SERVER_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if answered.done():
                return answered.result()
            if (
                self._holding.done()
                and not self._holding.cancelled()
                and (error := self._holding.exception())
            ):
                message, hint = f"the server failed: {_why(error)}", "check that it can be started"
                raise TerselyError("service_error", message, hint) from error
            raise TerselyError("timed_out", f"the server did not answer in {TOOL_SERVER_SECONDS} s")
        finally:
            if not answered.done():
                self._is_open = False
                self._holding.cancel()

    async def end(self) -> None:
        """Say goodbye; whoever does not go in time is made to."""
        self._is_open = False
        if self._holding.done() or self._holding.get_loop() is not asyncio.get_running_loop():
            return
        self._questions.put_nowait(None)
        await asyncio.wait({self._holding}, timeout=TOOL_SERVER_CLOSE_SECONDS)
        self._holding.cancel()
        await asyncio.wait({self._holding}, timeout=TOOL_SERVER_CLOSE_SECONDS)

    async def _hold(self, place: ServerPlace) -> None:
        try:
            async with _connected(place) as client:
                while (question := await self._next()) is not None:
                    answer = await question.ask(client)
                    if not question.answered.done():
                        question.answered.set_result(answer)
        finally:
            self._is_open = False

    async def _next(self) -> _ServerQuestion | None:
        """The next question; None where there is none for too long, or no more."""
        try:
            return await asyncio.wait_for(self._questions.get(), self._idle_seconds)
        except TimeoutError:
            self._is_open = not self._questions.empty()  # somebody may have asked just now
            return self._questions.get_nowait() if self._is_open else None


@asynccontextmanager
async def _connected(place: ServerPlace) -> AsyncIterator[Client]:
    async with AsyncExitStack() as opened:
        target = await _target(place, opened)
        yield await opened.enter_async_context(Client(target))


async def _target(place: ServerPlace, opened: AsyncExitStack) -> Any:
    """The target that a client speaks to: a URL, or the transport to a server at one or of our own."""
    server = place.server
    if server.command:
        nowhere = opened.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it is entered
        # Python would take a module of that name from the repository, which is the working
        # directory.
        own = {"PYTHONSAFEPATH": "1"} if "-m" in server.command else {}
        command, *words = server.command
        variables = {**own, **server.environment}
        started = StdioServerParameters(command=command, args=words, env=variables, cwd=place.root)
        return stdio_client(started, errlog=nowhere)
    if server.sends_events:
        return sse_client(server.url, headers=dict(server.headers))
    if server.headers:
        speaking = await opened.enter_async_context(
            create_mcp_http_client(headers=dict(server.headers))
        )
        return streamable_http_client(server.url, http_client=speaking)
    return server.url


def _line(name: str, description: str, schema: JsonMapping) -> str:
    required = set(schema.get("required", ()))
    taken = ", ".join(key if key in required else f"{key}?" for key in schema.get("properties", {}))
    return f"{name}({taken}) {description.strip().partition(chr(10))[0]}".rstrip()


def _text(part: Any) -> str:
    return str(part.text) if part.type == "text" else f"({part.type}, which is not shown)"


def _why(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
