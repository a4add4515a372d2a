"""`code.calls` and `code.impact`: one walk along calls, to callers or callees; without a symbol,
every call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned, counted, indented
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.graph.listing import (
    MARKS,
    Row,
    grade_text,
    is_external,
    listed,
    name_of,
    path_of,
    sites_text,
    unread_lines,
)
from tersely.code.places import is_test
from tersely.code.symbols import CLASS_KINDS, VALUE_KINDS, Edge, Grade, Kind, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Numbers, Strings

if TYPE_CHECKING:
    from tersely.code.graph.callgraph import CallGraph, Reached
    from tersely.workspace import Workspace

MAX_WALKED_SYMBOLS = 10_000
MAX_CALL_DEPTH = 50
ONE_CALL = 1  # the calls of a symbol itself
LEAST_FAMILY = 4  # methods of one name that one call reaches, above which they are told in one line
NAMED_OWNERS = 3  # classes of them that are named

_GUESSES = option(True, "list calls that are resolved by name alone")
_GRADE_ORDER = {grade: order for order, grade in enumerate(Grade)}


class Direction(StrEnum):
    """The end of a call that a walk goes to."""

    CALLERS = "callers"
    CALLEES = "callees"


class _Wish(NamedTuple):
    """What is wanted of the calls around a symbol. `sites`: the lines of the calls, and calls of the
    symbol by itself.
    """

    depth: int
    guesses: bool
    external: bool
    sites: bool
    limit: int
    offset: int


@frozen
class Call:
    """One edge: `caller` calls `callee` on `lines` of `path`, the caller's file, `depth` calls away
    from the symbol.
    """

    caller: str
    callee: str
    grade: Grade  # of the least sure call from here to the symbol
    path: str
    lines: Numbers
    depth: int
    via: Strings  # the symbols between the far end of the call and the symbol
    rule: str = ""  # of the framework by which the caller reaches the callee


@frozen
class Calls:
    """The calls around one symbol, or all when `symbol` is empty; a side that was not asked for is
    None.

    Of further calls that lead to one symbol, the first of a shortest way is listed. `cut`: there
    are more than `MAX_WALKED_SYMBOLS`. `sites`: whether the text has the lines of calls.
    """

    symbol: str
    kind: Kind | None
    line: int
    end_line: int
    depth: int
    callers: Page[Call] | None
    callees: Page[Call] | None
    edges: Page[Call] | None
    tests: int  # of the callers
    cut: bool
    sites: bool
    # files that may call it, or its own, that were not read or not understood, with the reasons
    unread: Strings = ()
    references: int = 0  # to a symbol without callers


def _around(workspace: Workspace, query: str, sides: Collection[Direction], wish: _Wish) -> Calls:
    """The calls around one symbol."""
    graph, symbol = workspace.engine.graph, workspace.engine.symbol(query)
    first = () if wish.sites else _references(workspace, symbol, guesses=wish.guesses)
    walks = {side: _walk(graph, symbol.id, side, wish, first) for side in sides}
    pages = {side: page_of(walk.calls, wish.limit, wish.offset) for side, walk in walks.items()}
    unread: Strings = ()
    references = 0
    if Direction.CALLERS in walks:
        callers = walks[Direction.CALLERS].calls
        unread = workspace.engine.unread(symbol, {call.path for call in callers})
        references = 0 if callers else len(workspace.engine.references.of(symbol.id))
    if Direction.CALLEES in walks:
        unread += workspace.engine.not_understood(symbol.path, symbol.start_line, symbol.end_line)
    return Calls(
        symbol.id,
        symbol.kind,
        symbol.start_line,
        symbol.end_line,
        wish.depth,
        pages.get(Direction.CALLERS),
        pages.get(Direction.CALLEES),
        None,
        sum(walk.tests for walk in walks.values()),
        any(walk.cut for walk in walks.values()),
        wish.sites,
        unread,
        references,
    )


class _CallWalk(NamedTuple):
    """The calls on one side, how many of them begin in tests, and whether there are more."""

    calls: list[Call]
    tests: int
    cut: bool


def _references(workspace: Workspace, symbol: Symbol, *, guesses: bool) -> list[Edge]:
    """The references to what is not called alone: a type, a field, a constant."""
    if symbol.kind not in CLASS_KINDS | VALUE_KINDS:
        return []
    edges = workspace.engine.references.edges(symbol.id)
    return [edge for edge in edges if guesses or edge.grade is not Grade.BY_NAME]


def _walk(
    graph: CallGraph,
    start: str,
    side: Direction,
    wish: _Wish,
    first: Sequence[Edge],
) -> _CallWalk:
    to_callees = side is Direction.CALLEES
    found, is_cut = graph.walk(
        start,
        wish.depth,
        limit=MAX_WALKED_SYMBOLS,
        to_callees=to_callees,
        guesses=wish.guesses,
        first=first,
    )
    kept = sorted((one for one in found if _is_wanted(one, wish)), key=_order)
    tests = 0 if to_callees else sum(is_test(path_of(one.symbol)) for one in kept)
    return _CallWalk([_call(one.edge, one.grade, one.path) for one in kept], tests, is_cut)


def _is_wanted(reached: Reached, wish: _Wish) -> bool:
    calls_itself = reached.symbol == reached.path[-1]
    return (wish.sites or not calls_itself) and (wish.external or not is_external(reached.symbol))


def _order(reached: Reached) -> tuple[int, int, str]:
    """Nearest first, then surest."""
    return reached.depth, _GRADE_ORDER[reached.grade], reached.symbol


def _call(edge: Edge, grade: Grade, path: Strings = ()) -> Call:
    lines = tuple(site.line for site in edge.sites)
    file = edge.sites[0].path if edge.sites else ""
    return Call(
        edge.caller, edge.callee, grade, file, lines, max(1, len(path) - 1), path[1:-1], edge.rule
    )


def text(calls: Calls, style: Style) -> str:
    """A block for each side, by distance and file."""
    if calls.edges is not None:
        return "\n".join(_all_lines(calls.edges, style))
    assert calls.kind is not None
    about = f"{calls.kind.value}, {lines_text(calls.line, calls.end_line)}"
    has_edges = any(page is not None and page.total for page in (calls.callers, calls.callees))
    about += f"  {MARKS}" if has_edges and not calls.unread else ""
    blocks = [f"{style.symbol(calls.symbol)}  {style.faint(about)}"]
    for page, side in ((calls.callers, Direction.CALLERS), (calls.callees, Direction.CALLEES)):
        if page is not None:
            blocks += _side_lines(calls, page, side, style)
    blocks += unread_lines(calls.unread, style)
    if calls.cut:
        reached = (
            f"search limit reached, {MAX_WALKED_SYMBOLS:,} symbols; a smaller --depth is complete"
        )
        blocks.append(style.doubtful(f"… truncated: {reached}"))
    return "\n".join(blocks)


def _side_lines(calls: Calls, page: Page[Call], side: Direction, style: Style) -> list[str]:
    if not page.total:
        if side is Direction.CALLERS and calls.references:
            found = counted(calls.references, "reference")
            return [style.heading(f"no callers; {found}: `symbol references {calls.symbol}`")]
        return [style.heading(f"no {side.value} found")]
    title = f"{'called by' if side is Direction.CALLERS else 'calls'} {page.total:,}"
    if calls.depth > 1:
        title += f" within {calls.depth} calls"
    if calls.tests and not calls.sites:
        title += f", {calls.tests:,} in tests"
    blocks = [style.heading(title)]
    if style.colored and calls.depth > 1:
        return [*blocks, *_tree_lines(page.items, side, style), *rest_line(page, "symbol", style)]
    for depth, group in groupby(page.items, key=lambda call: call.depth):
        if depth > 1:
            blocks.append(style.heading(f"{depth} calls away"))
        called = calls.symbol if side is Direction.CALLERS else ""
        alone, families = _families(
            [_row(call, side, calls.sites) for call in group], _last(called)
        )
        blocks += [*listed(alone, style), *(_family_line(family, style) for family in families)]
    return [*blocks, *rest_line(page, "edge" if calls.sites else "symbol", style)]


def _tree_lines(calls: Sequence[Call], side: Direction, style: Style) -> list[str]:
    """Each symbol below the one through which it is reached, with its file."""
    far = attrgetter("caller" if side is Direction.CALLERS else "callee")
    cells = [
        (
            f"{'   ' * len(call.via)}└─ {name_of(far(call))}",
            path_of(far(call)),
            grade_text(call.grade, call.rule),
        )
        for call in sorted(calls, key=lambda call: [*reversed(call.via), far(call)])
    ]
    return aligned(cells, [style.symbol, style.faint, style.doubtful])


def _row(call: Call, side: Direction, sites: bool) -> Row:
    far = call.caller if side is Direction.CALLERS else call.callee
    if call.via:
        return Row(far, call.grade, (f"via {' → '.join(map(name_of, call.via))}",), call.rule)
    return Row(far, call.grade, (sites_text(call.lines),) if sites else (), call.rule)


def _families(rows: list[Row], called: str) -> tuple[list[Row], list[list[Row]]]:
    """Rows to be listed one by one, and groups of methods of one name.

    What one call on a receiver may reach has the same lines. Callers named like what is `called`
    call what they override, each from a line of its own.
    """
    groups: dict[Strings, list[Row]] = {}
    for row in rows:
        owner, name = name_of(row.id).rpartition(".")[0], _last(row.id)
        key: Strings = (row.id,)
        if owner and name == called:
            key = (name,)
        elif owner and row.grade is Grade.INFERRED:
            key = (name, *row.notes)
        groups.setdefault(key, []).append(row)
    families = [group for group in groups.values() if len(group) >= LEAST_FAMILY]
    grouped = {row.id for family in families for row in family}
    return [row for row in rows if row.id not in grouped], families


def _last(symbol_id: str) -> str:
    """The name of a symbol by itself."""
    return name_of(symbol_id).rpartition(".")[2]


def _family_line(family: list[Row], style: Style) -> str:
    """Many methods of one name in a line, with the notes that all of them have."""
    owners = [name_of(row.id).rpartition(".")[0] for row in family]
    more = f" and {len(owners) - NAMED_OWNERS} more" if len(owners) > NAMED_OWNERS else ""
    every = [(*row.notes, grade_text(row.grade, row.rule)) for row in family]
    notes = [note for note in every[0] if all(note in others for others in every)]
    shown = f"{style.symbol(_last(family[0].id))} in {len(owners)} classes: {', '.join(owners[:NAMED_OWNERS])}{more}"
    return f"  {shown}  {style.faint('  '.join(notes))}".rstrip()


def _all_lines(page: Page[Call], style: Style) -> list[str]:
    if not page.total:
        return ["no calls found"]
    lines = []
    for caller, group in groupby(page.items, key=lambda call: call.caller):
        lines.append(style.symbol(caller))
        rows = [
            (call.callee, sites_text(call.lines), grade_text(call.grade, call.rule))
            for call in group
        ]
        lines += indented(rows, [None, style.faint, style.doubtful])
    return [*lines, *rest_line(page, "edge", style)]


@capability(
    "code.calls",
    text,
    "calls Session.validate",
    "calls --callers validate_token",
    "calls --callees main --depth 2",
    is_kept=True,
)
def calls(
    workspace: Workspace,
    *,
    symbol: str | None = positional(
        "the symbol; without it, all calls are listed", default=None, role=Role.SYMBOL
    ),
    direction: Direction | None = option(None, "callers or callees alone", shorthand=True),
    depth: int = option(
        ONE_CALL, "how many calls to follow", minimum=1, maximum=MAX_CALL_DEPTH, metavar="N"
    ),
    guesses: bool = _GUESSES,
    external: bool = option(True, "list callees outside the repository"),
    limit: int = limit_option(100, "edges"),
    offset: int = offset_option("edges"),
) -> Calls:
    """Callers and callees of a symbol.

    Every edge is graded: exact (scopes and imports), inferred (types and flow of values), by name
    (nothing but the name agrees). Lines are those of the calls, in the file of the caller. Beyond
    one call, each symbol is listed once, with a shortest way and the grade of its weakest call.
    external:package.name is outside the repository.
    """
    if symbol is not None:
        sides = (direction,) if direction else tuple(Direction)
        wish = _Wish(depth, guesses, external, sites=True, limit=limit, offset=offset)
        return _around(workspace, symbol, sides, wish)
    if depth != ONE_CALL or direction is not None:
        message = "depth and direction need a symbol"
        raise TerselyError("usage", message, "name a symbol, or leave them out")
    workspace.engine.note_left_out()
    found = (_call(edge, edge.grade) for edge in workspace.engine.graph.edges(guesses=guesses))
    edges = [call for call in found if external or not is_external(call.callee)]
    return Calls("", None, 0, 0, 1, None, None, page_of(edges, limit, offset), 0, False, True)


@capability(
    "code.impact", text, "impact validate_token", "impact Session.validate --depth 5", is_kept=True
)
def impact(
    workspace: Workspace,
    *,
    symbol: str = positional("the symbol that changes", role=Role.SYMBOL),
    depth: int = option(
        3, "how many calls to follow", minimum=1, maximum=MAX_CALL_DEPTH, metavar="N"
    ),
    guesses: bool = _GUESSES,
    limit: int = limit_option(200, "symbols"),
    offset: int = offset_option("symbols"),
) -> Calls:
    """Symbols that a change of a symbol may affect: its callers, theirs, and so on.

    Nearest first, each with a shortest way to the symbol and the grade of its weakest call. Of a
    type, field or constant the symbols that refer to it come first, then their callers.
    """
    wish = _Wish(depth, guesses, external=False, sites=False, limit=limit, offset=offset)
    return _around(workspace, symbol, (Direction.CALLERS,), wish)
