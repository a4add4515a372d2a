"""`code.cycles`: files that import one another, or functions that call one another, in a circle."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import capability, frozen, option
from tersely.capabilities.graph.listing import is_external
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.graph.cycles import Knot
    from tersely.workspace import Workspace

MAX_LISTED_MEMBERS = 12  # of a cycle beside those that are on the way around


class Relation(StrEnum):
    """The relations that lead from one member of a cycle to the next."""

    IMPORTS = "imports"
    CALLS = "calls"


@frozen
class Cycles:
    """The largest first."""

    of: Relation
    cycles: Page[Knot]


def text(cycles: Cycles, style: Style) -> str:
    """For each cycle the way around, then who else belongs to it."""
    if not cycles.cycles.total:
        return f"no cycles of {cycles.of.value}"
    lines = [f"{counted(cycles.cycles.total, 'cycle')} of {cycles.of.value}"]
    noun = "file" if cycles.of is Relation.IMPORTS else "function"
    for circle in cycles.cycles.items:
        lines.append(style.heading(counted(len(circle.members), noun)))
        lines.append("  " + " → ".join(_way(circle.cycle)))
        others = [member for member in circle.members if member not in circle.cycle]
        lines += [style.faint(f"  and {other}") for other in others[:MAX_LISTED_MEMBERS]]
        if len(others) > MAX_LISTED_MEMBERS:
            lines.append(
                style.doubtful(f"  and {len(others) - MAX_LISTED_MEMBERS} more: --json lists them")
            )
    return "\n".join([*lines, *rest_line(cycles.cycles, "cycle", style)])


@capability("code.cycles", text, "cycles", "cycles --calls")
def run(
    workspace: Workspace,
    *,
    of: Relation = option(Relation.IMPORTS, "the kind of cycle", shorthand=True),
    limit: int = limit_option(30, "cycles"),
    offset: int = offset_option("cycles"),
) -> Cycles:
    """Import cycles between files, or call cycles between functions.

    Each cycle is shown by a shortest path around it, then its other members. Imports count wherever
    they stand, inside functions too. Calls for which only the name agrees do not count.
    """
    from tersely.code.graph.cycles import knots

    workspace.engine.note_left_out()
    graph: dict[str, set[str]] = {}
    if of is Relation.IMPORTS:
        graph = workspace.engine.imports.edges(workspace.engine.store.every_import())
    else:
        for edge in workspace.engine.graph.edges(guesses=False):
            if not is_external(edge.callee):
                graph.setdefault(edge.caller, set()).add(edge.callee)
    return Cycles(of, page_of(knots(graph), limit, offset))


def _way(cycle: Strings) -> Strings:
    """The way around, its middle left out when it is long."""
    left_out = len(cycle) - 1 - MAX_LISTED_MEMBERS
    if left_out <= 0:
        return cycle
    return (*cycle[:MAX_LISTED_MEMBERS], f"({left_out:,} more, --json lists them)", cycle[-1])
