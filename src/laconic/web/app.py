"""The operations of the relay as an application of HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import WEB_THREADS
from laconic.protocols.relay.operations import OPERATIONS, Operation
from laconic.relay.encoding import encode
from laconic.relay.relay import Relay
from laconic.web.asked import read
from laconic.web.failures import body_of, status_of
from laconic.web.guard import Guard
from laconic.web.openapi import document
from laconic.web.routes.plain import HANDLERS
from laconic.web.routes.streams import STREAMED, artifact_content

_JSON = "application/json"
_LOG = logging.getLogger("laconic.web")

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(relay: Relay, token: str, hosts: Iterable[str], more: Iterable[BaseRoute] = ()) -> Guard:
    """The application behind its guard. `hosts` are the names by which it may be asked, with the port."""
    pool = ThreadPoolExecutor(WEB_THREADS, thread_name_prefix="laconic-web")
    routes = [
        Route(operation.path, _endpoint(operation, relay, pool), methods=[operation.method]) for operation in OPERATIONS
    ]
    described = encode(document(OPERATIONS))

    async def openapi(request: Request) -> Response:
        return Response(described, media_type=_JSON)

    routes.append(Route("/openapi.json", openapi, methods=["GET"]))
    app = Starlette(
        routes=[*routes, *more],
        exception_handlers={LaconicError: _failed, HTTPException: _unrouted, Exception: _defect},
    )
    app.state.event_streams = 0
    app.router.redirect_slashes = False
    open_paths = {operation.path for operation in OPERATIONS if operation.is_open}
    return Guard(app, token, hosts, lambda path: path in open_paths or path.startswith("/ui"))


def _endpoint(operation: Operation, relay: Relay, pool: Executor) -> Endpoint:
    streamed = STREAMED.get(operation.name)
    if streamed is not None:

        async def passing(request: Request) -> Response:
            return await streamed(relay, await read(operation, request), request, pool)

        return passing
    handler = HANDLERS[operation.name]

    async def answering(request: Request) -> Response:
        asked = await read(operation, request)
        if asked.query.get("raw"):
            return await artifact_content(relay, asked, request, pool)
        # Reading takes less time than handing over to a thread; writing waits for the disk.
        if operation.writes:
            told: Any = await asyncio.get_running_loop().run_in_executor(pool, partial(handler, relay, asked))
        else:
            told = handler(relay, asked)
        return Response(encode(told), status_code=operation.status, media_type=_JSON)

    return answering


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, LaconicError)
    headers = {"retry-after": "1"} if error.code in {"busy", "rate_limited"} else {}
    return Response(body_of(error), status_code=status_of(error.code), headers=headers, media_type=_JSON)


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "method_not_allowed" if error.status_code == 405 else "no_route"
    told = LaconicError(code, f"{request.method} {request.url.path[:200]} is no operation", "see /openapi.json")
    return Response(body_of(told), status_code=status_of(code), headers=error.headers, media_type=_JSON)


async def _defect(request: Request, error: Exception) -> Response:
    _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
    told = LaconicError("internal_error", f"{type(error).__name__}: {error}", "a defect in Laconic; the log has more")
    return Response(body_of(told), status_code=500, media_type=_JSON)
