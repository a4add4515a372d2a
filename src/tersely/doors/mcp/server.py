"""The server of a client: its request becomes a question, and the answer goes back as it is
printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import BUDGET, cut, failure_text, read_budget
from tersely.capabilities.answers.text import PLAIN
from tersely.doors.mcp import services, tools
from tersely.doors.mcp.jsonrpc import INVALID_PARAMS, RpcError
from tersely.doors.mcp.quoted_values import unquoted
from tersely.doors.mcp.roots import Roots
from tersely.doors.mcp.services import OfferedServices
from tersely.doors.mcp.session import OpenRequest, ServedMethods
from tersely.doors.mcp.tools import ToolQuestion
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_BUDGET_TOKENS, MAX_BUDGET_TOKENS, MAX_SHOWN_LINES
from tersely.foundation.settings import load
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import JsonMapping, JsonObject

SYMBOL = "code.symbol.get"
MAP = "code.map"
_SYMBOL_URI = "tersely://symbol/"
_MAP_URI = "tersely://map"
_TEXT = "text/plain"
_LOST = frozenset({"daemon_not_running", "daemon_unavailable"})
_UNREACHABLE = "whoever answers that cannot be reached now: the user can look after it"
_COMMAND = re.compile(r"\btersely [a-z-]")
MAX_ECHOED_CHARACTERS = 80  # of a name that is wrong

Progress = Callable[[int, int], None]  # files read, of how many
# root, command, arguments, progress; the reply is a `capabilities.reply.Reply` in JSON, and with it
# `data` where the answer is wanted as such, too
Ask = Callable[[Path, str, JsonMapping, Progress], Awaitable[JsonObject]]
# of the model behind a connection, by the repository that it asks about
SessionOf = Callable[[Path], str]


def make_service(
    ask: Ask,
    roots: Roots,
    others: OfferedServices,
    session_of: SessionOf,
    *,
    all_tools: bool = False,
    structured: bool = False,
) -> ServedMethods:
    """The methods that are served to a client: answers come from `ask`, and `others` can be called
    as well. With `structured`, the list has the schemas of answers.

    What a tool has sent in a session is not sent in it again.
    """

    def listing() -> list[JsonObject]:
        return [listed(tool, structured=structured) for tool in tools.tools(all_tools=all_tools)]

    door = _CodeMethods(ask, roots, others, session_of, listing)
    methods = {
        "tools/list": door.list_tools,
        "tools/call": door.call_tool,
        "resources/list": door.list_resources,
        "resources/templates/list": door.list_templates,
        "resources/read": door.read_resource,
    }
    return ServedMethods(door.instructions, methods, roots.forget)


class _CodeMethods:
    """The methods of the protocol that answer about code, one each."""

    def __init__(
        self,
        ask: Ask,
        roots: Roots,
        others: OfferedServices,
        session_of: SessionOf,
        listing: Callable[[], list[JsonObject]],
    ) -> None:
        self._ask = ask
        self._session_of = session_of
        self._lost = 0  # answers that were given up, of which nobody knows how far they had come
        self._roots = roots
        self._others = others
        self._listing = listing

    async def instructions(self) -> str:
        """The text that a model is told before it calls anything: with whom it works too, where a
        relay runs.
        """
        return f"{tools.INSTRUCTIONS} {await self._others.introduction()}"

    async def list_tools(self, request: OpenRequest) -> JsonObject:
        """All on one page."""
        _check_first_page(request)
        return {"tools": self._listing()}

    async def call_tool(self, request: OpenRequest) -> JsonObject:
        """The answer as it is printed, or what went wrong as the tool's own error."""
        name, arguments = _text(request, "name"), request.params.get("arguments")
        if not isinstance(arguments, dict | None):
            raise RpcError(INVALID_PARAMS, "arguments is an object")
        if not tools.is_known(name):
            raise RpcError(
                INVALID_PARAMS,
                f"Unknown tool: {name[:MAX_ECHOED_CHARACTERS]}: {tools.likely(name)}",
            )
        try:
            given = unquoted(arguments or {}, {"properties": tools.BY_EVERY_TOOL})
            return await self._called(request, name, given)
        except TerselyError as error:
            told = {"code": error.code, "message": error.message, "hint": error.hint}
            text = failure_text(_for_models(error), PLAIN)
            return _result([text], {"tersely/error": told}, is_error=True)

    async def list_resources(self, request: OpenRequest) -> JsonObject:
        """The map alone: symbols are too many to be listed, and have a template."""
        _check_first_page(request)
        about = catalogue.load(MAP).summary
        return {
            "resources": [{"name": "map", "uri": _MAP_URI, "description": about, "mimeType": _TEXT}]
        }

    async def list_templates(self, request: OpenRequest) -> JsonObject:
        """The template of the URIs of symbols."""
        _check_first_page(request)
        about, uri = catalogue.load(SYMBOL).summary, f"{_SYMBOL_URI}{{+id}}"
        listed = {"name": "symbol", "uriTemplate": uri, "description": about, "mimeType": _TEXT}
        return {"resourceTemplates": [listed]}

    async def read_resource(self, request: OpenRequest) -> JsonObject:
        """The source of a symbol with its ETag, or the map."""
        uri = _text(request, "uri")
        try:
            reply = await self._answer(request, _resource_question(uri))
        except TerselyError as error:
            told = {"uri": uri, "code": error.code, "hint": error.hint}
            raise RpcError(INVALID_PARAMS, error.message, told) from error
        return {
            "contents": [
                {"uri": uri, "text": reply["text"], "mimeType": _TEXT, "_meta": _meta(reply)}
            ]
        }

    async def _called(self, request: OpenRequest, name: str, arguments: JsonObject) -> JsonObject:
        if name == tools.MORE_TOOLS:
            return _result([await self._more_tools(request, arguments)], {})
        if (
            name in {tools.CALL, tools.ACT}
            and (said := await self._of_service(request, arguments)) is not None
        ):
            return _result([said], {})
        question = tools.question(name, arguments)
        if tools.is_of_relay(question.command):
            return _result([await self._of_relay(request, question)], {})
        session = f"{self._session_of(await self._roots.root(request))}-{self._lost}"
        try:
            reply = await self._answer(request, tools.for_session(question, session))
        except BaseException:
            self._lost += 1
            raise
        told = _result([reply["text"], *reply["asides"]], _meta(reply))
        if "data" not in reply:
            return told
        await self._check_data(request, reply["data"], question.arguments.get(BUDGET))
        return {**told, "structuredContent": reply["data"]}

    async def _check_data(self, request: OpenRequest, data: Any, budget: int | None) -> None:
        """Raise `answer_too_large` for data of more tokens than a call has allowed."""
        settings = load(await self._roots.root(request))
        size = 0 if budget is None else Tokenizer(settings.vocabulary).count(json.dumps(data))
        if budget is not None and size > budget:
            message = f"as data the answer has {size:,} tokens, {budget:,} are allowed"
            raise TerselyError("answer_too_large", message, f"ask for less, or leave {BUDGET} out")

    async def _more_tools(self, request: OpenRequest, arguments: JsonMapping) -> str:
        asked = arguments.get("tool")
        method = (
            await services.named(self._others, asked)
            if isinstance(asked, str) and _is_other(asked)
            else None
        )
        if method is not None:
            return await self._cut(request, services.page(method), arguments.get(BUDGET))
        told = tools.more_tools(arguments)
        more = "" if asked else await services.listing(self._others)
        return await self._cut(request, told + more, arguments.get(BUDGET))

    async def _of_service(self, request: OpenRequest, arguments: JsonMapping) -> str | None:
        """The answer of a service, None where the call means none."""
        name, budget, given = tools.called(arguments)
        method = await services.named(self._others, name) if _is_other(name) else None
        if method is None:
            return None
        asked = await self._others.ask(
            method, unquoted(given, method.parameters), request.traceparent
        )
        return await self._cut(request, services.text(asked), budget)

    async def _of_relay(self, request: OpenRequest, question: ToolQuestion) -> str:
        given = dict(question.arguments)
        settings = load(await self._roots.root(request))
        budget = read_budget(given.pop(BUDGET, None), settings.budget_tokens)
        return await self._others.answer(question.command, given, budget)

    async def _cut(self, request: OpenRequest, text: str, budget: Any) -> str:
        settings = load(await self._roots.root(request))
        tokenizer = Tokenizer(settings.vocabulary)
        return cut(text, read_budget(budget, settings.budget_tokens), tokenizer)

    async def _answer(self, request: OpenRequest, question: ToolQuestion) -> JsonObject:
        """The reply, its progress told meanwhile; what the client cancels is given up."""
        root = await self._roots.root(request)
        arguments = question.arguments
        budget = tools.default_budget(question)
        if budget is not None and load(root).budget_tokens == DEFAULT_BUDGET_TOKENS:
            arguments = {**arguments, BUDGET: budget}
        return await self._ask(root, question.command, arguments, _Rising(request))


