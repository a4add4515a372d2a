"""Long lists are answered a page at a time, and a page says what it leaves out: nothing is cut
without a word. The size of a whole answer may be chosen in tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import frozen, option
from tersely.foundation.limits import MAX_PAGE_ENTRIES

if TYPE_CHECKING:
    from tersely.workspace import Workspace

ItemT = TypeVar("ItemT")
OtherT = TypeVar("OtherT")


@frozen
class Page(Generic[ItemT]):
    """`items` are those from `offset` on, out of `total`; `more` follow after them."""

    items: tuple[ItemT, ...]
    total: int
    offset: int
    more: int

    def each(self, change: Callable[[ItemT], OtherT]) -> Page[OtherT]:
        """The page with something else in the place of each item."""
        return Page(tuple(map(change, self.items)), self.total, self.offset, self.more)


def page_of(items: Sequence[ItemT], limit: int, offset: int) -> Page[ItemT]:
    """One page of a whole list."""
    shown = tuple(items[offset : offset + limit])
    return Page(shown, len(items), offset, max(0, len(items) - offset - len(shown)))


def limit_option(default: int, what: str) -> Any:
    """Declare how many `what` to list."""
    return option(
        default, f"how many {what} to list", minimum=1, maximum=MAX_PAGE_ENTRIES, metavar="N"
    )


def offset_option(what: str) -> Any:
    """Declare how many `what` to pass over."""
    return option(0, f"how many {what} to skip first", minimum=0, metavar="N")


def budget_of(workspace: Workspace, budget: int | None) -> int:
    """The most tokens of an answer: what was asked for, else what the settings say."""
    return workspace.settings.budget_tokens if budget is None else budget


def rest_line(page: Page[Any], noun: str, style: Style, plural: str = "") -> list[str]:
    """One line that says what a page leaves out and how to see it; no line when it leaves out
    nothing.
    """
    if not page.more:
        if page.offset and not page.items:
            return [
                style.doubtful(
                    f"nothing from {page.offset} on: there are {counted(page.total, noun, plural)}"
                )
            ]
        return []
    following = page.offset + len(page.items)
    how = f"--offset {following} continues"
    if not page.offset and page.total <= MAX_PAGE_ENTRIES:
        how += f", --limit {page.total} shows all"
    left = noun if page.more == 1 else plural or noun + "s"
    return [style.doubtful(f"… {page.more:,} more {left}: {how}")]
