"""`code.context`: what is worth knowing around some symbols, within a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import budget_of
from tersely.capabilities.answers.text import Style, counted, indented
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Packed,
    Packing,
    answered,
    check,
    counted_text,
    session_lines,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_DEPTH_HOPS, MAX_DEPTH_HOPS, MAX_TARGET_SYMBOLS
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.capabilities.packs.sessions import Answer
    from tersely.code.symbols import Symbol
    from tersely.context.pack.excerpt import Line
    from tersely.context.pack.report import BudgetReport
    from tersely.workspace import Workspace


@frozen
class Context(Packed):
    """A pack around some symbols."""

    targets: Strings
    report: BudgetReport | None


def aside(context: Context, style: Style) -> str:
    """The lines beside the answer: where the tokens went, if it was asked for, and what the session
    did.
    """
    return "\n".join([*_report_lines(context, style), *session_lines(context.session, style)])


@capability(
    "code.context",
    counted_text,
    "context Session.validate --budget 2000",
    "context validate_token --budget 2000 --format ultracompact",
    "context login logout --depth 1 --with-docs --include src/settings.py:1-40",
    aside=aside,
    is_kept=True,
    remembering=REMEMBERING,
)
def run(
    workspace: Workspace,
    *,
    symbols: Strings = positional(
        "what the context is for",
        default=(),
        role=Role.SYMBOL,
        metavar="SYMBOL",
        minimum=0,
        maximum=MAX_TARGET_SYMBOLS,
    ),
    slice: str | None = option(
        None,
        "of the function there show only what that line depends on",
        role=Role.PLACE,
        metavar="FILE:LINE",
    ),
    depth: int = option(
        DEFAULT_DEPTH_HOPS,
        "how many calls to follow",
        minimum=0,
        maximum=MAX_DEPTH_HOPS,
        metavar="N",
    ),
    budget: int | None = budget_option(),
    packing: Packing = group(Packing),
    explain: bool = option(
        False, "say where the tokens went and what the whole files would have cost"
    ),
) -> Context:
    """Build a context pack for one or more symbols.

    Full code for what matters most, signatures for the rest, names for what no longer fits, each
    with the reason why it is there. The budget counts every token that is printed, and is never
    exceeded.

    ultracompact says each path once and each symbol in one line; json and markdown are for programs
    and documents.
    """
    from tersely.context.lenses.neighbours import view_of

    check(packing.memory.reader)
    engine = workspace.engine
    targets = list({symbol.id: symbol for symbol in map(engine.symbol, symbols)}.values())
    if not (targets or slice or packing.exchange.include):
        hint = "name a SYMBOL, a line with --slice FILE:LINE, or --include what is to be shown"
        raise TerselyError("usage", "SYMBOL is missing", hint)
    bodies = _sliced_bodies(workspace, slice, targets)
    engine.note_unread(targets)
    texts = workspace.texts(bodies, with_docs=packing.wording.with_docs)
    neighbours = workspace.neighbours(texts)
    is_slice = bool(bodies)  # of which less of the file around it is shown
    view = view_of(targets, neighbours, depth=depth, siblings=not is_slice)
    view = replace(
        view, apart=view.apart | {target.path for target in targets if target.id in bodies}
    )
    answer = answered(workspace, packing, view, texts, budget_of(workspace, budget))
    report = _report(workspace, answer) if explain else None
    return Context(**answer.fields(), targets=answer.pack.targets, report=report)


def _sliced_bodies(
    workspace: Workspace, place: str | None, targets: list[Symbol]
) -> dict[str, list[Line]]:
    """The body of the function at a place cut to a program slice, by the id of the function; it
    becomes a target.
    """
    if place is None:
        return {}
    from tersely.capabilities.flow.places import source_lines, statement_place, symbol_of
    from tersely.code.flow.lines import lines_of_all
    from tersely.code.flow.slicing import Direction, slice_of
    from tersely.context.pack.sliced import sliced

    found = statement_place(workspace, place)
    symbol = symbol_of(workspace.engine.store.symbols_of(found.path), found.routine)
    kept = lines_of_all(
        found.routine, slice_of(found.routine, found.statements, Direction.BACKWARD)
    )
    if all(target.id != symbol.id for target in targets):
        targets.insert(0, symbol)
    lines = source_lines(workspace.engine.source(found.path))
    return {symbol.id: sliced(lines, symbol.start_line, symbol.end_line, set(kept))}


def _report(workspace: Workspace, answer: Answer) -> BudgetReport:
    from tersely.context.pack.report import budget_report
    from tersely.context.render.formats import format_named

    return budget_report(
        answer.pack, answer.texts, format_named(answer.format.value), workspace.tokenizer.count
    )


def _report_lines(context: Context, style: Style) -> list[str]:
    report = context.report
    if report is None:
        return []
    saved = f", {report.saved_part:.0%} saved" if report.saved_part else ""
    lines = [
        style.heading(f"{context.used:,} of {context.budget:,} tokens")
        + style.faint(f"  the whole files: {report.whole_files:,}{saved}")
    ]
    rows = [
        (part, f"{tokens:,}", counted(report.items[part], "symbol") if part in report.items else "")
        for part, tokens in report.by_part.items()
    ]
    lines += indented(rows, [None, None, style.faint], right=(1,))
    files = [(path or "(no file)", f"{tokens:,}") for path, tokens in report.by_file.items()]
    lines += indented(files, right=(1,))
    if report.omitted:
        lines.append(style.faint(f"  {report.omitted:,} more symbols had no room"))
    return lines
