"""What the tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_places import runtime, shop

from tersely.daemon import lifecycle

__all__ = ["no_daemon_stays", "runtime", "shop"]


@pytest.fixture(autouse=True)
def no_daemon_stays(runtime: Path) -> Iterator[None]:
    """A server starts the daemon that it asks, which goes on when the server has ended."""
    yield
    for daemon in lifecycle.running():
        lifecycle.stop(daemon["project"])
