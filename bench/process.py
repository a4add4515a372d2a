"""What the system says of a process (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

MEGABYTE = 1e6
_USER, _SYSTEM = 11, 12  # fields of /proc/PID/stat behind the name of the program


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int | str, name: str = "VmRSS") -> float:
    """Megabytes that are resident (`VmRSS`), or the most that were (`VmHWM`)."""
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith(name)) / MEGABYTE
