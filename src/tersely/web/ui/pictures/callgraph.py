"""Calls around a symbol, laid out in columns: who calls it to the left, what it calls to the right.

A symbol stands in the column of its distance. Within a column, symbols are ordered by the mean place of those that
they are linked to one column nearer, which keeps crossings few (the barycenter method of Sugiyama, Tagawa and Toda,
1981, one sweep outward).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tersely.foundation.limits import MAX_COLUMN_SYMBOLS
from tersely.web.ui.markup import Element, e

_NODE_WIDTH, _NODE_HEIGHT = 220, 44
_GAP_ACROSS, _GAP_DOWN, _MARGIN = 56, 14, 12
_NAME_CHARACTERS, _PATH_CHARACTERS = 26, 29


class Edge(NamedTuple):
    """A call. `column` is that of its far end: -1 for a caller, 1 for a callee, -2 for the caller of a caller."""

    caller: str
    callee: str
    grade: str
    lines: tuple[int, ...]
    column: int


class _Place(NamedTuple):
    x: float
    y: float


def callgraph(center: str, edges: Sequence[Edge], target: Callable[[str], str]) -> tuple[Element, int]:
    """The picture, in which each symbol is a link to `target` of it; and how many symbols it leaves out."""
    columns = _columns(center, edges)
    kept = {column: members[:MAX_COLUMN_SYMBOLS] for column, members in columns.items()}
    left_out = sum(len(columns[column]) - len(members) for column, members in kept.items())
    places = _places(kept)
    rows = max(map(len, kept.values()))
    width = 2 * _MARGIN + len(kept) * (_NODE_WIDTH + _GAP_ACROSS) - _GAP_ACROSS
    height = 2 * _MARGIN + rows * (_NODE_HEIGHT + _GAP_DOWN) - _GAP_DOWN
    drawn = [edge for edge in edges if edge.caller in places and edge.callee in places and edge.caller != edge.callee]
    picture = e(
        "svg",
        e("title", f"Calls around {center}", id="graph-title"),
        [_line(places[edge.caller], places[edge.callee], edge.grade) for edge in drawn],
        [_node(symbol, place, target(symbol), symbol == center) for symbol, place in places.items()],
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_labelledby="graph-title",
        class_="callgraph",
    )
    return e("div", picture, class_="scrolls picture", tabindex=0, role="region", aria_label="Call graph"), left_out


def _columns(center: str, edges: Sequence[Edge]) -> dict[int, list[str]]:
    """The symbols of each column from left to right. A symbol on both sides stands where it is nearer."""
    column = {center: 0}
    for edge in sorted(edges, key=lambda edge: abs(edge.column)):
        column.setdefault(edge.caller if edge.column < 0 else edge.callee, edge.column)
    members: dict[int, list[str]] = {0: [center]}
    for side in (-1, 1):
        farthest = max((abs(at) for at in column.values() if at * side > 0), default=0)
        for distance in range(1, farthest + 1):
            here = [symbol for symbol, at in column.items() if at == side * distance]
            members[side * distance] = _ordered(here, members[side * (distance - 1)], edges)
    return dict(sorted(members.items()))


def _ordered(here: list[str], nearer: list[str], edges: Sequence[Edge]) -> list[str]:
    place = {symbol: number for number, symbol in enumerate(nearer)}
    links: dict[str, list[int]] = {symbol: [] for symbol in here}
    for edge in edges:
        for far, near in ((edge.caller, edge.callee), (edge.callee, edge.caller)):
            if far in links and near in place:
                links[far].append(place[near])
    return sorted(here, key=lambda symbol: (sum(links[symbol]) / max(len(links[symbol]), 1), symbol))


def _places(columns: dict[int, list[str]]) -> dict[str, _Place]:
    """Where each symbol's box begins; columns are centred."""
    rows = max(map(len, columns.values()))
    places = {}
    for number, members in enumerate(columns.values()):
        first = _MARGIN + (rows - len(members)) * (_NODE_HEIGHT + _GAP_DOWN) / 2
        for row, symbol in enumerate(members):
            x = _MARGIN + number * (_NODE_WIDTH + _GAP_ACROSS)
            places[symbol] = _Place(x, round(first + row * (_NODE_HEIGHT + _GAP_DOWN), 1))
    return places


def _node(symbol: str, place: _Place, target: str, is_center: bool) -> Element:
    path, _, name = symbol.partition(":")
    x = place.x + 12
    return e(
        "a",
        e("title", symbol),
        e("rect", x=place.x, y=place.y, width=_NODE_WIDTH, height=_NODE_HEIGHT, rx=8),
        e("text", _cut_left(name or path, _NAME_CHARACTERS), x=x, y=place.y + 19, class_="name"),
        e("text", _cut_left(path, _PATH_CHARACTERS), x=x, y=place.y + 35, class_="path"),
        href=target,
        class_="node center" if is_center else "node",
        aria_label=symbol,
    )


def _line(caller: _Place, callee: _Place, grade: str) -> Element:
    """From the side of the caller that faces the callee to the side facing it; within a column, around the right."""
    y1, y2 = caller.y + _NODE_HEIGHT / 2, callee.y + _NODE_HEIGHT / 2
    leaves_right, arrives_left = callee.x >= caller.x, callee.x > caller.x
    x1 = caller.x + (_NODE_WIDTH if leaves_right else 0)
    x2 = callee.x + (0 if arrives_left else _NODE_WIDTH)
    bend = max(abs(x2 - x1) / 2, _GAP_ACROSS / 2)
    out, back = (1 if leaves_right else -1), (-1 if arrives_left else 1)
    curve = f"M{x1},{y1} C{x1 + out * bend},{y1} {x2 + back * bend},{y2} {x2 + back * 6},{y2}"
    head = f"M{x2 + back * 7},{y2 - 4} L{x2 + back},{y2} L{x2 + back * 7},{y2 + 4}"
    return e("g", e("path", d=curve), e("path", d=head, class_="head"), class_=f"edge edge-{grade}", aria_hidden="true")


def _cut_left(text: str, most: int) -> str:
    return text if len(text) <= most else "…" + text[1 - most :]
