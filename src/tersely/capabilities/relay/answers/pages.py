"""Lists that are asked for piece by piece, each piece beginning behind the number at which the last
one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tersely.capabilities.declaration.declaration import option

MAX_PAGE_ENTRIES = 1_000
PAGE_ENTRIES = 20


class Numbered(Protocol):
    """An entry of a list."""

    @property
    def number(self) -> int:
        """Its place, which grows."""


@dataclass(frozen=True, slots=True)
class Page:
    """The piece of a list."""

    after: int = option(0, "those behind this number", minimum=0)
    limit: int = option(PAGE_ENTRIES, "how many at most", minimum=1, maximum=MAX_PAGE_ENTRIES)


def next_after(found: Sequence[Numbered], limit: int) -> int | None:
    """Behind which number the next piece begins; None where there is none."""
    return found[-1].number if len(found) == limit else None
