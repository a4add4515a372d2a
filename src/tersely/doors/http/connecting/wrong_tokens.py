"""Whoever shows wrong tokens is slowed, by the address that they come from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ipaddress import IPv4Address, ip_address, ip_network

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import record

MAX_WRONG_TOKENS = 10  # of one address, within WRONG_TOKENS_SECONDS, that are refused at once
WRONG_TOKENS_SECONDS = 60
WRONG_TOKEN_SECONDS = 1.0  # between the answers to those beyond
MAX_WRONG_WAITING = 10  # of one address; more are refused without a wait
MAX_WRONG_ADDRESSES = 10_000  # that are remembered
_IPV6_NETWORK_BITS = 64  # that one customer has


@record
class _Shown:
    """The wrong tokens of one address."""

    since: float
    count: int = 0
    answered: float = 0.0  # when the last of them is, or will be


class WrongTokens:
    """The wrong tokens of late. Used on one loop."""

    def __init__(self, clock: Callable[[], float] = elapsed_seconds) -> None:
        self._clock = clock
        self._shown: dict[str, _Shown] = {}

    async def shown(self, address: str) -> None:
        """Wait for as long as the answer to a wrong token has to; raises `rate_limited` where too
        many of its address wait.
        """
        now = self._clock()
        one = self._of(_network(address), now)
        one.count += 1
        if one.count <= MAX_WRONG_TOKENS:
            return
        one.since = now
        answered = max(now, one.answered) + WRONG_TOKEN_SECONDS
        if answered - now > MAX_WRONG_WAITING * WRONG_TOKEN_SECONDS:
            raise TerselyError("rate_limited", "too many wrong tokens were shown", "wait a minute")
        one.answered = answered
        await asyncio.sleep(answered - now)

    def _of(self, network: str, now: float) -> _Shown:
        found = self._shown.pop(network, None)
        if found is None or now - found.since > WRONG_TOKENS_SECONDS:
            found = _Shown(now)
        self._shown[network] = found  # those seen last are at the end
        if len(self._shown) > MAX_WRONG_ADDRESSES:
            del self._shown[next(iter(self._shown))]
        return found


def _network(address: str) -> str:
    """The addresses that whoever has one is likely to have: it alone, or an IPv6 network."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address) or found.ipv4_mapped is not None:
        return address
    return str(ip_network((found, _IPV6_NETWORK_BITS), strict=False))
