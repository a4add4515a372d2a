"""Answers that are still true, by what they depend on; the least recently used go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable


class AnswerCache:
    """Encoded answers of a bounded size together."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._answers: OrderedDict[Hashable, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Hashable) -> bytes | None:
        """The answer, if it is still here."""
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def put(self, key: Hashable, answer: bytes) -> None:
        """Keep an answer, unless it would fill the cache alone."""
        if len(answer) > self._most_bytes or key in self._answers:
            return
        self._answers[key] = answer
        self._bytes += len(answer)
        while self._bytes > self._most_bytes:
            _, dropped = self._answers.popitem(last=False)
            self._bytes -= len(dropped)
