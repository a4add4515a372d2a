"""The text of a function as a set of shingles: overlapping runs of normalised tokens, each as a
32-bit hash.

Comments and documentation are left out. Names of variables, literals of text and numbers each count
as one and the same token, names that are called, members, types and constants as themselves: who
copies a function renames its variables, but what it does is what it calls. A set rather than a bag,
so a long table does not drown the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from tersely.code.languages.registry import line_comment_of
from tersely.code.search.storage.collection import ranges
from tersely.code.symbols import CALLABLE_KINDS, Kind, Symbol
from tersely.foundation.arrays import Array, Ints, NDArray, np

SHINGLE_TOKENS = 4

# Words that give code its structure in some language. Where such a word is a name, it is one that
# is not renamed.
_STRUCTURE = frozenset(
    "if else elif elsif unless for foreach while until do loop break continue return yield await async try "
    "catch except rescue finally ensure raise throw throws with using switch case match when default in is as "
    "and or not new delete del class def fn func fun function lambda let var val const static import from pass "
    "end begin then null nil none true false self this super assert defer go select guard where typeof "
    "instanceof None True False".split()
)
_NOTHING, _VARIABLE, _NUMBER, _TEXT = 0, 1, 2, 3
_FIRST_FREE = 4
_MIXERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F], dtype=np.uint32)
assert len(_MIXERS) == SHINGLE_TOKENS

Hashes = NDArray[np.uint32]


class Sets(NamedTuple):
    """Sets of hashes, one after the other: those of set `i` are `hashes[starts[i]:starts[i + 1]]`,
    ascending.
    """

    hashes: Hashes
    starts: Ints

    def of(self, index: int) -> Hashes:
        """One of the sets."""
        return self.hashes[self.starts[index] : self.starts[index + 1]]


class _Tokens(dict[bytes, int]):
    """The normalised token of each text of one language, as a number; found out when a text is
    first met.
    """

    def __init__(self, line_comment: str) -> None:
        super().__init__()
        self.cut = _pattern(line_comment).findall
        self._comments = (line_comment.encode(), b"/*")

    def __missing__(self, text: bytes) -> int:
        number = self[text] = _normalised(text, self._comments)
        return number


class Reader:
    """Cuts functions into tokens. One for all files of a pass: texts that come again are looked up."""

    def __init__(self) -> None:
        self._by_language: dict[str, _Tokens] = {}

    def read(self, language: str, source: bytes, functions: Sequence[Symbol]) -> list[Hashes]:
        """The normalised tokens of functions of one file."""
        tokens = self._by_language.get(language)
        if tokens is None:
            tokens = self._by_language[language] = _Tokens(line_comment_of(language))
        number = tokens.__getitem__
        found = []
        for symbol in functions:
            texts = tokens.cut(code_of(symbol, source))
            numbers = np.fromiter(map(number, texts), np.uint32, len(texts))
            numbers = numbers[numbers != _NOTHING]
            own = np.flatnonzero(numbers == number(symbol.name.encode() + b"("))[:1]
            numbers[own] = _VARIABLE  # where the function says its own name
            found.append(numbers)
        return found


def functions_of(symbols: Sequence[Symbol]) -> list[tuple[int, Symbol]]:
    """The functions of a file that are compared, with their positions: all that have a name and a
    body.
    """
    return [
        (position, symbol)
        for position, symbol in enumerate(symbols)
        if symbol.kind in CALLABLE_KINDS
        and symbol.kind is not Kind.LAMBDA
        and symbol.signature_end_byte < symbol.end_byte
    ]


def shingle_sets(tokens: Sequence[Hashes]) -> Sets:
    """The set of shingles of each sequence of tokens. One shorter than a shingle has a single,
    shorter one.
    """
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    padded = np.maximum(lengths, SHINGLE_TOKENS)
    starts = np.concatenate(([0], np.cumsum(padded)))
    laid_out = np.zeros(int(starts[-1]) + SHINGLE_TOKENS, np.uint32)
    if tokens:
        laid_out[ranges(starts[:-1], lengths)] = np.concatenate(tokens)
    mixed = np.zeros(int(starts[-1]), np.uint32)
    for index, mixer in enumerate(_MIXERS):
        mixed = (mixed ^ laid_out[index : index + len(mixed)]) * mixer
        mixed ^= mixed >> np.uint32(15)
    counts = padded - SHINGLE_TOKENS + 1
    owners = np.repeat(np.arange(len(tokens)), counts)
    return _unique(owners, mixed[ranges(starts[:-1], counts)], len(tokens))


def _unique(owners: Ints, hashes: Hashes, number: int) -> Sets:
    keys = distinct((owners.astype(np.uint64) << np.uint64(32)) | hashes)
    kept = (keys >> np.uint64(32)).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(np.bincount(kept, minlength=number))))
    return Sets((keys & np.uint64(0xFFFFFFFF)).astype(np.uint32), starts)


def distinct(keys: Array) -> Array:
    """Each key once, ascending: `np.unique` of many integers takes twenty times as long."""
    ordered = np.sort(keys)
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def _pattern(line_comment: str) -> re.Pattern[bytes]:
    """A pattern for the tokens of a language, comments among them; the most frequent first."""
    return re.compile(
        rb"""
        \.?[A-Za-z_\x80-\xff][\w\x80-\xff]*\(? | [0-9][\w.]*
        | \"\"\".*?\"\"\" | \'\'\'.*?\'\'\'
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*`
        | %b[^\n]* | /\*.*?\*/
        | [-=+*/<>!&|^%%~?@\#$]+
        """
        % re.escape(line_comment.encode()),
        re.VERBOSE | re.DOTALL,
    )


def code_of(symbol: Symbol, source: bytes) -> bytes:
    """The text of a function without its documentation."""
    if symbol.start_byte < symbol.doc_start_byte < symbol.end_byte:
        return (
            source[symbol.start_byte : symbol.doc_start_byte]
            + source[symbol.doc_end_byte : symbol.end_byte]
        )
    return source[symbol.start_byte : symbol.end_byte]


def _normalised(token: bytes, comments: tuple[bytes, ...]) -> int:
    text = token.decode("utf-8", "replace")
    first = text[0]
    if first.isdigit():
        return _NUMBER
    if first in "\"'`":
        return _TEXT
    if token.startswith(comments):
        return _NOTHING
    if (
        (first.isalpha() or first == "_")
        and text not in _STRUCTURE
        and text[-1] != "("
        and not first.isupper()
    ):
        return _VARIABLE
    return max(crc32(token), _FIRST_FREE)
