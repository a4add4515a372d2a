"""Who may ask: clients that show the token of the home, and pages that came from here.

Any page of the internet can have a browser send requests to this machine. What it cannot do is name this relay as the
host by an address, come from the relay's own origin, or know the token. All three are looked at before anything else.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from hmac import compare_digest
from typing import Any

from laconic.foundation.errors import LaconicError
from laconic.web.failures import body_of, status_of

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

DEFAULT_AGENT = "local"
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,63}")
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


class Guard:
    """Lets through what may ask. `scope["agent"]` is then who says to be asking."""

    def __init__(self, app: App, token: str, hosts: Iterable[str], is_open: Callable[[str], bool]) -> None:
        """`hosts` are the names of this relay with their ports; `is_open` says which paths need no token."""
        self._app = app
        self._bearer = b"Bearer " + token.encode()
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope["agent"] = self._check(scope)
        except LaconicError as error:
            await _refuse(error, send)
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message.get("headers", ()))
                headers.extend(_SAFE_HEADERS)
                if not any(name == _POLICY[0] for name, _ in headers):
                    headers.append(_POLICY)
            await send(message)

        await self._app(scope, receive, sent)

    def _check(self, scope: Scope) -> str:
        host = origin = shown = b""
        agent = DEFAULT_AGENT
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                shown = value
            elif name == b"x-relay-agent":
                agent = _agent(value)
        if host.lower() not in self._hosts:
            raise LaconicError("forbidden_origin", "this is not a name of this relay", "ask it as 127.0.0.1")
        if origin and origin.lower() not in self._origins:
            raise LaconicError("forbidden_origin", "other pages may not ask the relay")
        if not (self._is_open(scope["path"]) or compare_digest(shown, self._bearer)):
            hint = "send Authorization: Bearer and the token that is in the relay's home"
            raise LaconicError("unauthorized", "the token is missing or wrong", hint)
        return agent


def _agent(value: bytes) -> str:
    name = value.decode("latin-1")
    if not _AGENT.fullmatch(name):
        hint = "letters, digits and . _ : @ / - , at most 64"
        raise LaconicError("invalid_argument", "X-Relay-Agent is no name of an agent", hint)
    return name


async def _refuse(error: LaconicError, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), *_SAFE_HEADERS]
    if error.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status_of(error.code), "headers": headers})
    await send({"type": "http.response.body", "body": body_of(error)})
