"""`python -m bench.relay [--record]`: what the relay costs beside the floors below it, in one run."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import results
from bench.process import memory_mb
from bench.relay.processes import processes
from bench.relay.served import Served, bare, kill, load, up
from bench.relay.waiting import waiting
from bench.results import Row, Table
from tersely.client import Client
from tersely.relay.store.commands import Append, StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import THREAD
from tersely.relay.threads import threads

ROUNDS = 3
SECONDS = 2.0
IN_FLIGHT = 64
COMMITS = 4_000
BODY = b"x" * 200
THREADS, EVENTS = 10_000, 100  # of each
LOOKS = 300
LARGE_BYTES = 1_000_000_000
MEGABYTE = 1_000_000
COMMAND = "python -m bench.relay --record"
READING = Table(
    "The relay: reading",
    COMMAND,
    "path|connections:,|answers_a_second:,.0f|of_the_bare_ones:.2f|cpu_of_the_bare_ones:.2f",
    "GET with the token, beside a bare ASGI application under the same server; the header is read from the store.",
)
WAITING = Table(
    "The relay: a million messages that wait",
    COMMAND,
    "engine|step|tenth_ms:.2f|million_ms:.2f|ratio:.2f",
    "1,000,000 messages for 1,000 agents, 200 connected, beside a tenth of each; medians in ms, by turns.",
    names=2,
)
PROCESSES = Table(
    "The relay: processes on one database",
    COMMAND,
    "processes|connected:,|messages_a_second:,.0f|pgbench_commits_a_second:,.0f|messages_a_commit:.2f",
    "Messages that are kept and delivered, from 8 who send to 8 who take; pgbench with as many clients as processes, "
    "by turns. All of it on one machine, with those who send.",
)
FIGURES = Table("The relay", COMMAND, "what|figure:,.2f|unit")


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="where the relays' homes are made (default: the system's)"
    )
    parser.add_argument("--only", choices=list(MEASURES), nargs="+", default=list(MEASURES))
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    tables = []
    figures: list[Row] = []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="tersely-relay-", dir=options.folder) as scratch:
            rows = list(MEASURES[name](Path(scratch) / "home"))
        if name in OWN:
            tables.append(OWN[name].filled(rows))
        else:
            figures += rows
    if figures:
        tables.append(
            FIGURES.filled(FIGURES.merged("relay", figures) if options.record else figures)
        )
    results.report("relay", tables, options.record)
    return 0


def reading(home: Path) -> Iterator[Row]:
    """GET of a header with its token, and of the health, beside a bare server; medians of rounds by
    turns.
    """
    served = up(home)
    thread = served.ask("POST", "/threads", {"name": "load"})["thread_id"]
    five = [
        {"op": "add", "path": "/facts/-", "value": {"key": str(one), "value": "v"}}
        for one in range(5)
    ]
    served.ask("POST", f"/threads/{thread}/state/patch", five)
    try:
        with bare() as floor:
            header = f"/threads/{thread}/state/header"
            paths = {
                "bare": (floor, "/"),
                "health": (served, "/health"),
                "header": (served, header),
            }
            for connections in (1, 32):
                yield from _compared(connections, paths)
    finally:
        kill(served)


def _compared(connections: int, paths: dict[str, tuple[Served, str]]) -> Iterator[Row]:
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in paths}
    for _ in range(ROUNDS):
        for name, (server, path) in paths.items():
            measured[name].append(load(server, [server.request("GET", path)], connections, SECONDS))
    rates = {
        name: statistics.median(one["per_second"] for one in found)
        for name, found in measured.items()
    }
    costs = {
        name: statistics.median(one["cpu_us"] for one in found) for name, found in measured.items()
    }
    for name in paths:
        yield {
            "path": name,
            "connections": connections,
            "answers_a_second": rates[name],
            "of_the_bare_ones": rates[name] / rates["bare"],
            "cpu_of_the_bare_ones": costs["bare"] / costs[name],
        }


def writing(home: Path) -> Iterator[Row]:
    """Patches a second, each in a thread of its connection's; texts of 2 KB stored a second, all of
    them new.
    """
    served = up(home)
    yield _figure("idle", memory_mb(served.pid), "MB")
    try:
        made = [served.ask("POST", "/threads", {"name": ""})["thread_id"] for _ in range(32)]
        operations = [
            {"op": "add", "path": "/facts/0", "value": {"key": "k"}},
            {"op": "remove", "path": "/facts/0"},
        ]
        body = json.dumps(operations).encode()
        patches = [served.request("POST", f"/threads/{one}/state/patch", body) for one in made]
        yield _figure(
            "32 connections that patch",
            load(served, patches, 32, SECONDS)["per_second"],
            "patches/s",
        )
        texts = [json.dumps({"content": f"{number} " * 400}).encode() for number in range(20_000)]
        puts = [served.request("POST", f"/threads/{made[0]}/artifacts", text) for text in texts]
        rate = load(served, puts, 32, SECONDS)["per_second"]
        yield _figure("32 connections with new artifacts of 2 KB", rate, "artifacts/s")
    finally:
        kill(served)


def commits(home: Path) -> Iterator[Row]:
    """Durable commits with many in flight, beside waiting for the disk alone; by turns, so that
    both see the same.
    """
    floors, rates = [], []
    with Store.open(home) as store:
        for _ in range(ROUNDS):
            floors.append(_synced_per_second(home / "floor"))
            watch = time.perf_counter()
            waiting = [
                store.submit(StoreBatch((Append("s", "k", BODY),))) for _ in range(IN_FLIGHT)
            ]
            for number in range(COMMITS):
                waiting[number % IN_FLIGHT].result()
                waiting[number % IN_FLIGHT] = store.submit(StoreBatch((Append("s", "k", BODY),)))
            rates.append(COMMITS / (time.perf_counter() - watch))
    ratio = statistics.median(rates) / statistics.median(floors)
    yield _figure(
        f"durable commits with {IN_FLIGHT} in flight, by turns",
        ratio,
        "times those of `fdatasync` alone",
    )


def _synced_per_second(path: Path) -> float:
    with path.open("ab", buffering=0) as file:
        watch, count = time.perf_counter(), 0
        while time.perf_counter() - watch < 1:
            file.write(BODY)
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.perf_counter() - watch)


def growth(home: Path) -> Iterator[Row]:
    """A header and the end of a stream of events, in a store with one thread and in one with very
    many.

    The second of two rounds counts. Whether the system still has in memory what was written a
    minute ago is its own affair, and the first round finds it out.
    """
    with (
        Store.open(home, durable=False) as large,
        Store.open(home.with_name("small"), durable=False) as small,
    ):
        stores = {"small": (small, _filled(small, 1)), "large": (large, _filled(large, THREADS))}
        for _ in range(2):
            looks: dict[str, list[float]] = {}
            for look in range(LOOKS):
                for name, (store, made) in stores.items():
                    thread = made[look * 7919 % len(made)]
                    looks.setdefault(f"header {name}", []).append(
                        _timed(partial(threads.header, store, thread))
                    )
                    tail = partial(threads.events, store, thread, EVENTS - 9)
                    looks.setdefault(f"tail {name}", []).append(_timed(tail))
    middle = {name: statistics.median(found) for name, found in looks.items()}
    size = f"{THREADS:,} threads and {THREADS * EVENTS:,} events"
    for what, name in (("header", "a header"), ("tail", "the end of a stream")):
        ratio = middle[f"{what} large"] / middle[f"{what} small"]
        yield _figure(f"{name}, {size}", ratio, "times that of a store with one thread")


def _filled(store: Store, count: int) -> list[str]:
    made = [threads.create(store, f"thread {number}", "ann").thread_id for number in range(count)]
    body = json.dumps({"by": "ann", "text": "x" * 80}).encode()
    for thread in made:
        store.commit(StoreBatch((Append(THREAD + thread, "note", body),) * EVENTS))
    return made


def _timed(ask: Callable[[], Any]) -> float:
    watch = time.perf_counter()
    ask()
    return time.perf_counter() - watch


def large_artifact(home: Path) -> Iterator[Row]:
    """The most memory while an artifact of a gigabyte comes and goes."""
    served = up(home)
    try:
        content, copy = home.with_name("large.bin"), home.with_name("copy.bin")
        with content.open("wb") as file:
            for _ in range(LARGE_BYTES // MEGABYTE):
                file.write(os.urandom(MEGABYTE))
        with Client.local(home=home) as client:
            thread = served.ask("POST", "/threads", {"name": ""})["thread_id"]
            with content.open("rb") as file:
                client.upload(thread, file, name="large.bin")
            ref = served.ask("GET", f"/threads/{thread}/artifacts")["artifacts"][0]["ref"]
            client.download(thread, ref, copy)
        yield _figure(
            "an artifact of 1 GB in and out, the most", memory_mb(served.pid, "VmHWM"), "MB"
        )
    finally:
        kill(served)


def restart(home: Path) -> Iterator[Row]:
    """From a kill in the middle of writing to the first answer, by the command that starts it."""
    times, kept = [], []
    for _ in range(ROUNDS):
        served = up(home)
        thread = served.ask("POST", "/threads", {"name": ""})["thread_id"]
        patch = [{"op": "add", "path": "/facts/-", "value": {"key": "k"}}]
        versions = [
            served.ask("POST", f"/threads/{thread}/state/patch", patch)["version"]
            for _ in range(50)
        ]
        kill(served)
        watch = time.perf_counter()
        served = up(home)
        state = served.ask("GET", f"/threads/{thread}/state")
        times.append(time.perf_counter() - watch)
        kept.append(state["version"] == versions[-1] and len(state["facts"]) == len(versions))
        kill(served)
    unit = "s; everything acknowledged is there" if all(kept) else "s; SOMETHING IS LOST"
    yield _figure("from a kill to an answer by `tersely up`", statistics.median(times), unit)


def _figure(what: str, figure: float, unit: str) -> Row:
    return {"what": what, "figure": figure, "unit": unit}


MEASURES: dict[str, Callable[[Path], Iterable[Row]]] = {
    "reading": reading,
    "writing": writing,
    "commits": commits,
    "growth": growth,
    "large_artifact": large_artifact,
    "restart": restart,
    "waiting": waiting,
    "processes": processes,
}
OWN = {"reading": READING, "waiting": WAITING, "processes": PROCESSES}  # the others share one table

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
