"""A proxy on this machine that lets a browser through to the public internet, and to private places
that are named.

    async with Gate() as gate:
        start_browser(proxy=f"http://127.0.0.1:{gate.port}")
        gate.private_places.add("localhost:5173")

Every connection of the browser is one of ours: the name is resolved here, once, its addresses are
looked at, and the connection is made to the address that was looked at. So neither a name that
changes its mind nor a redirect nor a script leads into this machine or its network. What is private
and named may be asked by pages that are so as well, and not by pages of the internet, as far as the
browser says who asks (`Origin`, `Referer`, `Sec-Fetch-Site`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Coroutine
from contextlib import suppress
from typing import NamedTuple, Self
from urllib.parse import SplitResult, urlsplit

from tersely.foundation.errors import TerselyError
from tersely.foundation.network.fetch import (
    ConnectionPlace,
    checked_place,
    is_public,
    netloc,
    port_of,
    url_parts,
)

MAX_GATE_CONNECTIONS = 256  # of a browser at a time
MAX_GATE_HEAD_BYTES = 65_536  # of a request or an answer, without its body
MAX_GATE_REFUSALS = 50  # that are remembered
GATE_CONNECT_SECONDS = 15
GATE_HEAD_SECONDS = 60  # for a request or an answer to begin
_CHUNK_BYTES = 65_536
_TLS_HANDSHAKE = b"\x16"
_OF_ITSELF = frozenset({"none", "same-origin", "same-site"})  # who asks, as browsers put it
_HOP_FIELDS = frozenset({"connection", "proxy-connection", "keep-alive", "proxy-authorization"})
_FAILURES = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    ValueError,
)


class _Head(NamedTuple):
    """The first line of a request or an answer, and its fields."""

    line: str
    fields: tuple[tuple[str, str], ...]

    def field(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    def closing(self, line: str) -> bytes:
        """The same with another first line, for a connection that ends with it."""
        kept = [f"{key}: {value}" for key, value in self.fields if key.lower() not in _HOP_FIELDS]
        return "\r\n".join([line, *kept, "Connection: close", "", ""]).encode("latin-1")


class Refusal(NamedTuple):
    """What a browser was refused."""

    host: str  # that it asked for; "" where it named none
    message: str  # with the place, and why


class Gate:
    """See the module. For one event loop; what is refused is remembered in `refusals`, the newest
    last.

    `closed_hosts` are refused without a word: what the browser asks for itself.
    """

    def __init__(self, closed_hosts: Collection[str] = ()) -> None:
        self._closed_hosts = closed_hosts
        self.private_places: set[str] = set()  # hosts, or hosts with a port
        self.refusals: deque[Refusal] = deque(maxlen=MAX_GATE_REFUSALS)
        self.port = 0
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, limit=MAX_GATE_HEAD_BYTES
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._running) >= MAX_GATE_CONNECTIONS:
            writer.close()
            return
        self._running.add(task)
        try:
            await self._serve(_Ends(reader, writer))
        except _FAILURES:
            pass  # the browser sees that its connection ended
        finally:
            self._running.discard(task)
            writer.close()

    async def _serve(self, browser: _Ends) -> None:
        head = await _read_head(browser.reader)
        method, _, rest = head.line.partition(" ")
        target, host = rest.rpartition(" ")[0], ""
        try:
            parts = _parts(method, target)
            host = parts.hostname or ""
            if host in self._closed_hosts:
                return
            place = await asyncio.to_thread(checked_place, parts, frozenset(self.private_places))
            is_private = not all(map(is_public, place.addresses))
            if is_private and method != "CONNECT":
                self._check_asker(head, parts)
            server = await _connected(place)
        except TerselyError as error:
            self.refusals.append(Refusal(host, f"{target[:200]}: {error.message}"))
            await _answer(
                browser.writer,
                "403 Forbidden" if error.code == "denied" else "502 Bad Gateway",
                error.message,
            )
            return
        try:
            if method == "CONNECT":
                await self._tunnel(browser, server, parts if is_private else None)
            else:
                await _pass_on(browser, server, head, f"{method} {_path(parts)} HTTP/1.1")
        finally:
            server.writer.close()

    async def _tunnel(self, browser: _Ends, server: _Ends, private: SplitResult | None) -> None:
        """Bytes both ways. What begins without TLS at a private place is a WebSocket, whose head
        says who asks.
        """
        browser.writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        if private is not None:
            first = await asyncio.wait_for(browser.reader.readexactly(1), GATE_HEAD_SECONDS)
            if first != _TLS_HANDSHAKE:
                head = await _read_head(browser.reader, first)
                try:
                    self._check_asker(head, private)
                except TerselyError as error:
                    why = f"{private.netloc}: {error.message}"
                    self.refusals.append(Refusal(private.hostname or "", why))
                    return
                first = "\r\n".join(
                    [head.line, *(f"{key}: {value}" for key, value in head.fields), "", ""]
                ).encode("latin-1")
            server.writer.write(first)
        await _until_one_ends(
            _pump(browser.reader, server.writer), _pump(server.reader, browser.writer)
        )

    def _check_asker(self, head: _Head, parts: SplitResult) -> None:
        """Raises `denied` where a page of elsewhere asks a private place."""
        asker = head.field("origin") or head.field("referer")
        site = head.field("sec-fetch-site")
        is_own = site in _OF_ITSELF or self.is_named(asker) or not (site or asker)
        if not is_own:
            message = f"{parts.hostname} is private, and a page of {urlsplit(asker).netloc or 'elsewhere'} asks for it"
            raise TerselyError("denied", message, "open it by itself")

    def is_named(self, url: str) -> bool:
        """True if a URL leads to a private place that is named."""
        try:
            parts = urlsplit(url)
            return bool(
                {parts.hostname, netloc(parts.hostname or "", port_of(parts))} & self.private_places
            )
        except ValueError:
            return False


class _Ends(NamedTuple):
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


def _parts(method: str, target: str) -> SplitResult:
    parts = url_parts(f"https://{target}" if method == "CONNECT" else target)
    if method == "CONNECT" and (parts.path or parts.query):
        raise TerselyError("denied", "a tunnel leads to a host and a port")
    if method != "CONNECT" and parts.scheme != "http":
        raise TerselyError("denied", "only http is passed on")
    return parts


def _path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


async def _connected(place: ConnectionPlace) -> _Ends:
    why = ""
    for address in place.addresses:
        try:
            opening = asyncio.open_connection(address, place.port, limit=MAX_GATE_HEAD_BYTES)
            return _Ends(*await asyncio.wait_for(opening, GATE_CONNECT_SECONDS))
        except (OSError, TimeoutError) as error:
            why = str(error) or f"no answer in {GATE_CONNECT_SECONDS} s"
    raise TerselyError("fetch_failed", f"{place.host} cannot be reached: {why}")


async def _read_head(reader: asyncio.StreamReader, before: bytes = b"") -> _Head:
    data = before + await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), GATE_HEAD_SECONDS)
    first, *lines = data[:-4].decode("latin-1").split("\r\n")
    pairs = [line.partition(":") for line in lines]
    return _Head(first, tuple((key.strip(), value.strip()) for key, _, value in pairs))


async def _answer(writer: asyncio.StreamWriter, status: str, message: str) -> None:
    body = message.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
    await writer.drain()


async def _pass_on(browser: _Ends, server: _Ends, head: _Head, line: str) -> None:
    """One request and its answer: a second one on the same connection might be meant for another
    host.
    """
    length = head.field("content-length") or "0"
    if head.field("transfer-encoding") or not length.isdecimal():
        raise ValueError("a browser says how long a body is")
    server.writer.write(head.closing(line))
    await _until_one_ends(
        _send_body(browser.reader, server.writer, int(length)),
        _send_answer(server.reader, browser.writer),
    )


async def _send_body(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int
) -> None:
    """A body of known length; ends when the browser sends more than that, or hangs up."""
    while length > 0 and (chunk := await reader.read(min(_CHUNK_BYTES, length))):
        length -= len(chunk)
        writer.write(chunk)
        await writer.drain()
    await reader.read(1)


async def _send_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await _read_head(reader)
    writer.write(head.closing(head.line))
    await _pump(reader, writer)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()


async def _until_one_ends(*works: Coroutine[None, None, None]) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        with suppress(*_FAILURES):
            await asyncio.gather(*tasks, return_exceptions=True)
