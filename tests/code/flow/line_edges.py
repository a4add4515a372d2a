"""Where control goes from line to line, to be compared with what others say of the same program."""

from __future__ import annotations

from collections import defaultdict

from tersely.code.routines import ENTRY, EXIT, CfgNode, EdgeKind, Routine


def line_edges(routine: Routine) -> set[tuple[int, int]]:
    """From which line control goes to which other, 0 for the way in and out; what anything may
    raise left out.

    Steps that are written nowhere, such as the end of a `with`, are passed through.
    """
    after: dict[int, set[int]] = defaultdict(set)
    for edge in routine.edges:
        if edge.kind not in (EdgeKind.NEVER, EdgeKind.EXCEPTION):
            after[edge.source].add(edge.target)
    lines = [routine.statements[point.statement].line for point in routine.points]
    lines[ENTRY] = lines[EXIT] = 0
    found = set()
    for source in range(len(routine.points)):
        if source not in (ENTRY, EXIT) and _is_unwritten(routine.points[source]):
            continue
        for target in _written_after(routine, after, source):
            if lines[source] != lines[target] or 0 in (lines[source], lines[target]):
                found.add((lines[source], lines[target]))
    return found


def _is_unwritten(point: CfgNode) -> bool:
    """Whether a step stands for the end of a statement that has its beginning elsewhere."""
    return point.start == point.end > 0 and not point.writes


def _written_after(routine: Routine, after: dict[int, set[int]], source: int) -> set[int]:
    found: set[int] = set()
    seen: set[int] = set()
    pending = list(after[source])
    while pending:
        target = pending.pop()
        if target in seen:
            continue
        seen.add(target)
        if target != EXIT and _is_unwritten(routine.points[target]):
            pending += after[target]
        else:
            found.add(target)
    return found
