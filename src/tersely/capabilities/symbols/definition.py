"""`code.definition`: where the names at a place in a file are defined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.capabilities.declaration.declaration import Role, capability, frozen, positional
from tersely.capabilities.files.places import indexed_file
from tersely.code.bounds import missing_text
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.workspace import Workspace

MAX_LINE_NAMES = 100  # names of one line whose definitions are looked up
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")


@frozen
class Place:
    """The place of a definition; `symbol` is its id, empty for a local name."""

    path: str
    line: int
    symbol: str


@frozen
class Defined:
    """A name of the line and the places that may define it, nearest first."""

    name: str
    column: int
    places: tuple[Place, ...]


@frozen
class Definitions:
    """The names on a line that are defined in the repository."""

    path: str
    line: int
    names: tuple[Defined, ...]


def text(definitions: Definitions, style: Style) -> str:
    """One place a line."""
    rows = [
        (
            defined.name if place is defined.places[0] else "",
            f"{place.path}:{place.line}",
            place.symbol,
        )
        for defined in definitions.names
        for place in defined.places
    ]
    return "\n".join(aligned(rows, [style.symbol, None, style.faint]))


@capability("code.definition", text, "definition src/app.py:42", "definition src/app.py:42:17")
def run(
    workspace: Workspace,
    *,
    place: str = positional(
        "a line, or with a column the name there; both count from 1",
        role=Role.PLACE,
        metavar="FILE:LINE[:COLUMN]",
    ),
) -> Definitions:
    """Definitions of the names at a place in a file.

    Followed through imports and re-exports, and to members by the types of values.
    """
    read = _PLACE.fullmatch(place)
    if read is None:
        raise TerselyError(
            "invalid_argument",
            f"{place!r} is not a place",
            "write FILE:LINE or FILE:LINE:COLUMN",
        )
    path, line = indexed_file(workspace, read["path"]).path, int(read["line"])
    text = _line(workspace, path, line)
    names = [(name[0], name.start()) for name in _NAME.finditer(text)][:MAX_LINE_NAMES]
    if read["column"]:
        names = [_name_at(names, int(read["column"]) - 1, place)]
    places, bounds = workspace.engine.notes.collect(_places, workspace, path, line, names)
    workspace.engine.notes.add(*bounds)
    found = [
        Defined(name, column + 1, there)
        for (name, column), there in zip(names, places, strict=True)
    ]
    known = tuple({defined.name: defined for defined in reversed(found) if defined.places}.values())
    if not known:
        hint = "; ".join(
            ("external and built-in names have no definition here", *missing_text(bounds))
        )
        raise TerselyError(
            "symbol_not_found", f"no name at {place} is defined in the repository", hint
        )
    return Definitions(path, line, tuple(reversed(known)))


def _line(workspace: Workspace, path: str, line: int) -> str:
    lines = workspace.engine.source(path).decode("utf-8", "replace").removesuffix("\n").split("\n")
    if not 1 <= line <= len(lines):
        message = f"{path} has {counted(len(lines), 'line')}, there is no line {line}"
        raise TerselyError("invalid_argument", message)
    return lines[line - 1]


def _name_at(names: list[tuple[str, int]], column: int, place: str) -> tuple[str, int]:
    for name, start in names:
        if start <= column < start + len(name):
            return name, start
    found = ", ".join(f"{name} at {start + 1}" for name, start in names) or "none"
    raise TerselyError("invalid_argument", f"no name at {place}", f"names on that line: {found}")


def _places(
    workspace: Workspace, path: str, line: int, names: list[tuple[str, int]]
) -> list[tuple[Place, ...]]:
    """The places that may define each name of a line."""
    found = (workspace.engine.definition(path, line, column) for _, column in names)
    return [tuple(Place(*place) for place in places) for places in found]
