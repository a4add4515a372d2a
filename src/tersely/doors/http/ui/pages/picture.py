"""The picture of who talks to whom: names on a circle, and a curve for each direction, the wider
the more was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from math import cos, log2, pi, sin
from typing import NamedTuple

MAX_DRAWN_NAMES = 12  # those that say and hear most
_LABEL_CHARACTERS = 11
_WIDTH, _HEIGHT, _RADIUS = 360, 270, 92  # in units of the picture, in which its text is 12 high
_LABEL_GAP, _LABEL_DROP = 13, 4
_MOST_LINE_WIDTH = 6.0
# how far a curve leaves the straight line, as a share of its length: both directions are seen
_BEND = 0.18


class Talk(NamedTuple):
    """The number of messages that went one way."""

    sender: str
    recipient: str
    messages: int


class DrawnName(NamedTuple):
    """A name in its place."""

    x: int
    y: int
    text_x: int
    text_y: int
    anchor: str
    label: str
    is_here: bool


class DrawnTalk(NamedTuple):
    """One direction."""

    path: str
    width: float


class Picture(NamedTuple):
    """A drawing of who talks to whom; `left` is the number of names that it leaves out."""

    names: list[str]
    nodes: list[DrawnName]
    lines: list[DrawnTalk]
    left: int
    width: int = _WIDTH
    height: int = _HEIGHT


class _Point(NamedTuple):
    x: float
    y: float


def picture(talk: Iterable[Talk], connected: Collection[str]) -> Picture:
    """The picture of what was said; the same for the same, so that it does not jump about while one
    looks.
    """
    talk = [one for one in talk if one.sender != one.recipient]
    weights: Counter[str] = Counter()
    for one in talk:
        weights[one.sender] += one.messages
        weights[one.recipient] += one.messages
    ranked = sorted(weights, key=lambda name: (-weights[name], name))
    names = sorted(ranked[:MAX_DRAWN_NAMES])
    places = {name: _place(number, len(names)) for number, name in enumerate(names)}
    drawn = [one for one in talk if one.sender in places and one.recipient in places]
    lines = [
        DrawnTalk(_curve(places[one.sender], places[one.recipient]), _line_width(one.messages))
        for one in drawn
    ]
    nodes = [_node(name, places[name], name in connected) for name in names]
    return Picture(names, nodes, lines, len(ranked) - len(names))


def _place(number: int, count: int) -> _Point:
    angle = 2 * pi * (number + 0.5) / count - pi / 2
    return _Point(_WIDTH / 2 + _RADIUS * cos(angle), _HEIGHT / 2 + _RADIUS * sin(angle))


def _node(name: str, place: _Point, is_here: bool) -> DrawnName:
    is_right = place.x >= _WIDTH / 2
    text_x = place.x + (_LABEL_GAP if is_right else -_LABEL_GAP)
    label = name if len(name) <= _LABEL_CHARACTERS else name[: _LABEL_CHARACTERS - 1] + "…"
    anchor = "start" if is_right else "end"
    return DrawnName(
        round(place.x),
        round(place.y),
        round(text_x),
        round(place.y) + _LABEL_DROP,
        anchor,
        label,
        is_here,
    )


def _curve(start: _Point, end: _Point) -> str:
    """From one to the other, bent to the right of its way."""
    dx, dy = end.x - start.x, end.y - start.y
    over = _Point((start.x + end.x) / 2 - dy * _BEND, (start.y + end.y) / 2 + dx * _BEND)
    return f"M{start.x:.0f} {start.y:.0f}Q{over.x:.0f} {over.y:.0f} {end.x:.0f} {end.y:.0f}"


def _line_width(count: int) -> float:
    return min(_MOST_LINE_WIDTH, round(1 + log2(count), 1))
