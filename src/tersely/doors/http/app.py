"""The operations of the relay as an application of HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tersely.capabilities.answers.later import Later
from tersely.capabilities.relay.contract.operations import HttpOperation, operations
from tersely.doors.http.failures import body_of, status_of
from tersely.doors.http.guard import Guard, Visitor, own_user
from tersely.doors.http.guard import PageChecks as GuardedPages
from tersely.doors.http.openapi import document
from tersely.doors.http.request_parsing import AskedOperation, read, token_shown
from tersely.doors.http.routes import capabilities
from tersely.doors.http.routes import tokens as tokens_routes
from tersely.doors.http.routes.plain import HANDLERS, Handler
from tersely.doors.http.routes.streams import STREAMED
from tersely.doors.http.table import Endpoint, Table
from tersely.doors.http.ui.entry import PagesEntry
from tersely.doors.http.ui.routes import Pages
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.ancestry import is_of_person
from tersely.relay.access.tokens import Tokens
from tersely.relay.encoding import encode
from tersely.relay.relay import Relay
from tersely.relay.wire.documents import RelayTold

WEB_THREADS = 64  # that wait for the disk
WEB_CALL_THREADS = 64  # that wait for capabilities
_JSON = "application/json"
_LOG = logging.getLogger("tersely.doors.http")


class Apps(NamedTuple):
    """The application as it is at the socket in the home, and at the TCP port, where there is one."""

    own: Guard
    tcp: Guard | None
    bare: Table  # behind no guard: for a door that has looked at who asks


def make_apps(
    relay: Relay, told: RelayTold, token: Callable[[], str], tokens: Tokens | None = None
) -> Apps:
    """The application behind its guards. `told` is what the relay says of itself; `token` gives the
    one in force, and `tokens` those of identities from elsewhere.
    """
    relay.about = told
    pool = ThreadPoolExecutor(WEB_THREADS, thread_name_prefix="tersely-web")
    # which may all be slow
    calls = ThreadPoolExecutor(WEB_CALL_THREADS, thread_name_prefix="tersely-call")
    port = urlsplit(told.url).port
    entry = PagesEntry(str(port or ""), token)
    pages = Pages(relay, entry, pool)

    def ticket_new(relay: Relay, asked: AskedOperation) -> Any:
        if not told.url:
            hint = "tersely down, then tersely up without --no-tcp"
            raise TerselyError(
                "port_unavailable", "this relay listens at no port for a browser", hint
            )
        return {"ticket": entry.ticket(is_of_person(asked.peer)), "url": told.url}

    handlers: dict[str, Handler] = {
        **HANDLERS,
        **capabilities.HANDLERS,
        **{one.name: capabilities.handler_of(one) for one in operations() if one.capability},
        "ticket_new": ticket_new,
        **tokens_routes.handlers(tokens),
    }
    by_path: dict[str, dict[str, Endpoint]] = {}
    for operation in operations():
        threads = calls if operation.is_call else pool
        by_path.setdefault(operation.path, {})[operation.method] = _endpoint(
            operation, relay, threads, handlers
        )
    by_path["/openapi.json"] = {"GET": _openapi}
    others = Starlette(routes=pages.routes(), exception_handlers={HTTPException: _unrouted})
    others.state.event_streams = 0
    others.router.redirect_slashes = False
    # What is asked most is looked up at once: going through routes one by one costs more than most
    # answers.
    table = Table(by_path, others, _failed)
    open_paths = {operation.path for operation in operations() if operation.is_open}
    guarded = GuardedPages(lambda cookies: entry.session(cookies) is not None, pages.refusal)
    refused = relay.audit.refused
    tcp = (
        None
        if port is None
        else Guard(table, Visitor(token, open_paths, guarded), guarded, refused)
    )
    return Apps(Guard(table, own_user, guarded, refused), tcp, table)


@cache
def _described() -> bytes:
    """The description of all operations as JSON: few ask for it, and making it takes longer than
    opening the database.
    """
    return encode(document(operations()))


async def _openapi(request: Request) -> Response:
    return Response(_described(), media_type=_JSON)


def _endpoint(
    operation: HttpOperation, relay: Relay, pool: Executor, handlers: Mapping[str, Handler]
) -> Endpoint:
    async def admitted(request: Request) -> AskedOperation:
        if not operation.is_open:
            identities = relay.mail.identities
            identities.check_shown(request.scope["agent"], token_shown(request))
        asked = await read(operation, request)
        if asked.principal is not None and not operation.capability:  # those look themselves
            relay.access.check(asked.principal, operation.name, asked.arguments())
        return asked

    streamed = STREAMED.get(operation.name)
    if streamed is not None:

        async def passing(request: Request) -> Response:
            return await streamed(relay, await admitted(request), request, pool)

        return passing
    handler = handlers[operation.name]

    async def answering(request: Request) -> Response:
        asked = await admitted(request)
        # Reading takes less time than handing over to a thread; writing waits for the disk.
        if operation.writes or operation.waits:
            told: Any = await asyncio.get_running_loop().run_in_executor(
                pool, partial(handler, relay, asked)
            )
        else:
            told = handler(relay, asked)
        if isinstance(told, Later):
            found = await asyncio.wrap_future(told.awaited)
            told = await asyncio.get_running_loop().run_in_executor(pool, told.finish, found)
        return Response(encode(told), status_code=operation.status, media_type=_JSON)

    return answering


def _failed(request: Request, error: Exception) -> Response:
    match error:
        case TerselyError():
            told, headers = (
                error,
                {"retry-after": "1"} if error.code in {"busy", "rate_limited"} else {},
            )
        case HTTPException():
            code = "method_not_allowed" if error.status_code == 405 else "no_route"
            message = f"{request.method} {request.url.path[:200]} is not an operation"
            told, headers = (
                TerselyError(code, message, "see /openapi.json"),
                dict(error.headers or {}),
            )
        case _:
            _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
            hint = "a defect in Tersely; the log has more"
            told, headers = (
                TerselyError("internal_error", f"{type(error).__name__}: {error}", hint),
                {},
            )
    return Response(body_of(told), status_of(told.code), headers, _JSON)


async def _unrouted(request: Request, error: Exception) -> Response:
    return _failed(request, error)
