"""Two relays on one database of PostgreSQL: any takes any client, and what is said to one is heard
at the other.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.doors.socket.served import Served, served, take, until
from tests.link import Link
from tests.own_postgres import Server

from tersely.foundation.errors import TerselyError
from tersely.relay.threads import threads

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@asynccontextmanager
async def both(home: Path, postgres: Server) -> AsyncIterator[tuple[Served, Served]]:
    """Two relays of one tenant, each with a home and a socket of its own."""
    tenant = f"t{secrets.token_hex(8)}"
    async with (
        served(home / "one", url=postgres.url, tenant=tenant) as one,
        served(home / "two", url=postgres.url, tenant=tenant) as two,
    ):
        yield one, two


async def test_a_message_is_delivered_where_its_recipient_is_once(
    home: Path, runtime: Path, postgres: Server
) -> None:
    async with both(home, postgres) as (one, two):
        ann, ben, cid = await one.peer("ann"), await two.peer("ben"), await one.peer("cid")
        await until(lambda: "ben" in one.mail.presence.connected())
        for number in range(20):
            await ann.send("ben", str(number))
            await cid.send("ben", str(number))
        got = await take(ben, 40)
        for sender in ("ann", "cid"):
            mine = [each for each in got if each.sender == sender]
            assert [(each.body, each.seq, each.attempt) for each in mine] == [
                (str(n), n + 1, 1) for n in range(20)
            ]
        await until(lambda: one.mail.load("ben") == two.mail.load("ben") == (0, 0))
        await ben.send("ann", "back")
        assert [each.body for each in await take(ann, 1)] == ["back"]


async def test_what_was_sent_before_waits_at_every_relay(
    home: Path, runtime: Path, postgres: Server
) -> None:
    async with both(home, postgres) as (one, two):
        ann = await one.peer("ann")
        for body in ("1", "2"):
            await ann.send("ben", body, queue=True)
        await until(lambda: two.mail.load("ben")[0] == 2)
        ben = await two.peer("ben")
        first = await take(ben, 2, acks=False)
        await until(lambda: one.mail.is_elsewhere("ben"))
        ben.drop()
        await until(lambda: "ben" not in one.mail.presence.connected())
        again = await take(await one.peer("ben"), 2)
        assert [(each.body, each.attempt) for each in (*first, *again)] == [
            ("1", 1),
            ("2", 1),
            ("1", 2),
            ("2", 2),
        ]


async def test_a_name_is_in_use_at_one_relay_alone(
    home: Path, runtime: Path, postgres: Server
) -> None:
    async with both(home, postgres) as (one, two):
        await one.peer("ann")
        await until(lambda: two.mail.is_elsewhere("ann"))
        with pytest.raises(TerselyError, match="name_taken"):
            await two.peer("ann")
        raws = [await relay.raw() for relay in (one, two)]
        for raw in raws:
            raw.say("HELLO", {"agent": "ben"})
        async with asyncio.timeout(60):
            types = sorted([(await raw.hear())["type"] for raw in raws])
        assert types == ["ERROR", "WELCOME"]
        for raw in raws:
            raw.close()


async def test_a_process_that_is_gone_holds_no_names(
    home: Path, runtime: Path, postgres: Server
) -> None:
    tenant, link = f"t{secrets.token_hex(8)}", Link(postgres.socket)
    url = f"postgresql://postgres@127.0.0.1:{link.port}/postgres"
    async with (
        served(home / "two", url=postgres.url, tenant=tenant) as two,
        served(home / "one", url=url, tenant=tenant) as one,
    ):
        await one.peer("ann")
        await until(lambda: two.mail.is_elsewhere("ann"))
        link.cut()  # as if the process were killed, where its own database is concerned
        await until(lambda: not two.mail.is_elsewhere("ann"))
        assert (await two.peer("ann")).session_id
        link.mend()
    link.close()


async def test_channels_and_everybody_reach_all_relays(
    home: Path, runtime: Path, postgres: Server
) -> None:
    async with both(home, postgres) as (one, two):
        ann, ben = await one.peer("ann"), await two.peer("ben")
        await ben.join("#builds")
        await until(
            lambda: one.mail.channels.get("#builds") is not None and one.mail.is_elsewhere("ben")
        )
        await ann.send("*", "to everybody")
        assert [each.body for each in await take(ben, 1)] == ["to everybody"]
        channel = one.mail.channels.get("#builds")
        assert channel is not None
        assert channel.members == ("ben",)


async def test_threads_grow_for_watchers_of_every_relay(
    home: Path, runtime: Path, postgres: Server
) -> None:
    async with both(home, postgres) as (one, two):
        thread = threads.create(one.relay.store, "shared", "ann").thread_id
        grown = asyncio.Event()
        loop = asyncio.get_running_loop()

        def heard(touched: frozenset[str]) -> None:
            if f"thread/{thread}" in touched:
                loop.call_soon_threadsafe(grown.set)

        two.relay.store.watch(heard)
        fact = {"op": "add", "path": "/facts/-", "value": {"id": "1"}}
        await asyncio.to_thread(threads.patch_state, one.relay.store, thread, [fact], "ann")
        async with asyncio.timeout(60):
            await grown.wait()
        assert [event.number for event in threads.events(two.relay.store, thread)] == [1, 2]


async def test_a_claim_at_one_relay_is_held_at_the_other(
    home: Path, runtime: Path, postgres: Server
) -> None:
    from tersely.relay.teams.claims import ClaimWish

    async with both(home, postgres) as (one, two):
        one.relay.claims.take("shop", ClaimWish("ann", ["src/a.py"], 60_000))
        with pytest.raises(TerselyError, match="already_claimed"):
            two.relay.claims.take("shop", ClaimWish("ben", ["src/a.py"], 60_000))


@pytest.mark.slow
async def test_connections_that_are_ended_lose_no_message(
    home: Path, runtime: Path, postgres: Server
) -> None:
    import psycopg

    async with both(home, postgres) as (one, two):
        ann, ben = await one.peer("ann"), await two.peer("ben")
        for number in range(3):
            with psycopg.connect(postgres.url) as other:
                other.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tersely relay'"
                )
            await ann.send("ben", str(number), queue=True)
        assert [each.body for each in await take(ben, 3)] == ["0", "1", "2"]
