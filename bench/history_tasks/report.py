"""Results as text: a table of the agents, one of the tasks, and where agents differ."""

from __future__ import annotations

from collections.abc import Sequence

from bench.history_tasks.figures import Comparison, Figures, Interval
from bench.history_tasks.measuring import Result
from bench.history_tasks.tasks import Cut
from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.foundation.text.escape import visible_line

MAX_TITLE_CHARACTERS = 60  # of a task in the table
_NONE = "–"
_HEAD = ("agent", "solved", "success", "tokens", "turns", "seconds")
_HEAD_OF_TASKS = ("task", "agent", "outcome", "tokens", "turns", "seconds")


def report(
    cut: Cut,
    figures: Sequence[Figures],
    compared: Sequence[Comparison],
    results: Sequence[Result],
    style: Style,
) -> str:
    """All that a reader needs to judge a measurement, losses included."""
    blocks = [
        _tasks_line(cut),
        "\n".join(aligned([_HEAD, *map(_row, figures)], [style.symbol], right=(1, 2, 3, 4, 5))),
        "Medians over tasks. In brackets: 95 % intervals, – where there are too few tasks for one.",
        *map(_compared, compared),
        _results(results, style),
    ]
    return "\n\n".join(blocks) + "\n"


def _tasks_line(cut: Cut) -> str:
    skipped = "; ".join(map(str, cut.skipped))
    others = f" Of {counted(cut.tried, 'commit')} that change code and tests, others were left out: {skipped}."
    return f"{counted(len(cut.tasks), 'task')} of the newest commits.{others if skipped else ''}"


def _row(one: Figures) -> tuple[str, ...]:
    return (
        visible_line(one.agent),
        f"{one.solved} of {one.tasks}",
        f"{_spread(_percent(one.success))} %",
        _NONE if one.tokens is None else _spread(one.tokens),
        _NONE if one.turns is None else _spread(one.turns),
        _spread(one.seconds),
    )


def _percent(share: Interval) -> Interval:
    low, high = (None if bound is None else 100 * bound for bound in (share.low, share.high))
    return Interval(100 * share.figure, low, high)


def _spread(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"{interval.figure:,.0f} [{_NONE}]"
    return f"{interval.figure:,.0f} [{interval.low:,.0f} to {interval.high:,.0f}]"


def _compared(one: Comparison) -> str:
    first, second = visible_line(one.first), visible_line(one.second)
    return (
        f"{first} against {second}: both solved {one.both}, only {first} {one.first_alone}, "
        f"only {second} {one.second_alone}, neither {one.neither}. "
        f"A split as uneven comes about by chance with probability {one.chance:.2f}."
    )


def _results(results: Sequence[Result], style: Style) -> str:
    rows, titled = [], ""
    for one in results:
        title = f"{one.task} {visible_line(one.title)[:MAX_TITLE_CHARACTERS]}"
        rows.append((
            "" if title == titled else title,
            visible_line(one.agent),
            f"{one.outcome} ({one.detail})" if one.detail else one.outcome,
            _NONE if one.spent.tokens is None else f"{one.spent.tokens:,}",
            _NONE if one.spent.turns is None else f"{one.spent.turns:,}",
            f"{one.seconds:,.0f}",
        ))  # fmt: skip
        titled = title
    return "\n".join(aligned([_HEAD_OF_TASKS, *rows], [style.symbol], right=(3, 4, 5)))
