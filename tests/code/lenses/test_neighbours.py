"""The symbol lens on a repository that is really indexed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tersely.code.engine import Engine
from tersely.code.lenses.candidate import View
from tersely.code.lenses.neighbours import Neighbours, look

FILES = {
    "shop/__init__.py": "from shop.models import Order\n",
    "shop/models.py": (
        "LIMIT = 3\n\nclass Order:\n    total: int\n\n    def add(self): self.check()\n\n    def check(self): ...\n"
    ),
    "shop/settings.py": "from shop.models import *\n\nRATE = 2\n",
    "shop/pay.py": (
        "from shop import Order as O, settings\nfrom shop.settings import LIMIT, RATE\n\n"
        "def pay(order: O) -> int:\n    order.add()\n    return LIMIT * RATE\n"
    ),
    "tests/test_pay.py": "from shop.pay import pay\n\ndef test_pay(): assert pay(1)\n",
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        yield engine


def seen(engine: Engine, query: str) -> View:
    return look([engine.symbol(query)], Neighbours(engine.graph, engine.store, engine.source))


def reasons(view: View) -> dict[str, str]:
    return {candidate.symbol.id: candidate.reason for candidate in view.candidates}


def test_calls_tests_and_what_names_mean_in_other_files(engine: Engine) -> None:
    assert reasons(seen(engine, "pay")) == {
        "shop/pay.py:pay": "target",
        "shop/models.py:Order": "type",
        "shop/models.py:LIMIT": "constant",
        "shop/settings.py:RATE": "constant",
        "shop/models.py:Order.add": "callee",
        "shop/models.py:Order.check": "callee",
        "tests/test_pay.py:test_pay": "test",
    }


def test_a_class_comes_with_its_members(engine: Engine) -> None:
    found = reasons(seen(engine, "Order"))
    assert [found[f"shop/models.py:Order.{name}"] for name in ("add", "check")] == ["member", "member"]


def test_it_sees_the_same_every_time(engine: Engine) -> None:
    assert seen(engine, "pay") == seen(engine, "pay")


def test_siblings_are_what_stands_apart_in_the_same_file(engine: Engine) -> None:
    neighbours = Neighbours(engine.graph, engine.store, engine.source)
    assert [one.qualname for one in neighbours.beside(engine.symbol("Order.add"))] == ["Order.check"]
    assert neighbours.beside(engine.symbol("Order")) == []
    view = look([engine.symbol("Order.check")], neighbours, siblings=True)
    assert reasons(view)["shop/models.py:Order.add"] == "caller"  # what is related is told as that
