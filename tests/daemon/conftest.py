"""What the tests of the daemon share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.asking import Talk, serving
from tests.own_places import runtime, shop

__all__ = ["runtime", "shop"]


@pytest.fixture
def talk(shop: Path) -> Iterator[Talk]:
    """A connection to a daemon of the shop."""
    with serving(shop), Talk(shop) as talk:
        yield talk
