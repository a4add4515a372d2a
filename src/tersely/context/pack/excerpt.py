"""A symbol's text at each level of detail. Pure functions of the file's bytes; offsets out of range
give less text.

Code lines stay verbatim but for the indentation that all of them share. A documentation comment is
left out when it has its lines to itself; then those lines go, and blank lines right after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Range, Symbol

# Decorators and the like are shown with a signature up to this length; a table of test parameters
# is not.
DECORATION_CHARACTERS = 80
# A constant's "signature" is its whole definition, so it is cut; those of functions and classes
# never are.
VALUE_CHARACTERS = 120

_WITH_BODY = CALLABLE_KINDS | CLASS_KINDS
_CLOSING = b" \t)]},;"  # it closes what is around a symbol, or divides it from the next
_SEPARATORS = re.compile(r"\.|::|->|[:#\\]")
# what is written before a name, with its last separator
_OWNER = re.compile(r"(?:[\w$]+(?:\.|::|->|[:#\\]))+$")
_OPENS_BODY = re.compile(r"\s*(?:[:{]|=>?)\s*$")
_AFTER_BRACKET = re.compile(r"([(\[{<]) ")
_BEFORE_BRACKET = re.compile(r",? ([)\]}])")


class Line(NamedTuple):
    """One line of a file, numbered from 1, without its line end."""

    number: int
    text: str
    is_gap: bool = False  # a mark of ours that stands for lines that are left out
    is_whole: bool = True  # it stands in the file so, with nothing before or after it


Excerpt = list[Line]


class Signature(NamedTuple):
    """A signature on one line, as written and with the qualified name in the place of the name."""

    plain: str
    qualified: str


def signature(symbol: Symbol, source: bytes, line_comment: str = "") -> Signature:
    """The header of a definition: everything before its body, on one line."""
    if symbol.kind is Kind.MODULE:
        return Signature("", "")
    decoration, header = _halves(symbol, source)
    decoration = shortened(_one_line(decoration, line_comment), DECORATION_CHARACTERS)
    header = _OPENS_BODY.sub("", _one_line(header, line_comment))
    if symbol.kind not in _WITH_BODY:
        header = shortened(header, VALUE_CHARACTERS)
    prefix = decoration + " " if decoration else ""
    return Signature(prefix + header, prefix + _qualified(header, symbol))


def body(
    symbol: Symbol, source: bytes, docs: Iterable[Range] = (), *, with_docs: bool = False
) -> Excerpt:
    """The lines of a definition. `docs` are byte ranges of documentation within it, left out unless
    `with_docs`.
    """
    start, first = symbol.start_byte, symbol.start_line
    if with_docs:
        if symbol.doc_start_byte < symbol.doc_end_byte <= start:
            first -= source.count(b"\n", symbol.doc_start_byte, start)
            start = symbol.doc_start_byte
        return lines_of(source, start, symbol.end_byte, first)
    own = (symbol.doc_start_byte, symbol.doc_end_byte)
    left_out: set[int] = set()
    for doc in (own, *docs):
        left_out |= _lines_to_itself(source, *doc, symbol)
    lines = lines_of(source, start, symbol.end_byte, first)
    return _without(lines, left_out) if left_out else lines


def lines_of(source: bytes, start: int, end: int, first_line: int) -> Excerpt:
    """A range of bytes as lines; what stands before it on its first line is kept only if it is
    indentation, what stands behind it on its last only if it closes something.
    """
    line_start = source.rfind(b"\n", 0, start) + 1
    lead = source[line_start:start]
    if lead.isspace():
        start = line_start
    rest = _rest_of_line(source, end)
    if not rest.strip(_CLOSING):
        end, rest = end + len(rest), b""
    text = source[start:end].decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\r\n")
    if start == 0:
        text = text.removeprefix("\ufeff")
    if not text:
        return []
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), first_line)]
    if lead and not lead.isspace():
        lines[0] = lines[0]._replace(is_whole=False)
    if rest:
        lines[-1] = lines[-1]._replace(is_whole=False)
    return lines


def _rest_of_line(source: bytes, end: int) -> bytes:
    """The text behind a place on its line, without blanks at its end."""
    line_end = source.find(b"\n", max(end - 1, 0))
    return source[end : line_end if line_end >= 0 else len(source)].rstrip()


def dedented(lines: Sequence[Line]) -> str:
    """Lines without the indentation that all of them share, each ended; the first never starts with
    a blank.
    """
    if not any(line.text.strip() for line in lines):
        return ""
    kept = without_indentation(lines, shared_indentation(lines))
    kept[0] = kept[0].lstrip(" \t")
    return "\n".join(kept) + "\n"


def shared_indentation(lines: Sequence[Line]) -> str:
    """The blanks with which all lines begin that are not blank."""
    indentations = [indentation(line.text) for line in lines if line.text.strip()]
    return _common_prefix(indentations) if indentations else ""


def without_indentation(lines: Sequence[Line], shared: str) -> list[str]:
    """The texts of lines without an indentation, as far as each has it; blank lines are empty."""
    return [line.text.removeprefix(shared) if line.text.strip() else "" for line in lines]


def indentation(text: str) -> str:
    """The blanks at the start of a line."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def indentation_at(source: bytes, byte: int) -> str:
    """The blanks before a place on its line, "" where something else stands there."""
    lead = source[source.rfind(b"\n", 0, byte) + 1 : byte].decode("utf-8", "replace")
    return lead if lead.isspace() else ""


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _halves(symbol: Symbol, source: bytes) -> tuple[str, str]:
    """The lines before the one with the name, and the rest of the header."""
    start, end = symbol.start_byte, symbol.signature_end_byte
    middle = start
    for _ in range(symbol.name_line - symbol.start_line):
        middle = source.find(b"\n", middle, end) + 1 or start
    return source[start:middle].decode("utf-8", "replace"), source[middle:end].decode(
        "utf-8", "replace"
    )


