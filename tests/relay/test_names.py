"""Names that nobody new may take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.access.principals import Principal
from tersely.relay.mail.identities import NameClaim
from tersely.relay.relay import Relay


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    with Relay.open(tmp_path, len, durable=False) as opened:
        yield opened


def take(relay: Relay, name: str, kind: str) -> str:
    try:
        _, write = relay.mail.identities.open(NameClaim(name, kind), is_live=False)
    except TerselyError as error:
        return error.code
    relay.mail.do(write)
    return "taken"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("relay", "agent", "name_taken"),
        ("relay", "service", "name_taken"),
        ("Relay", "agent", "name_taken"),
        ("tldr", "agent", "name_taken"),
        ("tldr", "service", "taken"),
        ("TLDR", "service", "name_taken"),
        ("local", "agent", "name_taken"),
        ("local", "user", "taken"),
        ("loca1", "user", "name_taken"),
        ("relay-2", "agent", "taken"),
    ],
)
def test_names_with_a_meaning_are_kept_for_what_they_mean(
    relay: Relay, name: str, kind: str, said: str
) -> None:
    assert take(relay, name, kind) == said


@pytest.mark.parametrize("other", ["Ann", "ANN", "аnn"])
def test_what_looks_like_a_name_that_is_known_is_refused_until_it_is_free(
    relay: Relay, other: str
) -> None:
    assert take(relay, "ann", "agent") == "taken"
    assert take(relay, other, "agent") == "name_taken"
    assert take(relay, "ann", "agent") == "taken"  # it is its own
    relay.mail.retire("ann")
    assert take(relay, other, "agent") == "taken"


def test_nobody_from_elsewhere_is_local(relay: Relay) -> None:
    with pytest.raises(TerselyError, match="name_taken"):
        relay.access.act_as(Principal("sam"), "local")
