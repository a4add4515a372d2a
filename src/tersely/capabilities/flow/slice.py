"""`code.slice`: the statements that a line depends on, or that depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.flow.places import flow_note, source_lines, statement_place, symbol_of
from tersely.capabilities.flow.variables import known_variable
from tersely.code.flow.slicing import Direction
from tersely.foundation.limits import MAX_SLICED_CALLEES
from tersely.foundation.types import Numbers, Strings

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class SlicePart:
    """The lines of one function. `code` has them as they are written if that was asked for, else
    nothing.
    """

    symbol: str
    path: str
    line: int
    end_line: int
    lines: Numbers
    code: Strings
    # the line of the call through which it was reached, 0 for the function of the criterion and
    # those around it
    called_on: int


@frozen
class Slice:
    """A program slice: the part of the function first, then those of functions that it is written in,
    then of those that it calls.
    """

    path: str
    line: int
    variable: str
    direction: Direction
    parts: tuple[SlicePart, ...]
    note: str


def text(found: Slice, style: Style) -> str:
    """A heading a function, then its lines: as ranges, or with their code and the gaps between
    them.
    """
    from tersely.context.lenses.candidate import ranged_lines

    about = f" of {found.variable}" if found.variable else ""
    heads = [f"{found.direction.value} slice{about} from {found.path}:{found.line}"]
    heads += [style.doubtful(found.note)] if found.note else []
    for part in found.parts:
        of = part.end_line - part.line + 1
        through = f", called on line {part.called_on}" if part.called_on else ""
        heads.append(
            f"{style.symbol(part.symbol)}  {style.faint(f'{len(part.lines)} of {of} lines{through}')}"
        )
        heads += (
            _code_lines(part, style)
            if part.code
            else [f"  {ranged_lines(part.lines, ', ') or 'no statements'}"]
        )
    return "\n".join(heads)


@capability(
    "code.slice",
    text,
    "slice src/app.py:42",
    "slice src/app.py:42 --variable token --with-code",
    "slice src/app.py:42 --forward",
)
def run(
    workspace: Workspace,
    *,
    place: str = positional("a line", role=Role.PLACE, metavar="FILE:LINE"),
    variable: str | None = option(
        None, "only what this variable's value there depends on, or reaches", metavar="NAME"
    ),
    direction: Direction = option(
        Direction.BACKWARD,
        "backward: what the line depends on; forward: what depends on it",
        shorthand=True,
    ),
    with_code: bool = option(False, "show the code of the lines"),
    through_calls: bool = option(
        False, "go into the functions that are called on the way, one call deep"
    ),
) -> Slice:
    """Program slice: the statements that a line depends on, or that depend on it.

    The closure under data and control dependence inside one function, statement by statement. It
    goes on in enclosing functions that share variables with it. A line inside a statement, a
    decorator, or a comment stands for its statement. With --through-calls the functions that the
    slice calls are sliced too: backward from what they return, forward from what they take.
    """
    from tersely.code.flow.interprocedural import called_lines, parts_around, parts_of_callees
    from tersely.code.flow.lines import lines_of_all
    from tersely.code.flow.slicing import slice_of

    at = statement_place(workspace, place)
    routine = at.routine
    name = known_variable(variable, routine, at.path)
    statements = slice_of(routine, at.statements, direction, name)
    path, lines = at.path, tuple(lines_of_all(routine, statements))
    code = workspace.engine.source if with_code else None
    symbols = workspace.engine.store.symbols_of(path)
    identity = symbol_of(symbols, routine).id
    parts = [_part(path, routine.line, routine.end_line, identity, lines, code, 0)]
    for one in parts_around(at.routines, at.at, statements, direction):
        around = at.routines.routines[one.at]
        outer = symbol_of(symbols, around).id
        parts.append(_part(path, around.line, around.end_line, outer, one.lines, code, 0))
    notes = [flow_note(at.routines, at.at)]
    if through_calls:
        callees = workspace.engine.called_on(path, called_lines(routine, statements))
        for part in parts_of_callees(workspace.engine.flow, callees, direction):
            inner = part.routine
            parts.append(
                _part(
                    part.path,
                    inner.line,
                    inner.end_line,
                    part.symbol,
                    part.lines,
                    code,
                    part.called_on,
                )
            )
            workspace.engine.note_not_understood(part.path, inner.line, inner.end_line)
        if len(callees) > MAX_SLICED_CALLEES:
            notes.append(
                f"of {len(callees)} functions that are called the first {MAX_SLICED_CALLEES} are sliced"
            )
    note = "; ".join(filter(None, notes))
    return Slice(path, at.line, name, direction, tuple(parts), note)


def _part(
    path: str,
    line: int,
    end_line: int,
    symbol: str,
    lines: Numbers,
    code: object,
    called_on: int,
) -> SlicePart:
    texts = source_lines(code(path)) if callable(code) else []
    shown = tuple(texts[number - 1] for number in lines if number <= len(texts))
    return SlicePart(symbol, path, line, end_line, lines, shown, called_on)


def _code_lines(part: SlicePart, style: Style) -> list[str]:
    width = len(str(part.lines[-1]))
    shown = []
    last = part.lines[0] - 1
    for number, line in zip(part.lines, part.code, strict=False):
        if number > last + 1:
            shown.append(f"  {' ' * width}  {style.faint(f'⋯ {lines_text(last + 1, number - 1)}')}")
        shown.append(f"  {style.faint(f'{number:>{width}}')}  {line}".rstrip())
        last = number
    return shown
