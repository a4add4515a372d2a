"""What a reader must know of the machine to read a figure."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path


def facts() -> dict[str, str]:
    """Machine, versions, revision and date of a measurement."""
    return {
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d"),
        "revision": _revision(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "",
        "executable": sys.implementation.name,
    }


def _revision() -> str:
    here = Path(__file__).parent
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=here, capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
