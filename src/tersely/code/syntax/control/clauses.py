"""Functions in several clauses: the first one runs whose patterns fit the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages.control import roles as control
from tersely.code.routines import ENTRY, RESULT, Way
from tersely.code.syntax.control.blocks import Together
from tersely.code.syntax.control.cases import Cases, cases_in, choose, matched, refuse
from tersely.code.syntax.control.definitions import enter_routine, leave_routine, take
from tersely.code.syntax.control.draft import Draft, StatementDraft, closing_line

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.control.walk import Walk


def visit_clauses(walk: Walk, node: Node, role: control.Clauses) -> None:
    """An anonymous function whose clauses are its children."""
    inner = _routine(walk, node, "", cases_in(walk, node), node)
    take(walk, node, "", inner)
    walk.draft.decisions += inner.decisions


def visit_together(walk: Walk, node: Node, role: Together) -> None:
    """A function whose clauses are definitions of their own; this is the first one."""
    name = walk.text(role.name) if role.name is not None else ""
    take(walk, node, name, _routine(walk, node, name, role.cases, role.last))


def _routine(walk: Walk, node: Node, name: str, cases: Cases, last: Node) -> Draft:
    """What the function is given stands in a variable of its own, with which the cases are compared."""
    around = enter_routine(walk, "function", name, node, last)
    draft = walk.draft
    line, start = node.start_point[0] + 1, cases[0][0].start_byte if cases else node.end_byte
    head = StatementDraft("entry", node.start_byte, max(start, node.start_byte), line, line, draft.end_line, -1)
    head.tails += closing_line(last) if not name else []
    draft.statements.append(head)
    draft.statement = 0
    draft.open = draft.points[ENTRY]
    walk.write((matched(node),), node)
    draft.own.add(matched(node))
    draft.close()
    ends = choose(walk, node, cases, [(ENTRY, Way.NEXT)], RESULT)
    refuse(walk)
    draft.here = ends
    return leave_routine(walk, around)
