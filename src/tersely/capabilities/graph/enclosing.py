"""`code.enclosing`: the definitions around some lines, and who calls them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import budget_of
from tersely.capabilities.answers.reply import fitted
from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    positional,
)
from tersely.capabilities.files.places import normal
from tersely.capabilities.graph.listing import name_of
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Grade, Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.symbols import Symbol
    from tersely.workspace import Workspace

MAX_PLACES = 200
MAX_ENCLOSING = 8  # definitions whose callers are looked for, those with the most lines
NAMED_CALLERS = 2  # of each; of more it is said how many


@frozen
class Enclosing:
    """A definition with its first and last line, and surely known calls of it: `path:line caller`."""

    symbol: str
    lines: tuple[int, int]
    callers: Strings


@frozen
class Enclosings:
    """The definitions, those outside of tests with the most lines first. `more` have no room."""

    definitions: tuple[Enclosing, ...]
    more: int


def text(found: Enclosings, style: Style) -> str:
    """A line for each definition."""
    lines = []
    for one in found.definitions:
        rest = len(one.callers) - NAMED_CALLERS
        more = f", {rest} more" if rest > 0 else ""
        callers = f" <- {', '.join(one.callers[:NAMED_CALLERS])}{more}" if one.callers else ""
        first, last = one.lines
        lines.append(f"{style.symbol(one.symbol)} {first}-{last}{callers}")
    lines += [style.faint(f"+{found.more} more")] if found.more else []
    return "\n".join(lines) or "no definition is around these lines"


@capability("code.enclosing", text, "enclosing src/auth.py:12 src/auth.py:40 --budget 150")
def run(
    workspace: Workspace,
    *,
    places: Strings = positional(
        "lines of files", role=Role.PLACE, metavar="FILE:LINE", minimum=1, maximum=MAX_PLACES
    ),
    budget: int | None = budget_option(),
) -> Enclosings:
    """Definitions around lines of files, and who calls them.

    What a search for text has found becomes functions and classes. Calls by name alone are left
    out.
    """
    hits = Counter(
        symbol for place in places if (symbol := _around(workspace, *_read(place))) is not None
    )
    order = sorted(hits, key=lambda one: (is_test(one.path), -hits[one]))
    calls = workspace.engine.graph.nearby.callers
    found = tuple(
        Enclosing(
            one.id,
            (one.start_line, one.end_line),
            tuple(
                f"{site.path}:{site.line} {name_of(edge.caller)}"
                for edge in sorted(calls(one.id), key=lambda edge: is_test(edge.caller))
                for site in edge.sites[:1]
                if edge.grade is not Grade.BY_NAME
            ),
        )
        for one in order[:MAX_ENCLOSING]
    )

    def shown(number: int) -> Enclosings:
        return Enclosings(found[:number], len(order) - number)

    most = budget_of(workspace, budget)
    return fitted(shown, text, range(len(found) + 1), most, workspace.tokenizer)


def _read(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    if not path or not line.isdecimal():
        message = f"{place!r} is not a place"
        raise TerselyError("invalid_argument", message, "write FILE:LINE")
    return normal(path), int(line)


def _around(workspace: Workspace, path: str, line: int) -> Symbol | None:
    """The innermost definition with a name around a line; None where there is none. Raises
    `path_not_found`.
    """
    workspace.source(path)
    around = [
        one
        for one in workspace.engine.store.symbols_of(path)
        if one.start_line <= line <= one.end_line
        and one.kind in CALLABLE_KINDS | CLASS_KINDS
        and one.kind is not Kind.LAMBDA
    ]
    return max(around, key=lambda one: (one.start_byte, -one.end_byte), default=None)
