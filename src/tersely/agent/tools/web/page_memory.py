"""A bound on the memory of a page: the process that shows one which takes more is ended, as the
system would end it where memory runs out.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tersely.foundation.process.memory import resident_bytes

if TYPE_CHECKING:
    from playwright.async_api import Browser

MAX_PAGE_BYTES = 1_500_000_000  # of memory, of the process that shows a page
PAGE_MEMORY_SECONDS = 1.0  # between two looks at it
_RENDERER = "renderer"


async def watch_memory(browser: Browser, note: Callable[[str], None]) -> None:
    """Look at the pages of a browser until it ends; `note` is told of one that is ended.

    Where the system does not say what a process occupies, none is.
    """
    from playwright.async_api import Error

    with suppress(Error):  # the browser has ended
        session = await browser.new_browser_cdp_session()
        while True:
            await asyncio.sleep(PAGE_MEMORY_SECONDS)
            told = await session.send("SystemInfo.getProcessInfo")
            for each in told["processInfo"]:
                if each["type"] == _RENDERER and resident_bytes(each["id"]) > MAX_PAGE_BYTES:
                    note(f"the page took more than {MAX_PAGE_BYTES / 1e9:g} GB of memory")
                    _end(each["id"])


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
