"""A repository, a toolbox for it, and calls as the loop makes them."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tersely.agent.tools.declaration import AgentTool, Observation
from tersely.agent.tools.table import TOOLS
from tersely.agent.tools.toolbox import Choices, Toolbox
from tersely.cli.builtin.daemon import ANSWER_WORDS

BY_NAME = {tool.name: tool for tool in TOOLS}
# A toolbox is used on one event loop.
RUNNER = asyncio.Runner()
atexit.register(RUNNER.close)


def tool(name: str) -> AgentTool:
    return BY_NAME[name]


@contextmanager
def opened(root: Path, kept: Path, **choices: Any) -> Iterator[Toolbox]:
    toolbox = Toolbox.open(root, kept, "session", ANSWER_WORDS, Choices(**choices))

    try:
        yield toolbox
    finally:
        close(toolbox)


def close(toolbox: Toolbox) -> None:
    """Let go of a toolbox, on the loop that runs, or on that of `call`."""

    async def closed() -> None:
        toolbox.close()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        RUNNER.run(closed())
    else:
        toolbox.close()


def call(toolbox: Toolbox, name: str, **arguments: Any) -> Observation:
    async def asked() -> Observation:
        return await tool(name).run(toolbox, arguments)

    return RUNNER.run(asked())


def tokens(toolbox: Toolbox, observation: Observation) -> int:
    return toolbox.tokenizer.count(observation.text)
