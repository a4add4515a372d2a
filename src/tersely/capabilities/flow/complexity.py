"""`code.complexity`: the cyclomatic complexity of functions, the largest first."""

from __future__ import annotations

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
from tersely.capabilities.files.places import ANYWHERE, files_below, normal
from tersely.capabilities.flow.places import symbols_of
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.index.storage.store import Store
    from tersely.workspace import Workspace


# of source, which take about as many seconds as a million of them; what is behind is counted
MAX_READ_BYTES = 20_000_000


@frozen
class Measured:
    """A function and its number: one, and one more for each decision."""

    id: str
    line: int
    end_line: int
    complexity: int


@frozen
class Complexity:
    """The functions of some files. `unread` files are in languages without control-flow rules.

    `unreached` are those behind the bytes that are read at most: the smallest.
    """

    path: str
    functions: int
    mean: float
    listed: Page[Measured]
    unread: int
    unreached: int


def text(complexity: Complexity, style: Style) -> str:
    """A line a function, the largest number first."""
    functions = counted(complexity.functions, "function")
    lines = [f"{functions}, {complexity.mean:.2f} on average"]
    if complexity.unread:
        lines.append(
            style.doubtful(
                f"{counted(complexity.unread, 'file')} in languages without control-flow rules"
            )
        )
    if complexity.unreached:
        left = counted(complexity.unreached, "smallest file")
        lines.append(
            style.doubtful(
                f"the {left} are behind the {MAX_READ_BYTES:,} bytes that are read: name a directory"
            )
        )
    rows = [(str(one.complexity), one.id, f"line {one.line}") for one in complexity.listed.items]
    lines += indented(rows, [None, style.symbol, style.faint], right=(0,))
    return "\n".join([*lines, *rest_line(complexity.listed, "function", style)])


@capability("code.complexity", text, "complexity src --above 10", "complexity src/app.py")
def run(
    workspace: Workspace,
    *,
    path: str = ANYWHERE,
    above: int = option(0, "only functions above this complexity", minimum=0, metavar="N"),
    limit: int = limit_option(50, "functions"),
    offset: int = offset_option("functions"),
) -> Complexity:
    """Cyclomatic complexity of functions, the largest first.

    One, and one more for each decision: branches, loops, handlers, cases, conditional expressions,
    `and` and `or`, clauses of comprehensions. On Python the numbers are those of radon.
    """
    workspace.engine.note_left_out(normal(path))
    found: list[Measured] = []
    unread = unreached = size = 0
    files, store = files_below(workspace, path), workspace.engine.store
    source_of = workspace.engine.reader()
    for file in sorted(files, key=lambda file: -file.size):
        size += file.size
        if size > MAX_READ_BYTES:
            unreached += 1
            continue
        try:
            found += _measured(file, source_of(file), store)
        except TerselyError as error:
            unread += 1
            if error.code != "unsupported_language" or unread == len(files):
                raise
    mean = sum(one.complexity for one in found) / len(found) if found else 0.0
    chosen = [one for one in found if one.complexity > above]
    chosen.sort(key=lambda one: (-one.complexity, one.id))
    page = page_of(chosen, limit, offset)
    return Complexity(normal(path), len(found), round(mean, 2), page, unread, unreached)


def _measured(file: IndexedFile, source: bytes, store: Store) -> list[Measured]:
    from tersely.code.flow.reader import named_functions

    functions = named_functions(source, file.language)
    symbols = symbols_of(store.symbols_of(file.path), functions) if functions else []
    return [
        Measured(symbol.id, routine.line, routine.end_line, routine.complexity)
        for symbol, routine in zip(symbols, functions, strict=True)
    ]
