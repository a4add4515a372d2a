"""The curve of tasks seen by tokens, and how an agent compares with another on the same tasks."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.seen.reading import CAP_TOKENS

BUDGETS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
RESAMPLES = 2_000
SEED = 26

Costs = Mapping[str, int | None]  # by task, the tokens until all was seen, None for never


class Ratio(NamedTuple):
    """How many tokens one agent pays of what another does: the geometric mean over tasks, and its
    95 % interval.
    """

    mean: float
    low: float
    high: float
    wins: int
    losses: int
    ties: int


def curve(costs: Costs) -> dict[str, float]:
    """By budget, the share of tasks that were seen within it; and the median and third quartile of
    tokens.
    """
    paid = sorted(_paid(one) for one in costs.values())
    shares = {
        f"{budget // 1_000}k": sum(one <= budget for one in paid) / len(paid) for budget in BUDGETS
    }
    return {**shares, "median": median(paid), "p75": paid[(3 * len(paid)) // 4]}


def ratio(ours: Costs, others: Costs) -> Ratio:
    """Compare on the tasks that both have; who never sees all has paid the cap."""
    logs = [math.log(_paid(ours[task]) / _paid(others[task])) for task in ours if task in others]
    resampled = random.Random(SEED)
    means = sorted(_mean(resampled.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]
    wins, losses = sum(one < 0 for one in logs), sum(one > 0 for one in logs)
    return Ratio(
        math.exp(_mean(logs)),
        math.exp(low),
        math.exp(high),
        wins,
        losses,
        len(logs) - wins - losses,
    )


def row(
    name: str, costs: Costs, resident: Mapping[str, int], plain: Costs, best: Costs
) -> dict[str, Any]:
    """One agent's line of the table; `resident` are the tokens that it carries along, by task."""
    to_plain, to_best = ratio(costs, plain), ratio(costs, best)
    return {
        "agent": name,
        "tasks": len(costs),
        **curve(costs),
        "resident": median(resident.values()) if resident else None,
        "to_grep": to_plain.mean,
        "95%": f"{to_plain.low:.2f}-{to_plain.high:.2f}",
        "to_best": to_best.mean,
        "wins": to_plain.wins,
        "losses": to_plain.losses,
        "ties": to_plain.ties,
    }


def _paid(cost: int | None) -> int:
    return CAP_TOKENS if cost is None else min(cost, CAP_TOKENS)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
