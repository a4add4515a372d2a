"""`python -m bench.mcp_http --root REPOSITORY`: our server of the Model Context Protocol over HTTP on
this machine, which is the transport that the conformance suite drives. Its URL is told on standard
error.

Every answer is one JSON body: progress is not told, and there is no stream of events to listen to.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tersely.cli.builtin import mcp
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.cli.builtin.serving import McpParameters
from tersely.daemon.asking import Asking
from tersely.doors.mcp.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_MESSAGE_BYTES,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RpcError,
    decode,
    failure,
    id_of,
)
from tersely.doors.mcp.session import (
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    ClientSession,
    ServedMethods,
)
from tersely.foundation.types import JsonMapping

HOST = "127.0.0.1"
PATH = "/mcp"
MAX_SESSIONS = 256  # of handshakes; the oldest is forgotten
_BACKLOG = 64
_SETTLE_SECONDS = 1  # for what is still being answered, or sent, when a signal ends us
_OWN_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_METHOD = "mcp-method"
_NAME = "mcp-name"
# the parameter that the header with a name repeats
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}
_HEADER_MISMATCH = -32_020
_BAD_REQUEST = frozenset(
    {PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, _HEADER_MISMATCH, UNSUPPORTED_VERSION}
)


def main(words: Sequence[str]) -> int:
    """Serve a repository until a signal."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp_http", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the repository")
    root = parser.parse_args(words).root.resolve()
    gc.enable()
    asyncio.run(_serve(root))
    return 0


async def _serve(root: Path) -> None:
    asking, given = Asking(ANSWER_WORDS, starts_daemons=True), McpParameters()
    ask = partial(mcp.answer, asking, given)
    try:
        await serve_http(lambda: mcp.service(ask, root, given))
    finally:
        asking.close()


async def serve_http(make_service: Callable[[], ServedMethods]) -> None:
    """Serve on a port that is free until a signal."""
    with socket.create_server((HOST, 0), backlog=_BACKLOG) as listening:
        door = _Endpoint(make_service)
        routes = [
            Route(PATH, door.post, methods=["POST"]),
            Route(PATH, door.delete, methods=["DELETE"]),
        ]
        url = f"http://{HOST}:{listening.getsockname()[1]}{PATH}"
        sys.stderr.write(f"serving at {url}\n")
        sys.stderr.flush()
        app = Starlette(routes=routes)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=_SETTLE_SECONDS
        )
        await uvicorn.Server(config).serve(sockets=[listening])


class _Endpoint:
    """The one endpoint, and the sessions of clients that have begun with a handshake."""

    def __init__(self, make_service: Callable[[], ServedMethods]) -> None:
        self._make_service = make_service
        self._sessions: dict[str, ClientSession] = {}

    async def post(self, request: Request) -> Response:
        """Answer one message."""
        if (refusal := _refusal(request)) is not None:
            return refusal
        try:
            value = decode(await _body(request))
        except RpcError as error:
            return JSONResponse(failure(None, error), 400)
        if request.headers.get(_VERSION) in ENVELOPE_VERSIONS:
            return await self._answer_alone(request, value)
        version = request.headers.get(_VERSION, HANDSHAKE_VERSIONS[0])
        if version not in HANDSHAKE_VERSIONS:
            told = {"supported": [*HANDSHAKE_VERSIONS, *ENVELOPE_VERSIONS], "requested": version}
            return JSONResponse(
                failure(id_of(value), RpcError(UNSUPPORTED_VERSION, "Unsupported version", told)),
                400,
            )
        return await self._answer_in_session(request, value)

    async def delete(self, request: Request) -> Response:
        """Forget a session."""
        if (refusal := _refusal(request)) is not None:
            return refusal
        known = self._sessions.pop(request.headers.get(_SESSION, ""), None)
        return Response(status_code=404 if known is None else 204)

    async def _answer_alone(self, request: Request, value: Any) -> Response:
        """A request that says all by itself."""
        try:
            _check_headers(request, value)
        except RpcError as error:
            return JSONResponse(failure(id_of(value), error), 400)
        answer = await self._new_session().answer(value)
        if not isinstance(answer, dict):
            return Response(status_code=202)
        code = answer.get("error", {}).get("code")
        return JSONResponse(
            answer, 404 if code == METHOD_NOT_FOUND else 400 if code in _BAD_REQUEST else 200
        )

    async def _answer_in_session(self, request: Request, value: Any) -> Response:
        is_first = isinstance(value, dict) and value.get("method") == "initialize"
        own_id = uuid4().hex if is_first else request.headers.get(_SESSION, "")
        session = self._new_session() if is_first else self._sessions.get(own_id)
        if session is None:
            return Response(status_code=404 if own_id else 400)
        answer = await session.answer(value)
        if answer is None:
            return Response(status_code=202)
        if not is_first:
            return JSONResponse(answer)
        if not session.version:
            return JSONResponse(answer)
        self._sessions[own_id] = session
        while len(self._sessions) > MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return JSONResponse(answer, headers={_SESSION: own_id})

    def _new_session(self) -> ClientSession:
        return ClientSession(self._make_service(), None)


def _refusal(request: Request) -> Response | None:
    """The refusal of a page in a browser: it must not reach us by a name that it has made resolve
    here.
    """
    if not _is_own(f"//{request.headers.get('host', '')}"):
        return Response("this host is not served", 421)
    origin = request.headers.get("origin")
    if origin is not None and not _is_own(origin):
        return Response("this origin is not let in", 403)
    return None


def _is_own(url: str) -> bool:
    with suppress(ValueError):
        return urlsplit(url).hostname in _OWN_NAMES
    return False


async def _body(request: Request) -> bytes | None:
    """The body that was sent, None for too much."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_MESSAGE_BYTES:
            return None
    return body


def _check_headers(request: Request, value: Any) -> None:
    """Raise `RpcError` where headers, by which others may have let the request pass, say something
    else than it.
    """
    if not isinstance(value, dict) or "id" not in value:
        return
    params = value.get("params")
    given: JsonMapping = params if isinstance(params, dict) else {}
    method = value.get("method")
    meta = given.get("_meta")
    wanted = {_VERSION: meta.get(VERSION_KEY) if isinstance(meta, dict) else None, _METHOD: method}
    if isinstance(method, str) and method in _NAMED_BY:
        wanted[_NAME] = given.get(_NAMED_BY[method])
    for name, said in wanted.items():
        if said is not None and request.headers.getlist(name) != [said]:
            raise RpcError(_HEADER_MISMATCH, f"the header {name} is {said!r}, as in the message")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
