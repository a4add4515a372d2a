"""From a line that somebody wrote to the statements there."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.answers.text import counted
from tersely.capabilities.declaration.declaration import Role, option, positional
from tersely.capabilities.files.places import indexed_file
from tersely.code.routines import Routine, Routines, line_count
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Numbers

if TYPE_CHECKING:
    from tersely.workspace import Workspace

# Declares the routine that is asked about, and of which kind it is.
FUNCTION = positional(
    "a function; a class or a file for the statements of its body", role=Role.SYMBOL
)
ONE_KIND = option(None, "only a symbol of this kind", metavar="KIND")

_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d+)", re.DOTALL)


class StatementPlace(NamedTuple):
    """Statements of a routine at a line of a file."""

    path: str
    line: int
    routines: Routines
    at: int
    statements: Numbers

    @property
    def routine(self) -> Routine:
        """The routine that the line is of."""
        return self.routines.routines[self.at]


def statement_place(workspace: Workspace, place: str) -> StatementPlace:
    """The statements at `FILE:LINE`: of a comment or an empty line those that it stands before."""
    from tersely.code.flow.lines import nearest_statements

    read = _PLACE.fullmatch(place)
    if read is None:
        raise TerselyError("invalid_argument", f"{place!r} is not a place", "write FILE:LINE")
    file, line = indexed_file(workspace, read["path"]), int(read["line"])
    lines = line_count(workspace.engine.source(file.path))
    if not 1 <= line <= lines:
        raise TerselyError(
            "invalid_argument", f"{file.path} has {counted(lines, 'line')}, there is no line {line}"
        )
    routines, at = workspace.engine.flow.at_line(file.path, file.language, line)
    workspace.engine.note_not_understood(
        file.path, routines.routines[at].line, routines.routines[at].end_line
    )
    return StatementPlace(
        file.path, line, routines, at, tuple(nearest_statements(routines.routines[at], line))
    )


def routine_of(workspace: Workspace, name: str, kind: Kind | None) -> tuple[Symbol, Routines, int]:
    """The symbol of a name, the routines of its file, and which of them it is."""
    symbol = workspace.engine.symbol(name, kind)
    workspace.engine.note_not_understood(symbol.path, symbol.start_line, symbol.end_line)
    return (symbol, *workspace.engine.flow.of_symbol(symbol))


def symbol_of(symbols: Sequence[Symbol], routine: Routine) -> Symbol:
    """The symbol of a file that one routine is, as `symbols_of` finds it."""
    return symbols_of(symbols, [routine])[0]


def symbols_of(symbols: Sequence[Symbol], routines: Sequence[Routine]) -> list[Symbol]:
    """The symbol of a file that each routine is; of a function without a name the one that it is
    written in.

    It is found by its lines: languages differ in what they call the same function.
    """
    module = next(symbol for symbol in symbols if symbol.kind is Kind.MODULE)
    waiting = deque(sorted(symbols, key=lambda one: one.start_line))
    begun: list[Symbol] = []
    found = [module] * len(routines)
    for at, routine in sorted(enumerate(routines), key=lambda one: one[1].line):
        while waiting and waiting[0].start_line <= routine.line:
            begun.append(waiting.popleft())
        begun = [one for one in begun if routine.line <= one.end_line]
        if routine.parent >= 0:
            found[at] = _innermost(
                [one for one in begun if routine.end_line <= one.end_line], routine, module
            )
    return found


def _innermost(around: Sequence[Symbol], routine: Routine, module: Symbol) -> Symbol:
    name = routine.name.rpartition(".")[2]
    inside = [one for one in around if one.kind in CALLABLE_KINDS | CLASS_KINDS or one.name == name]
    return min(
        inside, key=lambda one: (one.end_line - one.start_line, one.name != name), default=module
    )


def flow_note(routines: Routines, at: int) -> str:
    """A note where a routine is too large to be followed to its end, "" where it is not."""
    from tersely.code.flow.reaching import MAX_DEFINITIONS, definitions_of

    if len(definitions_of(routines.routines[at])) < MAX_DEFINITIONS:
        return ""
    return f"only the first {MAX_DEFINITIONS:,} places that give variables a value are followed"


def source_lines(source: bytes) -> list[str]:
    """The lines of a file, without their ends."""
    return source.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
