"""Waiting for one message without a listener in the background."""

from __future__ import annotations

import asyncio

from . import tls
from .failures import TalkError
from .inbox import peek
from .lifecycle import running_pid
from .listener import Listener, inbox_keeper
from .place import Listening, Place, limits_of
from .process import Held, holding


def wait_for_one(asked: Listening, at: Place, seconds: float) -> None:
    """Return when the inbox has a message, or the time is over; raises `PORT_IN_USE` and what
    `holding` does.
    """
    if running_pid(at) is not None:
        why = f"a listener runs on port {at.port}: check.py reads what it has"
        raise TalkError("PORT_IN_USE", why, port=at.port)
    if not peek(at.inbox_shelf):
        with holding(asked) as held:
            asyncio.run(_listen(held, asked, seconds))


async def _listen(held: Held, asked: Listening, seconds: float) -> None:
    loop, until = asyncio.get_running_loop(), asyncio.Event()
    limits = limits_of(asked.home)
    context = tls.server_context(asked.home) if asked.tls or limits.tls else None

    def served() -> None:
        loop.call_soon_threadsafe(until.set)

    listener = Listener(inbox_keeper(held.place, limits), limits, context, served)
    loop.call_later(seconds, until.set)
    await listener.serve(held.server, until)
