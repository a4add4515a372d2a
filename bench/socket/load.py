"""`python -m bench.socket.load PATH WHAT IN_FLIGHT SECONDS`: round trips, with so many on their way at a time.

`echo` and what is measured against it have one process on the other side and one here. A routed round trip goes from
one connection through the relay to another and back: as a message each way, or as a question to a service.
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

from laconic.protocols.socket.frames import Frames, framed

BODY = "x" * 200


class Seen(msgspec.Struct):
    """What is looked at of what comes."""

    type: str
    id: str


class Talker(asyncio.Protocol):
    """One connection; `heard` is called with each envelope."""

    transport: asyncio.Transport
    all: ClassVar[list[Talker]] = []

    def __init__(self) -> None:
        self.all.append(self)
        self.frames = Frames(1 << 20)
        self.heard: Callable[[bytes], None] = lambda body: None
        self.said: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember whom to talk to."""
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Tell what has come."""
        for body in self.frames.feed(data):
            self.heard(body)
        for talker in self.all:
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
        self.begun: dict[str, float] = {}
        self.number = 0
        self.ended = asyncio.get_running_loop().create_future()

    def begin(self) -> str:
        """The name of another trip."""
        self.number += 1
        name = str(self.number)
        self.begun[name] = time.perf_counter()
        return name

    def end(self, name: str) -> bool:
        """A trip is over; whether there is time for another."""
        now = time.perf_counter()
        self.times.append(now - self.begun.pop(name))
        if now < self.until:
            return True
        if not self.begun and not self.ended.done():
            self.ended.set_result(None)
        return False


async def echo(path: str, in_flight: int, trips: Trips) -> None:
    """The same bytes back."""
    talker = await _connected(path)
    read = msgspec.json.Decoder(Seen).decode

    def begin() -> None:
        talker.say({"type": "SEND", "id": trips.begin(), "to": "b", "payload": {"kind": "message", "body": BODY}})

    def heard(body: bytes) -> None:
        if trips.end(read(body).id):
            begin()

    talker.heard = heard
    for _ in range(in_flight):
        begin()
    Talker.all[0].flush()
    await trips.ended


async def service(path: str, in_flight: int, trips: Trips) -> None:
    """A question to a service and its answer."""
    asking, answering = await _named(path, "a", "agent"), await _named(path, "b", "service")
    read = msgspec.json.Decoder(Seen).decode
    response = msgspec.json.Decoder(_Answered).decode

    def begin() -> None:
        payload = {"service": "b", "method": "m", "params": {"body": BODY}}
        asking.say({"type": "SERVICE_REQUEST", "id": trips.begin(), "payload": payload})

    def asked(body: bytes) -> None:
        payload = {"request_id": read(body).id, "success": True, "result": BODY}
        answering.say({"type": "SERVICE_RESPONSE", "id": "r", "payload": payload})

    def answered(body: bytes) -> None:
        if trips.end(response(body).payload.request_id):
            begin()

    asking.heard, answering.heard = answered, asked
    for _ in range(in_flight):
        begin()
    Talker.all[0].flush()
    await trips.ended


async def memory(path: str, in_flight: int, trips: Trips) -> None:
    """A message and its answer, neither of which is kept."""
    await _messages(path, in_flight, trips, {"durability": "memory"})


async def kept(path: str, in_flight: int, trips: Trips) -> None:
    """A message and its answer, each committed, delivered and acknowledged."""
    await _messages(path, in_flight, trips, {})


async def _messages(path: str, in_flight: int, trips: Trips, meta: dict[str, Any]) -> None:
    one, other = await _named(path, "a", "agent"), await _named(path, "b", "agent")
    deliver = msgspec.json.Decoder(_Delivered).decode
    extra = {"payload_meta": meta} if meta else {}
    run, answers = secrets.token_hex(4), 0  # ids are used once

    def begin() -> None:
        payload = {"kind": "message", "body": BODY, "thread": trips.begin()}
        one.say({"type": "SEND", "id": f"{run}-q{trips.number}", "to": "b", "payload": payload, **extra})

    def acknowledge(talker: Talker, got: _Delivered) -> None:
        if not meta:
            talker.say({"type": "ACK", "id": "k", "payload": {"ack_id": got.id, "seq": got.delivery.seq}})

    def asked(body: bytes) -> None:
        nonlocal answers
        if b'"DELIVER"' in body[:30]:
            got = deliver(body)
            answers += 1
            payload = {"kind": "message", "body": BODY, "thread": got.payload.thread}
            other.say({"type": "SEND", "id": f"{run}-a{answers}", "to": "a", "payload": payload, **extra})
            acknowledge(other, got)

    def answered(body: bytes) -> None:
        if b'"DELIVER"' in body[:30]:
            got = deliver(body)
            acknowledge(one, got)
            if trips.end(got.payload.thread):
                begin()
        elif b'"ACK"' not in body[:30]:
            raise AssertionError(body)

    one.heard, other.heard = answered, asked
    for _ in range(in_flight):
        begin()
    Talker.all[0].flush()
    await trips.ended


class _Payload(msgspec.Struct):
    request_id: str = ""
    thread: str = ""


class _Answered(msgspec.Struct):
    payload: _Payload


class _Delivery(msgspec.Struct):
    seq: int


class _Delivered(msgspec.Struct):
    id: str
    payload: _Payload
    delivery: _Delivery


async def _connected(path: str) -> Talker:
    _, talker = await asyncio.get_running_loop().create_unix_connection(Talker, path)
    return talker


async def _named(path: str, name: str, kind: str) -> Talker:
    talker = await _connected(path)
    welcome = asyncio.get_running_loop().create_future()
    talker.heard = welcome.set_result
    talker.say({"type": "HELLO", "id": "h", "payload": {"agent": name, "entityType": kind}})
    talker.flush()
    assert msgspec.json.decode(await welcome, type=Seen).type == "WELCOME"
    return talker


WHAT = {"echo": echo, "service": service, "memory": memory, "kept": kept}


async def main(path: str, what: str, in_flight: int, seconds: float) -> None:
    """Load and print."""
    trips = Trips(seconds)
    watch = time.perf_counter()
    await WHAT[what](path, in_flight, trips)
    took = time.perf_counter() - watch
    times = sorted(trips.times)
    told = {"per_second": len(times) / took, "p50_ms": times[len(times) // 2] * 1e3,
            "p99_ms": times[len(times) * 99 // 100] * 1e3}  # fmt: skip
    print(json.dumps(told))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
