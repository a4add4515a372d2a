"""Record what a daemon replies to the requests in `tests/daemon/exchanges`: `python -m tools.record_exchanges`.

The requests stay as they are and the replies are written anew, to be read before they are committed. What differs
between two recordings, or is another test's business, is written as `*`.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from tests.cli.asking import FILES
from tests.daemon.asking import Talk, serving

EXCHANGES = Path(__file__).parents[1] / "tests" / "daemon" / "exchanges"
ANYTHING = "*"
DIFFERING = frozenset(
    "revision pid uptime program project watched_directories why_unwatched processes requests cached_answers version "
    "root dirty_count score share reasons".split()
)
FLOW_COMMANDS = frozenset({"cfg", "dfg", "slice"})  # of these only the shape is recorded


def masked(value: Any, *, lists: bool) -> Any:
    """A reply without what differs, and without the elements of its lists where only the shape counts."""
    if isinstance(value, dict):
        return {key: ANYTHING if key in DIFFERING else masked(inner, lists=lists) for key, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner, lists=lists) for inner in value] if lists else ANYTHING
    return value


def record(path: Path) -> None:
    """Ask again all that one file asks."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "repository"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")
        requests = [exchange["request"] for exchange in json.loads(path.read_text("utf-8"))]
        with serving(root), Talk(root) as talk:
            replies = [masked(talk.ask(**one), lists=one["cmd"] not in FLOW_COMMANDS) for one in requests]
    exchanges = [{"request": request, "reply": reply} for request, reply in zip(requests, replies, strict=True)]
    path.write_text(json.dumps(exchanges, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Record every file, with sockets in a place of their own."""
    with tempfile.TemporaryDirectory(prefix="tersely-") as runtime:
        os.environ["XDG_RUNTIME_DIR"] = os.environ["TMPDIR"] = runtime
        for path in sorted(EXCHANGES.glob("*.json")):
            record(path)


if __name__ == "__main__":
    main()
