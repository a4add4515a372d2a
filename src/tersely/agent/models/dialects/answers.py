"""The tools of the readers of all protocols: events as objects, calls put together from parts,
checked counts.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from tersely.agent.models.dialects.sse import EventReader
from tersely.agent.models.protocol import Chunk, RawCall
from tersely.agent.models.refusals import stream_error
from tersely.agent.models.retries import TransientError
from tersely.agent.models.wire import Endpoint, parse_json
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    MAX_MODEL_CALLS,
    MAX_MODEL_ERROR_CHARACTERS,
    MAX_MODEL_EVENT_BYTES,
)
from tersely.foundation.types import JsonMapping

_LARGEST_COUNT = 2**53  # exact in every reader of JSON, and more tokens than anybody has


class EventAnswer(ABC):
    """One answer as server-sent events, each a JSON object."""

    def __init__(self, place: Endpoint) -> None:
        self.place = place
        self.calls = CallParts(place)
        self.is_ended = False  # the server has said that nothing follows
        self._events = EventReader()

    def feed(self, received: bytes) -> Iterator[Chunk]:
        """The chunks of every event that is complete now; behind the event that ends an answer
        nothing is read.
        """
        for data in self._events.feed(received):
            yield from self.chunks(data)
            if self.is_ended:
                yield self.last()
                return

    @abstractmethod
    def chunks(self, data: str) -> Iterator[Chunk]:
        """The chunks that one event adds; raises where it reports an error or is nothing that one
        could read.
        """

    @abstractmethod
    def last(self) -> Chunk:
        """The chunk that ends the answer; raises where the server never said that it has ended."""

    def event(self, data: str) -> JsonMapping:
        """The object that an event is; raises for anything else, and for an error that it reports."""
        event = object_in(self.place, data)
        if event.get("error"):
            raise stream_error(self.place, event["error"], data)
        return event


def object_in(place: Endpoint, data: str) -> JsonMapping:
    """A JSON object of a stream; raises `model_failed` for anything else, after which one may ask
    again.
    """
    value = parse_json(data)
    if not isinstance(value, dict):
        raise TransientError("model_failed", f"{place.url} sent what is no JSON: {excerpt(data)}")
    return value


class CallParts:
    """Calls that come in parts: the first names one, all add to its arguments."""

    def __init__(self, place: Endpoint) -> None:
        self._place = place
        self._calls: dict[int, RawCall] = {}  # without their arguments
        self._arguments: dict[int, list[str]] = {}
        self._size = 0  # characters of all arguments

    def add(self, position: int, name: str, arguments: str, id: str) -> None:
        """Add a part to the call at this position; raises `model_failed` beyond the bounds."""
        known = self._calls.get(position, RawCall("", ""))
        self._calls[position] = RawCall(known.name or name, "", known.id or id)
        self._arguments.setdefault(position, []).append(arguments)
        self._size += len(arguments)
        if len(self._calls) > MAX_MODEL_CALLS or self._size > MAX_MODEL_EVENT_BYTES:
            raise TerselyError("model_failed", f"{self._place.url} sent calls without an end")

    def complete(self) -> tuple[RawCall, ...]:
        """The calls in their order."""
        positions = sorted(self._calls)
        return tuple(
            self._calls[each]._replace(arguments="".join(self._arguments[each]))
            for each in positions
        )


def table(value: Any) -> JsonMapping:
    """An object of somebody else's answer, empty for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """A text of somebody else's answer, empty for anything else."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """A count that a server reports, 0 for what is none."""
    return value if type(value) is int and 0 < value <= _LARGEST_COUNT else 0


def count_or_none(value: Any) -> int | None:
    """A count that a server reports, None where it does not."""
    return None if value is None else number(value)


def arguments_text(value: Any) -> str:
    """Arguments as JSON text: some servers send an object where others send its text."""
    return json.dumps(value) if isinstance(value, dict) else str(value or "")


def excerpt(data: str) -> str:
    """The beginning of what a server sent, for an error."""
    return repr(data[:MAX_MODEL_ERROR_CHARACTERS])
