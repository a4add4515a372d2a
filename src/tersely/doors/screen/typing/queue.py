"""Messages that were sent while the agent works: they wait above the prompt, and can be taken back."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from textual.widgets import Static

from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Strings

MAX_QUEUED_MESSAGES = 20
MAX_SHOWN_QUEUED = 3  # rows; the newest are shown
_HINT = "Up takes it back"


class TypedEntry(NamedTuple):
    """A message or a command; `pasted` are parts of it that were not typed, `shown` is the text with
    a row for each long one, "" where there is none.
    """

    text: str
    pasted: Strings = ()
    shown: str = ""


class Queue(Static):
    """The messages that wait, a row each; not displayed while none does."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._waiting: deque[TypedEntry] = deque()

    def on_mount(self) -> None:
        """Nothing waits yet."""
        self._show()

    @property
    def is_empty(self) -> bool:
        """True if nothing waits."""
        return not self._waiting

    @property
    def is_full(self) -> bool:
        """True if nothing more can wait."""
        return len(self._waiting) >= MAX_QUEUED_MESSAGES

    def add(self, written: TypedEntry) -> None:
        """Have it wait as the last."""
        self._waiting.append(written)
        self._show()

    def take_first(self) -> TypedEntry | None:
        """The one that waits longest, which waits no more."""
        first = self._waiting.popleft() if self._waiting else None
        self._show()
        return first

    def take_last(self) -> TypedEntry | None:
        """The one that was added last, which waits no more."""
        last = self._waiting.pop() if self._waiting else None
        self._show()
        return last

    def take_all(self) -> Sequence[TypedEntry]:
        """Everything in its order; nothing waits then."""
        everything = tuple(self._waiting)
        self._waiting.clear()
        self._show()
        return everything

    def _show(self) -> None:
        shown = list(self._waiting)[-MAX_SHOWN_QUEUED:]
        hidden = len(self._waiting) - len(shown)
        rows = [f"({hidden} more queued)"] if hidden else []
        rows += [f"queued › {visible_line(written.text)}" for written in shown]
        if rows:
            rows[-1] = f"{_HINT} · {rows[-1]}"
        self.update("\n".join(rows))
        self.display = bool(rows)
