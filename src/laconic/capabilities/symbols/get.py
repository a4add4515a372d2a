"""`code.symbol.get`: the source of one symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from laconic.capabilities.declaration import Capability, Role, option, positional
from laconic.capabilities.text import Style, counted
from laconic.capabilities.values import lines_text
from laconic.code.symbols import Kind
from laconic.foundation.limits import MAX_SHOWN_LINES

if TYPE_CHECKING:
    from laconic.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which symbol, and how much of it."""

    symbol: str = positional("the symbol", role=Role.SYMBOL)
    kind: Kind | None = option(None, "only a symbol of this kind", metavar="KIND")
    limit: int = option(400, "how many lines to show", minimum=1, maximum=MAX_SHOWN_LINES, metavar="N")
    offset: int = option(0, "how many lines to pass over first", minimum=0, maximum=1_000_000, metavar="N")


@dataclass(frozen=True, slots=True)
class Source:
    """A symbol with the lines of its code, each ended by a newline; `more` lines of it follow."""

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int
    first_line: int  # of the code
    code: str
    more: int


def run(workspace: Workspace, parameters: Parameters) -> Source:
    """The lines of the symbol."""
    symbol = workspace.engine.symbol(parameters.symbol, parameters.kind)
    source = workspace.engine.source(symbol.path).decode("utf-8", "replace").replace("\r\n", "\n")
    # Not `splitlines`: a form feed, for one, ends no line that anybody else counts.
    own = source.split("\n")[symbol.start_line - 1 : symbol.end_line]
    shown = own[parameters.offset : parameters.offset + parameters.limit]
    return Source(
        symbol.id,
        symbol.kind,
        symbol.path,
        symbol.start_line,
        symbol.end_line,
        symbol.start_line + parameters.offset,
        "".join(f"{line}\n" for line in shown),
        max(0, len(own) - parameters.offset - len(shown)),
    )


def text(source: Source, style: Style) -> str:
    """A line about the symbol, then its code."""
    about = f"{source.kind.value}, {lines_text(source.line, source.end_line)}"
    lines = [f"{style.symbol(source.id)}  {style.faint(about)}", source.code.rstrip("\n")]
    if source.more:
        following = source.first_line - source.line + source.code.count("\n")
        lines.append(style.doubtful(f"… {counted(source.more, 'more line')}: --offset {following} continues"))
    return "\n".join(lines)


CAPABILITY = Capability(
    name="code.symbol.get",
    summary="The source of one symbol",
    description="The lines as they stand in the file, decorators and documentation included.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("symbol get Session.validate", "symbol get src/auth.py:validate"),
)
