"""The wording of a pack, declared alike for all of them: its format, and whether it keeps
documentation.
"""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.declaration.declaration import frozen, option
from tersely.foundation.errors import TerselyError


class Format(StrEnum):
    """The forms in which a pack is printed."""

    TEXT = "text"
    ULTRACOMPACT = "ultracompact"
    COMPACT = "compact"
    NUMBERED = "numbered"
    JSON = "json"
    MARKDOWN = "markdown"


@frozen
class Wording:
    """In which words."""

    format: Format = option(Format.TEXT, "how to print it")
    ultracompact: bool = option(False, "the same as --format ultracompact")
    with_docs: bool = option(False, "keep documentation in code")


def format_of(wording: Wording) -> Format:
    """The format that is asked for; raises `usage` where two are."""
    if not wording.ultracompact:
        return wording.format
    if wording.format not in {Format.TEXT, Format.ULTRACOMPACT}:
        raise TerselyError(
            "usage",
            f"--ultracompact excludes --format {wording.format.value}",
            "leave out one of them",
        )
    return Format.ULTRACOMPACT