def _one_line(text: str, line_comment: str) -> str:
    rows = text.splitlines()
    if line_comment and len(rows) > 1:
        # Put on one line, a comment would swallow what follows it.
        rows = [
            row.split(f" {line_comment}", 1)[0]
            for row in rows
            if not row.lstrip().startswith(line_comment)
        ]
    words = " ".join(" ".join(rows).split())
    if len(rows) > 1:
        words = _BEFORE_BRACKET.sub(r"\1", _AFTER_BRACKET.sub(r"\1", words))
    return words


def _qualified(header: str, symbol: Symbol) -> str:
    if symbol.qualname == symbol.name:
        return header
    at = _place_of(symbol.name, header)
    if at < 0:
        return f"{symbol.qualname}: {header}" if header else symbol.qualname
    before = header[:at]
    written = _written_owner(before, symbol)
    owner = symbol.qualname.removesuffix(symbol.name).rstrip(".").rpartition(".")[2]
    if not written and owner and _place_of(owner, before) >= 0:
        # a receiver, or the class that is repeated
        return header
    return (
        before[: at - written].removesuffix("self.")
        + symbol.qualname
        + header[at + len(symbol.name) :]
    )


def _written_owner(before: str, symbol: Symbol) -> int:
    """The number of characters before a name that already say what it is in: `Context::` of `int
    Context::run()`.
    """
    found = _OWNER.search(before)
    parts = _SEPARATORS.split(found[0])[:-1] if found else []
    owner = symbol.qualname.removesuffix(symbol.name).rstrip(".").split(".")
    return len(found[0]) if found and parts and parts == owner[-len(parts) :] else 0


def _place_of(name: str, header: str) -> int:
    """The place where a name first stands in a header, an identifier as a word of its own; -1 for
    nowhere.
    """
    at = header.find(name)
    if name.isidentifier():
        while at >= 0 and (
            _continues(header[at - 1 : at])
            or _continues(header[at + len(name) : at + len(name) + 1])
        ):
            at = header.find(name, at + 1)
        while at >= 0 and header.startswith(f"::{name}", at + len(name)):
            # a constructor, written outside its class
            at += len(name) + 2
    return at


def _continues(character: str) -> bool:
    """True if a character beside a word would belong to it."""
    return character.isalnum() or character == "_"


def _lines_to_itself(source: bytes, start: int, end: int, symbol: Symbol) -> set[int]:
    """The line numbers of a range within a symbol, none if it shares a line with code."""
    if not symbol.start_byte <= start < end <= symbol.end_byte:
        return set()
    end = start + len(source[start:end].rstrip(b"\r\n"))
    before = source[source.rfind(b"\n", 0, start) + 1 : start]
    line_end = source.find(b"\n", end)
    after = source[end : line_end if line_end != -1 else len(source)]
    if before.strip() or after.strip():
        return set()
    first = symbol.start_line + source.count(b"\n", symbol.start_byte, start)
    return set(range(first, first + source.count(b"\n", start, end) + 1))


def _without(lines: Excerpt, left_out: set[int]) -> Excerpt:
    kept: Excerpt = []
    gone = False  # whether the line before went
    for line in lines:
        gone = line.number in left_out or (gone and not line.text.strip())
        if not gone:
            kept.append(line)
    return kept


def _common_prefix(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)
    size = next(
        (at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b),
        min(len(low), len(high)),
    )
    return low[:size]
