"""Who may ask: this user's own programs at the socket in the home; at the TCP port, who shows the home's token, and
browsers that have signed in to the pages.

Any page of the internet can have a browser send requests to this machine. What it cannot do is name this relay as the
host by an address, come from the relay's own origin, or know the token. All three are looked at before anything else.
The cookie of a browser opens the pages and nothing else; the token opens everything else and no page.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from hmac import compare_digest
from typing import Any, NamedTuple, Protocol

from tersely.doors.http.contract.shapes import AGENT_PATTERN
from tersely.doors.http.failures import body_of, status_of
from tersely.foundation.errors import TerselyError

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

DEFAULT_AGENT = "local"
_AGENT = re.compile(AGENT_PATTERN)
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


_PAGES = "/ui"
_OPEN_PAGES = ("/ui/login", "/ui/static/")  # to sign in, and what these pages are made with


class Pages(NamedTuple):
    """What is asked about the pages."""

    is_signed_in: Callable[[str], bool]  # whom a `Cookie` header belongs to
    refusal: Callable[[TerselyError], tuple[dict[str, str], bytes]]  # the headers and body of a page that says why


class Shown(NamedTuple):
    """What a request shows of who asks."""

    path: str
    host: bytes
    origin: bytes
    authorization: bytes
    cookies: bytes


class Admission(Protocol):
    """Decides who may ask."""

    def check(self, shown: Shown) -> None:
        """Raise `unauthorized` or `forbidden_origin` unless this one may."""


class OwnUser:
    """At the socket in the home: the system lets nobody else come to it, and the pages are not there."""

    def check(self, shown: Shown) -> None:
        """Raise `unauthorized` for a page."""
        if _is_page(shown.path):
            raise TerselyError("unauthorized", "pages are for browsers", "`tersely relay open THREAD` opens one")


class Visitor:
    """At the TCP port: who shows the token of the home, and browsers that have signed in."""

    def __init__(self, token: Callable[[], str], port: int, open_paths: Iterable[str], pages: Pages) -> None:
        """`token` gives the one in force; `open_paths` need none."""
        self._token = token
        self._hosts = frozenset({f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()})
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._open_paths = frozenset(open_paths)
        self._pages = pages

    def check(self, shown: Shown) -> None:
        """Raise `unauthorized` or `forbidden_origin` unless this one may."""
        if shown.host.lower() not in self._hosts:
            raise TerselyError("forbidden_origin", "this is not a name of this relay", "ask it as 127.0.0.1")
        if shown.origin and shown.origin.lower() not in self._origins:
            raise TerselyError("forbidden_origin", "other pages may not ask the relay")
        if _is_page(shown.path):
            self._check_session(shown)
        elif shown.path not in self._open_paths:
            self._check_token(shown)

    def _check_session(self, shown: Shown) -> None:
        is_open = shown.path == _OPEN_PAGES[0] or shown.path.startswith(_OPEN_PAGES[1])
        if not (is_open or self._pages.is_signed_in(shown.cookies.decode("latin-1"))):
            raise TerselyError("unauthorized", "this browser has not signed in, or long ago")

    def _check_token(self, shown: Shown) -> None:
        if not compare_digest(shown.authorization, f"Bearer {self._token()}".encode()):
            hint = "send Authorization: Bearer and the token that is in the relay's home"
            raise TerselyError("unauthorized", "the token is missing or wrong", hint)


class Guard:
    """Lets through what may ask. `scope["agent"]` is then who says to be asking."""

    def __init__(self, app: App, admission: Admission, pages: Pages) -> None:
        self._app = app
        self._admission = admission
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope["agent"] = self._check(scope)
        except TerselyError as error:
            is_page = error.code == "unauthorized" and _is_page(scope["path"])
            headers, body = self._pages.refusal(error) if is_page else _refusal(error)
            await _refuse(error, headers, body, send)
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_safe(message.get("headers", ()))
            await send(message)

        await self._app(scope, receive, sent)

    def _check(self, scope: Scope) -> str:
        host = origin = authorization = cookies = b""
        agent = DEFAULT_AGENT
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                authorization = value
            elif name == b"cookie":
                cookies = cookies + b"; " + value if cookies else value
            elif name == b"x-relay-agent":
                agent = _agent(value)
        self._admission.check(Shown(scope["path"], host, origin, authorization, cookies))
        return agent


def _agent(value: bytes) -> str:
    name = value.decode("latin-1")
    if not _AGENT.fullmatch(name):
        hint = "letters, digits and . _ : @ / - , at most 64"
        raise TerselyError("invalid_argument", "X-Relay-Agent is not a name of an agent", hint)
    return name


def _is_page(path: str) -> bool:
    return path == _PAGES or path.startswith(_PAGES + "/")


def _with_safe(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with those that make an answer safe, where it does not have its own."""
    given = list(headers)
    names = {name for name, _ in given}
    return [*given, *((name, value) for name, value in (*_SAFE_HEADERS, _POLICY) if name not in names)]


def _refusal(error: TerselyError) -> tuple[dict[str, str], bytes]:
    headers = {"content-type": "application/json"}
    if error.code == "unauthorized":
        headers["www-authenticate"] = "Bearer"
    return headers, body_of(error)


async def _refuse(error: TerselyError, headers: dict[str, str], body: bytes, send: Send) -> None:
    given = _with_safe((name.encode(), value.encode()) for name, value in headers.items())
    await send({"type": "http.response.start", "status": status_of(error.code), "headers": given})
    await send({"type": "http.response.body", "body": body})
