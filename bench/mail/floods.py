"""Senders that send as fast as they are let, a recipient that takes what comes, and one that stands
still.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from bench.mail.relays import Killed
from bench.process import memory_mb
from bench.socket.load import Talker
from tersely.relay.wire.home import socket_path

WINDOW = 256  # messages of one sender that are not answered yet
QUIET_SECONDS = 2.0


class _Told(msgspec.Struct):
    ack_id: str = ""
    body: str = ""
    retry_after_ms: int = 0


class _Delivery(msgspec.Struct):
    seq: int = 0
    attempt: int = 0


class _Heard(msgspec.Struct, rename={"from_": "from"}):
    type: str
    id: str
    payload: _Told = msgspec.field(default_factory=_Told)
    delivery: _Delivery = msgspec.field(default_factory=_Delivery)
    from_: str = ""


_READ = msgspec.json.Decoder(_Heard).decode


class Sender:
    """Sends its messages in order, and those again that it is told to send later."""

    def __init__(self, name: str, count: int, to: str) -> None:
        self.name = name
        self.count = count
        self.to = to
        self.next = 0
        self.pending: set[int] = set()
        self.acknowledged: set[int] = set()
        self.busy = 0
        self.refused: list[str] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self, path: str) -> None:
        """Send all, and come back when each is answered."""
        self.talker = await connected(path, self.name)
        self.talker.heard = self._heard
        self._fill()
        self.talker.flush()
        await self.done

    def _fill(self) -> None:
        while self.next < self.count and len(self.pending) < WINDOW:
            self._send(self.next)
            self.next += 1

    def _send(self, number: int) -> None:
        self.pending.add(number)
        payload = {"kind": "message", "body": str(number)}
        meta = {"queue": True}
        self.talker.say(
            {
                "type": "SEND",
                "id": str(number),
                "to": self.to,
                "payload": payload,
                "payload_meta": meta,
            }
        )

    def _heard(self, body: bytes) -> None:
        heard = _READ(body)
        if heard.type == "BUSY":
            self.busy += 1
            seconds = heard.payload.retry_after_ms / 1000
            asyncio.get_running_loop().call_later(seconds, self._again, int(heard.payload.ack_id))
        elif heard.type == "ACK":
            self._answered(int(heard.payload.ack_id))
        elif heard.type == "PING":
            self.talker.say({"type": "PONG", "id": "p", "payload": {}})
        else:
            self.refused.append(body.decode())
            self._answered(int(heard.payload.ack_id))

    def _answered(self, number: int) -> None:
        self.pending.discard(number)
        self.acknowledged.add(number)
        self._fill()
        if len(self.acknowledged) == self.count and not self.done.done():
            self.done.set_result(None)

    def _again(self, number: int) -> None:
        self._send(number)
        self.talker.flush()


class Sink:
    """Takes what comes: how often each message came, and in what order."""

    def __init__(self) -> None:
        self.got: dict[str, list[int]] = {}
        self.seqs: dict[str, int] = {}
        self.seen: set[str] = set()
        self.gaps = 0
        self.again = 0
        self.count = 0

    async def run(self, path: str, name: str) -> None:
        """Connect and take."""
        self.talker = await connected(path, name)
        self.talker.heard = self._heard
        for body in self.talker.late:
            self._heard(body)
        self.talker.flush()

    def _heard(self, body: bytes) -> None:
        heard = _READ(body)
        if heard.type == "PING":
            self.talker.say({"type": "PONG", "id": "p", "payload": {}})
            return
        self.talker.say(
            {"type": "ACK", "id": "k", "payload": {"ack_id": heard.id, "seq": heard.delivery.seq}}
        )
        if heard.id in self.seen:
            self.again += 1
            return
        self.seen.add(heard.id)
        self.count += 1
        self.gaps += heard.delivery.seq != self.seqs.get(heard.from_, 0) + 1
        self.seqs[heard.from_] = heard.delivery.seq
        self.got.setdefault(heard.from_, []).append(int(heard.payload.body))


async def connected(path: str, name: str) -> Talker:
    """A client that has been let in."""
    _, talker = await asyncio.get_running_loop().create_unix_connection(Talker, path)
    welcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def first(body: bytes) -> None:
        if not welcome.done():
            welcome.set_result(body)
        else:
            talker.late.append(body)

    talker.heard = first
    talker.say({"type": "HELLO", "id": "h", "payload": {"agent": name}})
    talker.flush()
    assert _READ(await welcome).type == "WELCOME"
    return talker


async def run(home: Path, senders: int, count: int) -> dict[str, Any]:
    """A flood for one recipient; every message of it has to be answered, and what is acknowledged
    has to come.
    """
    relay = Killed(home)
    await asyncio.to_thread(relay.up)
    path = str(socket_path(home))
    try:
        before = memory_mb(relay.pid)
        sink = Sink()
        await sink.run(path, "sink")
        floods = [Sender(f"s{number}", count, "sink") for number in range(senders)]
        watch = time.perf_counter()
        await asyncio.gather(*(one.run(path) for one in floods))
        answered = time.perf_counter() - watch
        await _still(sink)
        complaints = [
            f"{one.name}: {len(one.refused)} were refused" for one in floods if one.refused
        ]
        complaints += [
            f"{one.name}: lost, doubled or out of order"
            for one in floods
            if not one.busy and sink.got.get(one.name) != list(range(count))
        ]
        complaints += [
            f"{one.name}: lost"
            for one in floods
            if set(sink.got.get(one.name, ())) != one.acknowledged
        ]
        return {
            "senders": senders, "messages": senders * count,
            "acknowledged": sum(len(one.acknowledged) for one in floods),
            "told_to_wait": sum(one.busy for one in floods), "delivered": sink.count, "delivered_again": sink.again,
            "gaps": sink.gaps, "per_second": senders * count / answered, "mb_before": before,
            "mb_at_most": memory_mb(relay.pid, "VmHWM"), "complaints": complaints,
        }  # fmt: skip
    finally:
        relay.kill()


async def _still(sink: Sink) -> None:
    """Wait until nothing has come for a while."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        if sink.count != last:
            last, since = sink.count, time.monotonic()
        await asyncio.sleep(0.05)


