"""The figures of results: shares and medians with their 95 % intervals, and where agents differ
task by task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb, sqrt
from typing import NamedTuple

from bench.history_tasks.measuring import Result

_Z = 1.959963984540054  # of the normal distribution, for 95 %
_OUTSIDE = 0.05  # that an interval may miss


class Interval(NamedTuple):
    """A figure between its bounds; both None where there are too few values for 95 %."""

    figure: float
    low: float | None
    high: float | None


class Figures(NamedTuple):
    """One agent over all tasks; `tokens` and `turns` of the runs whose transcripts tell them, None
    without any.
    """

    agent: str
    solved: int
    tasks: int
    success: Interval  # share of the tasks
    tokens: Interval | None
    turns: Interval | None
    seconds: Interval


class Comparison(NamedTuple):
    """Two agents on the same tasks: how many both solved, one alone, and neither.

    `chance` is how likely as uneven a split is if both are equally good (an exact sign test).
    """

    first: str
    second: str
    both: int
    first_alone: int
    second_alone: int
    neither: int
    chance: float


def figures(agent: str, results: Iterable[Result]) -> Figures:
    """The figures of an agent, of at least one result."""
    own = [result for result in results if result.agent == agent]
    solved = sum(result.is_solved for result in own)
    tokens = [result.spent.tokens for result in own if result.spent.tokens is not None]
    turns = [result.spent.turns for result in own if result.spent.turns is not None]
    return Figures(
        agent, solved, len(own), share(solved, len(own)),
        median(tokens) if tokens else None, median(turns) if turns else None, median([one.seconds for one in own]),
    )  # fmt: skip


def share(count: int, of: int) -> Interval:
    """A share with Wilson's interval."""
    figure = count / of
    scale = 1 + _Z**2 / of
    middle = (figure + _Z**2 / (2 * of)) / scale
    reach = _Z * sqrt(figure * (1 - figure) / of + _Z**2 / (4 * of**2)) / scale
    return Interval(figure, max(0.0, middle - reach), min(1.0, middle + reach))


def median(values: Sequence[float]) -> Interval:
    """The median with the interval between two of the values, which assumes nothing of how they are
    distributed.
    """
    ordered = sorted(values)
    count = len(ordered)
    figure = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    rank = _rank_of_bound(count)
    if rank == 0:
        return Interval(figure, None, None)
    return Interval(figure, ordered[rank - 1], ordered[count - rank])


def _rank_of_bound(count: int) -> int:
    """The largest rank, from either end, between which the median lies in 95 of 100 samples; 0
    where none does.
    """
    outside, rank = 0.0, 0
    while True:
        outside += 2 * comb(count, rank) / 2**count
        if outside > _OUTSIDE:
            return rank
        rank += 1


def comparison(first: str, second: str, results: Sequence[Result]) -> Comparison:
    """The differences between two agents, on the tasks that both were given."""
    solved = {(result.agent, result.task): result.is_solved for result in results}
    tasks = [task for agent, task in solved if agent == first and (second, task) in solved]
    pairs = [(solved[first, task], solved[second, task]) for task in tasks]
    first_alone, second_alone = pairs.count((True, False)), pairs.count((False, True))
    chance = _chance(first_alone, second_alone)
    return Comparison(
        first,
        second,
        pairs.count((True, True)),
        first_alone,
        second_alone,
        pairs.count((False, False)),
        chance,
    )


def _chance(first: int, second: int) -> float:
    """The probability of a split that is as uneven, or more, if each side is equally likely."""
    count, least = first + second, min(first, second)
    tail = sum(comb(count, rank) for rank in range(least + 1)) / 2.0**count
    return min(1.0, 2 * tail)
