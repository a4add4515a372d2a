"""Planning a pack as databases plan a query: what each operator would cost, what it is likely to be worth, and how far
to follow each within a budget.

The worth of a pack is the expected number of needed symbols that it shows, each weighed by the detail in which it is
shown (`ladder.WORTH`). A symbol counts once, whoever finds it, so this is a monotone submodular function of the steps
taken, and taking steps by worth per token (greedy under a knapsack constraint; Khuller, Moss and Naor, 1999) comes
close to the best choice. Costs are estimated from sizes in bytes: no file is read to plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tersely.code.lenses.candidate import Candidate
from tersely.code.lenses.task.look import Operator, Proposals
from tersely.code.pack.filling import TOKENS_PER_BYTE
from tersely.code.pack.ladder import WORTH, Rung, other_rungs, target_rungs
from tersely.code.pack.model import Detail

MAP_PARTS = (0.15, 0.3)  # of a budget, that a map may take beside others
# Of a task, about. Measured: what a task needs is not what the most code uses. So of what nothing is known, one symbol
# is as likely to be needed as another, and a map is worth the share of all symbols that it shows.
NEEDED_SYMBOLS = 1.6
FILE_TOKENS = 10  # that the heading of a file takes
LEAST_LINE_TOKENS = 6  # of a map


class Outlook(NamedTuple):
    """A map of some size: what it would take, and which share of the symbols outside of tests it shows."""

    tokens: int
    share: float


NOTHING = Outlook(0, 0.0)


@dataclass(frozen=True, slots=True)
class Step:
    """What the plan does with one operator. `tokens` and `worth` are estimates."""

    operator: Operator
    tokens: int
    worth: float  # needed symbols, each weighed by how much of it is shown
    symbols: int  # that it shows
    found: int  # candidates that it has

    @property
    def is_taken(self) -> bool:
        """Whether the plan spends anything on it."""
        return self.tokens > 0


@dataclass(frozen=True, slots=True)
class Plan:
    """How a budget is spent: the steps, the most worth first, and what is left for a map."""

    budget: int
    steps: tuple[Step, ...]
    map_budget: int  # tokens that a map may take, 0 for no map

    @property
    def worth(self) -> float:
        """The expected number of needed symbols, each weighed by how much of it is shown."""
        return sum(step.worth for step in self.steps)


class _Taken(NamedTuple):
    operator: Operator
    symbol_id: str
    tokens: float
    worth: float


def plan(proposals: Proposals, budget: int, symbols: int, map_of: Callable[[int], Outlook]) -> Plan:
    """Choose. `map_of` says what a map of at most so many tokens is.

    That takes long in a large repository, so it is asked only where a map of all its `symbols` may be worth its place.
    """
    steps = _greedy(proposals, budget)
    best = Plan(budget, _steps(steps, proposals, None), 0)
    for part in MAP_PARTS if steps else (1.0,):
        size = int(budget * part)
        replaced = _beyond(steps, budget - size)
        if steps and sum(one.worth for one in replaced) >= _worth_of_map(size / LEAST_LINE_TOKENS / max(1, symbols)):
            continue
        outlook = map_of(size)
        kept = steps[: len(steps) - len(replaced)]
        tried = Plan(budget, _steps(kept, proposals, outlook), size)
        if outlook.tokens and tried.worth > best.worth:
            best = tried
    return best


def _worth_of_map(share: float) -> float:
    return NEEDED_SYMBOLS * WORTH[Detail.SIGNATURE] * min(1.0, share)


def _greedy(proposals: Proposals, budget: int) -> list[_Taken]:
    """The rungs that the budget pays for, those of targets first, then by worth per byte."""
    candidates = proposals.view.candidates
    taken: list[_Taken] = []
    left = float(budget)
    files: set[str] = set()
    reached: dict[int, Detail] = {}
    for rung in (*target_rungs(candidates), *other_rungs(candidates, frozenset())):
        candidate = candidates[rung.candidate]
        cost = rung.size_bytes * TOKENS_PER_BYTE + (FILE_TOKENS if candidate.symbol.path not in files else 0)
        before = reached.get(rung.candidate)
        is_next = rung.detail is Detail.NAME or candidate.whole_only or before is not None
        if cost > left or not is_next:
            continue
        left -= cost
        files.add(candidate.symbol.path)
        reached[rung.candidate] = rung.detail
        taken.append(_taken(candidate, proposals.operators, cost, rung, before))
    return taken


def _taken(
    candidate: Candidate, operators: Mapping[str, Operator], cost: float, rung: Rung, before: Detail | None
) -> _Taken:
    gain = candidate.score * (WORTH[rung.detail] - (WORTH[before] if before is not None else 0.0))
    return _Taken(operators[candidate.symbol.id], candidate.symbol.id, cost, gain)


def _beyond(steps: Sequence[_Taken], tokens: int) -> Sequence[_Taken]:
    """The last steps, which do not fit a smaller budget."""
    used = 0.0
    for position, step in enumerate(steps):
        used += step.tokens
        if used > tokens:
            return steps[position:]
    return ()


def _steps(taken: Sequence[_Taken], proposals: Proposals, outlook: Outlook | None) -> tuple[Step, ...]:
    tokens: Counter[Operator] = Counter()
    worth: dict[Operator, float] = {}
    symbols: dict[Operator, set[str]] = {}
    for one in taken:
        tokens[one.operator] += round(one.tokens)
        worth[one.operator] = worth.get(one.operator, 0.0) + one.worth
        symbols.setdefault(one.operator, set()).add(one.symbol_id)
    found = Counter(proposals.operators[one.symbol.id] for one in proposals.view.candidates)
    steps = [
        Step(operator, tokens[operator], worth.get(operator, 0.0), len(symbols.get(operator, ())), found[operator])
        for operator in Operator
        if operator is not Operator.MAP
    ]
    if outlook is not None:
        steps.append(Step(Operator.MAP, outlook.tokens, _worth_of_map(outlook.share), 0, 0))
    else:
        steps.append(Step(Operator.MAP, 0, 0.0, 0, 0))
    return tuple(sorted(steps, key=lambda step: (-step.worth, list(Operator).index(step.operator))))