async def stopped(home: Path, backlog: int, seconds: float = 3.0) -> dict[str, Any]:
    """A client that is stopped with a backlog; what it takes others to exchange messages before,
    then, and after.
    """
    relay = Killed(home)
    await asyncio.to_thread(relay.up)
    path = str(socket_path(home))
    statue = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.mail.floods",
        path,
        str(backlog),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert statue.stdout is not None
        await statue.stdout.readline()
        os.kill(statue.pid, signal.SIGSTOP)
        before = await _trips(path, seconds)
        at_rest = memory_mb(relay.pid)
        flood = Sender("flood", backlog, "statue")
        await flood.run(path)
        with_backlog, memory = await _trips(path, seconds), memory_mb(relay.pid, "VmHWM")
        os.kill(statue.pid, signal.SIGCONT)
        while_draining = await _trips(path, seconds)
        taken = json.loads(await asyncio.wait_for(statue.stdout.readline(), 600))
        return {
            "backlog": backlog, "before": before, "with_backlog": with_backlog, "while_draining": while_draining,
            "p99_ratio": with_backlog["p99_ms"] / before["p99_ms"], "mb_before": at_rest,
            "mb_at_most": memory, "complaints": taken["complaints"] + flood.refused,
        }  # fmt: skip
    finally:
        if statue.returncode is None:
            statue.kill()
        await statue.wait()
        relay.kill()


async def _trips(path: str, seconds: float) -> dict[str, float]:
    """Round trips of two others, each message kept."""
    load = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.socket.load",
        path,
        "kept",
        "4",
        str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await load.communicate()
    figures: dict[str, float] = json.loads(told)
    return figures


async def _statue(path: str, count: int) -> None:
    """What is stopped: a sink that says in the end whether all has come, in order."""
    sink = Sink()
    await sink.run(path, "statue")
    print("ready", flush=True)
    while sink.count < count:
        await asyncio.sleep(0.05)
    complaints = (
        [] if sink.got == {"flood": list(range(count))} else ["lost, doubled or out of order"]
    )
    print(json.dumps({"complaints": complaints}), flush=True)


if __name__ == "__main__":
    import uvloop

    uvloop.run(_statue(sys.argv[1], int(sys.argv[2])))
