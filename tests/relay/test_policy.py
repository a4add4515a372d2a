"""The policy of a relay, from its file; and the envelopes that it lets through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay import envelope
from tersely.relay.policy import Policy, Rates, load

ENVELOPE = {
    "msg_id": "m1",
    "thread_id": "t1",
    "from": "ann",
    "to_capability": "retrieval.search",
    "type": "request",
    "schema": "com.relay.a2a.envelope.v1",
    "payload": {"query": "tea"},
}


def test_a_home_without_a_file_has_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == Policy()
    assert (Policy().payload_bytes, Policy().note_characters, Policy().hops) == (16_384, 280, 50)


def test_a_file_decides(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('hops = 3\nprivate_hosts = ["wiki"]\n[allow]\n"http.*" = ["*"]\n')
    policy = load(tmp_path)
    assert (policy.hops, policy.private_hosts, policy.allow) == (3, ("wiki",), {"http.*": ("*",)})
    assert policy.told()["allow"] == {"http.*": ["*"]}


@pytest.mark.parametrize(
    "text", ["hops = 0", "hops = true", 'hops = "3"', "hop = 3", "[allow]\nx = 1", "private_hosts = 1", "=", "\udc80"]
)
def test_a_file_that_cannot_be_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TerselyError, match="invalid_setting"):
        load(tmp_path)


def test_calls_come_back_with_time() -> None:
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    for _ in range(60):
        rates.take("ann")
    with pytest.raises(TerselyError, match="rate_limited") as caught:
        rates.take("ann")
    assert caught.value.hint == "try again in 1.0 s"
    now[0] = 1.5
    rates.take("ann")


def test_an_envelope_that_is_one_goes_through() -> None:
    full = {
        **ENVELOPE,
        "idempotency_key": "k",
        "timestamp": "2026-01-01T00:00:00Z",
        "ttl": 300,
        "notes": "n",
        "hops": 1,
    }
    assert envelope.check(ENVELOPE, Policy()) == ENVELOPE
    assert envelope.check(full, Policy()) == full


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"schema": "other"}, "invalid_envelope"),
        ({"type": "order"}, "invalid_envelope"),
        ({"payload": []}, "invalid_envelope"),
        ({"from": ""}, "invalid_envelope"),
        ({"from": 1}, "invalid_envelope"),
        ({"ttl": 0}, "invalid_envelope"),
        ({"ttl": True}, "invalid_envelope"),
        ({"notes": "x" * 281}, "invalid_envelope"),
        ({"extra": 1}, "invalid_envelope"),
        ({"payload": {"x": "y" * 20_000}}, "payload_too_large"),
        ({"hops": 50}, "hop_limit"),
    ],
)
def test_an_envelope_that_is_none_says_why(change: dict[str, Any], code: str) -> None:
    with pytest.raises(TerselyError) as caught:
        envelope.check({**ENVELOPE, **change}, Policy())
    assert caught.value.code == code


@pytest.mark.parametrize("missing", sorted(ENVELOPE))
def test_an_envelope_is_whole(missing: str) -> None:
    with pytest.raises(TerselyError, match=f"{missing} is missing"):
        envelope.check({name: value for name, value in ENVELOPE.items() if name != missing}, Policy())