def _for_models(error: TerselyError) -> TerselyError:
    """An error as a model can use it, which may have no shell: without places of this machine that
    only the person can mend, and without commands to type.
    """
    message = _UNREACHABLE if error.code in _LOST else error.message
    return TerselyError(error.code, message, "" if _COMMAND.search(error.hint) else error.hint)


def _is_other(name: str) -> bool:
    """True if a name can be that of a service: capabilities go before."""
    return bool(name) and not tools.is_known(name)


class _Rising:
    """Tells progress of one phase of the work after another, as the protocol wants it: always more
    than before.
    """

    def __init__(self, request: OpenRequest) -> None:
        self._request = request
        self._before = 0  # files of the phases that are over
        self._done = 0
        self._total = 0

    def __call__(self, done: int, total: int) -> None:
        if done < self._done or total != self._total:
            self._before += self._total
            self._done, self._total = 0, total
        if done > self._done:
            self._done = done
            self._request.progress(self._before + done, self._before + total, "files read")


def _resource_question(uri: str) -> ToolQuestion:
    if uri == _MAP_URI:
        return ToolQuestion(MAP, {})
    if not uri.startswith(_SYMBOL_URI) or uri == _SYMBOL_URI:
        raise TerselyError(
            "path_not_found", f"there is no resource {uri!r}", f"{_SYMBOL_URI}ID, or {_MAP_URI}"
        )
    symbol = unquote(uri.removeprefix(_SYMBOL_URI))
    return ToolQuestion(
        SYMBOL, {"symbol": symbol, "limit": MAX_SHOWN_LINES, BUDGET: MAX_BUDGET_TOKENS}
    )


