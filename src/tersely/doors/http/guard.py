"""The guard of the relay over HTTP. Those may ask: this user's own programs at the socket in the
home; at the TCP port, who shows the home's token, and browsers that have signed in to the pages.

Any page of the internet can have a browser send requests to this machine. What it cannot do is name
this relay as the host by an address, come from the relay's own origin, or know the token. All three
are looked at before anything else. The cookie of a browser opens the pages and nothing else; the
token opens everything else and no page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hmac import compare_digest
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tersely.doors.http.connecting.accepting import recognize
from tersely.doors.http.connecting.wrong_tokens import WrongTokens
from tersely.doors.http.failures import body_of, status_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.agent_names import agent_name
from tersely.relay.access.audit import AuditedRefusal

DEFAULT_AGENT = "local"
MAX_ADDRESS_CHARACTERS = 64  # a proxy that is believed may pass on anything
# the identity that asks, in the scope of a request; nothing for the relay's own user
PRINCIPAL = "principal"
Refused = Callable[[AuditedRefusal], None]
_TWO_LENGTHS = {b"content-length", b"transfer-encoding"}
_LOOPBACK = re.compile(rb"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})")
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


_PAGES = "/ui"
_OPEN_PAGES = ("/ui/login", "/ui/static/")  # to sign in, and what these pages are made with


class PageChecks(NamedTuple):
    """The checks that the pages for browsers need."""

    is_signed_in: Callable[[str], bool]  # whom a `Cookie` header belongs to
    # the headers and body of a page that says why
    refusal: Callable[[TerselyError], tuple[dict[str, str], bytes]]


class RequestHeaders(NamedTuple):
    """The headers of a request that tell who asks."""

    path: str
    host: bytes
    origin: bytes
    authorization: bytes
    cookies: bytes


# Decides who may ask: true if it is known who does; raises `unauthorized` or `forbidden_origin`.
Admission = Callable[[RequestHeaders], bool]


def own_user(shown: RequestHeaders) -> bool:
    """At the socket in the home: the system lets nobody else come to it, and the pages are not
    there.
    """
    if is_page(shown.path):
        raise TerselyError(
            "unauthorized", "pages are for browsers", "`tersely relay open THREAD` opens one"
        )
    return True


class Visitor:
    """At the TCP port: who shows the token of the home, and browsers that have signed in.

    The port that a request names may be another: that of a tunnel which leads here.
    """

    def __init__(
        self, token: Callable[[], str], open_paths: Iterable[str], pages: PageChecks
    ) -> None:
        """`token` gives the one in force; `open_paths` need none."""
        self._token = token
        self._open_paths = frozenset(open_paths)
        self._pages = pages

    def __call__(self, shown: RequestHeaders) -> bool:
        """True if a token or a cookie was shown."""
        if not _LOOPBACK.fullmatch(shown.host.lower()):
            raise TerselyError(
                "forbidden_origin", "this is not a name of this relay", "ask it as 127.0.0.1"
            )
        if shown.origin and shown.origin.lower() != b"http://" + shown.host.lower():
            raise TerselyError("forbidden_origin", "other pages may not ask the relay")
        if is_page(shown.path):
            return self._check_session(shown)
        if shown.path in self._open_paths:
            return False
        self._check_token(shown)
        return True

    def _check_session(self, shown: RequestHeaders) -> bool:
        is_open = shown.path == _OPEN_PAGES[0] or shown.path.startswith(_OPEN_PAGES[1])
        if not (is_open or self._pages.is_signed_in(shown.cookies.decode("latin-1"))):
            raise TerselyError("unauthorized", "this browser has not signed in, or long ago")
        return not is_open

    def _check_token(self, shown: RequestHeaders) -> None:
        if not compare_digest(shown.authorization, f"Bearer {self._token()}".encode()):
            hint = "send Authorization: Bearer and the token that is in the relay's home"
            raise TerselyError("unauthorized", "the token is missing or wrong", hint)


class Guard:
    """Lets through what may ask. `scope["agent"]` is then who says to be asking."""

    def __init__(
        self, app: ASGIApp, admission: Admission, pages: PageChecks, refused: Refused
    ) -> None:
        """`refused` is told of every request that is not let through."""
        self._app = app
        self._admission = admission
        self._pages = pages
        self._refused = refused
        self._wrong = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope["agent"] = self._check(scope)
        except TerselyError as error:
            self._refused(
                AuditedRefusal(
                    error.code, error.message, asked_of(scope), "tcp", address=address_of(scope)
                )
            )
            if error.code == "unauthorized" and not is_page(scope["path"]):
                error = await self._slowed(error, address_of(scope))
            wants_page = error.code == "unauthorized" and is_page(scope["path"])
            headers, body = self._pages.refusal(error) if wants_page else refusal(error)
            answer = Response(body, status_of(error.code), headers)
            await answer(scope, receive, safely(send))
            return
        await self._app(scope, receive, safely(send))

    async def _slowed(self, error: TerselyError, address: str) -> TerselyError:
        """The error for a wrong token, once it may be told."""
        try:
            await self._wrong.shown(address)
        except TerselyError as limited:
            return limited
        return error

    def _check(self, scope: Scope) -> str:
        shown, agent = read_headers(scope)
        if self._admission(shown):
            recognize(scope)
        return agent


def read_headers(scope: Scope) -> tuple[RequestHeaders, str]:
    """The headers that tell who asks, and the agent that it says to come from; raises
    `malformed_request` where its length is said in two ways: what stands between may have taken it
    for another, and what follows for a part of it.
    """
    if {name for name, _ in scope["headers"]} >= _TWO_LENGTHS:
        hint = "send Content-Length or Transfer-Encoding, not both"
        raise TerselyError("malformed_request", "its length is said in two ways", hint)
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
    return RequestHeaders(scope["path"], host, origin, authorization, cookies), agent


def safely(send: Send) -> Send:
    """Send answers with the headers that make them safe."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = _with_safe(message.get("headers", ()))
        await send(message)

    return sent


def asked_of(scope: Scope) -> str:
    """The method and the path of a request."""
    return f"{scope.get('method', 'WebSocket')} {scope['path']}"


def address_of(scope: Scope) -> str:
    """The address that a request comes from; "" at a socket in the home."""
    return str((scope.get("client") or ("",))[0])[:MAX_ADDRESS_CHARACTERS]


def _agent(value: bytes) -> str:
    """The name in a header, in UTF-8 or escaped as in URLs."""
    return agent_name(unquote_to_bytes(value).decode("utf-8", "replace"))


def is_page(path: str) -> bool:
    """True if a path is one of the pages for browsers."""
    return path == _PAGES or path.startswith(_PAGES + "/")


def _with_safe(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with those that make an answer safe, where it does not have its own."""
    given = list(headers)
    names = {name for name, _ in given}
    return [
        *given,
        *((name, value) for name, value in (*_SAFE_HEADERS, _POLICY) if name not in names),
    ]


def refusal(error: TerselyError) -> tuple[dict[str, str], bytes]:
    """The headers and the body of an answer that says why there is none."""
    headers = {"content-type": "application/json"}
    if error.code == "unauthorized":
        headers["www-authenticate"] = "Bearer"
    elif error.code == "malformed_request":
        headers["connection"] = "close"  # where the next request begins, nobody knows
    return headers, body_of(error)
