"""`python -m bench.mail [--only …] [--record]`: crashes, floods, clients that stand still, teams."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import results
from bench.mail import crashes, floods, teams
from bench.results import Row, Table

LOADED = ("crashes", "floods")
WHAT = (*LOADED, "stopped", "teams")
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
    "Claims and the work board, while the relay is killed at random moments",
    COMMAND,
    "kills|agents:,|claims:,|claims_refused:,|items_added:,|items_taken:,|items_done:,|lost, doubled or held by two",
)


def main(arguments: list[str]) -> int:
    """Run, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.mail", description=__doc__)
    parser.add_argument("--only", choices=WHAT, nargs="+", default=list(WHAT))
    parser.add_argument(
        "--points", type=int, default=200, help="moments at which the relay is killed"
    )
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--messages", type=int, default=50_000, help="of each sender of a flood")
    parser.add_argument(
        "--backlog", type=int, default=90_000, help="messages for a client that stands still"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    found: dict[str, dict[str, Any]] = {}
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="tersely-mail-") as scratch:
            found[name] = asyncio.run(_measured(name, Path(scratch) / "home", options))
        print(json.dumps({name: found[name]}, indent=1), flush=True)
    loads = [row(name, figures) for name, figures in found.items() if name in LOADED]
    tables = (
        [LOADS.filled(LOADS.merged("mail", loads) if options.record else loads)] if loads else []
    )
    if "stopped" in found:
        tables.append(STOPPED.filled(stopped_rows(found["stopped"])))
    if "teams" in found:
        told = found["teams"]
        worst = told["complaints"] or "none"
        tables.append(
            TEAMS.filled(
                [{"kills": f"{told['points']:,}", "lost, doubled or held by two": worst, **told}]
            )
        )
    results.report("mail", tables, options.record)
    return int(any(figures["complaints"] for figures in found.values()))


def row(name: str, figures: dict[str, Any]) -> Row:
    """The row of a load."""
    if name == "crashes":
        name = "kills at random moments"
        size = f"{figures['points']} kills, {figures['clients']} clients with {figures['streams']} streams"
    else:
        name, size = "a flood", f"{figures['senders']} senders, each message on the disk"
    return {
        "load": name,
        "of": size,
        "a_second": figures.get("per_second"),
        **_shared(figures),
        **figures,
    }


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


async def _measured(name: str, home: Path, options: argparse.Namespace) -> dict[str, Any]:
    if name == "crashes":
        return await crashes.run(home, options.points, clients=16, streams=2, seed=options.seed)
    if name == "teams":
        return await asyncio.to_thread(teams.run, home, options.points, agents=6, seed=options.seed)
    if name == "floods":
        return await floods.run(home, options.senders, options.messages)
    return await floods.stopped(home, options.backlog)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
