"""What one function has and another, that resembles it, has in its place."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

MAX_COMPARED_TOKENS = 3_000  # of both functions together; longer ones are compared line by line

_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\w+|[^\w\s]")
_LINE = re.compile(r"[^\n]*\S[^\n]*")


class Difference(NamedTuple):
    """Text of the first function, and what the second has in its place; either may be empty. On one line each."""

    one: str
    other: str


def differences(one: str, other: str) -> list[Difference]:
    """What differs between two texts, in order, each replacement once however often it is made. Spaces do not count."""
    pattern = _TOKEN
    if len(_TOKEN.findall(one)) + len(_TOKEN.findall(other)) > MAX_COMPARED_TOKENS:
        pattern = _LINE
    first, second = list(pattern.finditer(one)), list(pattern.finditer(other))
    matcher = SequenceMatcher(None, [part[0].strip() for part in first], [part[0].strip() for part in second], False)
    found = {
        Difference(_text(one, first[start:end]), _text(other, second[begin:stop])): None
        for tag, start, end, begin, stop in matcher.get_opcodes()
        if tag != "equal"
    }
    return list(found)


def _text(source: str, parts: list[re.Match[str]]) -> str:
    return " ".join(source[parts[0].start() : parts[-1].end()].split()) if parts else ""
