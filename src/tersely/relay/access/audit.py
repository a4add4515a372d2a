"""The log of requests that were refused. Whoever asks for nothing else cannot fill the disk with
it.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from threading import Lock

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.relay.access.principals import Principal
from tersely.relay.encoding import encode
from tersely.relay.store.commands import Append, Committed, StoreBatch
from tersely.relay.store.store import Store

STREAM = "access/audit"
REFUSED = "request.refused"
MAX_REFUSALS_A_MINUTE = 120  # that are written one by one; those beyond are counted in the next
MAX_ASKED_CHARACTERS = 200


class AuditedRefusal(msgspec.Struct, omit_defaults=True):
    """One request that was refused."""

    code: str
    message: str
    asked: str  # the method and path, the envelope or the capability
    door: str  # own, tcp, remote or socket
    identity: str = ""  # empty where nobody was known
    tenant: str = ""
    token_id: str = ""
    agent: str = ""
    address: str = ""
    # refusals before this one, in the minute of the last, that there was no room for
    not_written: int = 0


class ListedRefusal(msgspec.Struct):
    """A refusal with its number and when it was, in ms since 1970."""

    number: int
    at_ms: int
    refusal: AuditedRefusal


class Audit:
    """The refusals of one relay. May be used from any thread, which does not wait for the disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._minute = 0
        self._written = 0  # in this minute
        self._left_out = 0
        self._writing: Future[Committed] | None = None  # the last that was written down
        self._changing = Lock()

    def refused(self, refusal: AuditedRefusal) -> None:
        """Write down that a request was refused."""
        with self._changing:
            minute = self._store.now_ms() // 60_000
            if minute != self._minute:
                self._minute, self._written = minute, 0
            if self._written >= MAX_REFUSALS_A_MINUTE:
                self._left_out += 1
                return
            self._written += 1
            refusal.not_written, self._left_out = self._left_out, 0
        self._writing = self._store.submit(StoreBatch((Append(STREAM, REFUSED, encode(refusal)),)))

    def latest(self, limit: int) -> list[ListedRefusal]:
        """The refusals, the oldest of the latest first, with all that were told of before."""
        if self._writing is not None:
            wait((self._writing,))
        after = max(0, self._store.last(STREAM) - limit)
        decode = msgspec.json.Decoder(AuditedRefusal).decode
        return [
            ListedRefusal(one.number, one.at_ms, decode(one.body))
            for one in self._store.entries(STREAM, after, limit)
        ]


def refusal_of(
    error: TerselyError, principal: Principal, *, asked: str, door: str
) -> AuditedRefusal:
    """A refused request as it is written down."""
    return AuditedRefusal(
        error.code, error.message, asked[:MAX_ASKED_CHARACTERS], door, principal.name,
        "" if principal.is_owner else principal.tenant, principal.token_id,
    )  # fmt: skip
