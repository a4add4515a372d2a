"""What is done for an answer, counted and bounded, so that no question is without an end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from tersely.code.bounds import Bounds


class WorkSpentError(Exception):
    """An answer may cost no more. What was being found out is forgotten, not kept as unknown."""


class Work(Bounds):
    """What hears of bounds and counts what is done, in equations that are solved."""

    left = inf

    def spend(self, work: int) -> None:
        """Count some work; `WorkSpentError` if less was left."""
        self.left -= work
        if self.left < 0:
            raise WorkSpentError

    @contextmanager
    def limited(self, most: float) -> Iterator[None]:
        """Inside, at most so much is done of what is left."""
        if self.left <= most:
            yield
            return
        kept_back = self.left - most
        self.left = most
        try:
            yield
        finally:
            self.left += kept_back
