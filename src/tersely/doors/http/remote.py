"""The door for whoever comes from elsewhere: each request shows the token of an identity, and
reaches its tenant alone.

A token that is revoked, rotated or expired ends what is open with it, at once: streams of events
and WebSockets too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tersely.doors.http.connecting.accepting import recognize
from tersely.doors.http.connecting.wrong_tokens import WrongTokens
from tersely.doors.http.failures import status_of
from tersely.doors.http.guard import (
    DEFAULT_AGENT,
    PRINCIPAL,
    address_of,
    asked_of,
    is_page,
    read_headers,
    refusal,
    safely,
)
from tersely.doors.http.routes.event_socket import is_event_path, serve_events
from tersely.doors.socket.router import Router
from tersely.doors.socket.websocket import serve_websocket
from tersely.foundation.errors import TerselyError
from tersely.relay.access.audit import refusal_of
from tersely.relay.access.principals import OWNER, Principal
from tersely.relay.access.tokens import Tokens
from tersely.relay.relay import Relay

WEBSOCKET_PATH = "/socket"
MAX_OPEN_REQUESTS = 512  # of one token, streams and WebSockets among them
MAX_OPEN_WEBSOCKETS = 64  # of one token: each may have a frame of the largest size in memory
_OPEN_PATHS = frozenset({"/health", "/join"})
# what programs say that know no name: the identity itself
_ALIASES = frozenset({DEFAULT_AGENT, "cli"})
_POLICY_VIOLATION = 1008  # why a WebSocket is closed, as RFC 6455 numbers it


class Tenant(NamedTuple):
    """One tenant's relay, its application behind no guard, and the router of its sockets."""

    relay: Relay
    app: ASGIApp
    router: Router


class RemoteDoor:
    """An application that lets in whoever shows a token. Used on one loop."""

    def __init__(
        self,
        tokens: Tokens,
        main: Tenant,
        tenant: Callable[[str], Awaitable[Tenant]],
        trusted_hosts: Sequence[str],
    ) -> None:
        """`tenant` opens one by its name; `trusted_hosts` are the names by which this door may be
        asked, any without.

        `main` is the relay's own: it answers what needs no token, and has the log of what is
        refused.
        """
        self._tokens = tokens
        self._main = main
        self._wrong = WrongTokens()
        self._tenant = tenant
        self._hosts = frozenset(host.lower() for host in trusted_hosts)
        # by the id of the token; of each whether it serves a WebSocket
        self._open: dict[str, dict[asyncio.Task[object], bool]] = {}
        loop = asyncio.get_running_loop()

        def ended(token_id: str) -> None:
            loop.call_soon_threadsafe(self._end, token_id)

        tokens.on_end(ended)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        principal = OWNER
        try:
            shown, agent = read_headers(scope)
            self._check_host(shown.host, shown.origin)
            if is_page(shown.path):
                raise TerselyError(
                    "unauthorized",
                    "the pages are at the relay's machine",
                    "an SSH tunnel leads there",
                )
            if scope["type"] == "http" and shown.path in _OPEN_PATHS:
                await self._main.app({**scope, "agent": agent}, receive, safely(send))
                return
            principal = await self._principal(_bearer(shown.authorization), address_of(scope))
            recognize(scope)
            tenant = await self._tenant(principal.tenant)
            agent = principal.name if agent in _ALIASES else agent
            await self._serve(tenant, principal, agent, scope, receive, send)
        except TerselyError as error:
            await self._refuse(error, principal, scope, receive, send)

    async def _principal(self, secret: str, address: str) -> Principal:
        """Whoever shows a token; raises `unauthorized`, soon unless many wrong ones were shown."""
        try:
            return self._tokens.principal(secret)
        except TerselyError:
            await self._wrong.shown(address)
            raise

    async def _serve(
        self,
        tenant: Tenant,
        principal: Principal,
        agent: str,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Serve for as long as the token is in force."""
        task = asyncio.current_task()
        assert task is not None
        mine = self._open.setdefault(principal.token_id, {})
        is_socket = scope["type"] == "websocket"
        _check_room(mine, is_socket)
        ends_itself = asked_of(scope) == f"DELETE /tokens/{principal.token_id}"
        if not ends_itself:  # that is answered still
            mine[task] = is_socket
        seconds = None
        if principal.expires_ms is not None:
            seconds = max(0.0, (principal.expires_ms - tenant.relay.store.now_ms()) / 1000)
        try:
            async with asyncio.timeout(seconds):
                inner = {**scope, "agent": agent, PRINCIPAL: principal}
                if scope["type"] == "http":
                    tenant.relay.access.act_as(principal, agent)
                    await tenant.app(inner, receive, safely(send))
                elif is_event_path(scope["path"]):
                    tenant.relay.access.act_as(principal, agent)
                    await serve_events(tenant.app, inner, receive, send)
                elif scope["path"] == WEBSOCKET_PATH:
                    await serve_websocket(tenant.router, principal, receive, send)
                else:
                    path = scope["path"][:200]
                    raise TerselyError(
                        "no_route", f"there is no WebSocket at {path}", f"at {WEBSOCKET_PATH}"
                    )
        except (TimeoutError, asyncio.CancelledError):
            if not self._tokens.is_ended(principal.token_id):
                raise
            if is_socket:
                with suppress(RuntimeError):  # closed already
                    await send(
                        {
                            "type": "websocket.close",
                            "code": _POLICY_VIOLATION,
                            "reason": "the token has ended",
                        }
                    )
        finally:
            mine.pop(task, None)
            if not mine:
                self._open.pop(principal.token_id, None)

    def _end(self, token_id: str) -> None:
        for task in self._open.get(token_id, ()):
            task.cancel()

    def _check_host(self, host: bytes, origin: bytes) -> None:
        named = host.decode("latin-1").lower().rsplit(":", 1)[0]
        if self._hosts and named not in self._hosts:
            hint = "`trusted_hosts` in the relay's config.toml lists its names"
            raise TerselyError(
                "forbidden_origin", f"{named[:80]!r} is not a name of this relay", hint
            )
        if origin:
            raise TerselyError(
                "forbidden_origin", "pages of browsers may not ask the relay from here"
            )

    async def _refuse(
        self, error: TerselyError, principal: Principal, scope: Scope, receive: Receive, send: Send
    ) -> None:
        told = refusal_of(error, principal, asked=asked_of(scope), door="remote")
        told.address = address_of(scope)
        self._main.relay.audit.refused(told)
        headers, body = refusal(error)
        if scope["type"] == "http":
            answer = Response(body, status_of(error.code), headers)
            await answer(scope, receive, safely(send))
            return
        await receive()
        await send(
            {"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": str(error)[:100]}
        )


def _check_room(mine: Mapping[asyncio.Task[object], bool], is_socket: bool) -> None:
    """Raise `busy` where a token has as many requests open as it may, or as many WebSockets."""
    if len(mine) >= MAX_OPEN_REQUESTS:
        raise TerselyError(
            "busy", f"{MAX_OPEN_REQUESTS} requests of this token are open", "close some"
        )
    if is_socket and sum(mine.values()) >= MAX_OPEN_WEBSOCKETS:
        raise TerselyError(
            "busy", f"{MAX_OPEN_WEBSOCKETS} WebSockets of this token are open", "close some"
        )


def _bearer(authorization: bytes) -> str:
    """The secret that a request shows, "" for none."""
    kind, _, secret = authorization.decode("latin-1").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""
