"""`python -m bench.services REPOSITORY [--record]`: what a question to the code service takes
through the relay.

A copy of the repository is indexed, its daemon is warm, the relay is a process of its own.
Questions are put by turns through the relay's socket and to the daemon directly: new ones, of which
each side has every second, and then those of the relay's side again, to both. Each question about a
symbol is about another one.

Then twelve agents, each with a connection of its own, put a question at the same moment, and again
when all have their answers: each of another kind and about another symbol, or all the same one.
Beside it one agent that asks alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from bench import results
from bench.results import Row, Table
from bench.scratch import copied
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.client import relay_process
from tersely.client.peer import Peer
from tersely.daemon.place import Place
from tersely.doors.socket.bridge.link import BridgeLink
from tersely.foundation.clock import elapsed_seconds
from tersely.relay.wire.home import NO_PORT

CONNECTS = 200
QUESTIONS = 200  # of each kind
IN_FLIGHT = 8
MILLISECONDS = 1000
COMMAND = "python -m bench.services REPOSITORY --record"
NEW = Table(
    "Questions to the code service",
    COMMAND,
    "question|relay_p50:.2f|relay_p95:.2f|daemon_p50:.2f|daemon_p95:.2f|ratio:.2f",
    "Indexed, its daemon warm; ms, one question at a time, through the relay and to the daemon directly. *again*: the "
    "same question at the same revision, which the daemon remembers.",
)
OTHERS = Table(
    "Questions to the code service: connections, and many at a time",
    COMMAND,
    "what|p50:.2f|p95:.2f",
    "In ms. Aimed at, a tenth of what the design of the bridge asks for, as medians: connect 1, semantic 10, "
    "context 5; 95 % of round trips 15.",
)
AGENTS = 12
ROUNDS = 40  # of questions put at the same moment
AT_ONCE = Table(
    "Questions to the code service: twelve agents at once",
    COMMAND,
    "question|alone_p50:.2f|alone_p95:.2f|twelve_p50:.2f|twelve_p95:.2f|ratio:.2f",
    "In ms, through the relay, new questions. *all*: every agent asks something else, kinds by turns; the rows above "
    "are its parts. *the same*: all ask one question. The ratio is that of the medians; aimed at are 3 for *all*, and "
    "150 ms for 95 % of the questions of one alone.",
)
_WORD = re.compile(r"[A-Z]?[a-z]{2,}")

Question = tuple[str, dict[str, Any]]


def main(arguments: list[str]) -> int:
    """Measure, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.services", description=__doc__)
    parser.add_argument("repository", type=Path, help="a source tree, copied")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    parser.add_argument("--agents", action="store_true", help="only the table of twelve agents")
    options = parser.parse_args(arguments)
    with copied(options.repository) as root:
        os.environ["XDG_RUNTIME_DIR"] = os.environ["TMPDIR"] = os.environ["HOME"] = str(root.parent)
        os.environ.pop("XDG_CONFIG_HOME", None)
        home = root.parent / "home"
        subprocess.run(
            [sys.executable, "-m", "tersely", "warm", "--root", str(root)],
            check=True,
            capture_output=True,
        )
        try:
            relay_process.start(home, NO_PORT, str(root), ANSWER_WORDS)
            rows, others = ([], []) if options.agents else asyncio.run(_measured(root, home))
            at_once = asyncio.run(_at_once(root, home))
        finally:
            relay_process.stop(home)
            subprocess.run(
                [sys.executable, "-m", "tersely", "daemon", "stop", "--root", str(root)],
                check=False,
            )
    name = f"{options.repository.name}."
    tables = [] if options.agents else [NEW.filled(rows, name), OTHERS.filled(others)]
    tables.append(AT_ONCE.filled(at_once, name))
    results.report("services", tables, options.record)
    return 0


async def _measured(root: Path, home: Path) -> tuple[list[Row], list[Row]]:
    socket = Place.of(str(root)).socket
    link = await BridgeLink.open(socket)
    async with await Peer.connect("bench", home=home) as peer:

        async def relayed(question: Question) -> None:
            await peer.ask("tldr", question[0], {**question[1], "root": str(root)})

        async def direct(question: Question) -> None:
            reply = await link.ask({"cmd": question[0], **question[1]})
            assert reply.is_success, reply

        kinds = await _questions(link)
        await relayed(kinds["semantic"].pop())
        rows: list[Row] = []
        for kind, asked in kinds.items():
            rows += await _rows(kind, asked, relayed, direct)
        # a small repository has fewer
        turns = zip(*(asked[:QUESTIONS] for asked in kinds.values()), strict=False)
        mixed = [question for turn in turns for question in turn]
        at_once = await _timed(mixed, relayed, IN_FLIGHT)
        connects = [await _connect(socket) for _ in range(CONNECTS)]
        joins = [await _join(home, number) for number in range(CONNECTS)]
    link.close()
    return rows, [
        {"what": "connected to the daemon", **_percentiles(connects)},
        {"what": "connected to the relay, let in", **_percentiles(joins)},
        {"what": f"{IN_FLIGHT} known questions at a time", **_percentiles(at_once)},
    ]


