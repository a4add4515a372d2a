"""A small repository that the agent works in."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repositories import initialized

FILES = {
    "shop/prices.py": "def total(items):\n    return sum(price(item) for item in items)\n\n\n"
    "def price(item):\n    return item['price'] * item['count']\n",
    "shop/orders.py": "from shop.prices import total\n\n\n"
    "def order(items):\n    return {'items': items, 'total': total(items)}\n\n\n"
    "def invoice(items):\n    return f'{total(items):.2f}'\n",
    "shop/__init__.py": "",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n"
    "    assert price({'price': 2, 'count': 3}) == 6\n",
    "README.md": "# Shop\n",
}


def made_shop(made: Path, modules: int = 0) -> Path:
    """The repository, in a folder that is made, with some modules more that are empty."""
    more = {f"shop/a_long_name_of_a_module_{number}.py": "" for number in range(modules)}
    for name, text in {**FILES, **more}.items():
        place = made / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return initialized(made)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made_shop(tmp_path / "shop-repository")
