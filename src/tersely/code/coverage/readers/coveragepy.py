"""The reports of coverage.py: its data file, which is an SQLite database, and its JSON report.

The database: https://coverage.readthedocs.io/en/latest/dbschema.html. A `line_bits` row has the
lines of a file that ran in a context as bits; with branches measured there are `arc` rows instead,
and a line ran if some arc leads to it. The data file holds lines that ran, and none that did not.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tersely.code.coverage.model import (
    Bits,
    Coverage,
    FileCoverage,
    bits_of,
    invalid,
    line_number,
    lines_of_bits,
    slashed,
    union_of,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_COVERED_LINE
from tersely.foundation.storage.database import Database, read_foreign

MAX_COVERAGE_ROWS = 5_000_000  # of one data file
DATA, REPORT = "coverage.py data", "coverage.py JSON"
# of one test, as its plugin for pytest ends the context
_PHASES = ("|setup", "|run", "|call", "|teardown")

Ran = tuple[str, str, Bits]  # a file, a context, the lines


def read_data(texts: Sequence[bytes]) -> Coverage:
    """Data files, which may be several of one run: one for each process that took part."""
    found: dict[str, dict[str, Bits]] = defaultdict(dict)
    for text in texts:
        for path, context, lines in _rows_of(text):
            of_file = found[slashed(path)]
            of_file[context] = union_of(of_file.get(context, b""), lines)
    files = (_file(path, contexts, ()) for path, contexts in sorted(found.items()))
    return Coverage(DATA, tuple(files), counts_times=False, knows_missed=False)


def _rows_of(text: bytes) -> list[Ran]:
    try:
        return read_foreign(text, _all_rows)
    except TerselyError as error:
        if error.code == "invalid_report":
            raise
        raise invalid("its database cannot be read", DATA) from error


def _all_rows(database: Database) -> list[Ran]:
    listed = {name for (name,) in database.rows("select name from sqlite_schema")}
    if not {"file", "context"} <= listed or not listed & {"line_bits", "arc"}:
        raise invalid("it is a database of something else", DATA)
    return [*_lines_rows(database, listed), *_arc_rows(database, listed)]


def _lines_rows(database: Database, listed: set[str]) -> list[Ran]:
    if "line_bits" not in listed:
        return []
    rows = _rows(database, "select file_id, context_id, numbits from line_bits limit ?")
    if any(not isinstance(bits, bytes) or len(bits) > MAX_COVERED_LINE // 8 for _, _, bits in rows):
        raise invalid("a row of lines is damaged", DATA)
    return _with_names(database, rows)


def _arc_rows(database: Database, listed: set[str]) -> list[Ran]:
    if "arc" not in listed:
        return []
    found: dict[tuple[Any, Any], set[int]] = defaultdict(set)
    for file, context, line in _rows(
        database, "select file_id, context_id, tono from arc where tono > 0 limit ?"
    ):
        if not isinstance(line, int):
            raise invalid("a row of jumps is damaged", DATA)
        found[file, context].add(line_number(line, DATA))
    return _with_names(database, [(*of, bits_of(lines)) for of, lines in found.items()])


def _with_names(database: Database, rows: Sequence[tuple[Any, Any, Bits]]) -> list[Ran]:
    """Rows of files and contexts by their names. Joined here: a join may have more rows than the
    file has bytes.
    """
    paths = dict(_rows(database, "select id, path from file limit ?"))
    contexts = dict(_rows(database, "select id, context from context limit ?"))
    if not all(isinstance(name, str) for name in (*paths.values(), *contexts.values())):
        raise invalid("a name is damaged", DATA)
    return [
        (paths[file], contexts[of], bits)
        for file, of, bits in rows
        if file in paths and of in contexts
    ]


def _rows(database: Database, query: str) -> list[Any]:
    rows = database.rows(query, (MAX_COVERAGE_ROWS + 1,))
    if len(rows) > MAX_COVERAGE_ROWS:
        message = f"the data has more than {MAX_COVERAGE_ROWS:,} rows"
        raise TerselyError("invalid_report", message, "measure fewer files")
    return rows


def _file(path: str, contexts: dict[str, Bits], missed: Iterable[int]) -> FileCoverage:
    """A file with the contexts that are tests; the phases of one test are one."""
    hits = dict.fromkeys(missed, 0)
    tests: dict[str, Bits] = {}
    for context, bits in contexts.items():
        hits.update(dict.fromkeys(sorted(lines_of_bits(bits) - {0}), 1))
        if context:
            test = without_phase(context)
            tests[test] = union_of(tests.get(test, b""), bits)
    return FileCoverage(path, hits, tests)


def without_phase(context: str) -> str:
    """The test of a context, without the phase that a recorder appends."""
    for phase in _PHASES:
        if context.endswith(phase):
            return context[: -len(phase)]
    return context


def read_report(text: bytes) -> Coverage:
    """The coverage in a JSON report, with contexts where it was written with `--show-contexts`."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid("it is not JSON", REPORT) from error
    files = read.get("files") if isinstance(read, dict) else None
    if not isinstance(files, dict):
        raise invalid("it has no files", REPORT)
    found = (_read_file_report(slashed(path), payload) for path, payload in sorted(files.items()))
    return Coverage(REPORT, tuple(found), counts_times=False)


def _read_file_report(path: str, payload: Any) -> FileCoverage:
    if not isinstance(payload, dict):
        raise invalid(f"{path[:60]!r} is no object", REPORT)
    executed, missed = (
        _numbers(payload.get(name, [])) for name in ("executed_lines", "missing_lines")
    )
    contexts: dict[str, set[int]] = defaultdict(set)
    listed = payload.get("contexts") or {}
    if not isinstance(listed, dict):
        raise invalid("contexts are no object", REPORT)
    for line, names in listed.items():
        number = line_number(line, REPORT)
        for name in names if isinstance(names, list) else ():
            contexts[str(name)].add(number)
    bits = {
        "": bits_of(set(executed)),
        **{name: bits_of(lines) for name, lines in contexts.items() if name},
    }
    return _file(path, bits, missed)


def _numbers(listed: Any) -> list[int]:
    if not isinstance(listed, list):
        raise invalid("lines are no list", REPORT)
    return [line_number(one, REPORT) for one in listed]
