"""The relay that this machine has joined, and joining: a code becomes a token, which is kept in the
home.
"""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from tersely.client import ask
from tersely.client.request import AnswerT, RelayRequest
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import CLIENT_SECONDS
from tersely.foundation.network import http
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.private import READING, read_bounded
from tersely.foundation.types import Strings
from tersely.relay.wire.addresses import is_loopback

JOINED = "joined.json"  # in the home
MAX_JOINED_BYTES = 1_000_000
MAX_JOIN_REPLY_BYTES = 100_000
MAX_SHARED_WORKSPACES = 16
_DEFAULT_PORTS = {"https": 443, "http": 80}
_URL_HINT = "as https://relay.example:7474"


class JoinedRelay(msgspec.Struct, frozen=True, omit_defaults=True):
    """The relay that this machine uses, and as whom."""

    url: str
    token: str
    token_id: str
    identity: str
    tenant: str
    machine: str
    shared: Strings = ()  # repositories about which other machines may ask this one


def load(home: Path) -> JoinedRelay | None:
    """The relay that this machine has joined, None where it uses a relay of its own; raises
    `unreadable_file`.
    """
    path = home / JOINED
    try:
        content = read_bounded(path, MAX_JOINED_BYTES, READING)
        return msgspec.json.decode(content, type=JoinedRelay)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        hint = "`tersely leave` removes it"
        raise TerselyError(
            "unreadable_file", f"{path}: {getattr(error, 'strerror', None) or error}", hint
        ) from error


def save(home: Path, membership: JoinedRelay) -> None:
    """Keep what this machine has joined, for this user alone; raises `unwritable_output`."""
    path = home / JOINED
    try:
        write_private(path, msgspec.json.encode(membership), lasts=True)
    except OSError as error:
        raise TerselyError("unwritable_output", f"{path}: {error.strerror}") from error


def join(url: str, code: str, machine: str = "") -> JoinedRelay:
    """A membership for a code; raises `usage`, `invalid_certificate`, `relay_unreachable` and what
    the relay says.
    """
    asked = JoinedRelay(_checked(url), "", "", "", "", machine or socket.gethostname())
    made = once(asked, ask("join", code=code, machine=asked.machine))
    return msgspec.structs.replace(
        asked, token=made.secret, token_id=made.token_id, identity=made.identity, tenant=made.tenant
    )


def once(membership: JoinedRelay, request: RelayRequest[AnswerT]) -> AnswerT:
    """The answer of the relay to one question, asked directly; raises `relay_unreachable`,
    `invalid_certificate` and what it says.
    """
    headers = {"Content-Type": "application/json"}
    if membership.token:
        headers["Authorization"] = f"Bearer {membership.token}"
    waits = http.waits(CLIENT_SECONDS, CLIENT_SECONDS)
    url = membership.url + request.target
    with http.secured_connections() as pool:
        try:
            reply = http.ask(
                pool, request.operation.method, url, waits, MAX_JOIN_REPLY_BYTES, headers=headers,
                content=request.content(),
            )  # fmt: skip
        except http.FAILURES as error:
            raise unreachable(membership.url, error) from error
    return request.answer(reply.status, reply.body)


def unreachable(url: str, error: Exception) -> TerselyError:
    """The error of a relay that cannot be asked."""
    hint = "check the address, the network, and that it runs"
    return http.disbelieved(url, error) or TerselyError(
        "relay_unreachable", f"{url}: {http.reason(error)}", hint
    )


def _checked(url: str) -> str:
    """The base of an address; raises `usage` or `insecure_address`."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise TerselyError("usage", f"{url[:200]!r} is no address: {error}", _URL_HINT) from None
    has_more = parts.path.strip("/") or parts.query or parts.username
    if parts.scheme not in _DEFAULT_PORTS or not host or has_more:
        raise TerselyError("usage", f"{url[:200]!r} is not the address of a relay", _URL_HINT)
    if parts.scheme == "http" and not is_loopback(host):
        raise TerselyError(
            "insecure_address", f"{host}: others could read along without TLS", _URL_HINT
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port or _DEFAULT_PORTS[parts.scheme]}"
