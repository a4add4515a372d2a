"""`python -m bench.relay [--record]`: what the relay costs beside the floors below it, in one run."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import results
from bench.machine import facts
from bench.relay.served import Served, bare, kill, load, up
from tersely.client import Client
from tersely.relay import threads
from tersely.relay.store.commands import Append, Batch
from tersely.relay.store.store import Store
from tersely.relay.streams import THREAD

ROUNDS = 3
SECONDS = 2.0
IN_FLIGHT = 64
COMMITS = 4_000
BODY = b"x" * 200
THREADS, EVENTS = 10_000, 100  # of each
LOOKS = 300
LARGE_BYTES = 1_000_000_000
MEGABYTE = 1_000_000


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the relays' homes are made (default: the system's)")
    parser.add_argument("--only", choices=list(MEASURES), nargs="+", default=list(MEASURES))
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = dict(results.kept("relay"))
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="tersely-relay-", dir=options.folder) as scratch:
            record[name] = MEASURES[name](Path(scratch) / "home")
        print(json.dumps({name: record[name]}, indent=1), flush=True)
    if options.record:
        results.keep("relay", {**record, "machine": facts()})
    return 0


def http(home: Path) -> dict[str, Any]:
    """GET of a header with its token, and of the health, beside a bare server; then what writes."""
    served = up(home)
    try:
        thread = served.ask("POST", "/threads", {"name": "load"})["thread_id"]
        facts_ = [{"op": "add", "path": "/facts/-", "value": {"key": str(one), "value": "v"}} for one in range(5)]
        served.ask("POST", f"/threads/{thread}/state/patch", facts_)
        idle = served.memory_bytes("VmRSS")
        told = {"idle_bytes": idle, "reading": _reading(served, f"/threads/{thread}/state/header")}
        return {**told, "writing": _writing(served)}
    finally:
        kill(served)


def _reading(served: Served, header: str) -> list[dict[str, Any]]:
    rows = []
    with bare() as floor:
        paths = {"bare": (floor, "/"), "health": (served, "/health"), "header": (served, header)}
        for connections in (1, 32):
            measured: dict[str, list[dict[str, float]]] = {name: [] for name in paths}
            for _ in range(ROUNDS):
                for name, (server, path) in paths.items():
                    measured[name].append(load(server, [server.request("GET", path)], connections, SECONDS))
            middle = {name: {key: statistics.median(one[key] for one in found) for key in found[0]}
                      for name, found in measured.items()}  # fmt: skip
            rows += [{"connections": connections, "path": name, **middle[name],
                      "ratio": middle[name]["per_second"] / middle["bare"]["per_second"],
                      "cpu_ratio": middle["bare"]["cpu_us"] / middle[name]["cpu_us"]} for name in paths]  # fmt: skip
    return rows


def _writing(served: Served) -> dict[str, float]:
    """Patches a second, each in a thread of its connection's; texts of 2 KB stored a second, all of them new."""
    made = [served.ask("POST", "/threads", {"name": ""})["thread_id"] for _ in range(32)]
    operations = json.dumps(
        [{"op": "add", "path": "/facts/0", "value": {"key": "k"}}, {"op": "remove", "path": "/facts/0"}]
    )
    patches = [served.request("POST", f"/threads/{one}/state/patch", operations.encode()) for one in made]
    texts = [json.dumps({"content": f"{number} " * 400}).encode() for number in range(20_000)]
    puts = [served.request("POST", f"/threads/{made[0]}/artifacts", text) for text in texts]
    return {
        "patches_per_second": load(served, patches, 32, SECONDS)["per_second"],
        "artifacts_per_second": load(served, puts, 32, SECONDS)["per_second"],
    }


def commits(home: Path) -> dict[str, float]:
    """Durable commits with many in flight, beside waiting for the disk alone; by turns, so that both see the same."""
    floors, rates = [], []
    with Store.open(home) as store:
        for _ in range(ROUNDS):
            floors.append(_synced_per_second(home / "floor"))
            watch = time.perf_counter()
            waiting = [store.submit(Batch((Append("s", "k", BODY),))) for _ in range(IN_FLIGHT)]
            for number in range(COMMITS):
                waiting[number % IN_FLIGHT].result()
                waiting[number % IN_FLIGHT] = store.submit(Batch((Append("s", "k", BODY),)))
            rates.append(COMMITS / (time.perf_counter() - watch))
    floor, rate = statistics.median(floors), statistics.median(rates)
    return {"synced_per_second": floor, "commits_per_second": rate, "ratio": rate / floor}


