"""A repository with a history: commits that are tasks, and commits that are none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PRICES = "def price(item):\n    return item['price']\n"
ROUNDED = "def price(item):\n    return round(item['price'] * item['count'], 2)\n"
DISCOUNTED = f"{ROUNDED}\n\ndef discounted(item):\n    return price(item) / 2\n"
CHECK = "from shop.prices import price\n\nassert price({'price': 1.004, 'count': 2}) == 2.01\n"
CHECK_DISCOUNT = (
    "from shop.prices import discounted\n\nassert discounted({'price': 4, 'count': 1}) == 2\n"
)
HISTORY = (
    ("Begin the shop and its prices", {"shop/__init__.py": "", "shop/prices.py": PRICES}),
    (
        "Round the price of an item to cents (#12)\n\nThe count matters too.\n\nSigned-off-by: Somebody",
        {"shop/prices.py": ROUNDED, "tests/test_prices.py": CHECK},
    ),
    ("Say what the shop is in a comment", {"shop/prices.py": f"# A shop.\n{ROUNDED}"}),
    (
        "Discount items by half their price",
        {"shop/prices.py": DISCOUNTED, "tests/test_discount.py": CHECK_DISCOUNT},
    ),
    (
        "Check again what was right before",
        {"shop/__init__.py": "A = 1\n", "tests/test_again.py": CHECK},
    ),
    (
        "Break a check that cannot succeed",
        {"shop/__init__.py": "A = 2\n", "tests/test_broken.py": "assert False\n"},
    ),
)


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop-repository"
    root.mkdir()
    git(root, "init", "-q")
    for message, files in HISTORY:
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", message)
    return root
