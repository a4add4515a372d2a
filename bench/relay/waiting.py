"""A million messages that wait, beside a tenth of them: what a step costs, on both engines.

Of each engine two relays serve at once, one with everything and one with a tenth of all: messages,
agents, and agents that are connected. They are asked by turns, so that whatever else the machine
does happens to both.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import psycopg
from tests.own_postgres import Server

from bench.mail.relays import Killed
from bench.results import Row
from tersely.client import AsyncClient
from tersely.client.peer import Peer
from tersely.relay.store import mailboxes
from tersely.relay.store.engines.engine import Statements
from tersely.relay.store.mailboxes import Identity
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables

MESSAGES, AGENTS, CONNECTED = 1_000_000, 1_000, 200
TENTH = 10
STEPS = 150  # of each kind, at each size
TAKEN = 64  # messages by who comes and takes some
_FILLED = 25_000  # messages written in one statement
_BODY = '{"kind": "message", "body": "' + "x" * 200 + '"}'
_NUMBERS = "with recursive counted(n) as (select cast(? as bigint) union all select n + 1 from counted where n < ?) "
_MESSAGE = (
    "insert into message (number, sender, sender_kind, id, at_ms, addressed, topic, thread, kind, payload, treatment) "
    + _NUMBERS
    + "select n, 'from' || (n % {agents}), 'agent', 'id' || n, ?, 'a' || (n % {agents}), '', '', 'message', ?, ? "
    "from counted"
)
_DELIVERY = (
    "insert into delivery (mailbox, message, seq, attempts, size) "
    + _NUMBERS
    + "select 'a' || (n % {agents}), n, n / {agents} + 1, 0, ? from counted"
)


class Sized:
    """One relay with so many messages and agents, and clients of it."""

    def __init__(self, home: Path, url: str, share: int) -> None:
        self.home = home
        self.relay = Killed(home, url)
        self.messages, self.agents = MESSAGES // share, AGENTS // share
        self.connected = CONNECTED // share
        self._url = url
        self._step = 0

    def fill(self) -> None:
        """Write what waits, as it lies there when all of it has been sent."""
        with Store.open(self.home, url=self._url, durable=False) as store:
            store.write(self._introduce).result()
            for first in range(1, self.messages + 1, _FILLED):
                store.write(partial(self._fill, first=first)).result()

    async def connect(self) -> None:
        """Have the agents come that are there all the time, and those who are measured."""
        self.idle = [
            await Peer.connect(f"idle{number}", home=self.home) for number in range(self.connected)
        ]
        self.ann = await Peer.connect("ann", home=self.home)
        self.ben = await Peer.connect("ben", home=self.home)
        self.client = AsyncClient.local("looker", self.home)

    async def leave(self) -> None:
        """Have all go."""
        await self.client.close()
        for one in (*self.idle, self.ann, self.ben):
            await one.close()

    def somebody(self) -> str:
        """An agent who is away; each step another."""
        self._step += 1
        return f"a{self._step * 7919 % self.agents}"

    def _introduce(self, tables: Tables) -> None:
        sql = "insert into sequence (name, last) values (?, ?)"
        for number in range(self.agents):
            mailboxes.introduce(tables, Identity(f"a{number}", details={}, last_ms=tables.now_ms))
            named = mailboxes.sequence_name(f"a{number}", f"from{number}", "")
            tables.database.execute(sql, (named, self.messages // self.agents + 1))

    def _fill(self, tables: Tables, first: int) -> None:
        last = min(first + _FILLED - 1, self.messages)
        body = _BODY.encode()
        database: Statements = tables.database
        values = (first, last, tables.now_ms, body, b"")
        database.execute(_MESSAGE.format(agents=self.agents), values)
        database.execute(_DELIVERY.format(agents=self.agents), (first, last, len(body)))


async def _sent_away(relay: Sized) -> None:
    await relay.ann.send(relay.somebody(), "one more", queue=True)


async def _delivered(relay: Sized) -> None:
    await relay.ann.send("ben", "one more")
    async for one in relay.ben.deliveries():
        await relay.ben.ack(one)
        return


async def _looked(relay: Sized) -> None:
    await relay.client.ask("mail.inbox", name=relay.somebody())


async def _taken(relay: Sized) -> None:
    peer = await Peer.connect(relay.somebody(), home=relay.home, max_inflight=TAKEN)
    count = 0
    async for one in peer.deliveries():
        await peer.ack(one)
        count += 1
        if count == TAKEN:
            break
    await peer.close()


OPERATIONS: dict[str, Callable[[Sized], Awaitable[None]]] = {
    "a message to one who is away, until it is kept": _sent_away,
    "a message to one who is connected, until it has come": _delivered,
    "a look into the mailbox of one who is away": _looked,
    f"one comes, takes {TAKEN} of what waits, and goes": _taken,
}


def waiting(home: Path) -> Iterator[Row]:
    """What each step costs with everything and with a tenth, in ms, and how they compare."""
    with own_server() as server:
        for engine, url in (("SQLite", ""), ("PostgreSQL", server.url)):
            sizes = {
                share: Sized(home / f"{engine} {share}", url and _made(server, share), share)
                for share in (TENTH, 1)
            }
            for one in sizes.values():
                one.fill()
            if url:
                _settled(server, list(sizes))
            yield from _compared(engine, sizes)


@contextmanager
def own_server() -> Iterator[Server]:
    """A PostgreSQL whose commits wait for the disk."""
    server = Server(is_durable=True)
    try:
        yield server
    finally:
        server.close()


def _made(server: Server, share: int) -> str:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"create database share{share}")
    return server.url.replace("/postgres?", f"/share{share}?")


def _settled(server: Server, shares: list[int]) -> None:
    """What the server does by itself in a while: count what its tables hold."""
    for share in shares:
        url = server.url.replace("/postgres?", f"/share{share}?")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("vacuum analyze")


def _compared(engine: str, sizes: dict[int, Sized]) -> Iterator[Row]:
    started: dict[int, float] = {}
    with ExitStack() as stack:
        for share, one in sizes.items():
            stack.callback(one.relay.kill)
            watch = time.perf_counter()
            one.relay.up()
            started[share] = (time.perf_counter() - watch) * 1000
        took = asyncio.run(_by_turns(sizes))
    took["a relay starts"] = {share: [found] for share, found in started.items()}
    for name, times in took.items():
        tenth, whole = statistics.median(times[TENTH]), statistics.median(times[1])
        yield {
            "engine": engine,
            "step": name,
            "tenth_ms": tenth,
            "million_ms": whole,
            "ratio": whole / tenth,
        }


async def _by_turns(sizes: dict[int, Sized]) -> dict[str, dict[int, list[float]]]:
    took: dict[str, dict[int, list[float]]] = {name: defaultdict(list) for name in OPERATIONS}
    for one in sizes.values():
        await one.connect()
    for name, do in OPERATIONS.items():
        for _ in range(STEPS):
            for share, one in sizes.items():
                watch = time.perf_counter()
                await do(one)
                took[name][share].append((time.perf_counter() - watch) * 1000)
    for one in sizes.values():
        await one.leave()
    return took
