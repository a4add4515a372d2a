"""The memory that a process occupies."""

from __future__ import annotations

import os

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid: int | None = None) -> int:
    """The memory in bytes that a process occupies, this one where none is named; 0 where the system
    does not say, or the process has ended.
    """
    try:
        with open(f"/proc/{'self' if pid is None else pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
