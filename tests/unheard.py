"""A process of ours that nobody listens to yet while it says that its beginning went well."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tersely.foundation.clock import Stopwatch
from tersely.foundation.process import detached

PATIENCE_SECONDS = 60
LOOK_SECONDS = 0.05


def said_when_ended_at_once(program: str, arguments: Sequence[str], log: Path) -> bytes:
    """What a process says that is told to end as soon as it says something; returns when it has
    ended.

    The pipe that it writes to is full: it waits for a reader, and goes no further meanwhile.
    """
    if not hasattr(fcntl, "F_SETPIPE_SZ"):
        pytest.skip("no pipe has a size that can be set here")
    reading, writing = os.pipe()
    size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4_096)
    os.write(writing, b" " * size)
    with os.fdopen(reading, "rb") as told:
        detached.start(program, arguments, writing)
        with detached.process(_number_in(log)) as begun:
            begun.signal(signal.SIGTERM)
            said = told.read().strip()
            begun.wait(PATIENCE_SECONDS)
    return said


def _number_in(log: Path) -> int:
    """The number of the process that has logged what it serves."""
    watch = Stopwatch()
    while watch.seconds() < PATIENCE_SECONDS:
        written = log.read_text() if log.exists() else ""
        found = re.search(r"serving .* as process (\d+)", written)
        if found:
            return int(found[1])
        time.sleep(LOOK_SECONDS)
    raise AssertionError("nothing serves")
