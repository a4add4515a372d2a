"""`code.plan`: the most useful pack for a task in words, planned by what each way of asking costs and is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.declaration import Capability, Role, group, option, positional
from tersely.capabilities.packs.budget import budget_of, budget_option
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Packed,
    Packing,
    answered,
    check,
    counted_text,
    session_lines,
)
from tersely.capabilities.packs.wording import Format, format_of
from tersely.capabilities.text import Style, aligned
from tersely.foundation.errors import TerselyError
from tersely.foundation.escape import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from tersely.capabilities.packs.diff import Looked
    from tersely.capabilities.packs.sessions import Answer
    from tersely.code.lenses.task.clues import Clues
    from tersely.code.lenses.task.evidence import Evidence, Hit, Sources
    from tersely.code.pack.outline import Outline
    from tersely.code.pack.plan import Outlook, Plan, Step
    from tersely.workspace import Workspace

SLICED_LINES = 40  # of a function, from which on a line that the task names stands for its slice
SLICED_SHARE = 0.6  # of its lines, above which a slice saves too little
SEAM_TOKENS = 2  # that two texts may have more together than one by one
MAX_LISTED = 4  # names in a reason
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which task, and how much to tell."""

    task: tuple[str, ...] = positional("the task in words", default=(), metavar="TASK", minimum=0)
    report: str = option(
        "", "a file that says more of it, such as a traceback or a log; - for standard input", role=Role.CONTENT
    )
    base: str = option("", "take what has changed since then for the beginning of it; the last commit if none")
    budget: int | None = budget_option()
    explain: bool = option(False, "say what was weighed, what it costs and what it is likely to be worth")
    packing: Packing = group(Packing)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One operator of the plan. `tokens` and `worth` are estimates made before anything is packed."""

    operator: str
    taken: bool
    tokens: int
    worth: float  # needed symbols, each weighed by how much of it is shown
    symbols: int  # that it shows
    found: int  # that it found
    why: str


@dataclass(frozen=True, slots=True)
class Planned(Packed):
    """A pack for a task, and the plan behind it."""

    explained: bool
    steps: tuple[PlannedStep, ...]


class _Asked(NamedTuple):
    """What was found out before anything is packed."""

    budget: int
    clues: Clues
    evidence: Evidence
    plan: Plan
    outline: Outline | None  # the map, if the plan has one


def run(workspace: Workspace, parameters: Parameters) -> Planned:
    """Probe, plan, and pack."""
    from tersely.code.lenses.task.clues import read_task
    from tersely.code.lenses.task.evidence import gather
    from tersely.code.lenses.task.look import look
    from tersely.code.pack.plan import plan
    from tersely.code.pack.texts import cut_to_parts

    budget = budget_of(workspace, parameters.budget)
    check(parameters.packing.memory.reader)
    clues = read_task("\n".join(filter(None, [" ".join(parameters.task), parameters.report])))
    evidence = gather(clues, _sources(workspace))
    looked = _looked(workspace, parameters, budget)
    proposals = look(evidence, _slices(workspace, evidence), looked.view if looked else None)
    maps: dict[int, Outline] = {}
    chosen = plan(
        proposals, budget, _number(workspace), _map_of(workspace, maps, format_of(parameters.packing.wording))
    )
    outline = maps[chosen.map_budget] if chosen.map_budget else None
    room = max(1, budget - (outline.used + SEAM_TOKENS if outline else 0))
    whole = workspace.texts(with_docs=parameters.packing.wording.with_docs)
    texts = looked.texts_of(proposals.view) if looked else cut_to_parts(whole, proposals.view)
    answer = answered(workspace, parameters.packing, proposals.view, texts, room)
    found = _Asked(budget, clues, evidence, chosen, outline)
    return _planned(workspace, parameters, found, answer)


def _planned(workspace: Workspace, parameters: Parameters, found: _Asked, answer: Answer) -> Planned:
    fields = answer.fields() | {"budget": found.budget}
    shown = {*answer.pack.whole_files, *(item.symbol.path for item in answer.pack.items)}
    if found.outline is not None and _pays(workspace, found.outline, shown):
        text = found.outline.text + (f"\n{answer.text}" if answer.text else "")
        fields |= {"text": text, "used": workspace.tokenizer.count(text)}
    steps = tuple(_step(step, found) for step in found.plan.steps)
    return Planned(**fields, explained=parameters.explain, steps=steps)


def _pays(workspace: Workspace, outline: Outline, shown: Collection[str]) -> bool:
    """Whether a map takes less than the files do that it tells of, but for those of which something is shown anyway."""
    files = {node.id for node in outline.nodes if node.symbol is None and not node.is_directory}
    sources = (workspace.source(path).decode("utf-8", "replace") for path in sorted(files - set(shown)))
    tokens = 0
    return any((tokens := tokens + workspace.tokenizer.count(source)) > outline.used for source in sources)


# What is asked


def _sources(workspace: Workspace) -> Sources:
    from tersely.code.lenses.neighbours import Neighbours
    from tersely.code.lenses.neighbours import look as look_around
    from tersely.code.lenses.task.evidence import MAX_NAMESAKES, Hit, Sources
    from tersely.code.search.searcher import Filters

    engine = workspace.engine
    store = engine.store
    neighbours = Neighbours(engine.graph, store, workspace.texts().source)

    def find(question: str, limit: int) -> Sequence[Hit]:
        found = workspace.search(question, Filters(), limit)
        return [Hit(one.symbol, one.share) for one in found.hits]

    return Sources(
        find,
        lambda name: store.find(name, (), 4 * MAX_NAMESAKES),  # tests are among them
        store.symbols_of,
        [file.path for file in store.files()],
        lambda symbol: look_around([symbol], neighbours, depth=1).candidates,
    )


def _looked(workspace: Workspace, parameters: Parameters, budget: int) -> Looked | None:
    from tersely.capabilities.packs import diff

    asking = diff.Parameters(base=parameters.base, worktree=not parameters.base, packing=parameters.packing)
    return diff.look_at(workspace, asking, budget)


def _slices(workspace: Workspace, evidence: Evidence) -> dict[str, Ranges]:
    """The lines on which a line that the task names depends, where that leaves out much of a long function."""
    from tersely.capabilities.flow.places import statement_place
    from tersely.code.flow.lines import lines_of_all
    from tersely.code.flow.slicing import Direction, slice_of
    from tersely.code.lenses.candidate import merged

    found: dict[str, Ranges] = {}
    for symbol_id, place in evidence.placed.items():
        symbol = evidence.symbols[symbol_id]
        size = symbol.end_line - symbol.start_line + 1
        if size < SLICED_LINES:
            continue
        try:
            at = statement_place(workspace, f"{symbol.path}:{place.line}")
        except TerselyError:
            continue  # nothing is known of what happens in functions of this language, or at this line
        kept = lines_of_all(at.routine, slice_of(at.routine, at.statements, Direction.BACKWARD))
        if 0 < len(kept) <= SLICED_SHARE * size:
            found[symbol_id] = merged([(line, line) for line in kept])
    return found


def _number(workspace: Workspace) -> int:
    """How many symbols a map would show if it showed all."""
    from tersely.code.lenses.ranking import RANKED_KINDS

    counts = workspace.engine.store.counts()["symbols"]
    return sum(number for kind, number in counts.items() if kind in RANKED_KINDS)


def _map_of(workspace: Workspace, maps: dict[int, Outline], form: Format) -> Callable[[int], Outlook]:
    """What a map of some size is; `maps` remembers it. A format for programs has no place for one."""
    from tersely.capabilities.packs.map import outlined
    from tersely.code.pack.plan import NOTHING, Outlook
    from tersely.code.places import is_test

    def asked_for(budget: int) -> Outlook:
        if form is Format.JSON:
            return NOTHING
        try:
            outline, ranks = outlined(workspace, budget)
        except TerselyError:
            return NOTHING  # not even the first line has room
        maps[budget] = outline
        known = {symbol_id for symbol_id in ranks.symbols if not is_test(symbol_id.partition(":")[0])}
        return Outlook(outline.used, len(known.intersection(node.id for node in outline.nodes)) / max(1, len(known)))

    return asked_for


# What is said


def _step(step: Step, found: _Asked) -> PlannedStep:
    why = _why(step, found)
    return PlannedStep(
        step.operator.value, step.is_taken, step.tokens, round(step.worth, 3), step.symbols, step.found, why
    )


def _why(step: Step, found: _Asked) -> str:
    """What speaks for an operator, or why it is left out."""
    from tersely.code.lenses.task.look import Operator

    evidence, clues = found.evidence, found.clues
    if step.operator is Operator.MAP:
        return "nothing else is worth as much for these tokens" if step.is_taken else "all else is worth more"
    told = {
        Operator.NAMES: f"the task names {_listed(evidence.names.values())}",
        Operator.PLACES: f"the task speaks of {_listed(f'{place.path}:{place.line}' for place in clues.places)}",
        Operator.SLICE: "a line of a long function is named",
        Operator.TEXT: f"the task quotes {_listed(evidence.texts.values())}",
        Operator.DIFF: "the working tree differs",
        Operator.SEARCH: f"the best hit has {max(evidence.shares.values(), default=0.0):.0%} of the words",
        Operator.CONTEXT: "calls, is called by, or is used by what the others found",
        Operator.FILES: "stands in the same files",
    }
    if step.found:
        return told[step.operator] if step.is_taken else f"worth too little: {told[step.operator]}"
    found_there = {Operator.NAMES: evidence.names, Operator.PLACES: evidence.placed, Operator.TEXT: evidence.texts}
    if found_there.get(step.operator):
        return f"counted under another: {told[step.operator]}"
    return "nothing of that kind was found"


def _listed(words: Iterable[str]) -> str:
    known = list(dict.fromkeys(words))
    more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
    return visible_line(", ".join(known[:MAX_LISTED]) + more)


def aside(found: Planned, style: Style) -> str:
    """The plan, if it was asked for, and what a session did."""
    told = session_lines(found.session, style)
    return "\n".join([*(_explained(found, style) if found.explained else []), *told])


def _explained(found: Planned, style: Style) -> list[str]:
    worth = sum(step.worth for step in found.steps)
    head = f"{found.used:,} of {found.budget:,} tokens; {worth:.2f} needed symbols expected"
    rows = [("", "tokens", "worth", "a 1,000", "symbols", "why")]
    for step in found.steps:
        density = f"{1_000 * step.worth / step.tokens:.2f}" if step.tokens else ""
        figures = (f"~{step.tokens:,}", f"{step.worth:.2f}") if step.taken else ("", "")
        symbols = f"{step.symbols} of {step.found}" if step.found else ""
        rows.append((step.operator, *figures, density, symbols, step.why))
    return [style.heading(head), *(f"  {line}" for line in aligned(rows, [None] * 5 + [style.faint], right=(1, 2, 3)))]


CAPABILITY = Capability(
    name="code.plan",
    summary="Build a context pack for a task in words, within a token budget",
    description="Looks first for what is cheap to find: names, files, lines of tracebacks and quoted text in the task, "
    "hits of search, uncommitted changes. Each symbol that these ways, their neighbours in the call graph and their "
    "files lead to has a chance of being needed; showing it costs tokens. What is worth most per token is shown until "
    "the budget is spent, and the pack says of each symbol what led to it. Where little else is worth its tokens, a "
    "map of the repository comes first.\n\n"
    "--explain lists every way that was weighed, with what it costs, what it is worth, and why it was taken or left. "
    "The same task at the same revision has the same plan; no model is asked.",
    parameters=Parameters,
    run=run,
    text=counted_text,
    aside=aside,
    remembering=REMEMBERING,
    cacheable=False,  # what git compares is no part of the revision
    examples=(
        'plan "retry requests after a timeout" --budget 2000',
        'plan "fix the crash" --report traceback.txt --explain',
    ),
)
