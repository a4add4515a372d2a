"""An agent that pays for what it reads: tokens until it has seen what its task needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.seen.tasks import Need
from tersely.foundation.text.tokens import count

CALL_TOKENS = 40  # that a call takes beside its answer
CAP_TOKENS = 60_000  # who has not seen it by then never does
SEEN_SHARE = 0.95  # of the needed lines
RESIDENT_CALLS = 10  # after which it is looked at what an agent carries along


class SeenError(Exception):
    """Everything needed has been seen, or the agent may read no more."""


@dataclass(slots=True)
class Reading:
    """What one agent has read of one task; answers are paid whole when they come."""

    need: Need
    texts: Mapping[str, list[str]]
    tokens: int = 0
    calls: int = 0
    cost: int | None = None  # tokens when all was seen
    resident: int = 0  # tokens after the first `RESIDENT_CALLS`, or when it was done before
    shown: dict[str, set[int]] = field(default_factory=dict)
    # the texts of files, as they are asked for
    wholes: dict[str, str] = field(default_factory=dict)

    def whole(self, path: str) -> str:
        """The text of a file."""
        if path not in self.wholes:
            self.wholes[path] = "\n".join(self.texts[path])
        return self.wholes[path]

    def pay(self, text: str, places: Mapping[str, Iterable[int]]) -> None:
        """Read an answer that shows some lines of files; a line counts if its text is in it.
        `SeenError` at the end.
        """
        self.tokens += CALL_TOKENS + count(text)
        self.calls += 1
        if self.calls <= RESIDENT_CALLS:
            self.resident = self.tokens
        for path, numbers in places.items():
            lines = self.texts.get(path, [])
            printed = {
                one for one in numbers if 0 < one <= len(lines) and lines[one - 1].strip() in text
            }
            self.shown.setdefault(path, set()).update(printed)
        if self.missing() <= (1 - SEEN_SHARE) * self.needed():
            self.cost = self.tokens
            raise SeenError
        if self.tokens > CAP_TOKENS:
            raise SeenError

    def needed(self) -> int:
        """How many lines are needed."""
        return sum(map(len, self.need.lines.values()))

    def missing(self) -> int:
        """How many of them were not shown yet."""
        return sum(
            len(lines - self.shown.get(path, set())) for path, lines in self.need.lines.items()
        )
