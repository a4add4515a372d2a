"""A recurrent model on a real llama.cpp server: what its cache loses is noticed by its own figures."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from bench.modelserver.server import Server
from tests.agent.core.talking import ALLOWED, wanted
from tests.agent.random_model import write_random_recurrent

from tersely.agent.events import Compacted, Usage
from tersely.agent.models.connecting import connect
from tersely.agent.opening import Options, open_agent

TURNS = 28
WINDOW = 4_096


class Session(NamedTuple):
    """What came of a session: for each compaction the tokens before it, and what the next request
    found cached.
    """

    is_fragile: bool
    before: list[int]
    found: list[int | None]


async def session(server: Server, root: Path) -> Session:
    model = await connect(server.url)
    options = Options(calls="text", reply_tokens=60)
    agent = await open_agent(model, wanted(root, options=options, choices=ALLOWED))
    agent.conversation.retrieves = False
    before: list[int] = []
    found: list[int | None] = []
    for number in range(TURNS):
        async for event in agent.run(f"turn {number} {'so ' * 90}"):
            if isinstance(event, Compacted):
                before.append(event.before)
            elif isinstance(event, Usage) and len(found) < len(before):
                found.append(event.cached_tokens)
    is_fragile = agent.conversation.cache.is_fragile
    await agent.close()
    await model.close()
    return Session(is_fragile, before, found)


def test_a_server_that_loses_the_state_has_turns_leave_late(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "recurrent.gguf"
    write_random_recurrent(path)
    with Server(path, WINDOW, checkpoints=1) as server:
        came = asyncio.run(session(server, root))
    assert came.is_fragile
    # the state is that of the whole prompt, whose beginning is the same
    assert set(came.found) == {0}
    first, *_ = came.before
    late = came.before[2:]
    assert late
    assert min(late) > WINDOW * 0.79 > first  # above 85 % of the window with what comes, not 70 %
