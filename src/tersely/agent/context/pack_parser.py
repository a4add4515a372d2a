"""Takes a pack apart, as `context.render.lines` writes it, so that what the prompt already has is
not sent again.

What the prompt has is read from its text. So nothing has to be remembered, and what has left it
with old turns, was rewound, or stayed in another fork does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tersely.agent.tools.files.numbered import NUMBER
from tersely.foundation.types import Strings

_SECTION = "=== "
_ITEM = re.compile(r"@[\d+]")
_NEIGHBOURS = re.compile(r"  \w[\w ]*: ")
_ABOVE = " (above)"


class PackPiece(NamedTuple):
    """Lines of a pack: the `section` above them (the line of a file, or one that counts what was
    left out), the `head` that says why they are there, and the `code`.
    """

    section: str
    head: Strings
    code: Strings

    @property
    def file(self) -> str:
        """The path that the section names; "" for the line at the end of a pack, below which
        nothing stands.
        """
        return self.section.removeprefix(_SECTION).partition(" ")[0] if self.text else ""

    @property
    def text(self) -> str:
        """As it stands in the pack."""
        return "\n".join([*self.head, *self.code])


def pieces(pack: str) -> Iterator[PackPiece]:
    """Every piece, in order; a section with nothing below it is one as well."""
    section, lines = "", list[str]()
    for line in pack.rstrip("\n").split("\n"):
        if line.startswith(_SECTION):
            yield from _piece(section, lines)
            section, lines = line, []
        elif _ITEM.match(line) and lines:
            yield from _piece(section, lines)
            lines = [line]
        else:
            lines.append(line)
    yield from _piece(section, lines)


def joined(kept: Iterable[PackPiece]) -> str:
    """A pack of these pieces."""
    lines: list[str] = []
    section = ""
    for piece in kept:
        if piece.section != section:
            lines.append(piece.section)
            section = piece.section
        lines += [*piece.head, *piece.code]
    return "\n".join(lines)


def not_yet_in(found: Sequence[PackPiece], said: Sequence[str]) -> list[PackPiece]:
    """The pieces that are new to a reader of these texts; [] if none is.

    A piece is known if its lines stand one below the other in one of the texts, numbered or not.
    Beside a new piece the first line of a known one's head stays: it says why that code matters.
    """
    texts = list(map(_plain, said))
    left: list[PackPiece] = []
    has_news = False
    for piece in found:
        is_known = any(_plain("\n".join(piece.code or piece.head)) in text for text in texts)
        has_news = has_news or (not is_known and bool(piece.text))
        if not is_known or not piece.text:
            left.append(piece)
        elif piece.code and piece.head:
            left.append(PackPiece(piece.section, (f"{piece.head[0]}{_ABOVE}", *piece.head[1:]), ()))
    return left if has_news else []


def _piece(section: str, lines: list[str]) -> Iterator[PackPiece]:
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        if section:
            yield PackPiece(section, (), ())
        return
    start = 1 if _ITEM.match(lines[0]) else 0
    while start and start < len(lines) and _NEIGHBOURS.match(lines[start]):
        start += 1
    yield PackPiece(section, tuple(lines[:start]), tuple(lines[start:]))


def _plain(text: str) -> str:
    """Its lines, so that numbers, another indentation or blank lines make no difference."""
    lines = (NUMBER.sub("", line).strip() for line in text.split("\n"))
    return "\n".join(["", *filter(None, lines), ""])
