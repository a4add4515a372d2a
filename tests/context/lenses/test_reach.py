"""Tests that reach a change, where the search for them has an end before it is done."""

from __future__ import annotations

import re

import pytest

from tersely.code.engine import Engine
from tersely.code.graph.users import Users
from tersely.code.symbols import Grade
from tersely.context.lenses.test_impact import reach
from tersely.context.lenses.test_impact.reach import Reach, Reaching
from tersely.context.lenses.test_impact.suites import Suites

MANY = 40
FILES = {
    "shop.py": "".join(f"def unused_{number}(): ...\n\n" for number in range(MANY))
    + "def checkout(): return total()\n\ndef total(): return 1\n\nclass Cart:\n    def close(self): ...\n",
    "bank.py": "class Account:\n    def close(self): ...\n",
    "tests/test_shop.py": "from shop import Cart, checkout\n\ndef test_checkout(): assert checkout()\n\n"
    "def test_close(shared): shared.close()\n\ndef test_nothing(): '''checkout'''\n",
    "web/cart.js": "export function pay() {}\n",
    "web/cart.test.js": "import { pay } from './cart';\n\ntest('pays', () => { pay() });\n",
    "web/aisle.js": "import { pay } from './cart';\n\nexport function aisle() { return pay() }\n",
}


def reaching(engine: Engine, changed: str = "shop.py") -> Reaching:
    suites = Suites(engine.store.symbols_of, engine.source)
    search = Reach(Users(engine.graph), engine.store, suites)
    return search.search(engine.store.symbols_of(changed), ())


def grades(found: Reaching) -> dict[str, tuple[Grade, float]]:
    return {one.test.name: (one.grade, one.certainty) for one in found.tests}


def test_all_are_followed_where_there_is_no_end(engine: Engine) -> None:
    found = reaching(engine)
    assert not found.limit
    assert grades(found)["test_checkout"] == (Grade.EXACT, 1.0)


def test_what_was_not_followed_is_said(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "MAX_SEARCHED_SYMBOLS", 0)
    assert re.fullmatch(r"[1-9]\d* symbols that use it not searched", reaching(engine).limit)


def test_changed_symbols_do_not_count_against_the_limit(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MAX_SEARCHED_SYMBOLS", 1)
    found = reaching(engine)
    assert found.limit == ""
    assert grades(found)["test_checkout"] == (Grade.EXACT, 1.0)


def test_of_equally_near_users_the_tests_are_looked_at_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MAX_SEARCHED_SYMBOLS", 1)
    found = reaching(engine, "web/cart.js")
    assert [one.grade for one in found.tests] == [Grade.EXACT]


def test_what_too_many_files_mention_is_not_followed_and_said(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MAX_SEARCHED_FILES", 1)
    found = reaching(engine)
    assert re.fullmatch(r"[1-9]\d* symbols that use it not searched", found.limit)
    assert "test_checkout" in grades(found)
