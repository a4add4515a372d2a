"""The staleness of a report: whether it is about the files as they are now.

A report of a file is stale if the text has another hash than when it was measured, where that is
known: by the hashes that are kept beside a run, or by checksums of lines (lcov). Otherwise a file
that was written after the report may have changed, and one that has fewer lines than the report
names has changed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from tersely.code.coverage.model import FileCoverage
from tersely.foundation.storage.hashing import content_hash


class Stale(NamedTuple):
    """A file of which a report may not be true, and why."""

    path: str
    why: str


def staleness(
    path: str,
    file: FileCoverage,
    text: bytes,
    modified_ns: int,
    report_ns: int,
    hashes: Mapping[str, str],
) -> Stale | None:
    """The reason why a report is not, or may not be, about the text of a file; None if nothing
    speaks against it.
    """
    lines = text.split(b"\n")
    last = max(file.hits, default=0)
    if last > len(lines):
        return Stale(path, f"line {last} ran, the file has {len(lines)}")
    known = hashes.get(path)
    if known is not None:
        return None if known == content_hash(text).hex() else Stale(path, "changed since the run")
    if file.checksums:
        differ = [
            line
            for line, checksum in file.checksums.items()
            if checksum and checksum != _checksum(lines[line - 1])
        ]
        return Stale(path, f"line {min(differ)} has another text") if differ else None
    if modified_ns > report_ns:
        return Stale(path, "written after the report")
    return None


def _checksum(line: bytes) -> str:
    """lcov's checksum of a line: MD5 in base64 without padding; no protection, only a comparison."""
    digest = hashlib.md5(line.rstrip(b"\r"), usedforsecurity=False).digest()
    return base64.b64encode(digest).decode("ascii").rstrip("=")
