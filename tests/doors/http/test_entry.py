"""Tickets and sessions: one ticket, one browser, for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tersely.doors.http.ui.entry import (
    MAX_UI_SESSIONS,
    MAX_UI_TICKETS,
    UI_SESSION_SECONDS,
    UI_TICKET_SECONDS,
    PagesEntry,
)
from tersely.foundation.errors import TerselyError


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens() -> list[str]:
    """The token in force, which is the last."""
    return ["first"]


@pytest.fixture
def entry(clock: Clock, tokens: list[str]) -> PagesEntry:
    return PagesEntry("7474", lambda: tokens[-1], clock)


def signed_in(entry: PagesEntry, secret: str) -> bool:
    return entry.session(f"{entry.cookie}={secret}") is not None


def test_a_ticket_works_once(entry: PagesEntry) -> None:
    ticket = entry.ticket()
    assert signed_in(entry, entry.sign_in(ticket))
    with pytest.raises(TerselyError, match="unauthorized"):
        entry.sign_in(ticket)


def test_another_token_ends_tickets_and_sessions(entry: PagesEntry, tokens: list[str]) -> None:
    ticket, secret = entry.ticket(), entry.sign_in(entry.ticket())
    assert signed_in(entry, secret)
    tokens.append("second")
    assert not signed_in(entry, secret)
    with pytest.raises(TerselyError, match="unauthorized"):
        entry.sign_in(ticket)
    assert signed_in(entry, entry.sign_in(entry.ticket()))


def test_a_ticket_that_many_show_at_once_works_once(entry: PagesEntry) -> None:
    ticket = entry.ticket()

    def attempt(_: int) -> bool:
        try:
            entry.sign_in(ticket)
        except TerselyError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(64))) == 1


def test_a_ticket_expires(entry: PagesEntry, clock: Clock) -> None:
    ticket = entry.ticket()
    clock.seconds += UI_TICKET_SECONDS
    with pytest.raises(TerselyError, match="unauthorized"):
        entry.sign_in(ticket)


def test_the_oldest_ticket_and_session_give_way(entry: PagesEntry) -> None:
    tickets = [entry.ticket() for _ in range(MAX_UI_TICKETS + 1)]
    with pytest.raises(TerselyError, match="unauthorized"):
        entry.sign_in(tickets[0])
    secrets = [entry.sign_in(entry.ticket()) for _ in range(MAX_UI_SESSIONS + 1)]
    assert [signed_in(entry, secret) for secret in secrets] == [False] + [True] * MAX_UI_SESSIONS


def test_a_session_expires_and_ends(entry: PagesEntry, clock: Clock) -> None:
    first, second = entry.sign_in(entry.ticket()), entry.sign_in(entry.ticket())
    session = entry.session(f"{entry.cookie}={first}")
    assert session is not None
    entry.sign_out(session)
    assert [signed_in(entry, first), signed_in(entry, second)] == [False, True]
    clock.seconds += UI_SESSION_SECONDS
    assert not signed_in(entry, second)


def test_cookies_of_others_do_not_matter(entry: PagesEntry) -> None:
    secret = entry.sign_in(entry.ticket())
    assert entry.session(f"a=b; {entry.cookie}=planted; {entry.cookie}={secret}; c") is not None
    for cookies in (
        "",
        "=",
        f"{entry.cookie}=",
        f"other={secret}",
        f"{entry.cookie}={secret[:-1]}",
        f"x={entry.cookie}",
    ):
        assert entry.session(cookies) is None
    assert entry.session(f"{'x=y; ' * 1_000}{entry.cookie}={secret}") is None


def test_nothing_that_is_kept_signs_in(entry: PagesEntry) -> None:
    ticket = entry.ticket()
    secret = entry.sign_in(ticket)
    kept = repr(vars(entry))
    assert ticket not in kept
    assert secret not in kept
