"""The limits of `budgets.toml`, and what a figure beside its limit means.

A limit is a number under a dotted name such as `walk.python`. Less is better for every figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

ROOT = Path(__file__).parents[2]
FILE = "budgets.toml"
MOST_BETTER = 0.02  # share of a limit by which a figure may lie below it
# What the whole suite does is not exact: its processes share the work as it comes, and each prepares
# for itself what tests share. Its limits leave some room.
MOST_BETTER_OF_SUITE, ROOM_OF_SUITE = 0.15, 0.05
ROOMS, WHOLE, SUITE = "nodes.rooms.", "nodes.whole", "suite."

Figures = Mapping[str, float]


class Verdict(StrEnum):
    """What a figure beside its limit means."""

    KEPT = ""
    WORSE = "over its limit"
    BETTER = "better: lower the limit"
    NEW = "without a limit"
    GONE = "not measured any more"


_UNKEPT = {Verdict.BETTER, Verdict.NEW}  # what a limit of the suite is written for


class Line(NamedTuple):
    """A figure beside its limit; None where there is no such number."""

    name: str
    figure: float | None
    limit: float | None
    verdict: Verdict


def read(text: str) -> dict[str, float]:
    """The limits of the text of a `budgets.toml`, by dotted names. Raises `ValueError` for what is no
    limit: infinity, and what is no number.
    """
    limits = dict(_flat("", tomlkit.parse(text).unwrap()))
    endless = [name for name, limit in limits.items() if not math.isfinite(limit)]
    if endless:
        raise ValueError(f"no limits: {', '.join(endless)}")
    return limits


def own(root: Path = ROOT) -> dict[str, float]:
    """The limits of this repository."""
    return read((root / FILE).read_text(encoding="utf-8"))


def judged(figures: Figures, limits: Figures, groups: Iterable[str]) -> list[Line]:
    """Each figure beside its limit, and the limits of some groups that have no figure any more."""
    wanted = {name: limit for name, limit in limits.items() if name.partition(".")[0] in groups}
    names = dict.fromkeys([*wanted, *figures])
    return [
        Line(
            name, figures.get(name), limits.get(name),
            _verdict(name, figures.get(name), limits.get(name)),
        )
        for name in names
    ]  # fmt: skip


def lowered(text: str, figures: Figures) -> str:
    """The text with every limit that is above its figure lowered to it, and limits for figures that
    have none; none is raised, and a room that is new has to be moved.
    """
    limits = read(text)
    wanted = {
        name: _limit(name, figure)
        for name, figure in figures.items()
        if (name in limits or not name.startswith(ROOMS))
        and (not name.startswith(SUITE) or _verdict(name, figure, limits.get(name)) in _UNKEPT)
    }
    return _with(text, wanted, ())


def moved(text: str, figures: Figures) -> str:
    """The text with the limits of all rooms set to their figures; `ValueError` where their sum
    would rise.
    """
    rooms = {name: figure for name, figure in figures.items() if name.startswith(ROOMS)}
    if _sum_of_rooms(rooms) > _sum_of_rooms(read(text)):
        raise ValueError("the rooms have grown together: moves alone are held to the sum")
    return _with(text, rooms, rooms)


def raised(before: Figures, after: Figures) -> list[str]:
    """The names of limits that a change raises or gives up, but for what moves between rooms."""
    is_moved = _sum_of_rooms(after) <= _sum_of_rooms(before)
    return [
        name
        for name, limit in before.items()
        if (name not in after or after[name] > limit) and not (is_moved and name.startswith(ROOMS))
    ]


def _verdict(name: str, figure: float | None, limit: float | None) -> Verdict:
    if limit is None:
        return Verdict.NEW
    if figure is None:
        return Verdict.GONE
    if figure > limit:
        return Verdict.WORSE
    most_better = MOST_BETTER_OF_SUITE if name.startswith(SUITE) else MOST_BETTER
    return Verdict.BETTER if figure < limit * (1 - most_better) else Verdict.KEPT


def _limit(name: str, figure: float) -> float:
    """The limit to be written for a figure."""
    return round(figure * (1 + ROOM_OF_SUITE)) if name.startswith(SUITE) else figure


def _sum_of_rooms(limits: Figures) -> float:
    return sum(limit for name, limit in limits.items() if name.startswith(ROOMS))


def _flat(prefix: str, table: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield prefix + key, value


def _with(text: str, figures: Figures, may_raise: Iterable[str]) -> str:
    """The text with other limits; a room that is not named yet is added, one that is gone left
    out, both only where limits may be raised.
    """
    document, known, allowed = tomlkit.parse(text), read(text), set(may_raise)
    for name, figure in figures.items():
        if name in allowed or name not in known or figure < known[name]:
            _place(document, name)[name.removeprefix(_table(name))] = _number(figure)
    for name in known:
        if allowed and name.startswith(ROOMS) and name not in figures:
            del _place(document, name)[name.removeprefix(_table(name))]
    return tomlkit.dumps(document)


def _table(name: str) -> str:
    """The name of the table of a limit, with its dot: keys of rooms have dots of their own."""
    return ROOMS if name.startswith(ROOMS) else f"{name.rpartition('.')[0]}."


def _place(document: Any, name: str) -> Any:
    for part in _table(name).rstrip(".").split("."):
        if part not in document:
            document[part] = tomlkit.table()
        document = document[part]
    return document


def _number(figure: float) -> Any:
    """An integer as it is written in limits, with marks of thousands."""
    return tomlkit.parse(f"a = {figure:_}")["a"] if isinstance(figure, int) else figure
