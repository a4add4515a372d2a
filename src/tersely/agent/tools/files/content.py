"""A file as lines, and lines as the file: whatever is not changed keeps its very bytes.

The encoding is what the bytes say: a byte order mark, else UTF-8, else Latin-1, in which every byte
is a character.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LF, _CRLF = "\n", "\r\n"


class FileContent(NamedTuple):
    """Lines with their own endings; the last may have none. `ending` is that of most lines."""

    lines: Strings
    encoding: str
    mark: bytes
    ending: str

    @property
    def shown(self) -> list[str]:
        """The lines without endings."""
        return [line.removesuffix(_LF).removesuffix("\r") for line in self.lines]

    def encoded(self) -> bytes:
        """The bytes of the file; raises `invalid_argument` for what its encoding cannot express."""
        text = "".join(self.lines)
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            bad = text[error.start : error.start + 1]
            name = self.encoding.upper()
            raise TerselyError(
                "invalid_argument", f"{bad!r} cannot be written in {name}, as the file is"
            ) from None

    def replaced(self, start: int, end: int, body: str) -> FileContent:
        """With lines `start` to `end`, from 1 and both included, replaced; none is, before `start`,
        if `end` is less.

        New lines end as the file's lines do; a file whose last line had no ending has none
        afterwards, unless that line is blank.
        """
        new = body_lines(body)
        added = [f"{line}{self.ending}" for line in new]
        before, after = list(self.lines[: start - 1]), list(self.lines[end:])
        is_open = bool(self.lines) and not self.lines[-1].endswith(_LF)
        if is_open and before and not after and added and not before[-1].endswith(_LF):
            before[-1] += self.ending
        lines = [*before, *added, *after]
        if is_open and lines and not after and lines[-1].strip("\r\n"):
            # a blank line is nothing but its ending
            lines[-1] = lines[-1].removesuffix(self.ending)
        return self._replace(lines=tuple(lines))


def body_lines(body: str) -> list[str]:
    """The lines of a body as a model writes it: the newline at its end, if any, ends the last line."""
    text = body.replace(_CRLF, _LF).removesuffix(_LF)
    return text.split(_LF) if body else []


def read_content(data: bytes, path: str) -> FileContent:
    """Take a file apart; raises `unreadable_file` for what is no text."""
    mark, encoding = next(
        ((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "")
    )
    if not mark and b"\0" in data:
        raise TerselyError("unreadable_file", f"{path} is binary")
    try:
        text = data[len(mark) :].decode(encoding or "utf-8")
        encoding = encoding or "utf-8"
    except UnicodeDecodeError:
        if mark:
            raise TerselyError(
                "unreadable_file", f"{path} is not the {encoding.upper()} that it begins as"
            ) from None
        text, encoding = data.decode("latin-1"), "latin-1"
    lines = text.split(_LF)
    ended = [f"{line}{_LF}" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    crlf = sum(line.endswith(_CRLF) for line in ended)
    return FileContent(tuple(ended), encoding, mark, _CRLF if crlf * 2 > len(ended) else _LF)
