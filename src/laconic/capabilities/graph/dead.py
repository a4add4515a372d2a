"""`code.dead`: definitions that nothing uses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from laconic.capabilities.declaration import Capability, Role, option, positional
from laconic.capabilities.files.places import files_below
from laconic.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from laconic.capabilities.text import Style, aligned, counted
from laconic.capabilities.values import lines_text
from laconic.code.symbols import Kind

if TYPE_CHECKING:
    from laconic.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where to look."""

    path: str = positional("a directory or file; without it the whole repository", default="", role=Role.PATH)
    kind: Kind | None = option(None, "only symbols of this kind", metavar="KIND")
    tests: bool = option(False, "list what is in tests too; what runs them calls it")
    limit: int = limit_option(100, "symbols")
    offset: int = offset_option("symbols")


@dataclass(frozen=True, slots=True)
class DeadSymbol:
    """A definition whose name nobody writes."""

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Dead:
    """By file and place."""

    lines: int  # of all dead definitions together
    symbols: Page[DeadSymbol]


def run(workspace: Workspace, parameters: Parameters) -> Dead:
    """Everything that nothing uses."""
    from laconic.code.graph.dead import dead
    from laconic.code.lenses.places import is_test

    engine = workspace.engine
    paths = [
        file.path for file in files_below(workspace, parameters.path) if parameters.tests or not is_test(file.path)
    ]
    symbols = (symbol for path in paths for symbol in engine.store.symbols_of(path))
    found = dead(symbols, engine.graph.evaluator)
    listed = [
        DeadSymbol(symbol.id, symbol.kind, symbol.path, symbol.start_line, symbol.end_line)
        for symbol in found
        if parameters.kind in {None, symbol.kind}
    ]
    lines = sum(symbol.end_line - symbol.line + 1 for symbol in listed)
    return Dead(lines, page_of(listed, parameters.limit, parameters.offset))


def text(dead: Dead, style: Style) -> str:
    """By file."""
    if not dead.symbols.total:
        return "nothing here is without use, as far as names can tell"
    blocks = [f"{counted(dead.symbols.total, 'symbol')}, {counted(dead.lines, 'line')}, whose names nothing uses"]
    for path, group in groupby(dead.symbols.items, key=lambda symbol: symbol.path):
        rows = [
            (lines_text(symbol.line, symbol.end_line), symbol.kind.value, symbol.id.removeprefix(f"{path}:"))
            for symbol in group
        ]
        lines = aligned(rows, [style.faint, style.faint, style.symbol], right=(0,))
        blocks += [style.heading(path), *(f"  {line}" for line in lines)]
    return "\n".join([*blocks, *rest_line(dead.symbols, "symbol", style)])


CAPABILITY = Capability(
    name="code.dead",
    summary="Functions and classes whose names nothing in the repository uses",
    description="What a library offers to others looks dead here too. Left out is what is called without being named: "
    "tests, what a decorator has taken hold of, what overrides a member of a base from outside, what is listed as "
    "exported. A name that is used may still belong to another definition: there may be more.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("dead", "dead src --kind function"),
)
