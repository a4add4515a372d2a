"""`code.calls`: who calls a symbol and what it calls; without a symbol, every edge of the call graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.graph.listing import GRADE_WORDS, UNSAID, Row, is_external, listed, name_of, sites_text
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.text import Style, aligned
from tersely.capabilities.values import lines_text
from tersely.code.symbols import Edge, Grade, Kind

if TYPE_CHECKING:
    from tersely.workspace import Workspace

_GRADE_ORDER = {grade: order for order, grade in enumerate(Grade)}


class Direction(StrEnum):
    """Which ends of the edges to show."""

    CALLERS = "callers"
    CALLEES = "callees"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Whose calls."""

    symbol: str | None = positional("the symbol; without it, all calls are listed", default=None, role=Role.SYMBOL)
    direction: Direction | None = option(None, "only one side of the calls", shorthand=True)
    depth: int = option(1, "how many calls to follow", minimum=1, maximum=5, metavar="N")
    kind: Kind | None = option(None, "only a symbol of this kind", metavar="KIND")
    guesses: bool = option(True, "list calls for which only the name agrees")
    external: bool = option(True, "list what lies outside the repository")
    limit: int = limit_option(100, "edges")
    offset: int = offset_option("edges")


@dataclass(frozen=True, slots=True)
class Call:
    """One edge: `caller` calls `callee` on `lines` of `path`, the caller's file, `depth` calls away from the symbol."""

    caller: str
    callee: str
    grade: Grade
    path: str
    lines: tuple[int, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Calls:
    """Edges around one symbol, or of all when `symbol` is empty; a side that was not asked for is None."""

    symbol: str
    kind: Kind | None
    line: int
    end_line: int
    callers: Page[Call] | None
    callees: Page[Call] | None
    edges: Page[Call] | None


def run(workspace: Workspace, parameters: Parameters) -> Calls:
    """The edges of one symbol, or all."""
    limit, offset = parameters.limit, parameters.offset
    if parameters.symbol is None:
        found = workspace.engine.graph.edges(guesses=parameters.guesses)
        edges = [_call(edge, 1) for edge in found if parameters.external or not is_external(edge.callee)]
        return Calls("", None, 0, 0, None, None, page_of(edges, limit, offset))
    symbol = workspace.engine.symbol(parameters.symbol, parameters.kind)
    sides = [_side(workspace, symbol.id, side, parameters) for side in Direction]
    callers, callees = (page_of(side, limit, offset) if side is not None else None for side in sides)
    return Calls(symbol.id, symbol.kind, symbol.start_line, symbol.end_line, callers, callees, None)


def _side(workspace: Workspace, start: str, side: Direction, parameters: Parameters) -> list[Call] | None:
    """The calls on one side, nearest first, then surest; None if they were not asked for."""
    if parameters.direction not in {None, side}:
        return None
    graph = workspace.engine.graph
    ask = graph.callers if side is Direction.CALLERS else graph.callees
    found: list[Call] = []
    seen, frontier = {start}, [start]
    for depth in range(1, parameters.depth + 1):
        edges = [edge for current in frontier for edge in ask(current, guesses=parameters.guesses)]
        edges = [edge for edge in edges if parameters.external or not is_external(edge.callee)]
        found += sorted((_call(edge, depth) for edge in edges), key=_rank)
        ends = dict.fromkeys(edge.caller if side is Direction.CALLERS else edge.callee for edge in edges)
        frontier = [end for end in ends if end not in seen and not is_external(end)]
        seen.update(frontier)
    return found


def _call(edge: Edge, depth: int) -> Call:
    lines = tuple(site.line for site in edge.sites)
    return Call(edge.caller, edge.callee, edge.grade, edge.sites[0].path if edge.sites else "", lines, depth)


def _rank(call: Call) -> tuple[int, str, str]:
    return _GRADE_ORDER[call.grade], call.caller, call.callee


def text(calls: Calls, style: Style) -> str:
    """A block for each side, by distance and file."""
    if calls.edges is not None:
        return "\n".join(_all_lines(calls.edges, style))
    assert calls.kind is not None
    about = f"{calls.kind.value}, {lines_text(calls.line, calls.end_line)}"
    blocks = [f"{style.symbol(calls.symbol)}  {style.faint(about)}"]
    if calls.callers is not None:
        blocks += _side_lines("called by", "no call of it was found", calls.callers, Direction.CALLERS, style)
    if calls.callees is not None:
        blocks += _side_lines("calls", "it calls nothing", calls.callees, Direction.CALLEES, style)
    return "\n".join(blocks)


def _side_lines(title: str, none: str, page: Page[Call], side: Direction, style: Style) -> list[str]:
    if not page.total:
        return [style.heading(none)]
    blocks = [f"{style.heading(f'{title} {page.total:,}')}  {style.faint(UNSAID)}"]
    for depth, group in groupby(page.items, key=lambda call: call.depth):
        if depth > 1:
            blocks.append(style.heading(f"{depth} calls away"))
        blocks += listed([_row(call, side) for call in group], style)
    return [*blocks, *rest_line(page, "edge", style)]


def _row(call: Call, side: Direction) -> Row:
    far, near = (call.caller, call.callee) if side is Direction.CALLERS else (call.callee, call.caller)
    link = "calls" if side is Direction.CALLERS else "called by"
    notes = (sites_text(call.lines), *((f"{link} {name_of(near)}",) if call.depth > 1 else ()))
    return Row(far, call.grade, notes)


def _all_lines(page: Page[Call], style: Style) -> list[str]:
    if not page.total:
        return ["there are no calls"]
    lines = []
    for caller, group in groupby(page.items, key=lambda call: call.caller):
        lines.append(style.symbol(caller))
        rows = [(call.callee, sites_text(call.lines), GRADE_WORDS[call.grade]) for call in group]
        lines += [f"  {line}" for line in aligned(rows, [None, style.faint, style.doubtful])]
    return [*lines, *rest_line(page, "edge", style)]


CAPABILITY = Capability(
    name="code.calls",
    summary="What calls a symbol and what it calls",
    description="Every edge says how it was found: exact (scopes and imports), inferred (types and flow of values), "
    "by name (nothing but the name agrees). Lines are those of the calls, in the file of the caller. "
    "external:package.name is outside the repository.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("calls Session.validate", "calls --callers validate_token", "calls --callees main --depth 2"),
)
