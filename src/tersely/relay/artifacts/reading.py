"""The text of artifacts, however long they are: lines of a range, those that have some words, and
where words stand.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from tersely.foundation.text.shortening import shortened
from tersely.relay.store.store import Store

MAX_READ_LINES = 2_000  # of one question
MAX_READ_LINE_CHARACTERS = 2_000  # of one line, behind which it is cut
MAX_WORD_CHARACTERS = 200  # of a word that is found wherever it stands
BASE_LETTERS = 4_096  # that are remembered
SNIPPET_CHARACTERS = 120  # on each side of the first word that was found


class ArtifactTextLine(NamedTuple):
    """A line and its number, from 1."""

    number: int
    text: str


def lines(store: Store, digest: str) -> Iterator[ArtifactTextLine]:
    """All lines of an artifact, each cut to `MAX_READ_LINE_CHARACTERS`; no more than one piece of
    it is in memory.
    """
    number, begun = 1, ""
    for text in _texts(store, digest):
        first, *rest = text.split("\n")
        begun = shortened(begun + first, MAX_READ_LINE_CHARACTERS)
        for text in rest:
            yield ArtifactTextLine(number, begun)
            number, begun = number + 1, shortened(text, MAX_READ_LINE_CHARACTERS)
    if begun:
        yield ArtifactTextLine(number, begun)


def between(store: Store, digest: str, first: int, last: int) -> list[ArtifactTextLine]:
    """The lines from one number to another, at most `MAX_READ_LINES`."""
    return list(islice(lines(store, digest), first - 1, min(last, first - 1 + MAX_READ_LINES)))


def matching(store: Store, digest: str, words: Sequence[str]) -> list[ArtifactTextLine]:
    """The first lines that have all of some words, whatever their case; at most `MAX_READ_LINES`.

    Of a line that is longer than `MAX_READ_LINE_CHARACTERS` the pieces are lines of that number,
    cut between words.
    """
    wanted = [word.casefold() for word in words]

    def has_all(line: ArtifactTextLine) -> bool:
        text = line.text.casefold()
        return all(word in text for word in wanted)

    return list(islice(filter(has_all, _pieces(store, digest)), MAX_READ_LINES))


def first_mention(store: Store, digest: str, words: Sequence[str]) -> str:
    """The text around the first of some words in an artifact, the words between « and »; "" unless
    it has all.

    Case and accents make no difference, as in the index of words.
    """
    wanted = {word: re.compile(rf"\b{re.escape(word)}\b") for word in map(_folded, words)}
    missing = dict(wanted)
    snippet = ""
    for read in _texts(store, digest):
        text = unicodedata.normalize("NFC", read)
        folded = _folded(text)
        found = {
            word: place for word, pattern in missing.items() if (place := pattern.search(folded))
        }
        if found and not snippet:
            snippet = _around(
                text, folded, min(place.start() for place in found.values()), list(wanted)
            )
        missing = {word: pattern for word, pattern in missing.items() if word not in found}
        if not missing:
            return snippet
    return ""


def _texts(store: Store, digest: str) -> Iterator[str]:
    """The text of an artifact in parts that end between words of at most `MAX_WORD_CHARACTERS`."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun = ""
    for chunk in store.blob(digest):
        text = begun + decoder.decode(chunk)
        end = _word_end(text)
        yield text[:end]
        begun = text[end:]
    yield begun + decoder.decode(b"", final=True)


def _pieces(store: Store, digest: str) -> Iterator[ArtifactTextLine]:
    """All lines of an artifact, long ones in several pieces."""
    number, begun = 1, ""
    for text in _texts(store, digest):
        *ended, begun = (begun + text).split("\n")
        for line in ended:
            for piece in _in_pieces(line):
                yield ArtifactTextLine(number, piece)
            number += 1
        *full, begun = _in_pieces(begun)
        for piece in full:
            yield ArtifactTextLine(number, piece)
    if begun:
        yield ArtifactTextLine(number, begun)


def _in_pieces(line: str) -> list[str]:
    """A line as pieces of at most `MAX_READ_LINE_CHARACTERS`, cut between words."""
    pieces = []
    while len(line) > MAX_READ_LINE_CHARACTERS:
        end = _word_end(line[:MAX_READ_LINE_CHARACTERS])
        pieces.append(line[:end])
        line = line[end:]
    return [*pieces, line]


def _word_end(text: str) -> int:
    """The place where the last word of a text begins, so that it is not cut; the end of the text
    where that word is too long.
    """
    found = re.search(r"\w+\Z", text[-MAX_WORD_CHARACTERS:])
    length = len(found[0]) if found else 0
    return len(text) if length == MAX_WORD_CHARACTERS else len(text) - length


def _around(text: str, folded: str, start: int, words: Sequence[str]) -> str:
    """The text around a place on its line, with all words there marked."""
    begin = max(text.rfind("\n", 0, start) + 1, start - SNIPPET_CHARACTERS)
    newline = text.find("\n", start)
    end = min(len(text) if newline < 0 else newline, start + SNIPPET_CHARACTERS)
    any_word = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words))
    marked, shown = "", begin
    for found in any_word.finditer(folded, begin, end):
        marked += f"{text[shown : found.start()]}«{text[found.start() : found.end()]}»"
        shown = found.end()
    return marked + text[shown:end]


class _BaseLetters:
    """Characters by those that stand for them where neither case nor accents count, as
    `str.translate` asks for it.
    """

    def __getitem__(self, code: int) -> int:
        return _base_letter(code)


@lru_cache(BASE_LETTERS)
def _base_letter(code: int) -> int:
    base = unicodedata.normalize("NFD", chr(code))[0].lower()
    return ord(base) if len(base) == 1 else code


def _folded(text: str) -> str:
    """A text of the same length without differences of case and accents."""
    return text.lower() if text.isascii() else text.translate(_BaseLetters())
