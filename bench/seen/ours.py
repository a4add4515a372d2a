"""Agents that use Tersely in front of grep, each as the documentation of some time told them to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from bench.seen import grep
from bench.seen.reading import Reading
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import ask
from tersely.capabilities.text import PLAIN
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

ROWS = 5  # symbols of a packet whose source is read
FILES = 3  # of a packet, inside which is searched
PLAN_TOKENS = 4_000
MORE_ROWS = 6  # symbols that a search inside the files finds, whose source is read next
FALLBACK = grep.VARIANTS[2]


class Desk(NamedTuple):
    """What an agent works with."""

    reading: Reading
    task: str
    workspace: Workspace


Policy = Callable[[Desk], None]


def documented_pack(desk: Desk) -> None:
    """The packet where it speaks, a plan of 4,000 tokens, then grep."""
    packet = ask(desk.workspace, "code.packet", task=desk.task)
    desk.reading.pay(packet.text, _bodies(packet))
    _plan(desk, PLAN_TOKENS)
    grep.grep(desk.reading, desk.task, FALLBACK)


def packet_rows(desk: Desk) -> None:
    """The packet always, the source of its first symbols, then grep inside its first files, then anywhere."""
    packet = ask(desk.workspace, "code.packet", task=desk.task, min_confidence=0.0)
    desk.reading.pay(packet.text, _bodies(packet))
    rows = [one for file in packet.files for one in file.symbols][:ROWS]
    for row in rows:
        _get(desk, [row.id])
    _inside(desk, [file.path for file in packet.files][:FILES])


def plan_only(desk: Desk) -> None:
    """A plan at its default budget, then grep inside its files, then anywhere."""
    shown = _plan(desk, None)
    _inside(desk, list(shown)[:FILES])


POLICIES: Mapping[str, Policy] = {
    "packet where it speaks, plan 4,000, grep": documented_pack,
    "packet, five symbol get, grep inside its files": packet_rows,
    "plan, grep inside its files": plan_only,
}


def _inside(desk: Desk, files: list[str]) -> None:
    known = [path for path in files if path in desk.reading.texts]
    if known:
        grep.grep(desk.reading, desk.task, FALLBACK, known)
    grep.grep(desk.reading, desk.task, FALLBACK)


def _plan(desk: Desk, budget: int | None) -> Mapping[str, Iterable[int]]:
    pack = ask(desk.workspace, "code.plan", task=(desk.task,), **({"budget": budget} if budget else {}))
    places = pack_places(pack)
    desk.reading.pay(pack.text, places)
    return places


def pack_places(pack: Any) -> dict[str, list[int]]:
    """The lines of files whose code a pack shows."""
    places: dict[str, list[int]] = defaultdict(list)
    for item in getattr(pack, "items", ()):
        path = item.id.partition(":")[0]
        if item.detail in {"body", "skeleton"}:
            places[path] += range(item.line, item.end_line + 1)
    return dict(places)


def _get(desk: Desk, ids: Iterable[str]) -> None:
    """The source of symbols, as a call prints it."""
    for symbol_id in ids:
        try:
            source = ask(desk.workspace, "code.symbol.get", symbol=symbol_id)
        except TerselyError as error:
            desk.reading.pay(str(error), {})
            continue
        text = load("code.symbol.get").text(source, PLAIN)
        shown = source.content.count("\n")
        desk.reading.pay(text, {source.path: range(source.first_line, source.first_line + shown)})


def _bodies(packet: Any) -> dict[str, list[int]]:
    """The lines whose source a packet shows."""
    places: dict[str, list[int]] = defaultdict(list)
    for body in getattr(packet, "bodies", ()):
        places[body.path] += range(body.line, body.end_line + 1)
    return dict(places)