def _synced_per_second(path: Path) -> float:
    with path.open("ab", buffering=0) as file:
        watch, count = time.perf_counter(), 0
        while time.perf_counter() - watch < 1:
            file.write(BODY)
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.perf_counter() - watch)


def growth(home: Path) -> dict[str, Any]:
    """A header and the end of a stream of events, in a store with one thread and in one with very many.

    The second of two rounds counts. Whether the system still has in memory what was written a minute ago is its own
    affair, and the first round finds it out.
    """
    with Store.open(home, durable=False) as large, Store.open(home.with_name("small"), durable=False) as small:
        stores = {"small": (small, _filled(small, 1)), "large": (large, _filled(large, THREADS))}
        for look in range(2 * LOOKS):
            if look % LOOKS == 0:
                looks: dict[str, list[float]] = {}
            for name, (store, made) in stores.items():
                thread = made[look % LOOKS * 7919 % len(made)]
                looks.setdefault(f"header {name}", []).append(_timed(lambda: threads.header(store, thread)))  # noqa: B023
                looks.setdefault(f"tail {name}", []).append(_timed(lambda: threads.events(store, thread, EVENTS - 9)))  # noqa: B023
    middle = {name: statistics.median(found) * 1e6 for name, found in looks.items()}
    ratios = {what: middle[f"{what} large"] / middle[f"{what} small"] for what in ("header", "tail")}
    return {"threads": THREADS, "events": THREADS * EVENTS, "microseconds": middle, "ratios": ratios}


def _filled(store: Store, count: int) -> list[str]:
    made = [threads.create(store, f"thread {number}", "ann").thread_id for number in range(count)]
    body = json.dumps({"by": "ann", "text": "x" * 80}).encode()
    for thread in made:
        store.commit(Batch((Append(THREAD + thread, "note", body),) * EVENTS))
    return made


def _timed(ask: Callable[[], Any]) -> float:
    watch = time.perf_counter()
    ask()
    return time.perf_counter() - watch


def large_artifact(home: Path) -> dict[str, Any]:
    """The most memory while an artifact of a gigabyte comes and goes."""
    served = up(home)
    try:
        content, copy = home.with_name("large.bin"), home.with_name("copy.bin")
        with content.open("wb") as file:
            for _ in range(LARGE_BYTES // MEGABYTE):
                file.write(os.urandom(MEGABYTE))
        before = served.memory_bytes("VmRSS")
        with Client.local(home=home) as client:
            thread = served.ask("POST", "/threads", {"name": ""})["thread_id"]
            with content.open("rb") as file:
                put = _timed(lambda: client.upload(thread, file, name="large.bin"))
            after_put = served.memory_bytes("VmHWM")
            ref = served.ask("GET", f"/threads/{thread}/artifacts")["artifacts"][0]["ref"]
            get = _timed(lambda: client.download(thread, ref, copy))
        return {
            "bytes": LARGE_BYTES, "before_bytes": before, "most_bytes_put": after_put,
            "most_bytes": served.memory_bytes("VmHWM"), "put_seconds": put, "get_seconds": get,
        }  # fmt: skip
    finally:
        kill(served)


def restart(home: Path) -> dict[str, float]:
    """From a kill in the middle of writing to the first answer, by the command that starts it."""
    times, kept = [], []
    for _ in range(ROUNDS):
        served = up(home)
        thread = served.ask("POST", "/threads", {"name": ""})["thread_id"]
        patch = [{"op": "add", "path": "/facts/-", "value": {"key": "k"}}]
        versions = [served.ask("POST", f"/threads/{thread}/state/patch", patch)["version"] for _ in range(50)]
        kill(served)
        watch = time.perf_counter()
        served = up(home)
        state = served.ask("GET", f"/threads/{thread}/state")
        times.append(time.perf_counter() - watch)
        kept.append(state["version"] == versions[-1] and len(state["facts"]) == len(versions))
        kill(served)
    return {"seconds": statistics.median(times), "kept": float(all(kept))}


MEASURES: dict[str, Callable[[Path], Any]] = {
    "http": http, "commits": commits, "growth": growth, "large_artifact": large_artifact, "restart": restart,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
