"""A page of the public internet, fetched from an address that was checked.

It reaches nothing but the public internet, unless the owner has named a host: every address that a name stands for is
looked at before the connection is made, the connection is made to that very address, and each redirect is looked at
again. So neither a name that changes its mind nor a redirect leads into this machine or its network.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Timer
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from tersely import __version__
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, FETCH_BYTES, FETCH_REDIRECTS, FETCH_SECONDS

_REDIRECTS = {301, 302, 303, 307, 308}
# IPv6 addresses whose last four bytes are one of IPv4: NAT64 (RFC 6052, RFC 8215), and the compatible ones of RFC 4291.
_WITH_IPV4 = [IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")]
_USER_AGENT = f"tersely/{__version__}"


class Page(NamedTuple):
    """What was fetched, and from where in the end."""

    url: str
    mime: str
    body: bytes


class _Place(NamedTuple):
    """Where a connection goes: a name, and the address that was looked at."""

    host: str
    port: int
    address: str


def fetch(url: str, private_hosts: tuple[str, ...] = ()) -> Page:
    """The body behind a URL of http or https; raises `invalid_argument`, `denied` or `fetch_failed`."""
    watch = Stopwatch()
    for _ in range(FETCH_REDIRECTS + 1):
        parts = _parts(url)
        place = _looked_at(parts, private_hosts)
        try:
            page = _ask(url, parts, place, watch)
        except (OSError, http.client.HTTPException) as error:
            _left(watch)
            why = f"{parts.hostname}: {str(error) or type(error).__name__}"
            raise TerselyError("fetch_failed", why, "check the address, or try again later") from error
        if isinstance(page, Page):
            return page
        url = urljoin(url, page)
    raise TerselyError("fetch_failed", f"more than {FETCH_REDIRECTS} redirects", "fetch where they lead")


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise TerselyError("invalid_argument", f"url: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None or port == 0:
        raise TerselyError("invalid_argument", "url: of http or https, with a host and without a user")
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
        raise TerselyError("invalid_argument", "url: without blanks and controls")
    return parts


def _looked_at(parts: SplitResult, private_hosts: tuple[str, ...]) -> _Place:
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TerselyError("fetch_failed", f"{host} is not known: {error}", "check the address") from error
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        if host not in private_hosts and not _is_public(ip_address(address.partition("%")[0])):
            hint = "the owner may name the host in private_hosts"
            raise TerselyError("denied", f"{host} is not of the public internet ({address})", hint)
    return _Place(host, port, addresses[0])


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return _is_public(inner)
        if any(address in network for network in _WITH_IPV4):
            return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast


def _ask(url: str, parts: SplitResult, place: _Place, watch: Stopwatch) -> Page | str:
    """The page, or where it has moved."""
    with closing(_connected(parts.scheme, place, watch)) as connection, _ended_in_time(connection.sock, watch):
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"})
        with connection.getresponse() as response:
            return _page_or_place(url, parts.hostname or "", response, watch)


def _page_or_place(url: str, host: str, response: http.client.HTTPResponse, watch: Stopwatch) -> Page | str:
    moved = response.getheader("Location")
    if response.status in _REDIRECTS and moved:
        return moved
    if response.status >= 400:
        raise TerselyError("fetch_failed", f"{host} answers {response.status} {response.reason}")
    mime = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    return Page(url, mime[:100], b"".join(_body(response, watch)))


def _connected(scheme: str, place: _Place, watch: Stopwatch) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(place.host, place.port)
    plain = socket.create_connection((place.address, place.port), timeout=_left(watch))
    if scheme == "https":
        try:
            plain = ssl.create_default_context().wrap_socket(plain, server_hostname=place.host)
        except BaseException:
            plain.close()
            raise
    connection.sock = plain
    return connection


@contextmanager
def _ended_in_time(connected: socket.socket, watch: Stopwatch) -> Iterator[None]:
    """Nobody keeps us waiting by sending a byte now and then: each would be in time."""
    timer = Timer(_left(watch), socket.socket.shutdown, (connected, socket.SHUT_RDWR))
    timer.daemon = True
    timer.start()
    try:
        yield
        _left(watch)
    finally:
        timer.cancel()


def _body(response: http.client.HTTPResponse, watch: Stopwatch) -> Iterator[bytes]:
    size = 0
    while chunk := response.read1(BLOB_CHUNK_BYTES):
        size += len(chunk)
        if size > FETCH_BYTES:
            raise TerselyError("fetch_failed", f"the page has more than {FETCH_BYTES:,} bytes")
        _left(watch)
        yield chunk


def _left(watch: Stopwatch) -> float:
    left = FETCH_SECONDS - watch.seconds()
    if left <= 0:
        raise TerselyError("timed_out", f"the page did not come in {FETCH_SECONDS} s", "try again later")
    return left
