"""`code.symbol.slice`: symbols with all that they need to compile, then who calls them, within a token budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, group, option, positional
from tersely.capabilities.packs.context import PackedSymbol, packed
from tersely.capabilities.packs.exchange import Exchange
from tersely.capabilities.packs.sessions import REMEMBERING, Memory, Told, answered, check, counted_text, session_aside
from tersely.capabilities.packs.wording import Format, Wording, format_of
from tersely.code.symbols import Kind
from tersely.foundation.limits import MAX_BUDGET_TOKENS, MAX_DEPTH_HOPS, MAX_PAGE_ENTRIES, MAX_TARGET_SYMBOLS

if TYPE_CHECKING:
    from tersely.workspace import Workspace

DEFAULT_SLICE_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """Around what, how far, how much, in which form."""

    symbols: tuple[str, ...] = positional(
        "what the slice is around", role=Role.SYMBOL, metavar="SYMBOL", minimum=1, maximum=MAX_TARGET_SYMBOLS
    )
    kind: Kind | None = option(None, "only symbols of this kind", metavar="KIND")
    depth: int = option(
        1,
        "1: what the symbols need; 2: also what that needs; and so on",
        minimum=0,
        maximum=MAX_DEPTH_HOPS,
        metavar="N",
    )
    limit: int | None = option(
        None, "how many symbols to choose from, the most needed first", minimum=1, maximum=MAX_PAGE_ENTRIES, metavar="N"
    )
    budget: int = option(
        DEFAULT_SLICE_TOKENS,
        "the most tokens that the answer may have",
        minimum=1,
        maximum=MAX_BUDGET_TOKENS,
        metavar="TOKENS",
    )
    wording: Wording = group(Wording)
    exchange: Exchange = group(Exchange)
    memory: Memory = group(Memory)


@dataclass(frozen=True, slots=True)
class Slice:
    """The pack as printed, with what is in it. `used` counts every token of `text`."""

    format: Format
    budget: int
    used: int
    text: str
    targets: tuple[str, ...]
    items: tuple[PackedSymbol, ...]
    whole_files: tuple[str, ...]  # shown in the place of parts that would cost as much
    omitted: dict[str, int]  # by reason, what there was no room for
    session: Told | None


def run(workspace: Workspace, parameters: Parameters) -> Slice:
    """Resolve, choose, fit and print."""
    from tersely.code.lenses.needs import closure, first
    from tersely.code.lenses.neighbours import Neighbours

    check(parameters.memory.reader)
    engine = workspace.engine
    named = (engine.symbol(query, parameters.kind) for query in parameters.symbols)
    targets = list({symbol.id: symbol for symbol in named}.values())
    texts = workspace.texts(with_docs=parameters.wording.with_docs)
    neighbours = Neighbours(engine.graph, engine.store, texts.source)
    view = closure(targets, neighbours, texts.source, parameters.depth)
    if parameters.limit is not None:
        view = first(view, parameters.limit + len(targets))
    budget = parameters.budget
    answer = answered(workspace, parameters.memory, parameters.wording, view, texts, budget, parameters.exchange)
    pack = answer.pack
    return Slice(
        format_of(parameters.wording),
        budget,
        pack.used,
        answer.text,
        pack.targets,
        tuple(packed(pack)),
        pack.whole_files,
        dict(pack.omitted),
        answer.told,
    )


CAPABILITY = Capability(
    name="code.symbol.slice",
    summary="Symbols with their dependencies, then their callers, within a token budget",
    description="A pack of types, bases, constants, decorators, modules and functions that the symbols name or call, "
    "and an imports: line with what comes from outside the repository. No caller has a place in it before every "
    "dependency has one.",
    parameters=Parameters,
    run=run,
    text=counted_text,
    aside=session_aside,
    remembering=REMEMBERING,
    examples=("symbol slice Session.validate --depth 1 --budget 1200", "symbol slice Kettle --session work"),
)
