"""How long a message waits for an agent that works: until the hook between two of its tool calls puts
it before the model.

Agents use tools that take a random time, and after each of them run the hook as `install` writes
it. A message is seen when the hook has printed it.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.mail.relays import Alone
from tersely.client import Client
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.integrations.run_hook import SOCKET_VARIABLE
from tersely.integrations.wrapped import mail_words

TOOL_SECONDS = (0.2, 2.0)  # that a call of a tool takes, evenly spread
PAUSE_SECONDS = 0.15  # from one message to the next, on average
DRAIN_SECONDS = 60  # for the last to be seen
_TEXT = re.compile(r"number-(\d+)\b")
_PERCENT_95 = 18  # of twenty parts, the end of the nineteenth


class _Log:
    """When each message was sent and seen, and how long hooks took that had nothing to say."""

    def __init__(self) -> None:
        self.sent: dict[int, float] = {}
        self.seen: dict[int, float] = {}
        self.times_seen: Counter[int] = Counter()
        self.idle_ms: list[float] = []
        self.is_over = threading.Event()


def run(home: Path, agents: int, messages: int, seed: int) -> dict[str, Any]:
    """Send messages to agents that work; how long they waited, in milliseconds."""
    log, names = _Log(), [f"agent-{number}" for number in range(agents)]
    with Alone(home):
        working = [
            threading.Thread(target=_work, args=(home, name, log, random.Random(f"{seed} {name}")))
            for name in names
        ]
        for one in working:
            one.start()
        _send(home, names, messages, log, random.Random(seed))
        ends = time.monotonic() + DRAIN_SECONDS
        while len(log.seen) < messages and time.monotonic() < ends:
            time.sleep(PAUSE_SECONDS)
        log.is_over.set()
        for one in working:
            one.join()
    waited = [
        (log.seen[number] - at) * 1000 for number, at in log.sent.items() if number in log.seen
    ]
    repeated = sum(count > 1 for count in log.times_seen.values())
    complaints = [f"{messages - len(waited)} lost"] if len(waited) < messages else []
    complaints += [f"{repeated} seen twice"] if repeated else []
    return {
        "agents": agents,
        "messages": messages,
        "tool_ms": statistics.mean(TOOL_SECONDS) * 1000,
        **_spread("waited", waited),
        **_spread("hook", log.idle_ms),
        "complaints": complaints,
    }


def _spread(name: str, values: list[float]) -> dict[str, float]:
    parts = statistics.quantiles(values, n=20)
    return {f"{name}_p50_ms": statistics.median(values), f"{name}_p95_ms": parts[_PERCENT_95]}


def _send(home: Path, names: list[str], messages: int, log: _Log, chance: random.Random) -> None:
    with Client.local("sender", home) as relay:
        for number in range(messages):
            time.sleep(chance.expovariate(1 / PAUSE_SECONDS))
            log.sent[number] = time.monotonic()
            relay.ask("mail.send", to=chance.choice(names), body=f"number-{number}", queue=True)


def _work(home: Path, name: str, log: _Log, chance: random.Random) -> None:
    environment = {**os.environ, "TERSELY_HOME": str(home), NAME_VARIABLE: name}
    environment.pop(SOCKET_VARIABLE, None)
    call = json.dumps({"hook_event_name": "PostToolUse", "cwd": str(home)})
    while not log.is_over.wait(chance.uniform(*TOOL_SECONDS)):
        began = time.monotonic()
        done = subprocess.run(
            mail_words("mail"),
            input=call,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        ended = time.monotonic()
        numbers = [int(one) for one in _TEXT.findall(done.stdout)]
        if not numbers:
            log.idle_ms.append((ended - began) * 1000)
        for number in numbers:
            log.times_seen[number] += 1
            log.seen.setdefault(number, ended)
