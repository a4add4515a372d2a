"""HTTP/1.1 for whatever asks a server: `httpcore2`, with every wait and every size bounded.

It follows no redirect, reads no proxy from the environment, keeps no cookie and unpacks nothing.
Certificates are those of the system. The head of an answer has at most 100 KB, a bound of the
library.
"""

from __future__ import annotations

import os
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from httpcore2 import (
    URL,
    AsyncConnectionPool,
    AsyncNetworkStream,
    ConnectError,
    ConnectionPool,
    ConnectTimeout,
    LocalProtocolError,
    NetworkError,
    NetworkStream,
    ProtocolError,
    ReadError,
    ReadTimeout,
    RemoteProtocolError,
    Response,
    SyncBackend,
    TimeoutException,
    UnsupportedProtocol,
    WriteError,
    default_ssl_context,
)
from httpcore2._backends.auto import AutoBackend
from httpcore2._backends.sync import SyncStream

from tersely.foundation.errors import TerselyError
from tersely.foundation.network.credentials import is_same_user
from tersely.foundation.types import Headers, JsonObject

__all__ = [
    "AsyncConnectionPool",
    "ConnectError",
    "ConnectTimeout",
    "ConnectionPool",
    "ReadTimeout",
    "Response",
]

KEPT_SECONDS = 4.0  # of an idle connection: less than servers keep theirs
MAX_KEPT_CONNECTIONS = 10
MAX_LINE_BYTES = 10_000_000  # of a stream that is read by lines

_TRUST_HINT = (
    "have it renewed where that runs, or add the authority that signed it to the trust store of "
    "this system (or name its file in SSL_CERT_FILE)"
)

DISCONNECTIONS = (ReadError, WriteError, RemoteProtocolError)
# of a server, or on the way to it
FAILURES = (NetworkError, ProtocolError, TimeoutException, UnsupportedProtocol)


class TooLongError(Exception):
    """An answer, or a line of it, is longer than its bound."""


class ForeignPeerError(ConnectError):
    """A process of another user listens at a socket."""


class HttpReply(NamedTuple):
    """An answer that came whole."""

    status: int
    body: bytes


class _OwnSockets(SyncBackend):
    """Connects to sockets at which this user listens, and sends nothing to any other."""

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> NetworkStream:
        if sys.platform == "win32":
            raise ConnectError("Windows has no Unix sockets")
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.settimeout(timeout)
            connected.connect(path)
            if not is_same_user(connected):
                raise ForeignPeerError(f"another user listens at {path}")
        except BaseException as error:
            connected.close()
            if isinstance(error, TimeoutError):
                raise ConnectTimeout(error) from error
            if isinstance(error, OSError):
                raise ConnectError(error) from error
            raise
        return SyncStream(connected)


class _OwnAsyncSockets(AutoBackend):
    """The same for an event loop."""

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> AsyncNetworkStream:
        connected = await super().connect_unix_socket(path, timeout, socket_options)
        if not is_same_user(connected.get_extra_info("socket")):
            await connected.aclose()
            raise ForeignPeerError(f"another user listens at {path}")
        return connected


def async_connections(own_socket: Path) -> AsyncConnectionPool:
    """As `connections` for one event loop, which nothing here makes wait."""
    return AsyncConnectionPool(
        max_connections=None, max_keepalive_connections=MAX_KEPT_CONNECTIONS, keepalive_expiry=KEPT_SECONDS,
        uds=str(own_socket), network_backend=_OwnAsyncSockets(),
    )  # fmt: skip


def connections(own_socket: Path | None = None) -> ConnectionPool:
    """Connections that are kept for the next request; may be used from several threads.

    With `own_socket`, all of them lead to this socket; `ForeignPeerError` where another user
    listens at it.
    """
    return ConnectionPool(
        max_connections=None, max_keepalive_connections=MAX_KEPT_CONNECTIONS, keepalive_expiry=KEPT_SECONDS,
        uds=None if own_socket is None else str(own_socket), network_backend=_OwnSockets(),
    )  # fmt: skip


def system_trust() -> ssl.SSLContext:
    """The TLS of a client that believes what the system does, or the authorities in the file that
    `SSL_CERT_FILE` names; raises `invalid_certificate`.
    """
    try:
        return default_ssl_context()
    except OSError as error:  # of ssl as well
        hint = (
            "have SSL_CERT_FILE be the absolute path of a file of authorities in PEM, or unset it"
        )
        message = f"no trust store can be read: {error.strerror or error}"
        raise TerselyError("invalid_certificate", message, hint) from error


def secured_connections() -> ConnectionPool:
    """Connections to servers that the system believes; raises `invalid_certificate`."""
    return ConnectionPool(
        ssl_context=system_trust(), max_connections=None, keepalive_expiry=KEPT_SECONDS
    )


def async_secured_connections() -> AsyncConnectionPool:
    """The same for one event loop."""
    return AsyncConnectionPool(
        ssl_context=system_trust(), max_connections=None, max_keepalive_connections=MAX_KEPT_CONNECTIONS,
        keepalive_expiry=KEPT_SECONDS,
    )  # fmt: skip


