"""What the tests of the agent share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.agent.model_servers import model_server, scripted
from tests.warm import forked_analysis

__all__ = ["model_server", "scripted"]


@pytest.fixture(autouse=True)
def processes_that_analyse() -> Iterator[None]:
    """Agents in this process have theirs forked; those in processes of their own start them."""
    with forked_analysis():
        yield
