"""The number of cells of a terminal that a character takes."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_ZERO = frozenset({"Mn", "Me", "Cf"})


@lru_cache(maxsize=4_096)
def width(character: str) -> int:
    """0 for what joins the character before it, 2 for wide characters, else 1."""
    if unicodedata.category(character) in _ZERO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
