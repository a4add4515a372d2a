"""`python -m bench.mail [--only …] [--record]`: crashes, floods, and clients that stand still."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import results
from bench.machine import facts
from bench.mail import crashes, floods

WHAT = ("crashes", "floods", "stopped")


def main(arguments: list[str]) -> int:
    """Run, print, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.mail", description=__doc__)
    parser.add_argument("--only", choices=WHAT, nargs="+", default=list(WHAT))
    parser.add_argument("--points", type=int, default=200, help="moments at which the relay is killed")
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--messages", type=int, default=50_000, help="of each sender of a flood")
    parser.add_argument("--backlog", type=int, default=90_000, help="messages for a client that stands still")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = dict(results.kept("mail"))
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="tersely-mail-") as scratch:
            record[name] = asyncio.run(_measured(name, Path(scratch) / "home", options))
        print(json.dumps({name: record[name]}, indent=1), flush=True)
    if options.record:
        results.keep("mail", {**record, "machine": facts()})
    return int(any(record[name].get("complaints") for name in options.only))


async def _measured(name: str, home: Path, options: argparse.Namespace) -> dict[str, Any]:
    if name == "crashes":
        return await crashes.run(home, options.points, clients=16, streams=2, seed=options.seed)
    if name == "floods":
        return await floods.run(home, options.senders, options.messages)
    return await floods.stopped(home, options.backlog)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
