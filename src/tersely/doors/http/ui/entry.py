"""The entry to the pages: for browsers that came with a ticket.

Whoever holds the relay's token asks for a *ticket*, which works once and soon expires. The browser
that shows it is given a *session*, known by a cookie. Only hashes of both are kept, in memory: they
end with the relay.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from threading import Lock
from typing import NamedTuple

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError

UI_TICKET_SECONDS = 120  # in which a browser has to show the ticket that it was opened with
UI_SESSION_SECONDS = 12 * 3_600
MAX_UI_TICKETS = 32  # not used yet
MAX_UI_SESSIONS = 32
_SECRET_BYTES = 32
_COOKIE_CHARACTERS = 4_000


class Ticket(NamedTuple):
    """A ticket with which one browser may sign in."""

    digest: bytes
    token: str  # of the home when it was made: with another, nobody signs in by it
    until_seconds: float  # by the clock of the entry
    may_answer: bool  # agents that wait for permission


class BrowserSession(NamedTuple):
    """One browser that is signed in."""

    digest: bytes  # of the secret in its cookie
    form_token: str  # which every form of its pages carries
    token: str  # of the home when it signed in: with another, it is signed in no longer
    until_seconds: float
    may_answer: bool  # agents that wait for permission


class PagesEntry:
    """Tickets and sessions of one relay. May be used from any thread."""

    def __init__(
        self, name: str, token: Callable[[], str], clock: Callable[[], float] = elapsed_seconds
    ) -> None:
        """`name` tells the cookies of several relays of one machine apart: browsers give them to
        every port.

        `token` gives the secret of the home that is in force.
        """
        self.cookie = f"tersely-{name}"
        self._token = token
        self._clock = clock
        self._tickets: list[Ticket] = []  # the oldest first
        self._sessions: list[BrowserSession] = []
        self._changing = Lock()

    def ticket(self, may_answer: bool = False) -> str:
        """A new ticket. With `may_answer`, who signs in by it is the person, who answers agents.

        There are never more than `MAX_UI_TICKETS`; the oldest gives way.
        """
        made = secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing:
            ticket = Ticket(
                _digest(made), self._token(), self._clock() + UI_TICKET_SECONDS, may_answer
            )
            self._tickets = [*self._tickets, ticket][-MAX_UI_TICKETS:]
        return made

    def sign_in(self, ticket: str) -> str:
        """The secret of a new session for a ticket, which is used up; raises `unauthorized`."""
        shown = _digest(ticket)
        with self._changing:
            now = self._clock()
            self._tickets = [one for one in self._tickets if self._holds(one, now)]
            is_good = may_answer = False
            for one in self._tickets:  # all of them, so that the time taken says nothing
                is_meant = compare_digest(one.digest, shown)
                is_good |= is_meant
                may_answer |= is_meant and one.may_answer
            self._tickets = [one for one in self._tickets if not compare_digest(one.digest, shown)]
            if not is_good:
                hint = "`tersely relay open THREAD` makes a new one; each works once, and soon"
                raise TerselyError(
                    "unauthorized", "this ticket was used before, has expired, or is none", hint
                )
            secret = secrets.token_urlsafe(_SECRET_BYTES)
            form_token, until = secrets.token_urlsafe(_SECRET_BYTES), now + UI_SESSION_SECONDS
            session = BrowserSession(_digest(secret), form_token, self._token(), until, may_answer)
            live = [one for one in self._sessions if self._holds(one, now)]
            self._sessions = [*live, session][-MAX_UI_SESSIONS:]
        return secret

    def session(self, cookies: str) -> BrowserSession | None:
        """The session that a `Cookie` header belongs to, if it has not expired."""
        shown = [_digest(value) for value in self._shown(cookies)]
        now = self._clock()
        found = None
        for session in self._sessions:
            for digest in shown:
                if compare_digest(session.digest, digest) and self._holds(session, now):
                    found = session
        return found

    def sign_out(self, session: BrowserSession) -> None:
        """End a session."""
        with self._changing:
            self._sessions = [one for one in self._sessions if one is not session]

    def cookie_header(self, secret: str) -> str:
        """The `Set-Cookie` header that gives a browser its session; with an empty secret, takes it
        away.
        """
        age = UI_SESSION_SECONDS if secret else 0
        return f"{self.cookie}={secret}; Path=/ui; Max-Age={age}; HttpOnly; SameSite=Strict"

    def _holds(self, given: Ticket | BrowserSession, now: float) -> bool:
        return now < given.until_seconds and given.token == self._token()

    def _shown(self, cookies: str) -> list[str]:
        """The values of our cookie. What else is at this host may have set another of the same
        name.
        """
        if len(cookies) > _COOKIE_CHARACTERS:
            return []
        pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
        return [value for name, _, value in pairs if name == self.cookie]


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
