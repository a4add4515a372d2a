"""`python -m bench.mail [--only …] [--record]`: crashes, floods, clients that stand still, teams,
hooks of agents that work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import results
from bench.mail import crashes, floods, hooks, states, teams
from bench.mail.relays import Alone
from bench.mail.shared import Shared
from bench.results import Row, Table

LOADED = ("crashes", "floods")
HARMED = ("crashes", "teams", "states")  # while relays come to harm at random moments
WHAT = ("crashes", "floods", "stopped", "teams", "states", "hooks")
COMMAND = "python -m bench.mail --record"
LOADS = Table(
    "Messages",
    COMMAND,
    "load|of|acknowledged:,|delivered:,|delivered_again:,|a_second:,.0f|mb_at_most:.0f|lost, doubled or out of order",
)
STOPPED = Table(
    "Messages: a client that is stopped with a backlog",
    COMMAND,
    "messages of others|p50_ms:.1f|p99_ms:.1f|mb_at_most:.0f|lost, doubled or out of order",
)
TEAMS = Table(
    "Claims and the work board, while relays come to harm at random moments",
    COMMAND,
    "relays|harm|claims:,|claims_refused:,|items_added:,|items_taken:,|items_done:,|lost, doubled or held by two",
)
STATES = Table(
    "The state of a thread, while relays come to harm at random moments",
    COMMAND,
    "relays|harm|changes:,|conflicts:,|looks:,|not linearizable",
)
HOOKS = Table(
    "Messages to agents that work, until a hook between two tool calls puts them before the model",
    COMMAND,
    "agents|messages:,|tool_ms:,.0f|waited_p50_ms:,.0f|waited_p95_ms:,.0f|hook_p50_ms:.0f|hook_p95_ms:.0f|"
    "lost or seen twice",
)
RELAYS = {1: "one on SQLite", 2: "two on PostgreSQL", 3: "three on PostgreSQL"}


def main(arguments: list[str]) -> int:
    """Run, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.mail", description=__doc__)
    parser.add_argument("--only", choices=WHAT, nargs="+", default=list(WHAT))
    parser.add_argument(
        "--points", type=int, default=200, help="moments at which relays come to harm"
    )
    parser.add_argument(
        "--relays",
        type=int,
        choices=RELAYS,
        nargs="+",
        default=list(RELAYS),
        help="how many come to harm together",
    )
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--messages", type=int, default=50_000, help="of each sender of a flood")
    parser.add_argument(
        "--backlog", type=int, default=90_000, help="messages for a client that stands still"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    loads: list[Row] = []
    harmed: dict[str, list[Row]] = {"teams": [], "states": []}
    tables, complaints = [], 0
    for name in options.only:
        for count in options.relays if name in HARMED else (1,):
            figures = _measured(name, count, options)
            print(json.dumps({name: figures}, indent=1), flush=True)
            complaints += len(figures["complaints"])
            if name in LOADED:
                loads.append(row(name, count, figures))
            elif name in harmed:
                harmed[name].append(harmed_row(count, figures))
            elif name == "hooks":
                worst = figures["complaints"] or "none"
                tables.append(HOOKS.filled([{**figures, "lost or seen twice": worst}]))
            else:
                tables.append(STOPPED.filled(stopped_rows(figures)))
    kept = ((LOADS, loads), (TEAMS, harmed["teams"]), (STATES, harmed["states"]))
    for table, rows in kept:
        if rows:
            tables.append(table.filled(table.merged("mail", rows) if options.record else rows))
    results.report("mail", tables, options.record)
    return int(complaints > 0)


def row(name: str, relays: int, figures: dict[str, Any]) -> Row:
    """The row of a load."""
    if name == "crashes":
        name = f"harm at random moments, {RELAYS[relays]}"
        size = f"{_harm(figures)}; {figures['clients']} clients with {figures['streams']} streams"
    else:
        name, size = "a flood", f"{figures['senders']} senders, each message on the disk"
    return {
        "load": name,
        "of": size,
        "a_second": figures.get("per_second"),
        **_shared(figures),
        **figures,
    }


def harmed_row(relays: int, figures: dict[str, Any]) -> Row:
    """The row of agents that were at work."""
    worst = figures["complaints"] or "none"
    named = {"relays": RELAYS[relays], "harm": _harm(figures)}
    return {**named, "lost, doubled or held by two": worst, "not linearizable": worst, **figures}


def _harm(figures: dict[str, Any]) -> str:
    return ", ".join(f"{what} {count:,} times" for what, count in figures["happened"].items())


def stopped_rows(figures: dict[str, Any]) -> list[Row]:
    """The rows of the client that is stopped."""
    moments = {
        "before": "before",
        "with_backlog": f"with a backlog of {figures['backlog']:,}",
        "while_draining": "while it is taken",
    }
    rows = [{"messages of others": name, **figures[moment]} for moment, name in moments.items()]
    return [*rows[:-1], {**rows[-1], **_shared(figures)}]


def _shared(figures: dict[str, Any]) -> Row:
    return {
        "mb_at_most": figures.get("mb_at_most"),
        "lost, doubled or out of order": figures["complaints"] or "none",
    }


def _measured(name: str, relays: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tersely-mail-") as scratch:
        folder = Path(scratch) / "home"
        if name == "floods":
            return asyncio.run(floods.run(folder, options.senders, options.messages))
        if name == "hooks":
            return hooks.run(folder, agents=6, messages=200, seed=options.seed)
        if name == "stopped":
            return asyncio.run(floods.stopped(folder, options.backlog))
        made = Alone(folder) if relays == 1 else Shared(folder, relays, options.seed)
        with made as several:
            if name == "crashes":
                return asyncio.run(
                    crashes.run(several, options.points, clients=16, streams=2, seed=options.seed)
                )
            run = teams.run if name == "teams" else states.run
            return run(several, options.points, agents=6, seed=options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
