"""What a reader must know of the machine to read a figure."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

_ROOT = Path(__file__).parent.parent
DIRTY = "-dirty"
SOURCES = _ROOT / "src" / "tersely"
_RECORDS = (":!bench/results", ":!bench/RESULTS.md")


def facts() -> dict[str, str]:
    """Machine, versions, revision and date of a measurement."""
    return {
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d"),
        "revision": _revision(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": " ".join(f"{value:.1f}" for value in os.getloadavg())
        if hasattr(os, "getloadavg")
        else "",
        "executable": sys.implementation.name,
    }


def content_of(folders: str) -> str:
    """What files of some folders of the sources, parted by spaces, have in them; equal in every
    checkout.
    """
    digest = sha256()
    for folder in folders.split():
        for path in sorted((SOURCES / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(SOURCES).as_posix()}\0".encode())
                digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _revision() -> str:
    """The commit; of a tree with changes beside the records of measurements it says so."""
    is_changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *_RECORDS)
    return _git("describe", "--always", "--exclude=*") + (DIRTY if is_changed else "")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
    )
