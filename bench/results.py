"""Records of measurements in `bench/results/`, and the page `bench/RESULTS.md` that is made of
them.

A record is a list of tables, and a table is data: title, command, facts of the machine and
revision, columns, rows. Columns are written `name:format|name:format`, as `str.format` has formats;
a column without one is text, to the left. Rows are objects with the names of columns as keys; what
a row lacks is an empty cell, other keys are not shown.

A table keeps what the code that it measures had in it (`MEASURED`). The page says of a table that
this code has changed since, or that the tree had changes that no commit has: `python -m
bench.results` writes it anew.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.machine import DIRTY, content_of, facts
from bench.repositories import marked

HERE = Path(__file__).parent
FOLDER = HERE / "results"
PAGE = HERE / "RESULTS.md"
# the records in the order of the page, each with the folders of the code that it measures
MEASURED = {
    "groundtruth": "code",
    "handchecked": "code",
    "retrieval": "code/search code/languages code/syntax",
    "speed": "code context cli daemon",
    "daemon": "code context daemon",
    "change_impact": "code context",
    "failing_tests": "code context capabilities",
    "broken_uses": "code context capabilities",
    "merged_features": "code context capabilities",
    "diff_context": "code context",
    "tokens": "code context cli",
    "sessions": "code context",
    "slices": "code context",
    "mcp_server": "doors/mcp daemon",
    "relay_run": "relay code context",
    "seen": "code context capabilities",
    "relay": "relay doors/http",
    "editors": "doors/lsp daemon code",
    "services": "doors/socket daemon code context",
    "mail": "relay doors/socket",
    "socket": "doors/socket ai_talk",
    "hostile": "code context foundation cli",
    "agent": "agent",
}

CODE, REVISION = "_code", "_revision"  # of a row that is older than its table

Row = dict[str, Any]
Record = dict[str, Any]


class Table(NamedTuple):
    """A table before it is measured. `names` is how many of the first columns name a row."""

    title: str
    command: str
    columns: str
    about: str = ""
    names: int = 1

    def filled(self, rows: Iterable[Row], about: str = "") -> Record:
        """The table as it is kept, measured here and now; `about` goes before what is always said
        of it.
        """
        said = "\n\n".join(filter(None, (about, self.about)))
        described = {"title": self.title, "command": self.command, "machine": facts()}
        return {**described, "about": said, "columns": self.columns, "rows": list(rows)}

    def merged(self, record: str, rows: Iterable[Row]) -> list[Row]:
        """The rows that a record keeps, with these put in, in place of those of the same names.

        A row that was measured before keeps what the code had in it then, and of which revision it
        is.
        """
        names = [column.partition(":")[0] for column in self.columns.split("|")][: self.names]
        known = [table for table in load_tables(record) if table["title"] == self.title]
        content = content_of(MEASURED[record])
        before = [_older(row, table, content) for table in known for row in table["rows"]]
        return list({tuple(row[name] for name in names): row for row in (*before, *rows)}.values())


def _older(row: Row, table: Record, content: str) -> Row:
    """A row of a table that was measured before, which says so if it is of other code than that of
    now.
    """
    code = row.get(CODE, table.get("code", ""))
    plain = {name: value for name, value in row.items() if name not in (CODE, REVISION)}
    revision = row.get(REVISION, table["machine"]["revision"])
    return plain if code == content else {**plain, CODE: code, REVISION: revision}


def report(record: str, tables: Iterable[Record], keep: bool) -> None:
    """Print tables, and with `keep` put them into a record in place of those of the same titles."""
    content = content_of(MEASURED[record])
    fresh = {table["title"]: {**table, "code": content} for table in tables}
    for table in fresh.values():
        print("\n".join(_lines(table, "")), flush=True)
    if keep:
        FOLDER.mkdir(exist_ok=True)
        folder = os.open(FOLDER, os.O_RDONLY)
        try:
            # of two that keep something at once the second waits
            fcntl.flock(folder, fcntl.LOCK_EX)
            known = {table["title"]: table for table in load_tables(record)} | fresh
            text = json.dumps(list(known.values()), indent=1, ensure_ascii=False)
            (FOLDER / f"{record}.json").write_text(text + "\n", encoding="utf-8")
            PAGE.write_text(page(), encoding="utf-8")
        finally:
            os.close(folder)


def load_tables(record: str) -> list[Record]:
    """The tables of a record, none if there is none."""
    path = FOLDER / f"{record}.json"
    tables: list[Record] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return tables


def page() -> str:
    """The text of `RESULTS.md`."""
    lines = ["# Results", "", "Written by the commands below each title, not by hand.", ""]
    for record, folders in MEASURED.items():
        tables = load_tables(record)
        content = content_of(folders) if tables else ""
        for table in tables:
            lines += _lines(table, _doubts(table, content))
    return "\n".join(lines).rstrip() + "\n"


def _doubts(table: Record, content: str) -> str:
    doubts, rows = [], table["rows"] or [{}]
    changed = [row for row in rows if row.get(CODE, table.get("code")) != content]
    dirty = [row for row in rows if row.get(REVISION, table["machine"]["revision"]).endswith(DIRTY)]
    if changed:
        doubts.append(f"the code that it measures has changed since{_of_all(changed, rows)}")
    if dirty:
        doubts.append(f"measured with changes that no commit has{_of_all(dirty, rows)}")
    return f"**To be measured again: {', and '.join(doubts)}.**" if doubts else ""


def _of_all(doubtful: Sequence[Row], rows: Sequence[Row]) -> str:
    """Of which rows something is said, nothing if it is of all."""
    if len(doubtful) == len(rows):
        return ""
    first = next(iter(doubtful[0].values()))
    return f" (of {len(doubtful)} of {len(rows)} rows, the first is {first})"


def _lines(table: Record, doubts: str) -> Iterator[str]:
    columns = [column.partition(":") for column in table["columns"].split("|")]
    yield from (
        f"## {table['title']}",
        "",
        f"`{table['command']}`",
        "",
        _machine(table["machine"]),
        "",
    )
    for said in filter(None, (doubts, table["about"])):
        yield from (said, "")
    yield f"| {' | '.join(name.replace('_', ' ') for name, _, _ in columns)} |"
    yield f"|{'|'.join('--:' if form else '---' for _, _, form in columns)}|"
    for row in table["rows"]:
        named = row | {"repository": marked(row["repository"])} if "repository" in row else row
        yield f"| {' | '.join(_cell(named.get(name), form) for name, _, form in columns)} |"
    yield ""


def _cell(value: Any, form: str) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(_cell(one, form) for one in value)
    return str(value) if isinstance(value, str) else format(value, form)


def _machine(known: Record) -> str:
    where = (
        f"{known['cores']} cores {known['processor']}, {known['system']}, Python {known['python']}"
    )
    return f"{known['date']}, revision {known['revision']}; {where}, load {known['load']}."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