def waits(connect: float, silence: float) -> JsonObject:
    """The longest waits of a request in seconds: for its connection, and between two pieces in
    either direction.
    """
    return {"timeout": {"connect": connect, "read": silence, "write": silence}}


@contextmanager
def stream(
    pool: ConnectionPool,
    method: str,
    url: str,
    waits: JsonObject,
    *,
    headers: Headers,
    content: bytes | Iterator[bytes] | None = None,
) -> Iterator[Response]:
    """Ask, and give the answer as soon as its head is here; raises `FAILURES`."""
    with pool.stream(
        method, _target(url), headers=_fields(headers), content=content, extensions=waits
    ) as response:
        yield response


def ask(
    pool: ConnectionPool,
    method: str,
    url: str,
    waits: JsonObject,
    most_bytes: int,
    *,
    headers: Headers,
    content: bytes | Iterator[bytes] | None = None,
) -> HttpReply:
    """Ask, and read the whole answer, whatever its status; raises `FAILURES` or `TooLongError`."""
    with stream(pool, method, url, waits, headers=headers, content=content) as response:
        return HttpReply(response.status, body(response, most_bytes))


@asynccontextmanager
async def async_stream(
    pool: AsyncConnectionPool,
    method: str,
    url: str,
    waits: JsonObject,
    *,
    headers: Headers,
    content: bytes | AsyncIterator[bytes] | None = None,
) -> AsyncIterator[Response]:
    """As `stream`, for an event loop."""
    fields = _fields(headers)
    async with pool.stream(
        method, _target(url), headers=fields, content=content, extensions=waits
    ) as response:
        yield response


@asynccontextmanager
async def stream_once(
    method: str,
    url: str,
    waits: JsonObject,
    *,
    headers: Headers,
    content: bytes | None = None,
    server_name: str | None = None,
) -> AsyncIterator[Response]:
    """Ask over a connection of its own, which leaving closes, also in the middle of an answer;
    raises `FAILURES`, `invalid_certificate`.

    `server_name` is whose certificate is wanted, where the URL has an address instead.
    """
    extensions = {**waits, "sni_hostname": server_name}
    fields = _fields({**headers, "Connection": "close"})
    trust = system_trust() if url.startswith("https:") else None
    async with (
        AsyncConnectionPool(ssl_context=trust, max_keepalive_connections=0) as pool,
        pool.stream(
            method, _target(url), headers=fields, content=content, extensions=extensions
        ) as response,
    ):
        yield response


def body(response: Response, most_bytes: int) -> bytes:
    """The whole body of an answer; raises `TooLongError`."""
    held = bytearray()
    for piece in response.iter_stream():
        _hold(held, piece, most_bytes)
    return bytes(held)


async def async_body(pieces: AsyncIterator[bytes], most_bytes: int) -> bytes:
    """The whole body of an answer whose pieces are waited for; raises `TooLongError`."""
    held = bytearray()
    async for piece in pieces:
        _hold(held, piece, most_bytes)
    return bytes(held)


def _hold(held: bytearray, piece: bytes, most_bytes: int) -> None:
    held += piece
    if len(held) > most_bytes:
        raise TooLongError(f"more than {most_bytes:,} bytes")


async def async_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream as they come, without their ends; raises `TooLongError`."""
    rest = bytearray()
    async for piece in pieces:
        rest += piece
        if b"\n" in piece:
            *whole, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in whole:
                yield line
        if len(rest) > MAX_LINE_BYTES:
            raise TooLongError(f"a line of more than {MAX_LINE_BYTES:,} bytes")


def field(response: Response, name: str) -> str:
    """A field of the head of an answer, "" if it is not there."""
    wanted = name.lower().encode()
    return next(
        (value.decode("latin-1") for key, value in response.headers if key.lower() == wanted), ""
    )


def disbelieved(url: str, error: BaseException) -> TerselyError | None:
    """The error of a server whose certificate is not believed, None for other failures."""
    why = reason(error)
    if "certificate verify failed" not in why.lower().replace("_", " "):
        return None
    message = f"{url} shows a certificate that is not believed: {why}"
    return TerselyError("invalid_certificate", message, _TRUST_HINT)


def reason(error: BaseException) -> str:
    """The reason of a failure, in the words of the system."""
    source: BaseException | None = error
    while source is not None:
        error, source = source, _source(source)
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _source(error: BaseException) -> BaseException | None:
    """The library puts a failure around that of the system; anyio, around those of every address of
    a name.
    """
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    inner = error.args[0] if error.args else None
    return inner if isinstance(inner, BaseException) else error.__cause__


def _target(url: str) -> URL:
    try:
        return URL(url)
    except (TypeError, ValueError):
        raise LocalProtocolError(f"{url!r} is not a URL in ASCII") from None


def _fields(headers: Headers) -> list[tuple[bytes, bytes]]:
    try:
        return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    except UnicodeEncodeError as error:
        raise LocalProtocolError(
            f"the head of a request can hold no {error.object[error.start]!r}"
        ) from None
