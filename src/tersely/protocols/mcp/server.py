"""The server: what a client of the protocol sends becomes a question, and the answer goes back as it is printed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from tersely import __version__
from tersely.capabilities import catalogue
from tersely.capabilities.reply import BUDGET, cut, failure_text, read_budget
from tersely.capabilities.text import PLAIN
from tersely.code.index.refresh import Progress
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS, MAX_PROGRESS_WAITING, MAX_SHOWN_LINES
from tersely.foundation.settings import load
from tersely.foundation.tokens import Tokenizer
from tersely.protocols.mcp import services, tools
from tersely.protocols.mcp.roots import Roots
from tersely.protocols.mcp.services import Services
from tersely.protocols.mcp.tools import Question

SYMBOL = "code.symbol.get"
MAP = "code.map"
_SYMBOL_URI = "tersely://symbol/"
_MAP_URI = "tersely://map"

# root, command, arguments, progress; the reply is a `capabilities.reply.Reply` in JSON
Ask = Callable[[Path, str, Mapping[str, Any], Progress], Awaitable[dict[str, Any]]]
Context = ServerRequestContext[Any]


def make_server(ask: Ask, roots: Roots, others: Services, *, all_tools: bool = False) -> Server[Any]:
    """A server of the SDK whose answers come from `ask`, and where `others` can be called as well."""
    door = _Door(ask, roots, others, all_tools)
    server: Server[Any] = Server(
        "tersely",
        version=__version__,
        instructions=tools.INSTRUCTIONS,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
    )
    moved = "notifications/roots/list_changed"
    server.add_notification_handler(moved, types.NotificationParams, door.roots_changed)
    return server


class _Door:
    """The requests of the protocol, one method each."""

    def __init__(self, ask: Ask, roots: Roots, others: Services, all_tools: bool) -> None:
        self._ask = ask
        self._roots = roots
        self._others = others
        self._all_tools = all_tools

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All on one page."""
        return types.ListToolsResult(tools=[_tool(tool) for tool in tools.tools(all_tools=self._all_tools)])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The answer as it is printed, or what went wrong as the tool's own error."""
        arguments = params.arguments or {}
        if not tools.is_known(params.name):
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            if params.name == tools.MORE_TOOLS:
                return _result([await self._more_tools(context, arguments)], {})
            if params.name == tools.CALL and (said := await self._of_service(context, arguments)) is not None:
                return _result([said], {})
            reply = await self._answer(context, tools.question(params.name, arguments))
        except TerselyError as error:
            meta = {"tersely/error": {"code": error.code, "message": error.message, "hint": error.hint}}
            return _result([failure_text(error, PLAIN)], meta, is_error=True)
        return _result([reply["text"], *reply["asides"]], _meta(reply))

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The map alone: symbols are too many to be listed, and have a template."""
        about = catalogue.load(MAP).summary
        listed = types.Resource(name="map", uri=_MAP_URI, description=about, mime_type="text/plain")
        return types.ListResourcesResult(resources=[listed])

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """That of symbols."""
        about = catalogue.load(SYMBOL).summary
        uri = f"{_SYMBOL_URI}{{+id}}"
        listed = types.ResourceTemplate(name="symbol", uri_template=uri, description=about, mime_type="text/plain")
        return types.ListResourceTemplatesResult(resource_templates=[listed])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The source of a symbol with its ETag, or the map."""
        uri = str(params.uri)
        try:
            reply = await self._answer(context, _resource_question(uri))
        except TerselyError as error:
            told = {"uri": uri, "code": error.code, "hint": error.hint}
            raise MCPError(types.INVALID_PARAMS, error.message, told) from error
        text = types.TextResourceContents(uri=uri, text=reply["text"], mime_type="text/plain", _meta=_meta(reply))
        return types.ReadResourceResult(contents=[text])

    async def roots_changed(self, context: Context, params: types.NotificationParams) -> None:
        """The next question asks the client again where it works."""
        self._roots.forget()

    async def _more_tools(self, context: Context, arguments: Mapping[str, Any]) -> str:
        asked = arguments.get("tool")
        method = await services.named(self._others, asked) if isinstance(asked, str) and _is_other(asked) else None
        if method is not None:
            return await self._cut(context, services.page(method), arguments.get(BUDGET))
        told = tools.more_tools(arguments)
        more = "" if asked else await services.listing(self._others)
        return await self._cut(context, told + more, arguments.get(BUDGET))

    async def _of_service(self, context: Context, arguments: Mapping[str, Any]) -> str | None:
        """What a service answers, None where the call means none."""
        name, budget, given = tools.called(arguments)
        method = await services.named(self._others, name) if _is_other(name) else None
        if method is None:
            return None
        return await self._cut(context, services.text(await self._others.ask(method, given)), budget)

    async def _cut(self, context: Context, text: str, budget: Any) -> str:
        settings = load(await self._roots.root(context))
        tokenizer = Tokenizer(settings.vocabulary, settings.vocabulary_factor or None)
        return cut(text, read_budget(budget, settings.budget_tokens), tokenizer)

    async def _answer(self, context: Context, question: Question) -> dict[str, Any]:
        """The reply, its progress told meanwhile; what the client cancels is given up."""
        root = await self._roots.root(context)
        send, receive = anyio.create_memory_object_stream[tuple[int, int]](MAX_PROGRESS_WAITING)
        rising = _Rising(send.send_nowait)
        failure: TerselyError | None = None
        reply: dict[str, Any] = {}
        async with anyio.create_task_group() as group, receive:
            group.start_soon(_tell, context, receive.clone())
            with send:
                try:
                    reply = await self._ask(root, question.command, question.arguments, rising)
                except TerselyError as error:  # a task group would wrap it
                    failure = error
        if failure is not None:
            raise failure
        return reply


