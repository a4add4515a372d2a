"""Questions of agents to each other: which messages are some, and who still owes an answer."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import NamedTuple

from tersely.foundation.clock import elapsed_seconds
from tersely.relay.encoding import decode
from tersely.relay.store.mailboxes import HistoryMessage

MAX_OPEN_QUESTIONS = 10_000  # of a relay; the oldest are forgotten
OPEN_QUESTION_SECONDS = 3_600  # after which nobody waits for an answer any more
SPOKEN = frozenset({"message", "action"})  # the kinds of what agents say to each other
_MARK = re.compile(r"""[?？](?=[\s"'”»)\]]|$)""")  # not that of an address or of a type in code


def is_question(body: str) -> bool:
    """True if the words of a message ask something: a question mark ends one of them."""
    return _MARK.search(body) is not None


def unanswered(messages: Iterable[HistoryMessage]) -> list[HistoryMessage]:
    """The questions among messages, the oldest first, after which the one who was asked has not
    written back.

    A later question of the same to the same takes the place of an earlier one. What went to several
    asks nobody.
    """
    found: dict[_Pair, HistoryMessage] = {}
    for one in messages:
        if one.kind not in SPOKEN or len(one.deliveries) != 1:
            continue
        recipient = one.deliveries[0][0]
        found.pop(_Pair(recipient, one.sender), None)
        if asks(one.payload):
            found.pop(_Pair(one.sender, recipient), None)
            found[_Pair(one.sender, recipient)] = one
    return list(found.values())


def asks(payload: bytes) -> bool:
    """True if a message asks something, by its payload."""
    has_mark = b"?" in payload or "？".encode() in payload
    return has_mark and is_question(str(decode(payload).get("body", "")))


class _Pair(NamedTuple):
    asker: str
    asked: str


class OpenQuestions:
    """The questions between agents with their times, until the other has written back. Kept in
    memory; from any thread.
    """

    def __init__(self, clock: Callable[[], float] = elapsed_seconds) -> None:
        self._clock = clock
        self._asked: OrderedDict[_Pair, float] = OrderedDict()
        self._changing = Lock()

    def said(self, sender: str, recipient: str, *, asks: bool) -> None:
        """One has written to another, which answers whatever that other had asked."""
        with self._changing:
            self._asked.pop(_Pair(recipient, sender), None)
            if asks:
                self._asked[_Pair(sender, recipient)] = self._clock()
                self._asked.move_to_end(_Pair(sender, recipient))
            if len(self._asked) > MAX_OPEN_QUESTIONS:
                self._asked.popitem(last=False)

    def owed(self) -> dict[str, list[str]]:
        """To whom each agent owes an answer, the longest first; who owes none is not in it."""
        since = self._clock() - OPEN_QUESTION_SECONDS
        found: dict[str, list[str]] = {}
        with self._changing:
            for pair, seconds in self._asked.items():
                if seconds >= since:
                    found.setdefault(pair.asked, []).append(pair.asker)
        return found
