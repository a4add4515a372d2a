"""How a pack says what it has to say, declared alike for all of them: its format, and ways to use fewer words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tersely.capabilities.declaration import option
from tersely.code.pack.brief.zoom import Zoom
from tersely.foundation.errors import TerselyError


class Format(StrEnum):
    """How a pack is printed."""

    TEXT = "text"
    ULTRACOMPACT = "ultracompact"
    COMPACT = "compact"
    JSON = "json"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Wording:
    """In which words."""

    format: Format = option(Format.TEXT, "how to print it")
    with_docs: bool = option(False, "keep documentation in code")
    strip_comments: bool = option(False, "leave comments out of code, and all documentation")
    compress_imports: bool = option(False, "put each block of imports on one line, where that is shorter")
    alias: bool = option(
        False, "short names for long identifiers where that pays, listed at the top: to read, not to edit"
    )
    zoom: Zoom | None = option(
        None, "the most to say of anything: L0 names, L1 signatures, L2 sketches, L3 the lines that matter, L4 all"
    )


def check(wording: Wording) -> None:
    """Refuse what cannot be had together."""
    if wording.with_docs and wording.strip_comments:
        raise TerselyError("usage", "--with-docs keeps what --strip-comments leaves out", "leave out one of them")
