"""Model servers of tests: each script or random model is served by one process, which ends with the
tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from bench.modelserver.scripts import Reply, write_scripted
from bench.modelserver.server import Server
from tests.agent.random_model import write_random

Scripted = Callable[..., Server]


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """llama.cpp's server with a model that says anything."""
    path = tmp_path_factory.mktemp("random") / "random.gguf"
    write_random(path)
    with Server(path) as server:
        yield server


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Scripted]:
    """`scripted(script, window=8192)` starts a server whose model gives the replies of the script,
    one a turn.

    A reply is a text, or `Reply(text, when=words)` for what follows a message that contains these
    words.
    """
    with ExitStack() as running:

        def start(script: Sequence[Reply | str], window: int = 8_192, port: int = 0) -> Server:
            path = tmp_path / f"scripted{len(list(tmp_path.glob('scripted*.gguf')))}.gguf"
            write_scripted(path, script)
            return running.enter_context(Server(path, window, port=port))

        yield start
