"""What a packet and a plan by themselves say of what a task changes: places that are named, tokens
that are spent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from bench.results import Table
from bench.seen.ours import Desk, pack_places
from bench.seen.reading import Reading, SeenError
from tersely.capabilities.invoke import ask
from tersely.foundation.text.tokens import count

TABLE = Table(
    "Packets and plans",
    "python -m bench.seen TASKS… --repositories DIR --record",
    "group|tasks:,|code files:,.0f|file@1:.2f|file@5:.2f|function@5:.2f|function@10:.2f|speaks:.2f|packet tokens:,.0f"
    "|plan files:.1f|in right files:.2f|plan whole:.2f|plan tokens:,.0f",
    "Which share of the changed files and definitions is among the first that a packet finds, how many packets speak; "
    "how many files a plan at its default budget shows, which share of its source lies in changed files, and in which "
    "share of tasks all changed definitions are whole in it.",
)

Figures = dict[str, float | None]
CODE_FILES = "code files"


def figures(desk: Desk) -> Figures:
    """Of one task; None where nothing can be said, such as of definitions where none is changed."""
    need = desk.reading.need
    packet = ask(desk.workspace, "code.packet", task_file=desk.task)
    plan = ask(desk.workspace, "code.plan", report=desk.task)
    files = [one.path for one in packet.files]
    symbols = [one.id for one in plan.weighed]
    wanted = {one.id for one in need.definitions}
    places = pack_places(plan, desk.reading.texts)
    return {
        CODE_FILES: packet.considered_files,
        "file@1": _found(files[:1], set(need.lines)),
        "file@5": _found(files[:5], set(need.lines)),
        "function@5": _found(symbols[:5], wanted),
        "function@10": _found(symbols[:10], wanted),
        "speaks": float(packet.speaks),
        "packet tokens": packet.used if packet.speaks else None,
        "plan files": len(places),
        "in right files": _share_of_tokens(places, set(need.lines), desk.reading),
        "plan whole": float(_is_seen(plan.text, places, desk.reading)),
        "plan tokens": plan.used,
    }


def _found(named: Sequence[str], wanted: Collection[str]) -> float | None:
    return len(set(named) & set(wanted)) / len(wanted) if wanted else None


def _share_of_tokens(
    places: Mapping[str, Sequence[int]], right: Collection[str], reading: Reading
) -> float | None:
    tokens = {
        path: count("\n".join(reading.texts[path][number - 1] for number in numbers))
        for path, numbers in places.items()
        if path in reading.texts
    }
    total = sum(tokens.values())
    return sum(found for path, found in tokens.items() if path in right) / total if total else None


def _is_seen(text: str, places: Mapping[str, Sequence[int]], reading: Reading) -> bool:
    alone = Reading(reading.need, reading.texts)
    try:
        alone.pay(text, places)
    except SeenError:
        return alone.cost is not None
    return False


def row(group: str, found: Iterable[Figures]) -> dict[str, Any]:
    """The line of a group: means over the tasks of which something can be said, the median of
    tokens.
    """
    tasks = list(found)
    line: dict[str, Any] = {"group": group, "tasks": len(tasks)}
    for name in tasks[0]:
        known = [value for one in tasks if (value := one[name]) is not None]
        middle = median if name.endswith(("tokens", CODE_FILES)) else mean
        line[name] = middle(known) if known else None
    return line
