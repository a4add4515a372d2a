"""Artifacts line by line, however long they are: those of a range, and those that have some words."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tersely.relay.store.store import Store

MAX_READ_LINES = 2_000  # of one question
MAX_READ_LINE_CHARACTERS = 2_000  # of one line, behind which it is cut


class Line(NamedTuple):
    """A line and its number, from 1."""

    number: int
    text: str


def lines(store: Store, digest: str) -> Iterator[Line]:
    """All lines of an artifact, each cut to `MAX_READ_LINE_CHARACTERS`; no more than one piece of it is in memory."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    number, begun = 1, ""
    for chunk in store.blob(digest):
        first, *rest = decoder.decode(chunk).split("\n")
        begun = _cut(begun + first)
        for text in rest:
            yield Line(number, begun)
            number, begun = number + 1, _cut(text)
    begun = _cut(begun + decoder.decode(b"", final=True))
    if begun:
        yield Line(number, begun)


def between(store: Store, digest: str, first: int, last: int) -> list[Line]:
    """The lines from one number to another, at most `MAX_READ_LINES`."""
    return list(islice(lines(store, digest), first - 1, min(last, first - 1 + MAX_READ_LINES)))


def matching(store: Store, digest: str, words: Sequence[str]) -> list[Line]:
    """The first lines that have all of some words, whatever their case; at most `MAX_READ_LINES`."""
    wanted = [word.casefold() for word in words]

    def has_all(line: Line) -> bool:
        text = line.text.casefold()
        return all(word in text for word in wanted)

    return list(islice(filter(has_all, lines(store, digest)), MAX_READ_LINES))


def first_mention(store: Store, digest: str, words: Sequence[str]) -> str:
    """The first line of an artifact with any of some words, which stand between « and »; "" unless it has all."""
    any_word = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    missing = {word.casefold() for word in words}
    snippet = ""
    for line in lines(store, digest):
        found = any_word.search(line.text)
        if found is None:
            continue
        snippet = snippet or any_word.sub(_marked, line.text)
        missing -= {word.casefold() for word in any_word.findall(line.text)}
        if not missing:
            return snippet
    return ""


def _marked(found: re.Match[str]) -> str:
    return f"«{found[0]}»"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_READ_LINE_CHARACTERS else text[: MAX_READ_LINE_CHARACTERS - 1] + "…"
