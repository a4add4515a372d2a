"""The process at the other end of `workers`: jobs come in, rows go out, and it ends when its parent does."""

from __future__ import annotations

import gc
import marshal
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from laconic.code.index.schema import Job

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
    length = int.from_bytes(_read_exactly(stream, LENGTH_BYTES), "big")
    return marshal.loads(_read_exactly(stream, length))  # noqa: S302


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    parts = []
    while size > 0:
        part = stream.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


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
        batch = build(root, _announced(map(Job._make, jobs), answers))
        write_frame(answers, tuple(batch))


def _announced(jobs: Iterable[Job], answers: BinaryIO) -> Iterator[Job]:
    """The jobs, each one's place being sent when it begins: should it be the last, others know which it was."""
    for place, job in enumerate(jobs):
        write_frame(answers, place)
        yield job
