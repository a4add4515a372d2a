"""Wrong tokens are answered ever more slowly, and right ones as before."""

from __future__ import annotations

import asyncio

import pytest

from tersely.doors.http.connecting import wrong_tokens
from tersely.doors.http.connecting.wrong_tokens import (
    MAX_WRONG_TOKENS,
    MAX_WRONG_WAITING,
    WRONG_TOKENS_SECONDS,
    WrongTokens,
)
from tersely.foundation.errors import TerselyError


async def codes(wrong: WrongTokens, address: str, number: int) -> list[str]:
    async def shown() -> str:
        try:
            await wrong.shown(address)
        except TerselyError as error:
            return error.code
        return "answered"

    return list(await asyncio.gather(*(shown() for _ in range(number))))


@pytest.mark.parametrize("other", ["192.0.2.9", "2001:db8:0:1::1", ""])
def test_many_of_one_address_wait_in_turn_and_more_are_refused(
    monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setattr(wrong_tokens, "WRONG_TOKEN_SECONDS", 2**-10)
    now = [0.0]
    wrong = WrongTokens(lambda: now[0])
    most = MAX_WRONG_TOKENS + MAX_WRONG_WAITING
    for address in ("192.0.2.7", "2001:db8::1"):
        told = asyncio.run(codes(wrong, address, most + 3))
        assert told == ["answered"] * most + ["rate_limited"] * 3
    assert asyncio.run(codes(wrong, "2001:db8::ffff", 1)) == ["rate_limited"]  # the same network
    assert asyncio.run(codes(wrong, other, 1)) == ["answered"]
    now[0] += WRONG_TOKENS_SECONDS + 1
    assert (
        asyncio.run(codes(wrong, "192.0.2.7", MAX_WRONG_TOKENS)) == ["answered"] * MAX_WRONG_TOKENS
    )
