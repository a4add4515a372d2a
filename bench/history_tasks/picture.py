"""Results as a picture: an SVG with a panel for success, one for tokens and one for seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from bench.history_tasks.figures import Figures, Interval
from bench.history_tasks.measuring import Result
from tersely.foundation.text.escape import visible_line

MAX_NAME_CHARACTERS = 28  # of an agent beside its row
_LEFT, _WIDTH, _ROW, _HEAD, _GAP = 230, 420, 34, 40, 24
_RIGHT = 110  # for figures behind a row
_COLOURS = ("#2b6cb0", "#b7791f", "#2f855a", "#9b2c2c", "#553c9a")
_GREY = "#718096"


class _Row(NamedTuple):
    """One agent in a panel: a figure with its interval, and the value of each of its runs."""

    name: str
    middle: Interval | None
    values: tuple[float, ...]
    colour: str


class _Panel(NamedTuple):
    title: str
    rows: tuple[_Row, ...]
    most: float
    written: Callable[[float], str]


def picture(figures: Sequence[Figures], results: Sequence[Result], title: str) -> str:
    """An SVG document. A line is a 95 % interval, a large dot its figure, a small dot one task."""
    panels = [_success(figures), _tokens(figures, results), _seconds(figures, results)]
    height = _HEAD + sum(_height(panel) for panel in panels)
    width = _LEFT + _WIDTH + _RIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="24" font-size="16">{escape(visible_line(title))}</text>',
    ]
    top = _HEAD
    for panel in panels:
        lines += _drawn(panel, top)
        top += _height(panel)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _success(figures: Sequence[Figures]) -> _Panel:
    rows = tuple(_Row(one.agent, one.success, (), _colour(at)) for at, one in enumerate(figures))
    return _Panel("tasks solved", rows, 1.0, lambda value: f"{100 * value:.0f} %")


def _tokens(figures: Sequence[Figures], results: Sequence[Result]) -> _Panel:
    rows = []
    for at, one in enumerate(figures):
        spent = (result.spent.tokens for result in results if result.agent == one.agent)
        rows.append(
            _Row(
                one.agent,
                one.tokens,
                tuple(tokens for tokens in spent if tokens is not None),
                _colour(at),
            )
        )
    return _Panel("tokens of a task", tuple(rows), _most(rows), lambda value: f"{value:,.0f}")


def _seconds(figures: Sequence[Figures], results: Sequence[Result]) -> _Panel:
    rows = []
    for at, one in enumerate(figures):
        values = tuple(result.seconds for result in results if result.agent == one.agent)
        rows.append(_Row(one.agent, one.seconds, values, _colour(at)))
    return _Panel("seconds of a task", tuple(rows), _most(rows), lambda value: f"{value:,.0f} s")


def _most(rows: Sequence[_Row]) -> float:
    return max((value for row in rows for value in row.values), default=0.0) or 1.0


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]


def _height(panel: _Panel) -> int:
    return _GAP + _ROW * len(panel.rows) + _GAP


def _drawn(panel: _Panel, top: int) -> Iterator[str]:
    yield f'<text x="12" y="{top + 14}" font-size="13" font-weight="bold">{panel.title}</text>'
    for at, row in enumerate(panel.rows):
        middle = top + _GAP + _ROW * at + _ROW // 2
        name = escape(visible_line(row.name)[:MAX_NAME_CHARACTERS])
        yield f'<text x="12" y="{middle + 4}" font-size="13">{name}</text>'
        yield f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{middle}" y2="{middle}" stroke="#e2e8f0"/>'
        yield from _marks(panel, row, middle)


def _marks(panel: _Panel, row: _Row, middle: int) -> Iterator[str]:
    def place(value: float) -> str:
        return f"{_LEFT + _WIDTH * value / panel.most:.1f}"

    for value in row.values:
        yield f'<circle cx="{place(value)}" cy="{middle}" r="3" fill="{row.colour}" fill-opacity="0.35"/>'
    behind = f'x="{_LEFT + _WIDTH + 12}" y="{middle + 4}" font-size="13"'
    if row.middle is None:
        yield f'<text {behind} fill="{_GREY}">not told</text>'
        return
    if row.middle.low is not None and row.middle.high is not None:
        low, high = place(row.middle.low), place(row.middle.high)
        yield f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}" stroke="{row.colour}" stroke-width="3"/>'
    yield f'<circle cx="{place(row.middle.figure)}" cy="{middle}" r="6" fill="{row.colour}"/>'
    yield f"<text {behind}>{panel.written(row.middle.figure)}</text>"