def listed(tool: tools.ListedTool, *, structured: bool = False) -> JsonObject:
    """A tool as it goes to a client; `structured`: with the schema of its answers, if they are
    data.
    """
    told: JsonObject = {"name": tool.name, "description": tool.description}
    told["inputSchema"] = tool.schema
    if structured and tool.capability:
        from tersely.doors.mcp.structured import output_schema

        schema = output_schema(tool.capability)
        told |= {} if schema is None else {"outputSchema": schema}
    return {**told, "annotations": {"readOnlyHint": True}} if tool.only_reads else told


def _text(request: OpenRequest, name: str) -> str:
    value = request.params.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"{name} is a text")
    return value


def _check_first_page(request: OpenRequest) -> None:
    if request.params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "there is no such page: every list is one")


def _result(texts: list[str], meta: JsonObject, *, is_error: bool = False) -> JsonObject:
    content = [{"type": "text", "text": text} for text in texts]
    return {"content": content, "isError": is_error, **({"_meta": meta} if meta else {})}


def _meta(reply: JsonMapping) -> JsonObject:
    """The figures that programs may want to know of an answer."""
    told = {
        "tersely/revision": reply["revision"],
        "tersely/notes": reply["notes"],
        "tersely/etag": reply["etag"],
    }
    return {name: value for name, value in told.items() if value}
