"""The tokens of a pack by where they go, and what reading the files it stands for would have cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tersely.context.pack.model import Count, Pack, Render
from tersely.context.pack.texts import Texts
from tersely.foundation.types import frozen


@frozen
class BudgetReport:
    """All figures are tokens of the printed text. `by_part` and `by_file` each add up to those of
    the pack.
    """

    by_part: Mapping[str, int]  # body, signature, …, header, note
    by_file: Mapping[str, int]  # most first; "" for what is about no file
    items: Mapping[str, int]  # how many symbols are shown at each level of detail
    omitted: int  # candidates there was no room for
    whole_files: int  # what the files of all items and extracts cost, whole
    saved_part: float  # of the files' tokens, that the pack does without; 0 if it saves nothing


def budget_report(pack: Pack, texts: Texts, render: Render, count: Count) -> BudgetReport:
    """Account for a fitted pack. Reads its files whole, so it is asked for by itself."""
    by_part: Counter[str] = Counter()
    by_file: Counter[str] = Counter()
    for block in render(pack, count):
        cost = count(block.text)
        by_part[block.part.value] += cost
        by_file[block.path] += cost
    # Where blocks meet, their tokens may merge; the largest share has most of that.
    for counter in (by_part, by_file):
        counter[max(counter, key=counter.__getitem__)] += pack.used - counter.total()
    paths = {item.symbol.path for item in pack.items} | {extract.path for extract in pack.extracts}
    whole_files = sum(count(texts.extract(path).text) for path in sorted(paths))
    return BudgetReport(
        by_part=_ordered(by_part),
        by_file=_ordered(by_file),
        items=_ordered(Counter(item.detail.word for item in pack.items)),
        omitted=sum(times for _, times in pack.omitted),
        whole_files=whole_files,
        saved_part=round(max(0.0, 1 - pack.used / whole_files), 4) if whole_files else 0.0,
    )


def _ordered(counter: Counter[str]) -> dict[str, int]:
    return {
        key: times
        for key, times in sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
        if times
    }
