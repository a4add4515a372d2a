"""The division of the files of a build among processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence

from tersely.code.index.storage.schema import Batch, Job

MAX_WORKER_PROCESSES = 16
CHUNK_BYTES = 400_000
CHUNK_FILES = 200
WORTHWHILE_BYTES = 1_000_000  # below, starting processes takes longer than they save
BYTES_PER_WORKER = 500_000
# a grammar may search a larger one for minutes; another process can be given up
SLOW_FILE_BYTES = 100_000


def batches(root: str, jobs: Sequence[Job]) -> Iterator[Batch]:
    """The rows of all jobs in their order, from other processes where that is faster."""
    if not jobs:
        return  # and nothing that reads is loaded
    chunks = _chunks(jobs)
    total_bytes = sum(job.size for job in jobs)
    count = min(_cores(), MAX_WORKER_PROCESSES, len(chunks), total_bytes // BYTES_PER_WORKER)
    is_worthwhile = count > 1 and total_bytes >= WORTHWHILE_BYTES
    if is_worthwhile or any(job.size > SLOW_FILE_BYTES for job in jobs):
        from tersely.code.index.building.workers import Crew

        crew = Crew.start(root, count if is_worthwhile else 1)
        if crew is not None:
            yield from crew.batches(chunks)
            return
    from tersely.code.index.building.rows import build  # brings tree-sitter along

    for chunk in chunks:
        yield build(root, chunk)
        if chunk is not chunks[-1]:
            # trees and walks refer to each other, and a command has switched the collector off
            gc.collect()


def _chunks(jobs: Sequence[Job]) -> list[Sequence[Job]]:
    chunks = []
    start = size = 0
    for end, job in enumerate(jobs):
        if end > start and (size + job.size > CHUNK_BYTES or end - start == CHUNK_FILES):
            chunks.append(jobs[start:end])
            start, size = end, 0
        size += job.size
    return [*chunks, jobs[start:]]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
