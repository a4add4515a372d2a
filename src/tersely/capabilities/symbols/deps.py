"""`code.symbol.deps`: what a symbol needs to compile."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned, clipped
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.graph.listing import name_of, path_of
from tersely.code.symbols import Kind
from tersely.foundation.limits import MAX_DEPTH_HOPS

if TYPE_CHECKING:
    from tersely.context.lenses.needs import Need
    from tersely.context.pack.texts import Texts
    from tersely.workspace import Workspace


@frozen
class Dependency:
    """One symbol that `of` needs, as what, and how many steps away; `external:` ones have no kind
    and no lines.
    """

    id: str
    need: str
    depth: int
    of: str
    kind: Kind | None
    path: str
    line: int
    end_line: int
    signature: str


@frozen
class Dependencies:
    """The dependencies of a symbol, nearest first, in the order in which it is read."""

    symbol: str
    needs: Page[Dependency]


def text(found: Dependencies, style: Style) -> str:
    """One dependency a line, by distance and file."""
    page = found.needs
    if not page.total:
        return f"{style.symbol(found.symbol)} has no dependencies"
    blocks = [f"{style.symbol(found.symbol)}  {style.faint(f'needs {page.total:,}')}"]
    rows = [
        (
            name_of(one.id),
            one.need,
            lines_text(one.line, one.end_line) if one.path else "",
            clipped(one.signature),
        )
        for one in page.items
    ]
    lines = iter(aligned(rows, [style.symbol, None, style.faint, style.faint]))
    for (depth, path), group in groupby(page.items, key=lambda one: (one.depth, path_of(one.id))):
        blocks.append(
            f"  {path}" + (f"  {style.faint(f'{depth} steps away')}" if depth > 1 else "")
        )
        blocks += [f"    {next(lines)}" for _ in group]
    return "\n".join([*blocks, *rest_line(page, "dependency", style, "dependencies")])


@capability(
    "code.symbol.deps", text, "symbol deps Session.validate", "symbol deps Session --depth 2"
)
def run(
    workspace: Workspace,
    *,
    symbol: str = positional("the symbol", role=Role.SYMBOL),
    depth: int = option(
        1, "2: also what that needs; and so on", minimum=1, maximum=MAX_DEPTH_HOPS, metavar="N"
    ),
    limit: int = limit_option(100, "dependencies"),
    offset: int = offset_option("dependencies"),
) -> Dependencies:
    """Dependencies of a symbol: types, bases, constants, imports, decorators, callees.

    Names are resolved as the file of the symbol sees them, methods by the call graph. A reference
    is a function that is named but not called; external: is outside the repository.
    """
    from tersely.context.lenses.needs import needs_of

    engine, texts = workspace.engine, workspace.texts()
    meant = engine.symbol(symbol)
    engine.note_not_understood(meant.path, meant.start_line, meant.end_line)
    neighbours = workspace.neighbours(texts)
    needs = needs_of([meant], neighbours, depth)
    page = page_of(needs, limit, offset)
    return Dependencies(meant.id, page.each(lambda need: _dependency(need, texts)))


def _dependency(need: Need, texts: Texts) -> Dependency:
    symbol = need.symbol
    if symbol is None:
        return Dependency(need.id, need.need, need.depth, need.of, None, "", 0, 0, "")
    lines = symbol.path, symbol.start_line, symbol.end_line
    return Dependency(
        symbol.id,
        need.need,
        need.depth,
        need.of,
        symbol.kind,
        *lines,
        texts.signature(symbol).plain,
    )
