"""Which tests are chosen for symbols by the names that they write."""

from __future__ import annotations

from tersely.code.engine import Engine
from tersely.context.lenses.test_impact.naming import tests_naming as chosen_tests
from tersely.context.lenses.test_impact.suites import Suites

FILES = {
    "shop/cart.py": "class Cart:\n    def add(self, item): ...\n\ndef checkout(cart): return cart\n",
    "shop/tax.py": "def rate(country): return 1\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\ndef test_cart(): Cart().add(1)\n",
    "tests/test_flow.py": "from shop.cart import checkout\n\ndef test_flow(): checkout(None)\n",
    "tests/helpers.py": "from shop.cart import checkout\n\ndef helper(): checkout(None)\n",
    "tests/test_other.py": "def test_nothing(): ...\n",
    "tests/fixtures/test_cart.py": "def test_checkout(): checkout(None)\n",
    "shop/table.py": "class Table:\n    def upsert(self, row): ...\n",
    "tests/test_create.py": "def test_create(table): table.upsert(1)\n",
    "tests/test_upsert.py": "def test_upsert(table): table.upsert(1)\n",
    "lib/basket.ex": "defmodule Basket do\n  def fill(one), do: one\nend\n",
    "lib/basket/test.ex": "defmodule Basket.Test do\n  def made(), do: Basket.fill(1)\nend\n",
    "test/basket_test.exs": "defmodule BasketTest do\n  def made(), do: Basket.fill(1)\nend\n",
    "web/cart.test.js": "test('checkout', () => { checkout() })\n",
}


def chosen(engine: Engine, *queries: str, limit: int = 9) -> list[str]:
    symbols = [engine.symbol(query) for query in queries]
    return chosen_tests(
        symbols, engine.store, Suites(engine.store.symbols_of, engine.source), limit
    )


def test_those_that_write_the_name_or_are_called_after_the_file(engine: Engine) -> None:
    assert chosen(engine, "shop/cart.py:checkout") == ["tests/test_cart.py", "tests/test_flow.py"]
    assert chosen(engine, "Cart.add") == ["tests/test_cart.py"]
    assert chosen(engine, "shop/cart.py:checkout", limit=1) == ["tests/test_cart.py"]


def test_a_file_that_is_called_after_what_it_tests_comes_first(engine: Engine) -> None:
    assert chosen(engine, "Table.upsert") == ["tests/test_upsert.py", "tests/test_create.py"]


def test_of_elixir_only_the_files_that_its_runner_takes(engine: Engine) -> None:
    assert chosen(engine, "Basket.fill") == ["test/basket_test.exs"]


def test_none_for_what_no_test_names(engine: Engine) -> None:
    assert chosen(engine, "shop/tax.py:rate") == []
    assert chosen(engine) == []
