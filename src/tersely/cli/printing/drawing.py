"""Answers about calls, and maps, drawn: for Mermaid, for Graphviz, or as a page that a browser
shows without anything else.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import chain, pairwise
from string import Template
from typing import Any, NamedTuple

from tersely.capabilities.answers.text import clipped
from tersely.cli.options import MAX_DRAWN_NODES, DrawingForm
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonObject

MAX_LABEL_CHARACTERS = 28
BOX_PIXELS = 240  # of its width
COLUMN_PIXELS, ROW_PIXELS = 330, 40  # from the corner of one box to that of the next


class _Link(NamedTuple):
    """A line from one node to another."""

    start: str
    end: str
    is_certain: bool = True


class _Graph(NamedTuple):
    """The nodes with the columns in which they stand, and the lines between them."""

    title: str
    columns: Mapping[str, int]
    links: Sequence[_Link]


def drawn(result: Any, form: DrawingForm) -> str:
    """The answer of one of `DRAWN` in a form; its title says how much is left out."""
    graph = _of_map(result.entries) if hasattr(result, "entries") else _of_calls(result)
    patterns = tomllib.loads((files(__package__) / "drawings.toml").read_text("utf-8"))[form]
    first = min(graph.columns.values(), default=0)
    rows: Counter[int] = Counter()
    boxes: dict[str, JsonObject] = {}
    for one, column in graph.columns.items():
        label = _written(clipped(_name(one), MAX_LABEL_CHARACTERS))
        left, top = (column - first) * COLUMN_PIXELS, rows[column] * ROW_PIXELS
        place = {"left": left, "right": left + BOX_PIXELS, "top": top}
        boxes[one] = {"name": f"n{len(boxes)}", "label": label, "whole": _written(one), **place}
        rows[column] += 1
    width, height = len(rows) * COLUMN_PIXELS, max(rows.values(), default=0) * ROW_PIXELS
    page = {"title": _written(graph.title), "width": width, "height": height}
    lines = [  # behind the boxes
        Template(patterns["certain" if link.is_certain else "doubtful"]).substitute(
            {f"from_{key}": value for key, value in boxes[link.start].items()}, **boxes[link.end]
        )
        for link in graph.links
    ]
    lines += [Template(patterns["node"]).substitute(box) for box in boxes.values()]
    return Template(patterns["page"]).substitute(page, body="\n".join(lines))


def _name(place: str) -> str:
    """The name of a symbol, file or directory by itself."""
    path, _, name = place.partition(":")
    return name or path[path.rstrip("/").rfind("/") + 1 :]


def _written(text: str) -> str:
    """A text on one line as HTML, as which every form reads its labels."""
    return escape(visible_line(text)).replace("\\", "&#92;")


def _of_calls(calls: Any) -> _Graph:
    """The symbols of the calls, each in the column before those that it calls."""
    columns = {calls.symbol: 0} if calls.symbol else {}
    pages = [page for page in (calls.callers, calls.callees, calls.edges) if page is not None]
    links = []
    for call in chain.from_iterable(page.items for page in pages):
        if len(columns.keys() | {call.caller, call.callee}) <= MAX_DRAWN_NODES:
            before = columns.get(call.callee, 1) - 1
            columns.setdefault(call.callee, columns.setdefault(call.caller, before) + 1)
            links.append(_Link(call.caller, call.callee, call.grade == "exact"))
    about = f"calls of {calls.symbol}" if calls.symbol else "calls"
    return _Graph(_titled(about, len(links), sum(page.total for page in pages)), columns, links)


def _of_map(entries: Sequence[Any]) -> _Graph:
    """The heaviest parts of a map, each in the column behind that in which it lies."""
    known = {entry.id for entry in entries}
    columns: dict[str, int] = {}
    links = []
    for entry in sorted(entries, key=lambda entry: -entry.weight):
        way = [entry.id, *_around(entry.id, known)]
        if len(columns.keys() | way) <= MAX_DRAWN_NODES:
            links += [_Link(around, one) for one, around in pairwise(way) if one not in columns]
            columns |= {one: column for column, one in enumerate(reversed(way))}
    in_order = {entry.id: columns[entry.id] for entry in entries if entry.id in columns}
    return _Graph(_titled("map", len(columns), len(known)), in_order, links)


def _around(place: str, known: Collection[str]) -> Iterator[str]:
    """What a symbol, file or directory lies in, the nearest first."""
    for end in range(len(place) - 1, 0, -1):
        if place[:end] in known and (place[end - 1] == "/" or place[end] in ":."):
            yield place[:end]


def _titled(about: str, drawn_count: int, total: int) -> str:
    left_out = f", {total - drawn_count:,} left out" if total > drawn_count else ""
    return f"{about}: {drawn_count:,} of {total:,} drawn{left_out}"
