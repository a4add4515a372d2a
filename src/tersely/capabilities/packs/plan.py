"""`code.plan`: a pack for a task in words: the likeliest source, what it leads to, and the names of
the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, indented
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.packs.packet import located, source_lines
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
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.context.lenses.candidate import View
    from tersely.context.lenses.localization.rank import Location
    from tersely.context.pack.change import ChangeView
    from tersely.workspace import Workspace

DEFAULT_PLAN_TOKENS = 1_950  # so that the call and its answer stay within 2,000


@frozen
class Weighed:
    """A symbol that the task may be about."""

    id: str
    chance: float  # that the task changes it, from 0 to 1
    reason: str
    shown: bool


@frozen
class Planned(Packed):
    """A pack for a task, and what was weighed for it, the likeliest first."""

    explained: bool
    # which share of the files to be changed is expected among those that were found
    confidence: float
    weighed: tuple[Weighed, ...]


def aside(found: Planned, style: Style) -> str:
    """The lines beside the answer: what was weighed, if that was asked for, and what a session did."""
    return "\n".join(
        [
            *(_explained(found, style) if found.explained else []),
            *session_lines(found.session, style),
        ]
    )


@capability(
    "code.plan",
    counted_text,
    'plan "retry requests after a timeout" --budget 4000 --fill',
    'plan "fix the crash" --report traceback.txt --explain',
    found=lambda planned: bool(planned.text),
    aside=aside,
    remembering=REMEMBERING,
    cacheable=False,  # what git compares is no part of the revision
)
def run(
    workspace: Workspace,
    *,
    task: Strings = positional(
        "the task in words", default=(), metavar="TASK", minimum=0, role=Role.PROSE
    ),
    report: str = option(
        "",
        "a file that says more of it, such as a traceback or a log; - for standard input",
        role=Role.CONTENT,
    ),
    base: str = option(
        "", "take what has changed since then for the beginning of it; the last commit if none"
    ),
    budget: int = budget_option(DEFAULT_PLAN_TOKENS),
    explain: bool = option(False, "say what was weighed, and how likely each of it is"),
    packing: Packing = group(Packing),
) -> Planned:
    """Build a context pack for a task in words.

    Finds the places of the task as the packet does: by paths, traces, names and messages in its
    text, by words and meaning, and by earlier commits. The likeliest symbols are shown whole, long
    functions as the parts that the task is about, then what they call and extend. Below a floor of
    likelihood nothing is added; --fill uses the whole budget. Uncommitted changes come first where
    the task is about them.

    --explain lists what was weighed. The same task at the same revision has the same pack; no model
    is asked.
    """
    from tersely.context.lenses.localization.task import read_task
    from tersely.context.lenses.neighbours import Neighbours
    from tersely.context.pack.kinds.packet import LEAST_BODY_CHANCE
    from tersely.context.pack.kinds.plan import planned
    from tersely.context.pack.texts import cut_to_parts

    check(packing.memory.reader)
    asked = read_task("\n".join(filter(None, [" ".join(task), report])))
    if not asked.text:
        raise TerselyError("usage", "TASK is missing", "the task in words, or --report FILE")
    location = located(workspace, asked)
    engine = workspace.engine
    engine.notes.add(*location.missing)
    change = _related_change(workspace, base, packing, budget, location)
    plain = workspace.texts()
    source = source_lines(workspace, plain)
    neighbours = Neighbours(engine.graph.nearby, engine.store, plain.source)
    view = planned(location, neighbours, source, budget, fill=packing.memory.fill)
    if change:
        view = _with_change(view, change.view)
    whole = workspace.texts(with_docs=packing.wording.with_docs)
    texts = change.texts_of(view) if change else cut_to_parts(whole, view)
    answer = answered(workspace, packing, view, texts, budget)
    shown = {item.symbol.id for item in answer.pack.items}
    likely = (one.symbol for one in location.symbols if one.chance >= LEAST_BODY_CHANCE)
    engine.note_unread(symbol for symbol in likely if symbol.id in shown)
    weighed = tuple(
        Weighed(one.symbol.id, round(one.chance, 3), one.reason, one.symbol.id in shown)
        for one in location.symbols
    )
    return Planned(
        **answer.fields(),
        explained=explain,
        confidence=round(location.confidence, 3),
        weighed=weighed,
    )


def _related_change(
    workspace: Workspace, base: str, packing: Packing, budget: int, location: Location
) -> ChangeView | None:
    """The change under way, where the task speaks of it: it is the beginning of its task. Where git
    cannot tell, a note says so, unless a base is asked for.
    """
    from tersely.capabilities.packs import diff

    asking = diff.DiffContextParameters(base=base, worktree=not base, packing=packing)
    try:
        around = diff.change_view(workspace, asking, budget)
    except TerselyError as error:
        if base or error.code != "git_unavailable":
            raise
        workspace.engine.notes.add(f"what has changed is not known: {error.message}")
        return None
    if around is None:
        return None
    likely = {one.symbol.id for one in location.symbols}
    is_related = any(
        one.change is not None and one.symbol.id in likely for one in around.view.candidates
    )
    return around if is_related or base else None


def _with_change(view: View, change: View) -> View:
    """The changed symbols before all others."""
    changed = tuple(one for one in change.candidates if one.change is not None or one.is_gone)
    ids = {one.symbol.id for one in changed}
    others = tuple(one for one in view.candidates if one.symbol.id not in ids)
    return replace(
        change,
        candidates=(*changed, *others),
        apart=change.apart | view.apart,
        in_order=view.in_order,
    )


def _explained(found: Planned, style: Style) -> list[str]:
    head = f"{found.used:,} of {found.budget:,} tokens; confidence {found.confidence:.2f}"
    rows = [("", "chance", "why")]
    rows += [
        ("shown" if one.shown else "", f"{one.chance:.2f}", f"{one.id}: {one.reason}")
        for one in found.weighed
    ]
    return [style.heading(head), *indented(rows, [None, None, style.faint], right=(1,))]
