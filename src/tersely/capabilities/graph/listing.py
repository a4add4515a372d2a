"""Lists of symbols of the call graph: by file, with what is to be said of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tersely.capabilities.answers.text import Style, aligned
from tersely.code.symbols import Grade
from tersely.foundation.types import Numbers, Strings

MAX_LISTED_SITES = 6  # lines of one edge
GRADE_WORDS = {Grade.EXACT: "", Grade.INFERRED: "inferred", Grade.BY_NAME: "by name"}
MARKS = "edges are exact unless marked"


def unread_lines(unread: Sequence[str], style: Style) -> list[str]:
    """A line that names the files that may matter and were not read; there may be more edges than
    are listed.
    """
    from tersely.code.index.unread import unread_text

    return [style.doubtful(unread_text(unread, "may matter"))] if unread else []


class Row(NamedTuple):
    """One symbol and the notes on it, all rows of a listing with equally many."""

    id: str
    grade: Grade
    notes: Strings
    rule: str = ""  # of a framework


def grade_text(grade: Grade, rule: str) -> str:
    """The grade of an edge in words, with the rule of a framework by which it is one."""
    return f"{GRADE_WORDS[grade]}, {rule}" if rule else GRADE_WORDS[grade]


def listed(rows: Sequence[Row], style: Style) -> list[str]:
    """The rows under headings of their files, in the order in which the files first come; the
    outside comes last.
    """
    if not rows:
        return []
    by_file: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: is_external(row.id)):
        by_file.setdefault(path_of(row.id), []).append(row)
    cells = [
        (name_of(row.id), *row.notes, grade_text(row.grade, row.rule))
        for group in by_file.values()
        for row in group
    ]
    width = len(cells[0])
    lines = aligned(cells, [style.symbol, *[style.faint] * (width - 2), style.doubtful])
    blocks = []
    for path, group in by_file.items():
        blocks.append(f"  {path}")
        blocks += [f"    {line}" for line in lines[: len(group)]]
        lines = lines[len(group) :]
    return blocks


def is_external(symbol_id: str) -> bool:
    """True if an end of an edge lies outside the repository."""
    from tersely.code.graph.callgraph import EXTERNAL_PREFIX

    return symbol_id.startswith(EXTERNAL_PREFIX)


def path_of(symbol_id: str) -> str:
    """The file of a symbol, `external` for what lies outside the repository."""
    return symbol_id.partition(":")[0]


def name_of(symbol_id: str) -> str:
    """The part of an id that distinguishes a symbol within its file."""
    from tersely.code.graph.dispatch.registrations.templates import is_template

    path, _, name = symbol_id.partition(":")
    return name or ("(template)" if is_template(path) else "(module)")


def sites_text(lines: Numbers) -> str:
    """`line 12`, `lines 12, 40 and 3 more`."""
    shown = ", ".join(str(line) for line in lines[:MAX_LISTED_SITES])
    more = f" and {len(lines) - MAX_LISTED_SITES} more" if len(lines) > MAX_LISTED_SITES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"
