"""`python -m bench.speed.daemon CODE`: a warm daemon on a copy of a source tree.

Every question is asked over the socket. "first" are questions about symbols that nobody has asked
about at this revision, after as many about others; "again" are the same once more, which the daemon
remembers.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench import results
from bench.process import memory_mb
from bench.results import Row, Table
from bench.scratch import copied
from bench.speed.child import Command, median_of
from bench.speed.floors import python_start
from bench.speed.measures import MAX_SYMBOLS, sampled
from tersely.code.symbols import Symbol
from tersely.daemon import lifecycle
from tersely.daemon.place import Place

ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
IDLE_SECONDS = 3_600
REPLY_SECONDS = 900
SLOW_QUESTIONS = 20
CLIENTS = 16
FEW_CLIENTS = 12  # that are compared with one alone
CLIENT_QUESTIONS = 100
SAVES = 20
REST_SECONDS = 12  # until a daemon that nobody asks has given memory back
START_RUNS = 20
MILLISECONDS = 1000.0
TABLE = Table(
    "The daemon",
    "python -m bench.speed.daemon CODE --record",
    "what|asked:,|p50:.2f|p95:.2f|slowest:,.0f|note",
    "Times in milliseconds, from sending to reading.",
)


class Talk:
    """One connection that asks and waits."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(REPLY_SECONDS)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")

    def ask(self, request: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """Milliseconds until the reply is there, and the reply."""
        started = time.perf_counter()
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        line = self._file.readline()
        return (time.perf_counter() - started) * MILLISECONDS, json.loads(line)

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()


Question = Callable[[Symbol], dict[str, Any]]

QUESTIONS: tuple[tuple[str, Question], ...] = (
    ("symbol", lambda symbol: {"cmd": "extract", "symbol": symbol.id}),
    ("callers", lambda symbol: {"cmd": "calls", "target": symbol.id, "direction": "callers"}),
    ("callees", lambda symbol: {"cmd": "calls", "target": symbol.id, "direction": "callees"}),
    (
        "context, 2000 tokens",
        lambda symbol: {"cmd": "context", "target": symbol.id, "budget": 2_000},
    ),
    ("impact, depth 3", lambda symbol: {"cmd": "impact", "target": symbol.id}),
    ("cfg", lambda symbol: {"cmd": "cfg", "target": symbol.id}),
    ("dfg", lambda symbol: {"cmd": "dfg", "target": symbol.id}),
    ("slice", lambda symbol: {"cmd": "slice", "target": f"{symbol.path}:{symbol.end_line}"}),
    (
        "search",
        lambda symbol: {
            "cmd": "semantic",
            "query": symbol.qualname.replace(".", " ").replace("_", " "),
        },
    ),
    ("structure of a file", lambda symbol: {"cmd": "structure", "path": symbol.path}),
    ("imports", lambda symbol: {"cmd": "imports", "file": symbol.path}),
    ("importers", lambda symbol: {"cmd": "importers", "module": symbol.path}),
)

BESIDE_ALONE = frozenset({"callers", "context, 2000 tokens"})
SLOW = frozenset({"importers"})  # asked less often


def measure(tree: Path) -> Iterator[Row]:
    """All rows for a tree that may be written to."""
    symbols = sampled(tree, 400)
    first, before = symbols[:200], symbols[200:]
    root = str(tree.resolve())
    started = time.perf_counter()
    lifecycle.start(root, ANSWER_WORDS, IDLE_SECONDS)
    try:
        talk = Talk(Place.of(root).socket)
        talk.ask({"cmd": "warm", "timeout_ms": 600_000})
        yield _figure("start with an index, graph loaded", time.perf_counter() - started, "s")
        yield _figure("resident, warm", _resident(talk), "MB")
        yield from _commands(tree)
        yield from _questions(talk, first, before)
        yield _figure("resident, after all questions", _resident(talk), "MB")
        yield from _at_once(root, first)
        others = [one for one in sampled(tree, MAX_SYMBOLS) if one not in symbols]
        yield from _beside_one_alone(root, others[: len(first)])
        yield from _saves(talk, tree, first)
        yield _row("ping while all calls are asked for", _beside_a_long_question(root))
        time.sleep(REST_SECONDS)
        yield _figure("resident, at rest", _resident(talk), "MB")
        talk.close()
    finally:
        lifecycle.stop(root)


def _questions(talk: Talk, symbols: Sequence[Symbol], others: Sequence[Symbol]) -> Iterator[Row]:
    yield _row("ping", [talk.ask({"cmd": "ping"})[0] for _ in symbols])
    for name, question in QUESTIONS:
        number = SLOW_QUESTIONS if name in SLOW else len(symbols)
        for symbol in others[:number]:
            talk.ask({**question(symbol), "timeout_ms": 600_000})
        for turn in ("first", "again"):
            asked = [
                talk.ask({**question(symbol), "timeout_ms": 600_000}) for symbol in symbols[:number]
            ]
            refused = sum(not reply["success"] for _, reply in asked)
            yield _row(
                f"{name}, {turn}",
                [took for took, _ in asked],
                f"{refused} refused" if refused else "",
            )


def _at_once(root: str, symbols: Sequence[Symbol]) -> Iterator[Row]:
    """Sixteen clients, each with questions of all kinds in an order of its own."""

    def client(number: int) -> list[float]:
        choice = random.Random(number)
        talk = Talk(Place.of(root).socket)
        try:
            asked = [
                (choice.choice(QUESTIONS)[1], choice.choice(symbols))
                for _ in range(CLIENT_QUESTIONS)
            ]
            return [talk.ask(question(symbol))[0] for question, symbol in asked]
        finally:
            talk.close()

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as threads:
        times = [
            took for client_times in threads.map(client, range(CLIENTS)) for took in client_times
        ]
    rate = len(times) / (time.perf_counter() - started)
    yield _row(f"{CLIENTS} clients at once, all kinds", times, f"{rate:,.0f} answers a second")


def _beside_one_alone(root: str, symbols: Sequence[Symbol]) -> Iterator[Row]:
    """Callers and packs of symbols that nobody has asked about: one client, then as many questions
    each by several at once.
    """
    questions = [question for name, question in QUESTIONS if name in BESIDE_ALONE]

    def client(asked: Sequence[Symbol]) -> list[float]:
        talk = Talk(Place.of(root).socket)
        try:
            return [talk.ask(question(symbol))[0] for symbol in asked for question in questions]
        finally:
            talk.close()

    alone, *others = (symbols[start :: FEW_CLIENTS + 1] for start in range(FEW_CLIENTS + 1))
    by_one = _row("one client, callers and context, first", client(alone))
    with ThreadPoolExecutor(FEW_CLIENTS) as threads:
        times = [took for each in threads.map(client, others) for took in each]
    by_many = _row(f"{FEW_CLIENTS} clients at once, likewise", times)
    median, p95 = (by_many[name] / by_one[name] for name in ("p50", "p95"))
    yield by_one
    yield {**by_many, "note": f"{median:.1f} times one alone at the median, {p95:.1f} at p95"}


def _saves(talk: Talk, tree: Path, symbols: Sequence[Symbol]) -> Iterator[Row]:
    """From a save to the answer that knows of it."""
    times = []
    for number, path in enumerate(dict.fromkeys(symbol.path for symbol in symbols)):
        if number == SAVES:
            break
        name = f"bench_saved_{number}"
        started = time.perf_counter()
        with (tree / path).open("a", encoding="utf-8") as file:
            file.write(f"\n\ndef {name}():\n    pass\n")
        _, reply = talk.ask({"cmd": "extract", "symbol": name})
        times.append((time.perf_counter() - started) * MILLISECONDS)
        assert reply["success"], reply
    yield _row("symbol right after its file was saved", times)


def _beside_a_long_question(root: str) -> list[float]:
    talk, long = Talk(Place.of(root).socket), Talk(Place.of(root).socket)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(long.ask, {"cmd": "calls", "timeout_ms": 600_000})
        times: list[float] = []
        while not running.done() or not times:
            times.append(talk.ask({"cmd": "ping"})[0])
            time.sleep(0.01)
    talk.close()
    long.close()
    return times


def _commands(tree: Path) -> Iterator[Row]:
    """The command line asking the daemon, in processor time beside Python's own start."""
    floor = median_of(START_RUNS, python_start(tree))
    asked = sampled(tree, 1)[0]
    command = Command([sys.executable, "-m", "tersely", "symbol", "get", asked.id], tree)
    taken = median_of(START_RUNS, command)
    alone = median_of(START_RUNS, Command(command.words, tree, {"TERSELY_DAEMON": "off"}))
    for name, one in (
        ("tersely symbol get, answered by the daemon", taken),
        ("the same without it", alone),
    ):
        ratio = one.cpu_seconds / floor.cpu_seconds
        yield _figure(name, one.cpu_seconds * MILLISECONDS, f"CPU ms, {ratio:.1f} x python -c pass")


def _resident(talk: Talk) -> float:
    """Megabytes of all processes together, what they share counted in each."""
    status = talk.ask({"cmd": "status"})[1]
    pids = [status["pid"], *(process["pid"] for process in status["processes"])]
    return sum(map(memory_mb, pids))


def _row(what: str, times: Sequence[float], note: str = "") -> Row:
    ordered = sorted(times)
    p95 = ordered[-1 - len(ordered) // 20]
    return {
        "what": what,
        "asked": len(ordered),
        "p50": statistics.median(ordered),
        "p95": p95,
        "slowest": ordered[-1],
        "note": note,
    }


def _figure(what: str, figure: float, unit: str) -> Row:
    return {"what": what, "note": f"{figure:,.1f} {unit}"}


def main(arguments: list[str]) -> int:
    """Measure and print; `--record` keeps the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.daemon", description=__doc__)
    parser.add_argument("code", type=Path, help="source tree, copied")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    with copied(options.code) as tree:
        rows = list(measure(tree))
    results.report("daemon", [TABLE.filled(rows, f"`{options.code.name}`.")], options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
