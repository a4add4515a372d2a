"""Noticing that a model says the same again and again."""

from __future__ import annotations

import re

# of prose that say the same again and again, at least, until a stream counts as stuck
REPEATED_CHARACTERS = 600
# the same of data: rows of a table, lines of a file that is being written
REPEATED_DATA_CHARACTERS = 12_000
REPEATED_TIMES = 5
MAX_CYCLE_CHARACTERS = 400  # of what is said again and again
_KEPT_CHARACTERS = MAX_CYCLE_CHARACTERS * REPEATED_TIMES
_STEP_CHARACTERS = 64  # between two checks
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_CALL = re.compile(r'<call |<tool_call>|"name"\s*:')  # the beginning of one
_LETTER = re.compile(r"[^\W\d_]")


class Repetition:
    """Watches a stream; `feed` says whether its end has been repeating itself for too long.

    Rows of data may well be equal: what stands in a fence or a call, in a table, or has no letters,
    may go on longer; whole calls may not.
    """

    def __init__(self) -> None:
        self._end = ""
        self._unchecked = 0
        self._repeated = 0  # characters since the last check that found no cycle
        self._fences = 0
        self._line = ""

    def feed(self, text: str, is_data: bool = False) -> bool:
        """Take more of the stream, which `is_data` where it is known to be no prose; whether it is
        stuck.
        """
        self._end = (self._end + text)[-_KEPT_CHARACTERS:]
        self._unchecked += len(text)
        *lines, self._line = (self._line + text).rsplit("\n", 1)
        self._fences += sum(len(_FENCE.findall(each)) for each in lines)
        if self._unchecked < _STEP_CHARACTERS:
            return False
        period = cycle_of(self._end)
        self._repeated = self._repeated + self._unchecked if period else 0
        self._unchecked = 0
        if not period:
            return False
        cycle = self._end[-period:]
        may_repeat = is_data or self._fences % 2 == 1 or _is_row(cycle)
        is_over = not may_repeat or _CALL.search(cycle + cycle) is not None
        return is_over or self._repeated >= REPEATED_DATA_CHARACTERS

    @property
    def is_repeating(self) -> bool:
        """True if what came last repeats itself, be it data."""
        return cycle_of(self._end) > 0


def _is_row(cycle: str) -> bool:
    """True if what is repeated looks like rows of data: cells between bars, or nothing but figures
    and signs.
    """
    return cycle.count("|") > 1 or (bool(cycle.strip()) and _LETTER.search(cycle) is None)


def cycle_of(text: str) -> int:
    """The length of what the end of a text repeats, 0 where it does not.

    It has to be said at least REPEATED_TIMES, and REPEATED_CHARACTERS in all. Periods are found by
    the prefix function of Knuth, Morris and Pratt over the reversed text: a prefix of n characters
    with a border of b has the period n - b.
    """
    reversed_text = text[::-1]
    borders = [0] * len(reversed_text)
    border = 0
    for at in range(1, len(reversed_text)):
        while border and reversed_text[at] != reversed_text[border]:
            border = borders[border - 1]
        border += reversed_text[at] == reversed_text[border]
        borders[at] = border
        period = at + 1 - border
        if (
            at + 1 >= max(REPEATED_CHARACTERS, REPEATED_TIMES * period)
            and period <= MAX_CYCLE_CHARACTERS
        ):
            return period
    return 0
