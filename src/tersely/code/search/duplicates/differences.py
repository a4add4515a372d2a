"""The differences between two functions that resemble each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tersely.foundation.limits import MAX_DIFFERENCE_CHARACTERS, MAX_LISTED_DIFFERENCES
from tersely.foundation.text.shortening import shortened

MAX_COMPARED_TOKENS = 3_000  # of both functions together; longer ones are compared line by line

_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\w+|[^\w\s]")
_WORD = re.compile(r"[\w\"']")
_LINE = re.compile(r"[^\n]*\S[^\n]*")


class Difference(NamedTuple):
    """Text of the first function, and what the second has in its place; either may be empty. On one
    line each.
    """

    one: str
    other: str


def differences(one: str, other: str) -> list[Difference]:
    """The differences between two texts, in order, each replacement once however often it is made.
    Spaces do not count.
    """
    pattern = _TOKEN
    if len(words_of(one)) + len(words_of(other)) > MAX_COMPARED_TOKENS:
        pattern = _LINE
    first, second = list(pattern.finditer(one)), list(pattern.finditer(other))
    matcher = SequenceMatcher(
        None, [part[0].strip() for part in first], [part[0].strip() for part in second], False
    )
    found = {
        Difference(_text(one, first[start:end]), _text(other, second[begin:stop])): None
        for tag, start, end, begin, stop in matcher.get_opcodes()
        if tag != "equal"
    }
    return list(found)


def words_of(text: str) -> list[str]:
    """The words, literals and marks of a text, in order."""
    return _TOKEN.findall(text)


def says_all(found: Sequence[Difference]) -> bool:
    """True if a line tells one text from the other: a few words, each with the word in its place,
    none cut short.
    """
    texts = [text for one in found for text in one]
    is_short = all(len(text) <= MAX_DIFFERENCE_CHARACTERS for text in texts)
    return (
        len(found) <= MAX_LISTED_DIFFERENCES
        and is_short
        and all(_WORD.search(text) for text in texts)
    )


def line_of(found: Sequence[Difference], *, more: int = 0) -> str:
    """`get → post; + retries=3; 2 more`: the first differences of many, each cut short. `more` are
    not in `found`.
    """
    shown = found[:MAX_LISTED_DIFFERENCES]
    left = len(found) - len(shown) + more
    return "; ".join([*map(_said, shown), *([f"{left} more"] if left else [])])


def _said(difference: Difference) -> str:
    one, other = (shortened(text, MAX_DIFFERENCE_CHARACTERS) for text in difference)
    if not one:
        return f"+ {other}"
    return f"{one} → {other}" if other else f"- {one}"


def _text(source: str, parts: list[re.Match[str]]) -> str:
    return " ".join(source[parts[0].start() : parts[-1].end()].split()) if parts else ""
