"""`code.impact`: what a change of a symbol may reach: its callers, theirs, and so on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.graph.listing import UNSAID, Row, listed, name_of, path_of
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.text import Style, counted
from tersely.code.places import is_test
from tersely.code.symbols import Grade, Kind
from tersely.foundation.limits import MAX_REACHED_SYMBOLS

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """A change of what, and how far to follow it."""

    symbol: str = positional("the symbol that changes", role=Role.SYMBOL)
    depth: int = option(3, "how many calls to follow", minimum=1, maximum=50, metavar="N")
    kind: Kind | None = option(None, "only a symbol of this kind", metavar="KIND")
    limit: int = limit_option(200, "symbols")
    offset: int = offset_option("symbols")


@dataclass(frozen=True, slots=True)
class Reached:
    """A symbol that the change may reach. `path` leads from it to the symbol that changes, both included."""

    id: str
    depth: int
    grade: Grade  # of the weakest call on the path
    test: bool
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """All that is reached, nearest first. `cut` says that the search stopped at its bound before it was done."""

    symbol: str
    depth: int
    tests: int
    reached: Page[Reached]
    cut: bool


def run(workspace: Workspace, parameters: Parameters) -> Impact:
    """Transitive callers."""
    symbol = workspace.engine.symbol(parameters.symbol, parameters.kind)
    found, cut = workspace.engine.graph.impact(symbol.id, parameters.depth, limit=MAX_REACHED_SYMBOLS)
    reached = [Reached(one.symbol, one.depth, one.grade, is_test(path_of(one.symbol)), one.path) for one in found]
    tests = sum(one.test for one in reached)
    return Impact(symbol.id, parameters.depth, tests, page_of(reached, parameters.limit, parameters.offset), cut)


def text(impact: Impact, style: Style) -> str:
    """A block for each distance; after each symbol, the calls that lead from it to the one that changes."""
    if not impact.reached.total:
        return f"{style.symbol(impact.symbol)}\nno call of it was found"
    within = "1 call" if impact.depth == 1 else f"{impact.depth} calls"
    tests = f", {impact.tests:,} of them in tests" if impact.tests else ""
    reach = counted(impact.reached.total, "symbol reaches", "symbols reach")
    blocks = [style.symbol(impact.symbol), f"{reach} it within {within}{tests}  {style.faint(UNSAID)}"]
    for depth, group in groupby(impact.reached.items, key=lambda one: one.depth):
        blocks.append(style.heading("called by" if depth == 1 else f"{depth} calls away"))
        blocks += listed([Row(one.id, one.grade, _way(one.path)) for one in group], style)
    if impact.cut:
        blocks.append(
            style.doubtful(f"… the search stopped at {MAX_REACHED_SYMBOLS:,} symbols: a smaller --depth is complete")
        )
    return "\n".join([*blocks, *rest_line(impact.reached, "symbol", style)])


def _way(path: tuple[str, ...]) -> tuple[str, ...]:
    """The symbols between the first and the last."""
    between = [name_of(one) for one in path[1:-1]]
    return (f"via {' → '.join(between)}",) if between else ()


CAPABILITY = Capability(
    name="code.impact",
    summary="What a change of a symbol may reach: its callers, theirs, and so on",
    description="Nearest first, each with a way that leads to the symbol and the grade of its weakest call.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("impact validate_token", "impact Session.validate --depth 5"),
)
