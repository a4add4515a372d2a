"""Agents, each on a thread of its own, at work while relays come to harm."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable
from typing import Protocol

from bench.mail.relays import Relays

PAUSE_SECONDS = (0.2, 2.0)  # between two harms, from the least to the most


class Working(Protocol):
    """An agent that works until it is to end."""

    failure: Exception | None  # that ended it before

    def work(self, ends: threading.Event) -> None:
        """Work; what goes wrong is kept in `failure`."""


def work(relays: Relays, agents: Iterable[Working], points: int, seed: int) -> None:
    """Have agents work while the relays are harmed at so many random moments; raises what failed
    one of them.
    """
    chance, ends, everybody = random.Random(seed), threading.Event(), list(agents)
    working = [threading.Thread(target=one.work, args=(ends,)) for one in everybody]
    for thread in working:
        thread.start()
    try:
        for _ in range(points):
            time.sleep(chance.uniform(*PAUSE_SECONDS))
            relays.harm()
    finally:
        ends.set()
        for thread in working:
            thread.join()
    for one in everybody:
        if one.failure is not None:
            raise one.failure
