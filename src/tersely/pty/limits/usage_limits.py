"""The time at which an agent may go on that has used up what its maker allows: read from its
screen, and from its hooks.

The words are those of the programs themselves: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI
0.61.0. They count only at the beginning of a row, and where they name a time: an agent that writes
about limits is not limited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tersely.foundation.activity import LIMITED
from tersely.pty.limits.reset_times import local_clock, reset_seconds

MAX_LIMIT_ROWS = 4  # that such words take, where a narrow terminal breaks them
MAX_LIMIT_RESUMES = 1  # of one run, without the person
REPEATED_SECONDS = 12 * 3_600  # after a time, within which the same words still mean that time

_WORDINGS = (  # the beginning, and how the time is introduced
    # Claude Code
    (r"You've (?:hit|reached) your (?:[\w'-]+ ){0,6}limit\b", r"· (?:progress saved · )?resets "),
    (r"You've hit your usage limit", r"[Tt]ry again at "),  # Codex
    (r"Usage limit reached for ", r"Access resets at "),  # Gemini CLI
    # Claude Code before 2.1
    (r"(?:Claude )?(?:usage|\d-hour) limit reached", r"(?:reset at|resets) "),
)
_STATEMENTS = tuple(
    re.compile(rf"{begins}.{{0,240}}?{introduced}(?P<time>.{{1,48}})", re.IGNORECASE)
    for begins, introduced in _WORDINGS
)
# borders, bullets and the like around what a row says
_MARKS = re.compile(r"^[^\w'\"`]+|[\s│┃|]+$")


class Limit(NamedTuple):
    """The end of a limit: in the words of the agent, and in seconds since 1970."""

    time: str
    until: float


class UsageLimit:
    """The limit of one program. It ends when its time has come, or when the program works again."""

    def __init__(self) -> None:
        self._last: Limit | None = None
        self._shown = 0  # statements that the screen shows
        self._is_over = True
        self._resumes = 0

    def look(self, rows: Sequence[str], now: float) -> None:
        """Take what a screen shows at a time, in seconds since 1970. Words that stay there are said
        once.
        """
        times = _stated_times(rows)
        if len(times) > self._shown:
            self._reached(times[-1], now)
        self._shown = len(times)

    def told(self, words: str, now: float) -> None:
        """Take what a program says of a request that has failed."""
        times = _stated_times(words.splitlines())
        if times:
            self._reached(times[-1], now)

    def works(self) -> None:
        """The program has begun to work again."""
        self._is_over = True

    def state(self, now: float) -> str:
        """The state that others are told, "" while the program is not limited."""
        is_limited = self._last is not None and not self._is_over and now < self._last.until
        return f"{LIMITED}{local_clock(self._last.until, now)}" if is_limited and self._last else ""

    def may_resume(self, now: float) -> bool:
        """True if a limit has just ended by its time; True once for a limit, and
        `MAX_LIMIT_RESUMES` times in all.
        """
        if self._last is None or self._is_over or now < self._last.until:
            return False
        self._is_over = True
        self._resumes += 1
        return self._resumes <= MAX_LIMIT_RESUMES

    def _reached(self, time: str, now: float) -> None:
        until = self._known(time, now) or reset_seconds(time, now)
        if until is not None:
            self._last, self._is_over = Limit(time, until), until <= now

    def _known(self, time: str, now: float) -> float | None:
        """The time that the same words meant before: a screen that is drawn again says nothing new."""
        last = self._last
        is_same = last is not None and last.time == time and now < last.until + REPEATED_SECONDS
        return last.until if is_same and last is not None else None


def _stated_times(rows: Sequence[str]) -> list[str]:
    """The times of all limits that some rows state, each with what follows it."""
    plain = [_MARKS.sub("", row) for row in rows]
    texts = [
        " ".join(filter(None, plain[at : at + MAX_LIMIT_ROWS]))
        for at, row in enumerate(plain)
        if row
    ]
    found = (
        next(filter(None, (statement.match(text) for statement in _STATEMENTS)), None)
        for text in texts
    )
    return [one["time"].strip() for one in found if one is not None]
