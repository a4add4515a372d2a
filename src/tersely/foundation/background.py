"""Tasks that are done beside others, held until they end: the event loop itself does not hold them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class Background(set[asyncio.Task[Any]]):
    """Those that have not ended."""

    def begin(self, work: Coroutine[Any, Any, ResultT]) -> asyncio.Task[ResultT]:
        """Have something done soon, on the running loop."""
        task = asyncio.get_running_loop().create_task(work)
        self.add(task)
        task.add_done_callback(self.discard)
        return task

    def cancel(self) -> None:
        """Give all of it up."""
        for task in tuple(self):
            task.cancel()

    async def end(self) -> None:
        """Give all of it up, and return when it has ended."""
        self.cancel()
        await asyncio.gather(*self, return_exceptions=True)
