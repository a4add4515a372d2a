"""A real server, a real grammar, and a model that means nothing."""

from __future__ import annotations

from bench.callfuzz import fuzz, some_paths
from bench.modelserver.server import Server
from tests.agent.calling.tools import TOOLS


def test_no_call_is_malformed_and_no_path_invented(model_server: Server) -> None:
    found = fuzz(model_server, TOOLS, some_paths(500), 150)
    assert found.malformed == ()
    assert found.unknown_paths == ()
    assert found.calls > 120
