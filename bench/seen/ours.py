"""Agents that use Tersely in front of grep, each as the documentation of some time told them to."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bench.seen import grep
from bench.seen.reading import Reading
from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import ask
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

FILES = 3  # of a packet, inside which is searched
PLAN_TOKENS = 4_000
MORE_ROWS = 4  # symbols that a search inside the files finds, whose source is read next
FALLBACK = grep.VARIANTS[2]


class Desk(NamedTuple):
    """What an agent works with."""

    reading: Reading
    task: str
    workspace: Workspace


Policy = Callable[[Desk], None]


def documented_pack(desk: Desk) -> None:
    """The packet where it speaks, a plan of 4,000 tokens, then grep."""
    packet = ask(desk.workspace, "code.packet", task_file=desk.task)
    desk.reading.pay(packet.text, _bodies(packet))
    _plan(desk, PLAN_TOKENS)
    grep.grep(desk.reading, desk.task, FALLBACK)


def packet_next(desk: Desk) -> None:
    """The packet, what it says to ask next and the best that this finds, then grep inside its
    files, then anywhere.
    """
    packet = ask(desk.workspace, "code.packet", task_file=desk.task)
    desk.reading.pay(packet.text, _bodies(packet))
    files: list[str] = []
    for command in packet.next:
        words = shlex.split(command)
        if words[1:3] == ["symbol", "get"]:
            _get(desk, [word for word in words[3:] if word != "--code"])
        elif words[1] == "context":
            _windows(desk, [word.removeprefix("--include=") for word in words[2:]])
        else:
            at = words.index("--in")
            files = words[at + 1 :]
            _search_inside(desk, words[2:at], files)
    _inside(desk, files)


def plan_only(desk: Desk) -> None:
    """A plan at its default budget, then grep inside its files, then anywhere."""
    shown = _plan(desk, None)
    _inside(desk, list(shown)[:FILES])


POLICIES: Mapping[str, Policy] = {
    "packet where it speaks, plan 4,000, grep": documented_pack,
    "packet, what it says next, grep inside its files": packet_next,
    "plan, grep inside its files": plan_only,
}


def _inside(desk: Desk, files: list[str]) -> None:
    known = [path for path in files if path in desk.reading.texts]
    if known:
        grep.grep(desk.reading, desk.task, FALLBACK, known)
    grep.grep(desk.reading, desk.task, FALLBACK)


def _plan(desk: Desk, budget: int | None) -> Mapping[str, Iterable[int]]:
    pack = ask(
        desk.workspace, "code.plan", report=desk.task, **({"budget": budget} if budget else {})
    )
    places = pack_places(pack, desk.reading.texts)
    desk.reading.pay(pack.text, places)
    return places


def pack_places(pack: Any, texts: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """The lines of files whose code a pack shows; `texts` are their lines."""
    places: dict[str, list[int]] = defaultdict(list)
    for path in getattr(pack, "whole_files", ()):
        places[path] += range(1, len(texts[path]) + 1)
    for item in getattr(pack, "items", ()):
        path = item.id.partition(":")[0]
        if item.detail in {"body", "skeleton"}:
            places[path] += range(item.line, item.end_line + 1)
    return dict(places)


def _get(desk: Desk, names: Sequence[str]) -> None:
    """The source of symbols, as one call prints it."""
    try:
        found = ask(desk.workspace, "code.symbol.get", symbol=tuple(names), code=True)
    except TerselyError as error:
        desk.reading.pay(str(error), {})
        return
    text = load("code.symbol.get").text(found, PLAIN)
    places: dict[str, list[int]] = defaultdict(list)
    for source in getattr(found, "symbols", (found,)):
        places[source.path] += range(source.lines[0], source.lines[1] + 1)
    desk.reading.pay(text, places)


def _windows(desk: Desk, windows: Sequence[str]) -> None:
    """The lines of files, `PATH:FIRST-LAST` each, as one call prints them."""
    shown = ask(desk.workspace, "code.context", include=tuple(windows))
    places: dict[str, list[int]] = defaultdict(list)
    for path, lines in (window.rsplit(":", 1) for window in windows):
        first, last = map(int, lines.split("-"))
        places[path] += range(first, last + 1)
    desk.reading.pay(shown.text, places)


def _search_inside(desk: Desk, words: Sequence[str], files: Sequence[str]) -> None:
    """Search inside files, then read the source of the best that was not shown yet."""
    try:
        hits = ask(desk.workspace, "code.search", query=tuple(words), **{"in": tuple(files)})
    except TerselyError as error:
        desk.reading.pay(str(error), {})
        return
    places: dict[str, list[int]] = defaultdict(list)
    for hit in hits.hits:
        places[hit.path] += [quoted.line for quoted in hit.quoted]
    desk.reading.pay(load("code.search").text(hits, PLAIN), places)
    shown = desk.reading.shown
    new = [
        one
        for one in hits.hits
        if not set(range(one.line, one.end_line + 1)) & shown.get(one.path, set())
    ]
    if new:
        _get(desk, [one.id for one in new[:MORE_ROWS]])


def _bodies(packet: Any) -> dict[str, list[int]]:
    """The lines whose source a packet shows."""
    places: dict[str, list[int]] = defaultdict(list)
    for body in getattr(packet, "bodies", ()):
        places[body.path] += range(body.line, body.end_line + 1)
    return dict(places)