async def _at_once(root: Path, home: Path) -> list[Row]:
    """What agents wait that ask at the same moment, beside one that asks alone."""
    link = await BridgeLink.open(Place.of(str(root)).socket)
    kinds = await _questions(link, 1)
    link.close()
    async with AsyncExitStack() as stack:
        peers = [
            await stack.enter_async_context(await Peer.connect(f"agent{number}", home=home))
            for number in range(AGENTS)
        ]
        turns = zip(*kinds.values(), strict=False)
        mixed = iter(
            [(kind, question) for turn in turns for kind, question in zip(kinds, turn, strict=True)]
        )

        async def ask(peer: Peer, question: Question) -> float:
            began = elapsed_seconds()
            await peer.ask("tldr", question[0], {**question[1], "root": str(root)})
            return (elapsed_seconds() - began) * MILLISECONDS

        async def put(number: int) -> tuple[list[str], list[float]]:
            """The kinds of so many questions, put at once, and how long each took."""
            asked = list(islice(mixed, number))
            tasks = [ask(peer, question) for peer, (_, question) in zip(peers, asked, strict=False)]
            return [kind for kind, _ in asked], await asyncio.gather(*tasks)

        alone: dict[str, list[float]] = {kind: [] for kind in (*kinds, "all", "the same")}
        twelve: dict[str, list[float]] = {kind: [] for kind in alone}
        for _ in range(ROUNDS):  # by turns, so that both meet the same machine
            for taken, number in ((twelve, AGENTS), *[(alone, 1)] * len(kinds)):
                for kind, milliseconds in zip(*await put(number), strict=True):
                    taken[kind].append(milliseconds)
                    taken["all"].append(milliseconds)
            _, question = next(mixed)
            twelve["the same"] += await asyncio.gather(*(ask(peer, question) for peer in peers))
        alone["the same"] = alone["all"]
    return [_alone_and_at_once(kind, alone[kind], twelve[kind]) for kind in alone]


def _alone_and_at_once(kind: str, alone: Sequence[float], twelve: Sequence[float]) -> Row:
    one, many = _percentiles(alone), _percentiles(twelve)
    return {
        "question": kind,
        **{f"alone_{name}": value for name, value in one.items()},
        **{f"twelve_{name}": value for name, value in many.items()},
        "ratio": many["p50"] / one["p50"],
    }


async def _questions(link: BridgeLink, offset: int = 0) -> dict[str, list[Question]]:
    """Questions of each kind, about as many symbols, two for every one that is put to each side.

    Another offset gives other symbols, where the repository has more than are asked about.
    """
    reply = await link.ask({"cmd": "structure", "limit": 5_000, "timeout_ms": 60_000})
    symbols = json.loads(reply.raw)["result"]["entries"]["items"]
    found = [one for one in symbols if one["kind"] in {"function", "method", "class"}]
    step = max(1, len(found) // (2 * QUESTIONS + 1))
    chosen = found[offset % step :: step][: 2 * QUESTIONS + 1]
    words = [
        " ".join(word.lower() for word in _WORD.findall(one["name"])) or one["name"]
        for one in chosen
    ]
    return {
        "semantic": [("semantic", {"query": text, "limit": 10}) for text in words],
        "context": [("context", {"target": one["id"], "depth": 2}) for one in chosen],
        "calls": [("calls", {"target": one["id"], "direction": "callers"}) for one in chosen],
        "extract": [("extract", {"symbol": one["id"]}) for one in chosen],
    }


async def _rows(
    kind: str,
    asked: Sequence[Question],
    relayed: Callable[[Question], Awaitable[None]],
    direct: Callable[[Question], Awaitable[None]],
) -> list[Row]:
    """New questions by turns, then the relay's again to both."""
    through, straight, again, straight_again = [], [], [], []
    mine, theirs = asked[: 2 * QUESTIONS : 2], asked[1 : 2 * QUESTIONS : 2]
    for one, other in zip(mine, theirs, strict=False):
        through += await _timed([one], relayed)
        straight += await _timed([other], direct)
    for one in mine:
        again += await _timed([one], relayed)
        straight_again += await _timed([one], direct)
    return [_compared(kind, through, straight), _compared(f"{kind}, again", again, straight_again)]


def _compared(kind: str, through: Sequence[float], straight: Sequence[float]) -> Row:
    relay, daemon = _percentiles(through), _percentiles(straight)
    return {
        "question": kind,
        **{f"relay_{name}": value for name, value in relay.items()},
        **{f"daemon_{name}": value for name, value in daemon.items()},
        "ratio": relay["p50"] / daemon["p50"],
    }


async def _timed(
    questions: Sequence[Question], ask: Callable[[Question], Awaitable[None]], in_flight: int = 1
) -> list[float]:
    """The milliseconds of each, so many at a time."""
    taken: list[float] = []
    waiting = iter(questions)

    async def worker() -> None:
        for question in waiting:
            began = elapsed_seconds()
            await ask(question)
            taken.append((elapsed_seconds() - began) * MILLISECONDS)

    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return taken


async def _connect(socket: str) -> float:
    began = elapsed_seconds()
    link = await BridgeLink.open(socket)
    taken = elapsed_seconds() - began
    link.close()
    await asyncio.sleep(0)
    return taken * MILLISECONDS


async def _join(home: Path, number: int) -> float:
    began = elapsed_seconds()
    peer = await Peer.connect(f"joining{number}", home=home)
    taken = elapsed_seconds() - began
    await peer.close()
    return taken * MILLISECONDS


def _percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {"p50": ordered[len(ordered) // 2], "p95": ordered[int(len(ordered) * 0.95)]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
