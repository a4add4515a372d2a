"""A page of the public internet, fetched from an address that was checked.

It reaches nothing but the public internet, unless the owner has named a host: every address that a
name stands for is looked at before the connection is made, the connection is made to that very
address, and each redirect is looked at again. So neither a name that changes its mind nor a
redirect leads into this machine or its network.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from tersely import __version__
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import http
from tersely.foundation.types import Strings

FETCH_SECONDS = 20
FETCH_BYTES = 10_000_000
FETCH_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
# IPv6 addresses whose last four bytes are one of IPv4: NAT64 (RFC 6052, RFC 8215), and the
# compatible ones of RFC 4291.
_WITH_IPV4 = [IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")]
_AS_IT_IS = "%/:=&?~#+!$,;'@()*[]"  # in a path and behind it; what is no ASCII is written as %20
_USER_AGENT = f"tersely/{__version__}"


class FetchedPage(NamedTuple):
    """A page that was fetched, and the URL that it came from in the end."""

    url: str
    mime: str
    body: bytes


class ConnectionPlace(NamedTuple):
    """The place that a connection goes to: a name, and its addresses, of which each was looked at."""

    host: str
    port: int
    addresses: Strings


def fetch(url: str, private_hosts: Strings = ()) -> FetchedPage:
    """The body behind a URL of http or https; raises `invalid_argument`, `denied`, `fetch_failed`
    or `timed_out`.

    It takes a thread until the page is there; a thread that runs an event loop cannot wait here.
    """
    return asyncio.run(_fetched(url, private_hosts))


async def _fetched(url: str, private_hosts: Strings) -> FetchedPage:
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            # in all: a byte now and then keeps nobody waiting
            for _ in range(FETCH_REDIRECTS + 1):
                page = await _ask(url, private_hosts)
                if isinstance(page, FetchedPage):
                    return page
                url = _joined(url, page)
    except TimeoutError as error:
        raise TerselyError(
            "timed_out", f"the page did not come in {FETCH_SECONDS} s", "try again later"
        ) from error
    raise TerselyError(
        "fetch_failed", f"more than {FETCH_REDIRECTS} redirects", "fetch where they lead"
    )


def _joined(url: str, place: str) -> str:
    try:
        return urljoin(url, place)
    except ValueError as error:
        raise TerselyError(
            "fetch_failed", f"{url} leads to what is no URL: {error}", "check the address"
        ) from None


def url_parts(url: str) -> SplitResult:
    """The parts of a URL of http or https; raises `invalid_argument` for any other, and for one
    that names a user.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise TerselyError("invalid_argument", f"url: {error}") from None
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.username is not None
        or port == 0
    ):
        raise TerselyError(
            "invalid_argument", "url: of http or https, with a host and without a user"
        )
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
        raise TerselyError("invalid_argument", "url: without blanks and controls")
    return parts


def checked_place(parts: SplitResult, private_hosts: Collection[str]) -> ConnectionPlace:
    """The place to connect to for a URL; raises `denied` where that is private and not named,
    `fetch_failed` where nowhere.

    `private_hosts` are names of hosts, or of one port: `localhost:5173`, `[::1]:5173`.
    """
    host, port = parts.hostname or "", port_of(parts)
    is_named = host in private_hosts or netloc(host, port) in private_hosts
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TerselyError(
            "fetch_failed", f"{host} is not known: {error}", "check the address"
        ) from error
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        if not is_named and not is_public(address):
            hint = "the owner may name the host in private_hosts"
            raise TerselyError("denied", f"{host} is not of the public internet ({address})", hint)
    return ConnectionPlace(host, port, tuple(dict.fromkeys(addresses)))


def is_public(address: str) -> bool:
    """True if an address, as text, is one of the public internet."""
    return _is_public(ip_address(address.partition("%")[0]))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = (
            address.ipv4_mapped
            or address.sixtofour
            or (address.teredo[1] if address.teredo else None)
        )
        if inner is not None:
            return _is_public(inner)
        if any(address in network for network in _WITH_IPV4):
            return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


async def _ask(url: str, private_hosts: Strings) -> FetchedPage | str:
    """The page, or where it has moved."""
    parts = url_parts(url)
    place = checked_place(parts, private_hosts)
    name = place.host.encode("idna").decode() if not place.host.isascii() else place.host
    headers = {
        "Host": netloc(name, parts.port),
        "User-Agent": _USER_AGENT,
        "Accept-Encoding": "identity",
    }
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_AS_IT_IS)
    target = f"{parts.scheme}://{netloc(place.addresses[0], place.port)}{path}"
    waits = http.waits(FETCH_SECONDS, FETCH_SECONDS)
    try:
        async with http.stream_once(
            "GET", target, waits, headers=headers, server_name=name
        ) as response:
            return await _page_or_place(url, place.host, response)
    except http.FAILURES as error:
        why = f"{place.host}: {http.reason(error)}"
        raise TerselyError("fetch_failed", why, "check the address, or try again later") from error


def port_of(parts: SplitResult) -> int:
    """The port of a URL, named or not."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def netloc(host: str, port: int | None) -> str:
    """A host, and its port where there is one, as URLs have them."""
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed if port is None else f"{bracketed}:{port}"


async def _page_or_place(url: str, host: str, response: http.Response) -> FetchedPage | str:
    moved = http.field(response, "Location")
    if response.status in _REDIRECTS and moved:
        return moved
    if response.status >= 400:
        reason = response.extensions["reason_phrase"].decode("latin-1")
        raise TerselyError("fetch_failed", f"{host} answers {response.status} {reason}")
    mime = http.field(response, "Content-Type").partition(";")[0].strip().lower()
    content = bytearray()
    async for piece in response.aiter_stream():
        content += piece
        if len(content) > FETCH_BYTES:
            raise TerselyError("fetch_failed", f"the page has more than {FETCH_BYTES:,} bytes")
    return FetchedPage(url, mime[:100], bytes(content))
