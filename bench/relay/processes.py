"""Messages a second with one, two and four relay processes on one database, beside the commits of
`pgbench` on the same server in the same run.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
from tests.own_postgres import Server

from bench.mail.floods import Sender, Sink
from bench.mail.relays import Killed
from bench.relay.waiting import CONNECTED, own_server
from bench.results import Row
from tersely.client.peer import Peer
from tersely.relay.wire.home import socket_path

PROCESSES = (1, 2, 4)
PAIRS = 8  # of one who sends and one who takes, at two processes where there are two
MESSAGES = 500  # of each pair and round
ROUNDS = 3
PGBENCH_SECONDS = 5
_COMMIT = "insert into floor (body) values (repeat('x', 200));\n"
_RATE = re.compile(r"tps = ([0-9.]+)")


def processes(home: Path) -> Iterator[Row]:
    """Messages a second that are kept and delivered, and commits a second of as many clients;
    medians of rounds by turns.
    """
    home.mkdir(parents=True)
    yield {"processes": "one on SQLite", **_measured([Killed(home / "sqlite")], None)}
    with own_server() as server:
        floor = _Floor(server, home / "commit.sql")
        for count in PROCESSES:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(f"create database with{count}")
            url = server.url.replace("/postgres?", f"/with{count}?")
            relays = [Killed(home / f"{count} {number}", url) for number in range(count)]
            yield {"processes": f"{count} on PostgreSQL", **_measured(relays, floor)}


class _Floor:
    """What one insert a commit comes to."""

    def __init__(self, server: Server, script: Path) -> None:
        self._server = server
        self._script = script
        script.write_text(_COMMIT)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("create table floor (body text)")

    def commits(self, clients: int) -> float:
        """Commits a second of so many clients."""
        done = subprocess.run(
            [
                self._server.programs / "pgbench", "-n", "-f", self._script, "-c", str(clients),
                "-T", str(PGBENCH_SECONDS), "-h", self._server.folder, "-U", "postgres", "postgres",
            ], capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = _RATE.search(done.stdout)
        assert found is not None, done.stdout
        return float(found[1])


def _measured(relays: list[Killed], floor: _Floor | None) -> Row:
    with ExitStack() as stack:
        for one in relays:
            stack.callback(one.kill)
            one.up()
        return asyncio.run(_rounds([one.home for one in relays], floor))


async def _rounds(homes: list[Path], floor: _Floor | None) -> Row:
    idle = [
        await Peer.connect(f"idle{at}-{number}", home=home)
        for at, home in enumerate(homes)
        for number in range(CONNECTED)
    ]
    rates, commits = [], []
    for number in range(ROUNDS):
        rates.append(await _flood(homes, number))
        if floor is not None:
            commits.append(await asyncio.to_thread(floor.commits, len(homes)))
    for peer in idle:
        await peer.close()
    rate = statistics.median(rates)
    row: Row = {"connected": CONNECTED * len(homes), "messages_a_second": rate}
    if commits:
        many = statistics.median(commits)
        row |= {"pgbench_commits_a_second": many, "messages_a_commit": rate / many}
    return row


async def _flood(homes: list[Path], number: int) -> float:
    """Messages a second from the first that is sent to the last that has come."""
    paths = [str(socket_path(home)) for home in homes]
    sinks = [Sink() for _ in range(PAIRS)]
    senders = [Sender(f"from{number}-{at}", MESSAGES, f"to{number}-{at}") for at in range(PAIRS)]
    for at, sink in enumerate(sinks):
        await sink.run(paths[(at + 1) % len(paths)], f"to{number}-{at}")
    watch = time.perf_counter()
    await asyncio.gather(*(one.run(paths[at % len(paths)]) for at, one in enumerate(senders)))
    while any(sink.count < MESSAGES for sink in sinks):
        await asyncio.sleep(0.005)
    seconds = time.perf_counter() - watch
    if any(sink.gaps or sink.again for sink in sinks) or any(one.refused for one in senders):
        raise RuntimeError("messages were refused, came twice or out of order")
    for talker in [*(one.talker for one in senders), *(one.talker for one in sinks)]:
        talker.transport.close()
    return PAIRS * MESSAGES / seconds
