"""`code.symbol.slice`: symbols with all that they need to compile, then who calls them, within a
token budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.declaration.values import OF_KIND
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Packed,
    Packing,
    answered,
    check,
    counted_text,
    session_aside,
)
from tersely.code.symbols import Kind
from tersely.foundation.limits import (
    MAX_DEPTH_HOPS,
    MAX_PAGE_ENTRIES,
    MAX_TARGET_SYMBOLS,
)
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.workspace import Workspace

DEFAULT_SLICE_TOKENS = 1_000


@frozen
class Slice(Packed):
    """A pack of symbols with what they need."""

    targets: Strings


@capability(
    "code.symbol.slice",
    counted_text,
    "symbol slice Session.validate --depth 1 --budget 1200",
    "symbol slice Kettle --session work",
    aside=session_aside,
    remembering=REMEMBERING,
)
def run(
    workspace: Workspace,
    *,
    symbols: Strings = positional(
        "what the slice is around",
        role=Role.SYMBOL,
        metavar="SYMBOL",
        minimum=1,
        maximum=MAX_TARGET_SYMBOLS,
    ),
    kind: Kind | None = OF_KIND,
    depth: int = option(
        1,
        "1: what the symbols need; 2: also what that needs; and so on",
        minimum=0,
        maximum=MAX_DEPTH_HOPS,
        metavar="N",
    ),
    limit: int | None = option(
        None,
        "how many symbols to choose from, the most needed first",
        minimum=1,
        maximum=MAX_PAGE_ENTRIES,
        metavar="N",
    ),
    budget: int = budget_option(DEFAULT_SLICE_TOKENS),
    packing: Packing = group(Packing),
) -> Slice:
    """Symbols with their dependencies, then their callers, within a token budget.

    A pack of types, bases, constants, decorators, modules and functions that the symbols name or
    call, and an imports: line with what comes from outside the repository. No caller has a place in
    it before every dependency has one.
    """
    from tersely.context.lenses.needs import closure, first

    check(packing.memory.reader)
    engine = workspace.engine
    named = (engine.symbol(query, kind) for query in symbols)
    targets = list({symbol.id: symbol for symbol in named}.values())
    engine.note_unread(targets)
    texts = workspace.texts(with_docs=packing.wording.with_docs)
    neighbours = workspace.neighbours(texts)
    view = closure(targets, neighbours, depth)
    if limit is not None:
        view = first(view, limit + len(targets))
    answer = answered(workspace, packing, view, texts, budget)
    return Slice(**answer.fields(), targets=answer.pack.targets)
