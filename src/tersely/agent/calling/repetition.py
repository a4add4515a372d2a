"""Noticing that a model says the same again and again."""

from __future__ import annotations

REPEATED_CHARACTERS = 600  # that say the same again and again, at least, until a stream counts as stuck
REPEATED_TIMES = 5
MAX_CYCLE_CHARACTERS = 400  # of what is said again and again
_KEPT_CHARACTERS = MAX_CYCLE_CHARACTERS * REPEATED_TIMES
_LOOK_CHARACTERS = 64  # between two looks


class Repetition:
    """Watches a stream; `feed` says whether its end has been repeating itself for too long."""

    def __init__(self) -> None:
        self._end = ""
        self._unseen = 0

    def feed(self, text: str) -> bool:
        """Take more of the stream; whether it is stuck."""
        self._end = (self._end + text)[-_KEPT_CHARACTERS:]
        self._unseen += len(text)
        if self._unseen < _LOOK_CHARACTERS:
            return False
        self._unseen = 0
        return cycle_of(self._end) > 0


def cycle_of(text: str) -> int:
    """The length of what the end of a text repeats, 0 where it does not.

    It has to be said at least REPEATED_TIMES, and REPEATED_CHARACTERS in all. Periods are found by the prefix function
    of Knuth, Morris and Pratt over the reversed text: a prefix of n characters with a border of b has the period n - b.
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
        if at + 1 >= max(REPEATED_CHARACTERS, REPEATED_TIMES * period) and period <= MAX_CYCLE_CHARACTERS:
            return period
    return 0
