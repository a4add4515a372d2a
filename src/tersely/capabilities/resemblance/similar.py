"""`code.similar`: functions whose code resembles that of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.resemblance.likeness import Likeness, likeness, rows
from tersely.capabilities.text import Style
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Like what, and how much."""

    symbol: str = positional("a function or method", role=Role.SYMBOL)
    kind: Kind | None = option(None, "only a symbol of this kind", metavar="KIND")
    threshold: int = option(50, "the least similarity, in percent", minimum=1, maximum=100, metavar="PERCENT")
    limit: int = limit_option(20, "functions")
    offset: int = offset_option("functions")


@dataclass(frozen=True, slots=True)
class Similar:
    """The functions that resemble `symbol`, the most similar first; differences are from it to them."""

    symbol: str
    threshold: int
    functions: Page[Likeness]


def run(workspace: Workspace, parameters: Parameters) -> Similar:
    """Compare one function with all."""
    from tersely.code.search.duplicates.clusters import similar
    from tersely.code.search.duplicates.comparing import Comparing

    engine = workspace.engine
    symbol = engine.symbol(parameters.symbol, parameters.kind)
    functions = engine.functions
    comparing = Comparing(functions, engine.source, engine.store.symbols_of)
    index = comparing.index_of(symbol)
    if index is None:
        message = f"{symbol.id} is a {symbol.kind.value}, and only functions with a body are compared"
        raise TerselyError("invalid_argument", message, "name a function or method")
    found = similar(functions, index, parameters.threshold / 100, comparing.is_within)
    page = page_of(found, parameters.limit, parameters.offset)
    items = tuple(likeness(index, one, comparing) for one in page.items)
    return Similar(symbol.id, parameters.threshold, Page(items, page.total, page.offset, page.more))


def text(similar: Similar, style: Style) -> str:
    """A line for each function."""
    if not similar.functions.total:
        return f"{style.symbol(similar.symbol)}\nno function is {similar.threshold}% like it"
    lines = [f"  {line}" for line in rows(similar.functions.items, style)]
    return "\n".join([style.symbol(similar.symbol), *lines, *rest_line(similar.functions, "function", style)])


CAPABILITY = Capability(
    name="code.similar",
    summary="Functions whose code resembles that of one, and what differs",
    description="How similar two functions are is the part of their overlapping runs of four tokens that both have "
    "(Jaccard). Comments and documentation do not count, names of variables and literals each count as one and the "
    "same, so a copy whose variables were renamed is still 100% like. The differences are those of the code as "
    "written.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("similar Session.get", "similar validate_token --threshold 70"),
)
