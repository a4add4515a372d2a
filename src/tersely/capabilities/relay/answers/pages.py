"""Lists that are asked for piece by piece, each piece beginning behind the number at which the last
one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from tersely.capabilities.declaration.declaration import frozen, option

MAX_PAGE_ENTRIES = 1_000
PAGE_ENTRIES = 20


class Numbered(Protocol):
    """An entry of a list."""

    @property
    def number(self) -> int:
        """Its place, which grows."""


EntryT = TypeVar("EntryT", bound=Numbered)


BEHIND = option(0, "those behind this number", minimum=0)


@frozen
class Page:
    """The piece of a list."""

    after: int = option(0, "those behind this number", minimum=0)
    limit: int = option(PAGE_ENTRIES, "how many at most", minimum=1, maximum=MAX_PAGE_ENTRIES)


def piece(
    read: Callable[[int, int], Sequence[EntryT]], after: int, limit: int
) -> tuple[Sequence[EntryT], int | None]:
    """The entries behind a number, and behind which one the next piece begins; None where there are
    no more.

    `read` is asked for entries behind a number, so many at most.
    """
    found = read(after, limit + 1)
    return found[:limit], found[limit - 1].number if len(found) > limit else None
