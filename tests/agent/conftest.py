"""What the tests of the agent share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # `bench` is beside the package, not in it

from tests.agent.model_servers import model_server, scripted

__all__ = ["model_server", "scripted"]
