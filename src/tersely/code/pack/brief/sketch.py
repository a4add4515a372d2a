"""A function as a sketch: how control goes through it and what it calls, one short line each."""

from __future__ import annotations

from collections.abc import Sequence

from tersely.code.pack.excerpt import Line, shortened
from tersely.code.pack.sliced import ELLIPSIS
from tersely.code.routines import Call, Routine, Statement

SKETCH_CHARACTERS = 100  # of a line
_SIMPLE = "simple"
_ENTRY = "entry"


def sketch(routine: Routine, header: str, rows: Sequence[str]) -> list[Line]:
    """The header, then what decides where control goes, as written; of all other statements only what they call.

    `rows` are the lines of the file. Calls that follow each other are one line, which begins with the mark for lines
    that are left out.
    """
    calls = _calls_by_statement(routine)
    lines = [Line(routine.line, header)]
    shown = {routine.line}
    gathered: list[str] = []
    at: tuple[int, str] = (0, "")  # where the gathered calls begin, and how far they are indented

    def leave() -> None:
        if gathered:
            names = ", ".join(dict.fromkeys(gathered))
            lines.append(Line(at[0], at[1] + shortened(f"{ELLIPSIS} {names}", SKETCH_CHARACTERS)))
            gathered.clear()

    for number, end, index in _steps(routine):
        statement = routine.statements[index]
        indentation = _indentation(rows[number - 1])
        if statement.kind == _SIMPLE:
            if gathered and indentation != at[1]:
                leave()
            if calls.get(index):
                at = at if gathered else (number, indentation)
                gathered += calls[index]
        elif number not in shown:
            leave()
            shown.add(number)
            lines.append(Line(number, indentation + shortened(_joined(rows[number - 1 : end]), SKETCH_CHARACTERS)))
    leave()
    return lines


def _steps(routine: Routine) -> list[tuple[int, int, int]]:
    """First and last line of each head and tail, with the position of its statement; in the order of lines."""
    found: list[tuple[int, int, int]] = []
    for index, statement in enumerate(routine.statements):
        if statement.kind != _ENTRY:
            found.append((statement.line, _head_end(statement), index))
            found += [(tail, tail, index) for tail in statement.tails]
    return sorted(found)


def _head_end(statement: Statement) -> int:
    return max(statement.line, statement.head_end_line)


def _calls_by_statement(routine: Routine) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for call in routine.calls:
        if call.callee:  # what is called is a name, not the result of another call
            found.setdefault(routine.points[call.point].statement, []).append(_name(call))
    return found


def _name(call: Call) -> str:
    around = "".join(call.receiver)
    return f"{around}.{call.callee}()" if around else f"{call.callee}()"


def _joined(rows: Sequence[str]) -> str:
    return " ".join(" ".join(rows).split())


def _indentation(row: str) -> str:
    return row[: len(row) - len(row.lstrip(" \t"))]
