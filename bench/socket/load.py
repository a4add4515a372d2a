"""`python -m bench.socket.load PATH WHAT IN_FLIGHT SECONDS`: round trips, with so many on their way
at a time.

A frame of an echo goes in and comes out once, and so does a message that is delivered to another
connection (`delivered`, `kept_delivered`). With an answer it is twice that: a message each way
(`memory`, `kept`), or a question to a service. Both ends are in this process, so that its work is
kept small: frames are made of prepared parts, and the name of a trip is found in what comes by the
`@` before it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
import uvloop

from tersely.relay.wire.frames import Frames, framed

BODY = "x" * 200
# for what is on its way when the time is over; what has not come by then is lost
GRACE_SECONDS = 5.0
_NAME = "@00000000"
_DELIVER = b'{"v":1,"type":"DELIVER","id":"'
_REQUEST = b'{"v":1,"type":"SERVICE_REQUEST","id":"'


class Talker(asyncio.Protocol):
    """One connection; `heard` is called with each envelope."""

    transport: asyncio.Transport
    all: ClassVar[list[Talker]] = []

    def __init__(self) -> None:
        self.all.append(self)
        self.frames = Frames(1 << 20)
        self.heard: Callable[[bytes], None] = lambda body: None
        self.said: list[bytes] = []
        self.late: list[bytes] = []  # heard before anybody listened

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember whom to talk to."""
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Tell what has come."""
        for body in self.frames.feed(data):
            self.heard(body)
        for talker in self.all:
            if talker.said:
                talker.flush()

    def say(self, envelope: dict[str, Any]) -> None:
        """Send an envelope with the others of this turn."""
        self.said.append(framed(msgspec.json.encode({"v": 1, "ts": 1, **envelope})))

    def flush(self) -> None:
        """Send what was said."""
        if self.said:
            self.transport.write(b"".join(self.said))
            self.said.clear()


class Trips:
    """Counts round trips until the time is over."""

    def __init__(self, seconds: float) -> None:
        self.until = time.perf_counter() + seconds
        self.times: list[float] = []
        self.begun: dict[bytes, float] = {}
        self.number = 0
        self.ended = asyncio.get_running_loop().create_future()

    def begin(self) -> bytes:
        """The name of another trip."""
        self.number += 1
        name = b"@%08d" % self.number
        self.begun[name] = time.perf_counter()
        return name

    def end(self, name: bytes) -> bool:
        """A trip is over; whether there is time for another."""
        now = time.perf_counter()
        self.times.append(now - self.begun.pop(name))
        if now < self.until:
            return True
        if not self.begun and not self.ended.done():
            self.ended.set_result(None)
        return False


class Template:
    """An envelope of which two texts of nine characters change: the name of the trip, and an id."""

    def __init__(self, **envelope: Any) -> None:
        encoded = framed(msgspec.json.encode({"v": 1, "ts": 1, **envelope}))
        self.parts = encoded.replace(b"%", b"%%").replace(_NAME.encode(), b"%b")

    def __call__(self, *values: bytes) -> bytes:
        """The frame."""
        return self.parts % values


def name_in(body: bytes) -> bytes:
    """The name of the trip that an envelope belongs to."""
    at = body.index(b"@")
    return body[at : at + 9]


async def echo(path: str, in_flight: int, trips: Trips) -> None:
    """The same bytes back."""
    talker = await _connected(path)
    question = Template(
        type="SEND", id="i", to="b", payload={"kind": "message", "body": BODY, "thread": _NAME}
    )

    def begin() -> None:
        talker.said.append(question(trips.begin()))

    def heard(body: bytes) -> None:
        if trips.end(name_in(body)):
            begin()

    talker.heard = heard
    await _run(begin, in_flight, trips)


async def service(path: str, in_flight: int, trips: Trips) -> None:
    """A question to a service and its answer."""
    asking, answering = await _named(path, "a", "agent"), await _named(path, "b", "service")
    question = Template(
        type="SERVICE_REQUEST",
        id=_NAME,
        payload={"service": "b", "method": "m", "params": {"body": BODY}},
    )

    def begin() -> None:
        asking.said.append(question(trips.begin()))

    def asked(body: bytes) -> None:
        if body.startswith(_REQUEST):
            sent = body[len(_REQUEST) : body.index(b'"', len(_REQUEST))].decode()
            payload = {"request_id": sent, "success": True, "result": BODY}
            answering.say({"type": "SERVICE_RESPONSE", "id": "r", "payload": payload})

    def answered(body: bytes) -> None:
        if trips.end(name_in(body)):
            begin()

    asking.heard, answering.heard = answered, asked
    await _run(begin, in_flight, trips)


async def delivered(path: str, in_flight: int, trips: Trips) -> None:
    """A message that is not kept, until it is there."""
    await _messages(path, in_flight, trips, {"durability": "memory"}, answers=False)


async def kept_delivered(path: str, in_flight: int, trips: Trips) -> None:
    """A message that is committed, until it is there; it is acknowledged as well."""
    await _messages(path, in_flight, trips, {}, answers=False)


async def memory(path: str, in_flight: int, trips: Trips) -> None:
    """A message and its answer, neither of which is kept."""
    await _messages(path, in_flight, trips, {"durability": "memory"})


async def kept(path: str, in_flight: int, trips: Trips) -> None:
    """A message and its answer, each committed, delivered and acknowledged."""
    await _messages(path, in_flight, trips, {})


async def _messages(
    path: str, in_flight: int, trips: Trips, meta: dict[str, Any], *, answers: bool = True
) -> None:
    one, other = await _named(path, "a", "agent"), await _named(path, "b", "agent")
    run, extra = secrets.token_hex(4), {"payload_meta": meta} if meta else {}  # ids are used once
    payload = {"kind": "message", "body": BODY, "thread": _NAME}
    question = Template(type="SEND", id=f"{run}q{_NAME}", to="b", payload=payload, **extra)
    answer = Template(type="SEND", id=f"{run}a{_NAME}", to="a", payload=payload, **extra)

    def begin() -> None:
        name = trips.begin()
        one.said.append(question(name, name))

    def acknowledge(talker: Talker, body: bytes) -> None:
        if not meta:
            sent = body[len(_DELIVER) : body.index(b'"', len(_DELIVER))].decode()
            talker.say({"type": "ACK", "id": "k", "payload": {"ack_id": sent, "seq": 0}})

    def asked(body: bytes) -> None:
        if body.startswith(_DELIVER):
            name = name_in(body)
            acknowledge(other, body)
            if answers:
                other.said.append(answer(name, name))
            elif trips.end(name):
                begin()

    def answered(body: bytes) -> None:
        if body.startswith(_DELIVER):
            acknowledge(one, body)
            if trips.end(name_in(body)):
                begin()

    one.heard, other.heard = answered, asked
    await _run(begin, in_flight, trips)


async def _run(begin: Callable[[], None], in_flight: int, trips: Trips) -> None:
    for _ in range(in_flight):
        begin()
    for talker in Talker.all:
        talker.flush()
    seconds = trips.until - time.perf_counter() + GRACE_SECONDS
    await asyncio.wait({trips.ended}, timeout=seconds)


async def _connected(path: str) -> Talker:
    _, talker = await asyncio.get_running_loop().create_unix_connection(Talker, path)
    return talker


async def _named(path: str, name: str, kind: str) -> Talker:
    talker = await _connected(path)
    welcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    talker.heard = welcome.set_result
    capabilities = {"ack": True, "resume": False, "max_inflight": 256, "supports_topics": True}
    talker.say(
        {
            "type": "HELLO",
            "id": "h",
            "payload": {"agent": name, "entityType": kind, "capabilities": capabilities},
        }
    )
    talker.flush()
    assert b'"WELCOME"' in await welcome
    return talker


WHAT = {
    "echo": echo, "delivered": delivered, "kept_delivered": kept_delivered, "service": service, "memory": memory,
    "kept": kept,
}  # fmt: skip


async def main(path: str, what: str, in_flight: int, seconds: float) -> None:
    """Load and print."""
    trips = Trips(seconds)
    watch = time.perf_counter()
    await WHAT[what](path, in_flight, trips)
    took, times = time.perf_counter() - watch, sorted(trips.times) or [0.0]
    told = {
        "trips": len(trips.times), "a_second": len(trips.times) / took, "p50_ms": times[len(times) // 2] * 1e3,
        "p99_ms": times[len(times) * 99 // 100] * 1e3, "lost": len(trips.begun),
    }  # fmt: skip
    print(json.dumps(told))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
