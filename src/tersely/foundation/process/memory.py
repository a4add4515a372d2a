"""The memory that a process occupies."""

from __future__ import annotations

import mmap


def resident_bytes(pid: int | None = None) -> int:
    """The memory in bytes that a process occupies, this one where none is named; 0 where the system
    does not say, or the process has ended.
    """
    try:
        with open(f"/proc/{'self' if pid is None else pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0
