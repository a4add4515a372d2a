"""Tokens, codes and the log of refusals, on both engines, and on a database that two processes
share.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.own_postgres import Server
from tests.relay.conftest import Clock

from tersely.foundation.errors import TerselyError
from tersely.relay.access.audit import MAX_REFUSALS_A_MINUTE, Audit, AuditedRefusal
from tersely.relay.access.principals import Level, Principal, PrincipalKind, Scopes
from tersely.relay.access.tokens import CODE_SECONDS, MAX_WRONG_CODES, Grant, Tokens
from tersely.relay.relay import Relay
from tersely.relay.store.store import Store

READER = Grant("ann", PrincipalKind.AGENT, scopes=Scopes(Level.READ, ("t*",), ("#a",), ("p",)))


@pytest.fixture
def tokens(store: Store) -> Iterator[Tokens]:
    with closing(Tokens(store)) as made:
        yield made


def test_a_token_stands_for_what_it_was_made_for(store: Store, tokens: Tokens) -> None:
    token, secret = tokens.issue(READER)
    with closing(Tokens(store)) as another:  # what the next process of the relay reads
        found = another.principal(secret)
    assert (found.name, found.kind, found.scopes, found.token_id) == (
        "ann",
        PrincipalKind.AGENT,
        READER.scopes,
        token.id,
    )


def test_an_identity_acts_under_so_many_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.relay.access.access.MAX_IDENTITY_NAMES", 2)
    with Relay.open(tmp_path, len, durable=False) as relay:
        sam, ann = Principal("sam"), Principal("ann")
        for name in ("one", "two", "one"):  # what is its own already is no other name
            relay.access.act_as(sam, name)
        with pytest.raises(TerselyError) as caught:
            relay.access.act_as(sam, "three")
        assert caught.value.code == "busy"
        relay.access.act_as(ann, "three")  # of another, who has room


def test_a_token_ends_when_its_time_is_over(tokens: Tokens, clock: Clock) -> None:
    token, secret = tokens.issue(Grant("ann", lasts_ms=60_000))
    clock.seconds += 59
    assert tokens.principal(secret).name == "ann"
    clock.seconds += 1
    assert tokens.is_ended(token.id)
    assert tokens.known() == []
    with pytest.raises(TerselyError, match="expired"):
        tokens.principal(secret)


def test_what_a_clock_that_was_ahead_has_let_in_for_a_time_is_not_let_in_for_longer(
    tokens: Tokens, clock: Clock
) -> None:
    clock.seconds += 40 * 86_400
    _, secret = tokens.issue(Grant("ann", lasts_ms=60_000))
    _, code = tokens.issue_code(Grant("ben"))
    clock.seconds -= 40 * 86_400
    with pytest.raises(TerselyError, match="expired"):
        tokens.principal(secret)
    with pytest.raises(TerselyError, match="expired"):
        tokens.exchange(code, "laptop")


def test_a_code_works_once_and_soon(tokens: Tokens, clock: Clock) -> None:
    _, code = tokens.issue_code(Grant("ann", lasts_ms=60_000))
    clock.seconds += CODE_SECONDS - 1
    token, secret = tokens.exchange(code.lower().replace("-", " "), "laptop")
    assert (token.machine, tokens.principal(secret).name) == ("laptop", "ann")
    clock.seconds += 59  # it lasts from when it was joined with
    assert tokens.principal(secret).name == "ann"
    _, late = tokens.issue_code(Grant("ben"))
    clock.seconds += CODE_SECONDS
    for used in (code, late, secret):
        with pytest.raises(TerselyError, match="used before"):
            tokens.exchange(used, "laptop")


def test_codes_cannot_be_guessed_by_trying(tokens: Tokens, clock: Clock) -> None:
    _, code = tokens.issue_code(Grant("ann"))
    for number in range(MAX_WRONG_CODES):
        with pytest.raises(TerselyError, match="is none"):
            tokens.exchange(f"guess {number}", "x")
    with pytest.raises(TerselyError, match="too many wrong codes"):
        tokens.exchange("guess", "x")
    assert tokens.exchange(code, "laptop")[0].identity == "ann"  # nobody is kept out by others


def test_names_are_plain(tokens: Tokens) -> None:
    for identity, tenant in (
        ("", "red"),
        ("a b", "red"),
        ("../x", "red"),
        ("ann", "Red"),
        ("ann", "../x"),
        ("ann", ""),
    ):
        with pytest.raises(TerselyError, match="is no name of"):
            tokens.issue(Grant(identity, tenant=tenant))


def test_the_log_of_refusals_is_bounded_and_says_what_it_left_out(
    store: Store, clock: Clock
) -> None:
    audit = Audit(store)
    for number in range(MAX_REFUSALS_A_MINUTE + 30):
        audit.refused(AuditedRefusal("denied", f"no {number}", "GET /x", "remote"))
    clock.seconds += 60
    audit.refused(AuditedRefusal("denied", "the last", "GET /x", "remote"))
    found = audit.latest(10_000)
    assert len(found) == MAX_REFUSALS_A_MINUTE + 1
    assert (found[-1].refusal.message, found[-1].refusal.not_written) == ("the last", 30)
    assert audit.latest(1) == found[-1:]


@pytest.mark.slow
def test_a_token_that_one_process_ends_is_ended_in_all(postgres: Server, tmp_path: Path) -> None:
    tenant = f"t{secrets.token_hex(8)}"
    with ExitStack() as stack:
        homes = [tmp_path / "one", tmp_path / "two"]
        stores = [
            stack.enter_context(Store.open(home, url=postgres.url, tenant=tenant)) for home in homes
        ]
        one, two = (stack.enter_context(closing(Tokens(store))) for store in stores)
        heard = threading.Event()
        two.on_end(lambda token_id: heard.set())
        _, secret = one.issue(Grant("ann"))
        _, code = two.issue_code(Grant("ben"))
        one.exchange(code, "laptop")
        with pytest.raises(TerselyError, match="used before"):
            two.exchange(code, "another")
        assert two.principal(secret).name == "ann"
        heard.clear()
        one.revoke("ann")
        assert heard.wait(60)
        with pytest.raises(TerselyError, match="revoked"):
            two.principal(secret)
