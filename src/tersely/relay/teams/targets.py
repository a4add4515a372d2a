"""The targets of claims, and whether two of them are about the same thing.

A target is a path or a glob from the root of the project (`src/**/*.py`; a directory means all
below it), a symbol (`path.py:Class.method`; a class means its members) or a free name
(`name:release`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tersely.foundation.types import Strings

MAX_TARGET_SEGMENTS = 40
MAX_COMPARED_TARGETS = 10_000  # parts of targets whose comparison is remembered
FREE = "name:"
_ANY = "**"


class ClaimTarget(NamedTuple):
    """A target, read: `segments` of its path, `symbol` in it, or a free `name`."""

    segments: Strings = ()
    symbol: Strings = ()
    name: str = ""


def read(text: str) -> ClaimTarget:
    """The target that a text means; a path stands for what is below it as well."""
    if text.startswith(FREE):
        return ClaimTarget(name=text.removeprefix(FREE))
    path, _, symbol = text.partition(":")
    segments = [segment for segment in path.split("/") if segment not in {"", "."}]
    return ClaimTarget(
        (*segments[:MAX_TARGET_SEGMENTS], _ANY), tuple(symbol.split(".")) if symbol else ()
    )


def overlap(one: str, other: str) -> bool:
    """True if something may be meant by both."""
    mine, theirs = read(one), read(other)
    if mine.name or theirs.name:
        return mine.name == theirs.name
    return _paths_overlap(mine.segments, theirs.segments) and _begins(mine.symbol, theirs.symbol)


def _begins(one: Strings, other: Strings) -> bool:
    """True if one is the other or has it in it; all of a file has everything in it."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


@lru_cache(MAX_COMPARED_TARGETS)
def _paths_overlap(one: Strings, other: Strings) -> bool:
    if not one or not other:
        return all(segment == _ANY for segment in (*one, *other))
    if one[0] == _ANY:
        return _paths_overlap(one[1:], other) or _paths_overlap(one, other[1:])
    if other[0] == _ANY:
        return _paths_overlap(one, other[1:]) or _paths_overlap(one[1:], other)
    return _names_overlap(one[0], other[0]) and _paths_overlap(one[1:], other[1:])


@lru_cache(MAX_COMPARED_TARGETS)
def _names_overlap(one: str, other: str) -> bool:
    """True if a name fits two patterns of `*`, `?` and characters; sets in brackets are taken for
    `?`.
    """
    if not one or not other:
        return all(character == "*" for character in one + other)
    if one[0] == "*":
        return _names_overlap(one[1:], other) or _names_overlap(one, other[1:])
    if other[0] == "*":
        return _names_overlap(one, other[1:]) or _names_overlap(one[1:], other)
    mine, theirs = _first(one), _first(other)
    is_same = mine.is_open or theirs.is_open or one[0] == other[0]
    return is_same and _names_overlap(one[mine.length :], other[theirs.length :])


class _First(NamedTuple):
    """The first element of a pattern: how many characters it is written with, and whether others
    fit it too.
    """

    length: int
    is_open: bool


def _first(pattern: str) -> _First:
    if pattern[0] == "[" and "]" in pattern:
        return _First(pattern.index("]") + 1, True)
    return _First(1, pattern[0] == "?")
