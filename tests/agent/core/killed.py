"""A process that talks and prints what it shows, to be killed: python -m tests.agent.core.killed
ROOT MOMENT.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.agent.core.talking import ALLOWED, Scripted, call, talking

from tersely.agent.events import CallEnded, CallStarted, TextDelta

REPLIES = [
    "First I look.\n" + call("read", path="shop/prices.py"),
    call("bash", "--- command\nsleep 60\n"),
]
LONG = [f"First I look.\n{call('read', path='shop/prices.py')}", "word " * 100_000]


async def main(root: Path, moment: str) -> None:
    async with talking(
        Scripted(LONG if moment == "text" else REPLIES), root, choices=ALLOWED
    ) as agent:
        async for event in agent.run("run it"):
            match event:
                case TextDelta(text=text):
                    sys.stdout.write(text)
                case CallStarted(tool=tool):
                    sys.stdout.write(f"[{tool}]")
                case CallEnded(observation=observation):
                    sys.stdout.write(observation)
                case _:
                    pass
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
