"""Two figures over time, as steps: what would have been sent, and what was. Between them lies what was spared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tersely.relay.encoding import timestamp
from tersely.web.ui.markup import Child, Element, e

_HEIGHT = 260
_WIDTHS = (("wide", 1_040), ("narrow", 330))  # for screens of these kinds
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 6, 12, 30
_TICKS = 4
_MOST_POINTS = 300
_DAY_MS = 86_400_000


class Point(NamedTuple):
    """The figures at a time."""

    at_ms: int
    naive: int
    actual: int


def plot(points: Sequence[Point], description: str) -> Element:
    """The picture of at least two points in order of time, once for each kind of screen."""
    every = -(-len(points) // _MOST_POINTS)
    thinned = [*points[:-1:every], points[-1]]
    return e("div", _legend(), [_picture(thinned, width, kind, description) for kind, width in _WIDTHS])


def _picture(points: Sequence[Point], width: int, kind: str, description: str) -> Element:
    start, end = points[0].at_ms, points[-1].at_ms
    top = _nice(max(1, *(max(point.naive, point.actual) for point in points)))
    span = max(end - start, 1)

    def x(at_ms: int) -> float:
        return round(_LEFT + (at_ms - start) / span * (width - _LEFT - _RIGHT), 1)

    def y(tokens: int) -> float:
        return round(_HEIGHT - _BOTTOM - max(tokens, 0) / top * (_HEIGHT - _TOP - _BOTTOM), 1)

    naive = _steps([(x(point.at_ms), y(point.naive)) for point in points])
    actual = _steps([(x(point.at_ms), y(point.actual)) for point in points])
    back = " L".join(f"{a},{b}" for a, b in reversed(actual))
    return e(
        "svg",
        _axes(start, end, top, width, y),
        e("path", d=f"{_path(naive)} L{back} Z", class_="spared"),
        e("path", d=_path(naive), class_="line naive"),
        e("path", d=_path(actual), class_="line actual"),
        viewBox=f"0 0 {width} {_HEIGHT}",
        role="img",
        aria_label=description,
        class_=f"plot {kind}",
    )


def _legend() -> Element:
    kinds = (("naive", "if pasted"), ("actual", "sent"), ("spared", "avoided"))
    items = [e("li", e("span", class_=f"swatch {kind}", aria_hidden="true"), said) for kind, said in kinds]
    return e("ul", items, class_="legend")


def _axes(start: int, end: int, top: int, width: int, y: Callable[[int], float]) -> Child:
    lines: list[Child] = []
    for tick in range(_TICKS + 1):
        tokens = top * tick // _TICKS
        height = y(tokens)
        lines.append(e("line", x1=_LEFT, x2=width - _RIGHT, y1=height, y2=height, class_="grid"))
        lines.append(e("text", _compact(tokens), x=_LEFT - 10, y=height + 4, class_="tick end"))
    ends = ((start, _LEFT, "tick"), (end, width - _RIGHT, "tick end"))
    for at_ms, place, kind in ends:
        lines.append(e("text", _time(at_ms, end - start), x=place, y=_HEIGHT - 8, class_=kind))
    return lines


def _steps(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A figure holds until the next."""
    stepped = [places[0]]
    for place in places[1:]:
        stepped += [(place[0], stepped[-1][1]), place]
    return stepped


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{a},{b}" for a, b in places)


def _nice(most: int) -> int:
    """The round number above one that an axis ends at."""
    size: int = 10 ** (len(str(most)) - 1)
    rounded = (size * step for step in (1, 2, 4, 6, 8, 10))
    return max(_TICKS, next(one for one in rounded if one >= most))


def _compact(tokens: int) -> str:
    for size, name in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}".removesuffix(".0") + name
    return str(tokens)


def _time(at_ms: int, span_ms: int) -> str:
    text = timestamp(at_ms)
    return text[:10] if span_ms > 3 * _DAY_MS else text[5:19].replace("T", " ")
