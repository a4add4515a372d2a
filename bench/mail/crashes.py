"""Many clients that send and receive while the relay is killed at any moment, and a checker of what
they saw.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.mail.history import History, Receipt, Stream
from bench.mail.relays import Relays
from tersely.client.peer import Busy, Peer
from tersely.foundation.errors import TerselyError

TOPICS = ("", "builds")
_GONE = {
    "daemon_unavailable",
    "daemon_not_running",
    "name_taken",
    "timed_out",
    "database_unavailable",
    "database_locked",
}
_CRASHES = 0.01  # of a client, each time that it could acknowledge a message
_LEAVES = 0.2  # a relay, each time that it says that it has no database
_RETRY_SECONDS = 0.02
_DRAIN_SECONDS = 120


class Client:
    """One name: sends its streams, one message of each at a time, and keeps what comes; whenever it
    has lost one relay it goes to the next.
    """

    def __init__(
        self,
        name: str,
        others: list[str],
        homes: Sequence[Path],
        history: History,
        chance: random.Random,
    ) -> None:
        self.name = name
        self.others = others
        self.homes = homes
        self.at = chance.randrange(len(homes))
        self.history = history
        self.chance = chance
        self.peer: Peer | None = None
        self.is_sending = True

    async def live(self) -> None:
        """Receive, and connect again whenever the connection is lost, until cancelled."""
        while True:
            try:
                await self._receive()
            except TerselyError as error:
                if error.code not in _GONE:
                    raise
            self.at = (self.at + 1) % len(self.homes)
            await asyncio.sleep(_RETRY_SECONDS)

    async def leave(self) -> None:
        """Hang up for good."""
        if self.peer is not None:
            await self.peer.close()

    async def _receive(self) -> None:
        before = self.peer.resume_token if self.peer is not None else ""
        peer = self.peer = await Peer.connect(
            self.name, home=self.homes[self.at], resume_token=before
        )
        async for one in peer.deliveries():
            stream = Stream(one.sender, self.name, one.topic)
            self.history.received.append(
                Receipt(stream, int(one.body), one.id, one.seq, one.attempt)
            )
            if self.chance.random() < _CRASHES:
                peer.drop()  # a client may crash too, before it has acknowledged
                return
            await peer.ack(one)

    async def send(self) -> None:
        """Send to everybody of one's own, under each topic, in order."""
        streams = [Stream(self.name, other, topic) for other in self.others for topic in TOPICS]
        await asyncio.gather(*(self._send(stream) for stream in streams))

    async def _send(self, stream: Stream) -> None:
        while self.is_sending:
            index = self.history.sent[stream]
            self.history.sent[stream] += 1
            await self._until_answered(stream, index)

    async def _until_answered(self, stream: Stream, index: int) -> None:
        """Send a message until it is acknowledged, always under the same id."""
        name = f"{stream.recipient}/{stream.topic}/{index}"
        while True:
            peer = self.peer
            try:
                if peer is not None:
                    await peer.send(
                        stream.recipient, str(index), topic=stream.topic, id=name, queue=True
                    )
                    self.history.acknowledged.add((stream, index))
                    return
            except Busy as busy:
                self.history.refused += 1
                await asyncio.sleep(busy.retry_seconds)
            except TerselyError as error:
                if error.code not in _GONE:
                    raise
                if peer is not None and self._leaves(error):
                    peer.drop()
            await asyncio.sleep(_RETRY_SECONDS)

    def _leaves(self, error: TerselyError) -> bool:
        return error.code == "database_unavailable" and self.chance.random() < _LEAVES


async def run(relays: Relays, points: int, clients: int, streams: int, seed: int) -> dict[str, Any]:
    """Do the relays harm at `points` random moments under load; what the checker says of it."""
    chance, history = random.Random(seed), History()
    names = [f"c{number}" for number in range(clients)]
    everybody = [
        Client(
            name,
            [names[(at + 1 + step) % clients] for step in range(streams)],
            relays.homes,
            history,
            random.Random(seed + at),
        )
        for at, name in enumerate(names)
    ]
    living = [asyncio.create_task(one.live()) for one in everybody]
    sending = [asyncio.create_task(one.send()) for one in everybody]
    try:
        for _ in range(points):
            await asyncio.sleep(chance.uniform(0.05, 1.0))
            _raise_failures([*living, *sending])
            await asyncio.to_thread(relays.harm)
        for one in everybody:
            one.is_sending = False
        await asyncio.wait_for(asyncio.gather(*sending), _DRAIN_SECONDS)
        await _drained(history)
    finally:
        for task in [*living, *sending]:
            task.cancel()
        await asyncio.gather(*living, *sending, return_exceptions=True)
        for one in everybody:
            await one.leave()
    return {
        **_figures(history, points, clients),
        "happened": relays.happened,
        "complaints": history.complaints()[:20],
    }


async def _drained(history: History) -> None:
    """Wait until all that was acknowledged has come; a while longer changes nothing any more."""
    for _ in range(_DRAIN_SECONDS * 10):
        came = {(one.stream, one.place) for one in history.received}
        if history.acknowledged <= came:
            return
        await asyncio.sleep(0.1)


def _raise_failures(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done() and task.exception() is not None:
            task.result()


def _figures(history: History, points: int, clients: int) -> dict[str, Any]:
    first = {one.message_id for one in history.received}
    return {
        "points": points,
        "clients": clients,
        "streams": len(history.sent),
        "acknowledged": len(history.acknowledged),
        "delivered": len(first),
        "delivered_again": len(history.received) - len(first),
        "told_to_wait": history.refused,
    }
