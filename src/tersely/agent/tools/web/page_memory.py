"""A bound on the memory of a page: the process that shows one which takes more is ended, as the
system would end it where memory runs out.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from tersely.foundation.process.memory import resident_bytes

MAX_PAGE_BYTES = 1_500_000_000  # of memory, of the process that shows a page
PAGE_MEMORY_SECONDS = 1.0  # between two looks at it
_RENDERER = "renderer"


async def watch_memory(
    told: Callable[[], Awaitable[Mapping[str, Any]]], note: Callable[[str], None]
) -> NoReturn:
    """Look at the pages of a browser until this is cancelled; `note` is told of one that is ended.

    `told` gives what the browser answers to `SystemInfo.getProcessInfo`. Where the system does not
    say what a process occupies, none is ended.
    """
    while True:
        await asyncio.sleep(PAGE_MEMORY_SECONDS)
        for each in (await told())["processInfo"]:
            if each["type"] == _RENDERER and resident_bytes(each["id"]) > MAX_PAGE_BYTES:
                note(f"the page took more than {MAX_PAGE_BYTES / 1e9:g} GB of memory")
                _end(each["id"])


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
