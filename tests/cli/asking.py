"""A small repository to ask about, what asking gives, and how to ask as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "src/shop/__init__.py": "from .money import Price\n\n__all__ = ['Price']\n",
    "src/shop/money.py": '''"""Money."""

from __future__ import annotations

RATE = 2


class Price:
    """What something costs."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    @property
    def shown(self) -> str:
        """For people."""
        return format_cents(self.cents)

    def validate(self) -> bool:
        return self.cents >= 0


def format_cents(
    cents: int,
) -> str:
    return str(cents * RATE)


def forgotten(x):
    return x
''',
    "src/shop/orders.py": """from . import audit
from .money import Price, format_cents as fmt


class Order:
    def __init__(self, price: Price) -> None:
        self.price = price

    def validate(self) -> bool:
        return self.price.validate()

    def place(self) -> str:
        if not self.validate():
            raise ValueError("no")
        audit.record(self)
        return fmt(self.price.cents)


def checkout(cents: int) -> str:
    return Order(Price(cents)).place()
""",
    "src/shop/audit.py": """import logging


def record(order) -> None:
    from .orders import Order

    logging.info(isinstance(order, Order))
""",
    "tests/test_orders.py": """from shop.orders import checkout


def test_checkout():
    assert checkout(1) == "2"
""",
    "broken.py": "def half(:\n    pass\n\ndef whole():\n    return 1\n",
    "README.md": "# Shop\n",
    "node_modules/dep/index.py": "def dep(): pass\n",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def result(self) -> Any:
        assert self.json["ok"], self.err
        return self.json["result"]


Ask = Callable[..., Answer]


def planted(root: Path) -> Path:
    """The folder, with the small repository in it."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


def as_repository(root: Path) -> None:
    """Make the folder a repository of git, without a commit."""
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)


def asks_inside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on questions are asked inside a repository, without settings."""
    for variable in ("NO_COLOR", "TERSELY_DEBUG", "TERSELY_BUDGET_TOKENS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(root)


def run(words: Sequence[str], cwd: Path, **environment: str) -> Answer:
    """Ask in a process of its own."""
    command = [sys.executable, "-m", "tersely", *words]
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Answer(done.returncode, done.stdout, done.stderr)
