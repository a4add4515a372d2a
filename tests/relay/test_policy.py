"""The policy of a relay, from its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.policy import Policy, Rates, load


def test_a_home_without_a_file_has_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == Policy()
    assert (Policy().payload_bytes, Policy().note_characters, Policy().hops) == (16_384, 280, 50)


def test_a_file_decides(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        'hops = 3\nprivate_hosts = ["wiki"]\n[allow]\n"http.*" = ["*"]\n'
    )
    policy = load(tmp_path)
    assert (policy.hops, policy.private_hosts, policy.allow) == (3, ("wiki",), {"http.*": ("*",)})
    assert policy.told()["allow"] == {"http.*": ("*",)}


@pytest.mark.parametrize(
    "text",
    [
        "hops = 0",
        "hops = true",
        'hops = "3"',
        "hop = 3",
        "[allow]\nx = 1",
        "private_hosts = 1",
        "=",
        "\udc80",
    ],
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
