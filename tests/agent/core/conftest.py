"""A small repository that the agent works in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

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


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "shop-repository"
    for name, text in FILES.items():
        place = made / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    subprocess.run(["git", "init", "-q", made], check=True)
    return made
