"""Lines of a file as a model is shown them: each with its number, as many as there is room for; and
texts that a model quotes so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tersely.agent.tools.observation import clipped
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.tokens import Tokenizer

NUMBER = re.compile(r"^\s*\d+\|")  # before a line


def numbered(number: int, line: str) -> str:
    """A line behind its number; control characters but for tabs are written out."""
    return f"{number}|{visible_line(line).replace(chr(92) + 'x09', chr(9))}"


def shown_in(rows: Iterable[str], lines: Sequence[str]) -> list[int]:
    """The numbers of the lines of a file that some of these rows show whole."""
    found = (int(row.partition("|")[0]) for row in rows if NUMBER.match(row))
    known = set(rows)
    return [
        number
        for number in found
        if 0 < number <= len(lines) and numbered(number, lines[number - 1].rstrip("\r\n")) in known
    ]


class Quoted(NamedTuple):
    """Lines of a model's, and the number that it gave the first of them; 0 where it gave none."""

    text: str
    first: int = 0


def unquoted(text: str, lines: Sequence[str]) -> Quoted:
    """A text for a file of these lines, without numbers if each of its lines has one, and none of
    the file's begins so.
    """
    rows = text.removesuffix("\n").split("\n")
    is_numbered = bool(lines) and all(map(NUMBER.match, rows))
    if not is_numbered or any(map(NUMBER.match, lines)):
        return Quoted(text)
    plain = "".join(NUMBER.sub("", row) + "\n" for row in rows)
    return Quoted(plain, int(rows[0].partition("|")[0]))


class NumberedLines:
    """The lines of one file, with or without their endings."""

    def __init__(self, lines: Sequence[str], tokenizer: Tokenizer) -> None:
        self._lines = lines
        self._tokenizer = tokenizer

    def within(self, numbers: Iterable[int], most_tokens: int) -> tuple[str, list[int]]:
        """The first of these lines that have room together; and which of them are shown from end to
        end.

        A line counts as shown only if nothing of it is cut.
        """
        text: list[str] = []
        seen: list[int] = []
        before = 0
        for number in numbers:
            line = self._lines[number - 1].rstrip("\r\n")
            shown = numbered(number, clipped(line))
            shown = f"…\n{shown}" if before and number != before + 1 else shown
            most_tokens -= self._tokenizer.count(f"{shown}\n")
            if most_tokens < 0:
                if not text:
                    text = [f"{number}|… {len(line):,} characters"]
                break
            text.append(shown)
            before = number
            if clipped(line) == line:
                seen.append(number)
        return "\n".join(text), seen
