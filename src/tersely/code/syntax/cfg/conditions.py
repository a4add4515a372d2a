"""Conditions: where control goes when they hold, and where when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages.control import roles as control
from tersely.code.languages.nodes import OptionalNode, named_parts, parts_and_fields
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.draft import CfgNodeDraft, Ends
from tersely.code.syntax.nodes.children import field, token

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def branch(walk: Walk, node: OptionalNode) -> tuple[Ends, Ends]:
    """Evaluate a condition from `here`; returns the ends where it holds and where it does not."""
    if node is not None:
        role = walk.role(node)
        if isinstance(role, control.Unary) and token(node, role.negates) is not None:
            holds, fails = branch(walk, field(role.operand)(node))
            return fails, holds
        if isinstance(role, control.Choice) and operator_of(walk, node, role):
            return _choice(walk, node, role)
        if (role is None or isinstance(role, model.Inner)) and len(named_parts(node)) == 1:
            return branch(walk, named_parts(node)[0])
    walk.visit(node)
    number = walk.draft.last()
    if node is not None:
        _cover(walk.draft.point(), node)
    walk.draft.close()
    walk.draft.here = []
    return _outcomes(walk, node, number)


def lower_condition(
    walk: Walk, node: OptionalNode, place: str, body: OptionalNode
) -> tuple[Ends, Ends]:
    """Lower the condition of a statement, or all code before its body; returns the ends as `branch`
    does.
    """
    if place != "+" or node is None:
        return branch(walk, field(place)(node) if node is not None else None)
    fails: Ends = []
    bound: OptionalNode = None
    for part, name in parts_and_fields(node):
        if body is not None and part.start_byte >= body.start_byte:
            break
        if name == "bound_identifier" or type(walk.role(part)) is control.Declares:
            bound = part
        elif type(walk.role(part)) is not model.Skip:
            holds, missed = (
                _bound_if(walk, part, bound) if bound is not None else branch(walk, part)
            )
            walk.draft.here, bound = holds, None
            fails += missed
    if bound is not None:
        walk.draft.here, missed = _bound_if(walk, bound, bound)
        fails += missed
    holds, walk.draft.here = walk.draft.here, []
    return holds, fails


def _bound_if(walk: Walk, value: Node, target: Node) -> tuple[Ends, Ends]:
    """`let target = value` as a condition; with the target alone it is the value too."""
    walk.visit(value)
    walk.bind(target, value, declares=True)
    walk.draft.point(value.start_byte, value.end_byte).tests = True
    number = walk.draft.finish()
    return [(number, EdgeKind.TRUE)], [(number, EdgeKind.FALSE)]


def _cover(point: CfgNodeDraft, node: Node) -> None:
    """Extend the step of a condition to all of it, beyond the part that it reads first."""
    if point.start >= node.start_byte:
        point.start, point.end = node.start_byte, max(point.end, node.end_byte)


def _outcomes(walk: Walk, node: OptionalNode, number: int) -> tuple[Ends, Ends]:
    role = walk.role(node) if node is not None else None
    if node is not None and isinstance(role, control.Constant):
        if walk.text(node) in role.truths:
            return [(number, EdgeKind.TRUE)], [(number, EdgeKind.NEVER)]
        if walk.text(node) in role.falsehoods:
            return [(number, EdgeKind.NEVER)], [(number, EdgeKind.FALSE)]
    return [(number, EdgeKind.TRUE)], [(number, EdgeKind.FALSE)]


def _choice(walk: Walk, node: Node, role: control.Choice) -> tuple[Ends, Ends]:
    walk.draft.decisions += 1
    holds, fails = branch(walk, field(role.left)(node))
    if operator_of(walk, node, role) in role.conjunctions:
        walk.draft.here = holds
        also, fails_too = branch(walk, field(role.right)(node))
        return also, fails + fails_too
    walk.draft.here = fails
    instead, fails = branch(walk, field(role.right)(node))
    return holds + instead, fails


def visit_choice(walk: Walk, node: Node, role: control.Choice) -> None:
    """The operator as a value: its right side is evaluated on one of two ways that meet again."""
    if not operator_of(walk, node, role):
        walk.visit_children(node)
        return
    walk.draft.decisions += 1
    holds, fails = branch(walk, field(role.left)(node))
    more, enough = (
        (holds, fails) if operator_of(walk, node, role) in role.conjunctions else (fails, holds)
    )
    walk.draft.here = more
    walk.visit(field(role.right)(node))
    _meet(walk, enough)


def visit_ternary(walk: Walk, node: Node, role: control.Ternary) -> None:
    """One of two values."""
    walk.draft.decisions += 1
    condition, then, otherwise = (
        field(name)(node) for name in (role.condition, role.then, role.otherwise)
    )
    holds, fails = branch(walk, condition)
    walk.draft.here = holds
    walk.visit(then if then is not None else condition)
    ends = list(walk.draft.here)
    walk.draft.close()
    walk.draft.here = fails
    walk.visit(otherwise)
    _meet(walk, ends)


def _meet(walk: Walk, others: Ends) -> None:
    walk.draft.close()
    walk.draft.here = walk.draft.here + others


def operator_of(walk: Walk, node: Node, role: control.Choice) -> str:
    """The operator of a node if it decides whether an operand is evaluated, else ""."""
    deciding = role.conjunctions | role.disjunctions | role.defaults
    written = node.child_by_field_name("operator")
    text = walk.text(written) if written is not None else token(node, deciding) or ""
    return text if text in deciding else ""
