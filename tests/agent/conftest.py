"""What the tests of the agent share."""

from __future__ import annotations

from tests.agent.model_servers import model_server, scripted

__all__ = ["model_server", "scripted"]
