"""The lag of the terminal: over a slow line, what was painted waits, and keys wait behind it."""

from __future__ import annotations

from textual.app import App


def is_behind(app: App[object]) -> bool:
    """True if something that was painted earlier has not been sent yet, so that nothing should be
    painted just now.

    Textual sends from a thread with a queue that is not public; without one nothing is known to
    wait.
    """
    queue = getattr(getattr(app._driver, "_writer_thread", None), "_queue", None)
    return queue is not None and not queue.empty()
