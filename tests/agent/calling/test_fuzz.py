"""A real server, a real grammar, and a model that means nothing: a thousand answers of it.

`python -m bench.callfuzz` asks for ten thousand, over as many paths as a large repository has.
"""

from __future__ import annotations

from bench.callfuzz import fuzz, some_paths
from bench.modelserver.server import Server
from tests.agent.calling.tools import PATHS, TOOLS

from tersely.agent.calling import Paths


def test_no_call_is_malformed_and_no_path_invented(model_server: Server) -> None:
    found = fuzz(model_server, TOOLS, some_paths(60), 750)
    assert found.malformed == ()
    assert found.unknown_paths == ()
    assert found.calls > 600


def test_files_may_be_called_anything(model_server: Server) -> None:
    odd = ['a "quoted" name', "back\\slash", "ü/日本/✓.py", "[x]", "a-b_c (1).txt", "::=", "|", "\\n"]
    found = fuzz(model_server, TOOLS, Paths([*PATHS, *odd]), 250, seed=1)
    assert found.malformed == ()
    assert found.unknown_paths == ()
    assert found.calls > 200
