"""`code.dead`: definitions that nothing refers to."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, counted, indented
from tersely.capabilities.declaration.declaration import (
    capability,
    frozen,
    option,
)
from tersely.capabilities.declaration.values import OF_KIND, lines_text
from tersely.capabilities.files.places import ANYWHERE, files_below
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class DeadSymbol:
    """A definition whose name no code writes; `in_text` if a string or comment does."""

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int
    in_text: bool


@frozen
class Dead:
    """By file and place."""

    lines: int  # of all listed definitions together
    symbols: Page[DeadSymbol]
    only_in_text: int  # how many are not listed because strings or comments name them


def text(dead: Dead, style: Style) -> str:
    """By file."""
    blocks = [
        f"{counted(dead.symbols.total, 'unreferenced symbol')}, {counted(dead.lines, 'line')}"
    ]
    if not dead.symbols.total:
        blocks = ["no unreferenced symbols"]
    for path, group in groupby(dead.symbols.items, key=lambda symbol: symbol.path):
        rows = [
            (
                lines_text(symbol.line, symbol.end_line),
                symbol.kind.value,
                symbol.id.removeprefix(f"{path}:"),
                "named in text" if symbol.in_text else "",
            )
            for symbol in group
        ]
        paints = [style.faint, style.faint, style.symbol, style.doubtful]
        blocks += [style.heading(path), *indented(rows, paints, right=(0,))]
    blocks += rest_line(dead.symbols, "symbol", style)
    if dead.only_in_text:
        blocks.append(
            style.faint(
                f"{dead.only_in_text:,} more are named in strings or comments: --all lists them"
            )
        )
    return "\n".join(blocks)


@capability("code.dead", text, "dead", "dead src --kind function")
def run(
    workspace: Workspace,
    *,
    path: str = ANYWHERE,
    kind: Kind | None = OF_KIND,
    all: bool = option(False, "list also what strings or comments name"),
    limit: int = limit_option(100, "symbols"),
    offset: int = offset_option("symbols"),
) -> Dead:
    """Unreferenced functions and classes.

    Judged by names; the public interface of a library looks dead too. Symbols that are called
    without their name are left out: tests, handlers with a decorator or annotation of a framework,
    overrides of outside members, exports. There may be more, since a used name may belong to
    another definition. Of names that are built when the program runs, only those are known that
    begin or end with a constant. Templates and other files that are not source are not read.
    """
    from tersely.code.graph.dead import dead, in_other_text
    from tersely.code.index.unread import left_out_texts
    from tersely.code.places import is_test

    engine = workspace.engine
    files = files_below(workspace, path)
    paths = {file.path for file in files if not is_test(file.path)}
    symbols = (symbol for symbol in engine.store.unmentioned_symbols() if symbol.path in paths)
    unused = dead(symbols, engine.graph, engine.source)
    found = [one for one in unused if kind in {None, one.kind}]
    sources = chain(
        map(engine.reader(), engine.store.files()),
        left_out_texts(str(engine.root), engine.store, engine.note_incomplete),
    )
    named = in_other_text({symbol.name for symbol in found}, sources, engine.graph.evaluator)
    listed = [
        DeadSymbol(
            symbol.id,
            symbol.kind,
            symbol.path,
            symbol.start_line,
            symbol.end_line,
            symbol.name in named,
        )
        for symbol in found
        if all or symbol.name not in named
    ]
    lines = sum(symbol.end_line - symbol.line + 1 for symbol in listed)
    return Dead(lines, page_of(listed, limit, offset), len(found) - len(listed))
