from __future__ import annotations

from collections.abc import Callable

import pytest

from tersely.code.engine import Engine
from tersely.context.lenses.localization.rank import Location, Look
from tersely.context.lenses.localization.task import read_task

FILES = {
    "shop/basket.py": "def total(items):\n    return sum(one.price for one in items)\n",
    "shop/invoice.py": "def send(lines):\n    if not lines:\n        raise ValueError('an invoice needs lines')\n",
}
TASK = "`total` counts free items\n\nSee shop/basket.py; sending then ends with 'an invoice needs lines'."
KINDS = 7


def located(engine: Engine, is_late: Callable[[], bool]) -> Location:
    look = Look(engine.store, engine.search.searcher(), engine.source, engine.subjects(), is_late)
    return look.location(read_task(TASK))


@pytest.mark.parametrize("kinds", range(KINDS + 1))
def test_what_there_was_no_time_for_is_named_and_the_rest_is_given(
    engine: Engine, kinds: int
) -> None:
    times = iter([False] * kinds)
    found = located(engine, lambda: next(times, True))
    assert len(found.missing) == KINDS - kinds
    assert found.files
    assert found.symbols
    assert found.symbols[0].symbol.path in FILES


def test_with_time_nothing_is_missing(engine: Engine) -> None:
    found = located(engine, lambda: False)
    assert found.missing == ()
    assert found.symbols[0].symbol.qualname == "total"
