"""Reading the files of reports: one file, or the folder of a run with all that it left."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.code.coverage.failures import merge_runs, read_failures
from tersely.code.coverage.formats import read_coverage
from tersely.code.coverage.model import Coverage, Tested
from tersely.code.coverage.running import DATA, HASHES, OUTPUT, RESULTS, RUNS
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.private import READING, read_bounded
from tersely.foundation.types import field, frozen

MAX_REPORT_BYTES = 200_000_000
MAX_REPORT_FILES = 256  # data files of the processes of one run


class DatedFile(NamedTuple):
    """A file and when it was written."""

    content: bytes
    modified_ns: int


@frozen
class CoverageReport:
    """The coverage and outcomes of one run, before they are placed in a repository."""

    coverage: Coverage
    tested: Tested
    tells_failures: bool  # whether the run had outcomes of tests to report
    written_ns: int
    # of the files when they were measured, by path
    hashes: dict[str, str] = field(default_factory=dict)


def read_report_files(place: Path, results: Sequence[Path] = ()) -> CoverageReport:
    """The report of coverage at a place, with the results of tests in `results`; raises
    `invalid_report`.
    """
    if place.is_dir():
        return _of_folder(place, results)
    written = read(place)
    coverage = read_coverage([written.content])
    return CoverageReport(coverage, _read_results(results), bool(results), written.modified_ns)


def _of_folder(folder: Path, results: Sequence[Path]) -> CoverageReport:
    data = sorted(folder.glob(f"{DATA}.*"))
    if not data:
        raise TerselyError(
            "invalid_report", f"{folder.name} is not a folder of a run", "name the report itself"
        )
    if len(data) > MAX_REPORT_FILES:
        raise TerselyError(
            "invalid_report", f"the run left more than {MAX_REPORT_FILES} files of data"
        )
    written = [read(path) for path in data]
    coverage = read_coverage([one.content for one in written])
    reports = [*results, *(path for path in (folder / RESULTS, folder / OUTPUT) if path.is_file())]
    return CoverageReport(
        coverage,
        _read_results(reports),
        True,
        max(one.modified_ns for one in written),
        _hashes(folder / HASHES),
    )


def _read_results(results: Sequence[Path]) -> Tested:
    return merge_runs([read_failures(read(path).content) for path in results])


def _hashes(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        payload = json.loads(read(path).content)
    except ValueError:
        return {}
    return (
        {str(key): str(value) for key, value in payload.items()}
        if isinstance(payload, dict)
        else {}
    )


def read(path: Path) -> DatedFile:
    """A regular file of at most `MAX_REPORT_BYTES`, no link; raises `unreadable_file`."""
    try:
        modified_ns = path.lstat().st_mtime_ns
        return DatedFile(read_bounded(path, MAX_REPORT_BYTES, READING), modified_ns)
    except OSError as error:
        known = {
            errno.EINVAL: "is not a file",
            errno.EFBIG: f"is larger than {MAX_REPORT_BYTES:,} bytes",
        }
        why = known.get(error.errno or 0, f"cannot be read: {error.strerror}")
        raise TerselyError("unreadable_file", f"{path.name} {why}") from error


def latest_run(beside: Path) -> Path | None:
    """The folder of the last run that was kept beside an index."""
    runs = beside / RUNS
    if runs.is_symlink() or not runs.is_dir():
        return None
    return max(
        (path for path in runs.iterdir() if next(path.glob(f"{DATA}.*"), None)), default=None
    )
