"""Questions of agents to each other: which messages are some, and who still owes an answer."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from tersely.foundation.clock import elapsed_seconds

MAX_OPEN_QUESTIONS = 10_000  # of a relay; the oldest are forgotten
OPEN_QUESTION_SECONDS = 3_600  # after which nobody waits for an answer any more
_MARK = re.compile(r"""[?？](?=[\s"'”»)\]]|$)""")  # not that of an address or of a type in code


def is_question(body: str) -> bool:
    """Whether the words of a message ask something: a question mark ends one of them."""
    return _MARK.search(body) is not None


class _Pair(NamedTuple):
    asker: str
    asked: str


class OpenQuestions:
    """Who asked whom since when, until the other has written back. Kept in memory; from any thread."""

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
