"""One of several cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import every, field, token
from tersely.code.languages.nodes import OptionalNode, line_of, named_parts
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.blocks import (
    block,
    initial,
    open_statement,
)
from tersely.code.syntax.cfg.conditions import branch
from tersely.code.syntax.cfg.draft import Ends, Frame, closing_line

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


Cases = list[tuple["Node", control.Case]]

FALLS = frozenset({"fallthrough", ";&"})  # where it is a word of the case and no statement
OTHERWISE = control.Case("", default=True)  # an `else` among cases


def lower_switch(walk: Walk, node: Node, role: control.Switch) -> None:
    """Cases are tried one after the other, or jumped to where they fall through."""
    draft = walk.draft
    body = field(role.body)(node) or node
    open_statement(walk, node, "switch", body if body.id != node.id else None)
    initial(walk, node, role.initial)
    subject = field(role.subject)(node)
    walk.visit(subject)
    draft.point(node.start_byte, subject.end_byte if subject is not None else node.start_byte)
    walk.bind(field(role.alias)(node), subject, declares=True)
    variable = f"<{node.start_byte} matched>"  # stands for the subject
    if subject is not None:
        walk.write((variable,), subject)
        draft.own.add(variable)
    start = draft.finish()
    cases = _cases_in(walk, body)
    if cases:
        draft.current.head_end_line = min(draft.current.head_end_line, line_of(cases[0][0]))
        draft.current.tails += closing_line(body)
    frame = Frame("switch" if role.breaks else "cases", label=walk.label, result=walk.result)
    walk.label = ""
    draft.frames.append(frame)
    if any(part.falls for _, part in cases):
        _jump_to_cases(walk, cases, start, variable)
    else:
        _try_cases(walk, cases, frame, [(start, EdgeKind.NEXT)], variable)
    draft.frames.pop()
    draft.here = draft.here + frame.breaks


def _cases_in(walk: Walk, body: Node) -> Cases:
    """The cases among the children of a node; an `else` is one too."""
    found = [(child, walk.role(child)) for child in named_parts(body)]
    cases = [(child, OTHERWISE if type(role) is control.Else else role) for child, role in found]
    return [(child, role) for child, role in cases if type(role) is control.Case]


def _try_cases(walk: Walk, cases: Cases, frame: Frame, missed: Ends, subject: str) -> None:
    """Lower cases: the first one that fits is taken; a default is tried last, wherever it stands."""
    draft = walk.draft
    me = draft.statement
    fallen: Ends = []
    ordered = sorted(cases, key=lambda case: _is_default(walk, *case))
    for node, role in ordered:
        draft.statement = me
        draft.here = missed
        with draft.scope():
            missed = _case_head(walk, node, role, subject)
            draft.here = draft.here + fallen
            frame.continues = []
            _case_body(walk, node, role, frame.result)
        fallen = list(frame.raised)
        frame.raised = []
        if role.joins and (
            token(node, FALLS) is not None or not _case_statements(walk, node, role)
        ):
            fallen += draft.here
        else:
            frame.breaks += draft.here
    draft.here = missed


def _jump_to_cases(walk: Walk, cases: Cases, start: int, subject: str) -> None:
    """Every case is entered from the subject and from the case before it."""
    draft = walk.draft
    me = draft.statement
    draft.here = []
    for node, role in cases:
        draft.statement = me
        draft.here = [*draft.here, (start, EdgeKind.CASE)]
        with draft.scope():
            _case_head(walk, node, role, subject)
            draft.here = [
                (number, EdgeKind.NEXT) for number, kind in draft.here if kind is not EdgeKind.FALSE
            ]
            _case_body(walk, node, role, None)
    if not any(_is_default(walk, *case) for case in cases):
        draft.here = [*draft.here, (start, EdgeKind.FALSE)]


def _case_head(walk: Walk, node: Node, role: control.Case, subject: str) -> Ends:
    """Lower the test of a case; returns the ends of paths on which it does not fit."""
    draft = walk.draft
    pattern = field(role.pattern)(node)
    guard = field(role.guard)(node)
    open_statement(walk, node, "case", _body_start(walk, node, role))
    default = _is_default(walk, node, role)
    draft.decisions += not default
    for child in every(node, role.pattern):
        walk.bind(child, None, declares=True) if role.binds and not default else walk.visit(child)
    draft.point(node.start_byte, pattern.end_byte if pattern is not None else node.start_byte)
    walk.read((subject,), pattern or node)
    draft.point().tests = True
    number = draft.finish()
    fits = default or (role.names_fit and _is_name(walk, pattern))
    missed: Ends = [] if fits else [(number, EdgeKind.FALSE)]
    draft.here = [(number, EdgeKind.TRUE if missed else EdgeKind.NEXT)]
    if guard is not None:
        holds, fails = branch(walk, guard)
        draft.here = holds
        missed = missed + fails
    return missed


def _body_start(walk: Walk, node: Node, role: control.Case) -> OptionalNode:
    children = _case_statements(walk, node, role)
    return children[0] if children else None


def _case_statements(walk: Walk, node: Node, role: control.Case) -> list[Node]:
    if role.body:
        return every(node, role.body)[:1]
    guard = field(role.guard)(node)
    heads = [*every(node, role.pattern), *([guard] if guard is not None else ())]
    kinds = (model.Comment, model.Skip)
    after = [child for child in named_parts(node) if not any(_holds(child, head) for head in heads)]
    return [child for child in after if type(walk.role(child)) not in kinds]


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _case_body(walk: Walk, node: Node, role: control.Case, result: str | None) -> None:
    statements = _case_statements(walk, node, role)
    for at, child in enumerate(statements):
        block(
            walk,
            child,
            scoped=bool(role.body),
            result=result if at == len(statements) - 1 else None,
        )


def _is_default(walk: Walk, node: Node, role: control.Case) -> bool:
    if role.default or not role.pattern:
        return True
    patterns = every(node, role.pattern)
    guard = field(role.guard)(node)
    if not patterns:
        return guard is None
    return guard is None and len(patterns) == 1 and _fits_all(walk, patterns[0], role)


def _fits_all(walk: Walk, pattern: Node, role: control.Case) -> bool:
    """True if a pattern, or the last of its alternatives, is a wildcard."""
    while pattern.child_count:
        parts = [child for child in pattern.children if child.type not in ("(", ")")]
        is_one_of = any(part.type == "|" for part in parts)
        if not parts or (len(parts) > 1 and not is_one_of):
            return False
        pattern = parts[-1]
    return walk.text(pattern) in role.wildcards


def _is_name(walk: Walk, node: OptionalNode) -> bool:
    while node is not None and len(named_parts(node)) == 1:
        node = named_parts(node)[0]
    return (
        node is not None and type(walk.role(node)) is model.Name and walk.text(node)[:1].islower()
    )
