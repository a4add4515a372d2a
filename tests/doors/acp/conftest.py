"""The repository and the scripted model that the agent has in tests."""

from tests.agent.core.conftest import root
from tests.agent.model_servers import scripted

__all__ = ["root", "scripted"]
