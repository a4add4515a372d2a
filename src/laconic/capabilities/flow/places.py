"""From a line that somebody wrote to the statements there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from laconic.capabilities.files.places import indexed_file
from laconic.code.routines import Routine, Routines
from laconic.foundation.errors import LaconicError

if TYPE_CHECKING:
    from laconic.workspace import Workspace

_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d+)", re.DOTALL)


class StatementPlace(NamedTuple):
    """Statements of a routine at a line of a file."""

    path: str
    line: int
    routines: Routines
    at: int
    statements: tuple[int, ...]

    @property
    def routine(self) -> Routine:
        """The routine that the line is of."""
        return self.routines.routines[self.at]


def statement_place(workspace: Workspace, place: str) -> StatementPlace:
    """The statements at `FILE:LINE`: of a comment or an empty line those that it stands before."""
    from laconic.code.flow.lines import nearest_statements, routine_at

    read = _PLACE.fullmatch(place)
    if read is None:
        raise LaconicError("invalid_argument", f"{place!r} is no place", "write FILE:LINE")
    file, line = indexed_file(workspace, read["path"]), int(read["line"])
    lines = workspace.engine.source(file.path).count(b"\n") + 1
    if not 1 <= line <= lines:
        raise LaconicError("invalid_argument", f"{file.path} has {lines} lines, there is no line {line}")
    routines = workspace.engine.flow.routines(file.path, file.language)
    at = routine_at(routines, line)
    return StatementPlace(file.path, line, routines, at, tuple(nearest_statements(routines.routines[at], line)))


def routine_id(path: str, routine: Routine) -> str:
    """The id of a routine as a symbol, the path alone for a module."""
    return f"{path}:{routine.name}" if routine.name else path


def flow_note(routines: Routines, at: int) -> str:
    """What to say where only control flow is relied on, or a routine is too large to be followed to its end."""
    from laconic.code.flow.reaching import MAX_DEFINITIONS, definitions_of

    notes = []
    if routines.level != "statements":
        notes.append(f"{routines.language}: blocks only; which statement reads what is not promised")
    if len(definitions_of(routines.routines[at])) >= MAX_DEFINITIONS:
        notes.append(f"only the first {MAX_DEFINITIONS:,} places that give variables a value are followed")
    return "; ".join(notes)


def source_lines(source: bytes) -> list[str]:
    """The lines of a file, without their ends."""
    return source.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
