"""What clients saw, and whether it is what the relay promises.

A stream is what one sender sends to one recipient under one topic; its messages are numbered 0, 1,
… by the sender.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Stream(NamedTuple):
    """Who sends to whom, under which topic."""

    sender: str
    recipient: str
    topic: str


class Receipt(NamedTuple):
    """One delivery as its recipient saw it."""

    stream: Stream
    place: int  # in its stream
    message_id: str
    seq: int
    attempt: int


@dataclass(slots=True)
class History:
    """Everything that happened to all clients, in the order in which each of them saw it."""

    sent: dict[Stream, int] = field(default_factory=lambda: defaultdict(int))  # how many were begun
    acknowledged: set[tuple[Stream, int]] = field(default_factory=set)
    refused: int = 0  # answered with BUSY, and sent again
    received: list[Receipt] = field(default_factory=list)

    def complaints(self) -> list[str]:
        """What is not as promised: lost, duplicated as new, out of order, or with a gap."""
        return [*self._lost(), *self._doubled(), *self._disordered()]

    def _lost(self) -> Iterator[str]:
        came = {(one.stream, one.place) for one in self.received}
        for stream, index in sorted(self.acknowledged - came):
            yield f"acknowledged and never delivered: {index} of {stream}"

    def _doubled(self) -> Iterator[str]:
        names: dict[tuple[Stream, int], str] = {}
        attempts: dict[str, int] = {}
        for one in self.received:
            if names.setdefault((one.stream, one.place), one.message_id) != one.message_id:
                yield f"accepted twice: {one.place} of {one.stream}"
            if one.attempt <= attempts.get(one.message_id, 0):
                yield f"delivered again as attempt {one.attempt}: {one.place} of {one.stream}"
            attempts[one.message_id] = one.attempt

    def _disordered(self) -> Iterator[str]:
        last: dict[Stream, tuple[int, int]] = {}
        seen: set[str] = set()
        for one in self.received:
            if one.message_id in seen:
                continue
            seen.add(one.message_id)
            index, seq = last.get(one.stream, (-1, 0))
            if one.place != index + 1 or one.seq != seq + 1:
                yield f"{one.place} (seq {one.seq}) came after {index} (seq {seq}) in {one.stream}"
            last[one.stream] = (one.place, one.seq)
