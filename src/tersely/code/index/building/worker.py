"""The process at the other end of `workers`: jobs come in, rows go out, and it ends when its parent
does.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from tersely.foundation.process.frames import read_frame, write_frame

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import Job

# a collection after every 700 new objects finds nothing in a walk over a tree
YOUNG_OBJECTS = 50_000


def main() -> None:
    """Answer each list of jobs with a batch until the requests end."""
    # the parent decides when an interrupted build ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(YOUNG_OBJECTS, 20, 100)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not run into the answers
    from tersely.code.index.building.rows import build
    from tersely.code.index.storage.schema import Job

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
    """The jobs, each one's place being sent when it begins: should it be the last, others know
    which it was.
    """
    for place, job in enumerate(jobs):
        write_frame(answers, place)
        yield job
