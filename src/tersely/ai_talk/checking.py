"""Reading an inbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .inbox import Kept, taking
from .lifecycle import running_pid
from .place import Place


@dataclass(frozen=True)
class Wanted:
    """The messages that are wanted, and what becomes of them."""

    limit: int | None = None  # the oldest of them
    clear: bool = False
    unread: bool = False
    thread: str = ""

    def of(self, kept: Sequence[Kept]) -> list[Kept]:
        """All those that are meant."""
        meant = [one for one in kept if not (self.unread and one.was_read)]
        return [one for one in meant if not self.thread or one.message.get("thread") == self.thread]


@contextmanager
def checked(at: Place, wanted: Wanted) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The messages of an inbox, as they are printed, and which of them were never read before.

    The messages count as read, or are removed, when the block ends well: when they were printed.
    """
    meant: list[Kept] = []

    def choose(kept: Sequence[Kept]) -> list[Kept]:
        meant.extend(wanted.of(kept))
        return meant[: wanted.limit]

    with taking(at.inbox_shelf, choose, remove=wanted.clear) as chosen:
        result = {
            "port": at.port,
            "message_count": len(chosen),
            "messages": [one.message for one in chosen],
        }
        if len(meant) > len(chosen):
            result["more"] = len(meant) - len(chosen)
        if running_pid(at) is None:
            result["listener_running"] = False
        yield result, [one.message for one in chosen if not one.was_read]


@contextmanager
def receipts(at: Place, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """The receipts of messages from a port that others read; removed, if that is asked, when the
    block ends well.
    """
    with taking(at.receipt_shelf, lambda kept: kept[: wanted.limit], remove=wanted.clear) as chosen:
        yield {
            "port": at.port,
            "receipt_count": len(chosen),
            "receipts": [one.message for one in chosen],
        }
