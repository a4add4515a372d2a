"""Files, or lines of them, that a pack shall hold before anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tersely.context.pack.model import Extract
from tersely.context.pack.texts import Texts
from tersely.foundation.errors import TerselyError

_RANGE = re.compile(r"^(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?$", re.DOTALL)


class Include(NamedTuple):
    """The part of a file that is to be included; without a last line, the whole of it."""

    path: str
    first_line: int = 1
    last_line: int | None = None


def parse_include(text: str) -> Include:
    """`PATH`, `PATH:10-20` or `PATH:10`, lines counted from 1."""
    found = _RANGE.match(text)
    if found is None:
        return Include(text)
    first = int(found["first"])
    last = int(found["last"] or first)
    if not 1 <= first <= last:
        raise TerselyError(
            "invalid_argument", f"{text!r} is no range of lines", "Write PATH:FIRST-LAST, from 1."
        )
    return Include(found["path"], first, last)


def extracts_of(includes: Iterable[Include], texts: Texts) -> tuple[Extract, ...]:
    """The lines to include, each once and in the order asked for."""
    return tuple(_extract(include, texts) for include in dict.fromkeys(includes))


def _extract(include: Include, texts: Texts) -> Extract:
    extract = texts.extract(include.path, include.first_line, include.last_line)
    if include.first_line > max(extract.last_line, 1):
        message = f"{include.path} has {extract.last_line} lines, none from {include.first_line}"
        raise TerselyError("invalid_argument", message)
    return extract
