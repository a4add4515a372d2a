"""`code.symbol.references`: every name that means a symbol, and what it is written for."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.graph.listing import MARKS, grade_text, name_of, sites_text, unread_lines
from tersely.code.places import is_test
from tersely.code.symbols import Grade, Kind
from tersely.code.syntax.nodes.uses import Use
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tersely.workspace import Workspace


@frozen
class Reference:
    """One name; `owner` is the symbol around it, `column` counts from 1."""

    path: str
    line: int
    column: int
    owner: str
    use: Use
    grade: Grade
    rule: str  # of the framework by which it means the symbol, "" without one


@frozen
class References:
    """All names that mean a symbol, by path and place. `tests`: how many of them stand in tests."""

    symbol: str
    kind: Kind
    line: int
    end_line: int
    uses: dict[str, int]  # how many there are of each use, the most frequent first
    tests: int
    references: Page[Reference]
    # files that may refer to it and were not read, or not understood, with the reasons
    unread: Strings


def text(found: References, style: Style) -> str:
    """By file, a line for each symbol and use, with the lines of the names."""
    page = found.references
    about = f"{found.kind.value}, {lines_text(found.line, found.end_line)}"
    unread = unread_lines(found.unread, style)
    if not page.total:
        head = f"{style.symbol(found.symbol)}  {style.faint(about)}"
        return "\n".join([head, style.heading("no references found"), *unread])
    about = about if unread else f"{about}  {MARKS}"
    uses = ", ".join(counted(number, use) for use, number in found.uses.items())
    tests = f"; {found.tests:,} in tests" if found.tests else ""
    blocks = [
        f"{style.symbol(found.symbol)}  {style.faint(about)}",
        style.heading(f"{counted(page.total, 'reference')}: {uses}{tests}"),
        *_lines_by_file(page.items, style),
    ]
    return "\n".join([*blocks, *rest_line(page, "reference", style), *unread])


@capability(
    "code.symbol.references",
    text,
    "symbol references Session",
    "symbol references MAX_RETRIES --use write",
    is_kept=True,
)
def run(
    workspace: Workspace,
    *,
    symbol: str = positional("the symbol: a type, constant, field or function", role=Role.SYMBOL),
    use: Use | None = option(None, "only those of one use", metavar="USE"),
    limit: int = limit_option(200, "references"),
    offset: int = offset_option("references"),
) -> References:
    """References to a symbol: calls, types, bases, imports, reads and writes of its name, links.

    Every name that means the symbol, through imports, aliases and the types of values. Graded as
    calls are: exact (scopes and imports), inferred (types and flow of values), by name (a member of
    something of which nothing is known, where few have the name). Names in comments and strings are
    left out. Of what a framework calls for a URL, links to that are references too, in code and in
    templates: they call nothing.
    """
    engine = workspace.engine
    meant = engine.symbol(symbol)
    every = engine.references.of(meant.id)
    found = [one for one in every if use in {None, one.use}]
    uses = {kind.value: number for kind, number in Counter(one.use for one in found).most_common()}
    page = page_of(found, limit, offset).each(lambda one: Reference(*one))
    tests = sum(is_test(one.path) for one in found)
    unread = engine.unread(meant, {one.path for one in every})
    return References(
        meant.id, meant.kind, meant.start_line, meant.end_line, uses, tests, page, unread
    )


def _lines_by_file(references: Sequence[Reference], style: Style) -> list[str]:
    """The path of each file, and below it a line for each symbol and use."""
    groups: dict[tuple[str, str, Use, str], list[int]] = {}
    for one in references:
        grade = grade_text(one.grade, one.rule)
        groups.setdefault((one.path, one.owner, one.use, grade), []).append(one.line)
    rows = [
        (name_of(owner), use.value, sites_text(tuple(dict.fromkeys(lines))), grade)
        for (_, owner, use, grade), lines in groups.items()
    ]
    written = iter(aligned(rows, [style.symbol, None, style.faint, style.doubtful]))
    found: list[str] = []
    for path, group in groupby(groups, key=lambda key: key[0]):
        found.append(f"  {path}")
        found += [f"    {next(written)}" for _ in group]
    return found