def _is_other(name: str) -> bool:
    """Whether a name can be that of a service: capabilities go before."""
    return bool(name) and not tools.is_known(name)


async def _tell(context: Context, receive: Any) -> None:
    async with receive:
        async for done, total in receive:
            await context.session.report_progress(done, total, "files read")


class _Rising:
    """Progress of one phase of the work after another, as the protocol wants it: always more than before."""

    def __init__(self, send: Callable[[tuple[int, int]], None]) -> None:
        self._send = send
        self._before = 0  # files of the phases that are over
        self._done = 0
        self._total = 0

    def __call__(self, done: int, total: int) -> None:
        if done < self._done or total != self._total:
            self._before += self._total
            self._done, self._total = 0, total
        if done > self._done:
            self._done = done
            try:
                self._send((self._before + done, self._before + total))
            except anyio.WouldBlock:  # a client that does not read is not told every step
                return


def _resource_question(uri: str) -> Question:
    if uri == _MAP_URI:
        return Question(MAP, {})
    if not uri.startswith(_SYMBOL_URI) or uri == _SYMBOL_URI:
        raise TerselyError("path_not_found", f"there is no resource {uri!r}", f"{_SYMBOL_URI}ID, or {_MAP_URI}")
    symbol = unquote(uri.removeprefix(_SYMBOL_URI))
    return Question(SYMBOL, {"symbol": symbol, "limit": MAX_SHOWN_LINES, BUDGET: MAX_BUDGET_TOKENS})


def symbol_uri(symbol_id: str) -> str:
    """The resource that a symbol is."""
    return _SYMBOL_URI + quote(symbol_id, safe="/:.")


def _tool(tool: tools.Tool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=True) if tool.only_reads else None
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


def _result(texts: list[str], meta: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=text) for text in texts]
    return types.CallToolResult(content=content, is_error=is_error, _meta=meta or None)


def _meta(reply: Mapping[str, Any]) -> dict[str, Any]:
    """What programs may want to know of an answer."""
    told = {"tersely/revision": reply["revision"], "tersely/notes": reply["notes"], "tersely/etag": reply["etag"]}
    return {name: value for name, value in told.items() if value}
