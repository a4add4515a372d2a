"""The process at the other end of `workers`: jobs come in, rows go out, and it ends when its parent does."""

from __future__ import annotations

import gc
import marshal
import os
import signal
import sys
from typing import Any, BinaryIO

LENGTH_BYTES = 8
YOUNG_OBJECTS = 50_000  # a collection after every 700 new objects finds nothing in a walk over a tree


def write_frame(stream: BinaryIO, value: Any) -> None:
    """Send a plain value. Both ends are the same program on the same Python."""
    encoded = marshal.dumps(value)
    stream.write(len(encoded).to_bytes(LENGTH_BYTES, "big"))
    stream.write(encoded)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Receive what `write_frame` sent; `EOFError` when the other end is gone."""
    length = stream.read(LENGTH_BYTES)
    encoded = stream.read(int.from_bytes(length, "big")) if len(length) == LENGTH_BYTES else b""
    return marshal.loads(encoded)  # noqa: S302 - `EOFError` for less than a whole value


def main() -> None:
    """Answer each list of jobs with a batch until the requests end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when an interrupted build ends
    gc.set_threshold(YOUNG_OBJECTS, 20, 100)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not run into the answers
    from laconic.code.index.building.rows import build
    from laconic.code.index.schema import Job

    root = read_frame(requests)
    write_frame(answers, os.getpid())
    while True:
        try:
            jobs = read_frame(requests)
        except EOFError:
            return
        batch = build(root, map(Job._make, jobs))
        write_frame(answers, tuple(batch))
