"""Conditions: where control goes when they hold, and where when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import field, token
from tersely.code.languages.nodes import OptionalNode, last_part, named_parts
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.draft import CfgNodeDraft, Ends

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def branch(walk: Walk, node: OptionalNode) -> tuple[Ends, Ends]:
    """Evaluate a condition from `here`; returns the ends where it holds and where it does not."""
    if node is not None:
        role = walk.role(node)
        if isinstance(role, control.Unary) and token(node, role.negates) is not None:
            holds, fails = branch(walk, last_part(node))
            return fails, holds
        if isinstance(role, control.Choice) and operator_of(walk, node):
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


def _cover(point: CfgNodeDraft, node: Node) -> None:
    """Extend the step of a condition to all of it, beyond the part that it reads first."""
    if point.start >= node.start_byte:
        point.start, point.end = node.start_byte, max(point.end, node.end_byte)


def _outcomes(walk: Walk, node: OptionalNode, number: int) -> tuple[Ends, Ends]:
    text = walk.text(node) if isinstance(walk.role(node), control.Constant) else ""
    holds = EdgeKind.NEVER if text in control.FALSEHOODS else EdgeKind.TRUE
    fails = EdgeKind.NEVER if text in control.TRUTHS else EdgeKind.FALSE
    return [(number, holds)], [(number, fails)]


def _choice(walk: Walk, node: Node, role: control.Choice) -> tuple[Ends, Ends]:
    enough = _left_operand(walk, node, role)
    holds, fails = branch(walk, field(role.right)(node))
    if operator_of(walk, node) in control.CONJUNCTIONS:
        return holds, enough + fails
    return enough + holds, fails


def _left_operand(walk: Walk, node: Node, role: control.Choice) -> Ends:
    """Evaluate the left operand; returns the ends where it decides, in `here` are those where the
    right one does.
    """
    walk.draft.decisions += 1
    holds, fails = branch(walk, field(role.left)(node))
    is_conjunction = operator_of(walk, node) in control.CONJUNCTIONS
    walk.draft.here = holds if is_conjunction else fails
    return fails if is_conjunction else holds


def visit_choice(walk: Walk, node: Node, role: control.Choice) -> None:
    """The operator as a value: its right side is evaluated on one of two ways that meet again."""
    if not operator_of(walk, node):
        walk.visit_children(node)
        return
    enough = _left_operand(walk, node, role)
    walk.visit(field(role.right)(node))
    _meet(walk, enough)


def visit_ternary(walk: Walk, node: Node, role: control.Ternary) -> None:
    """One of two values."""
    walk.draft.decisions += 1
    condition = field(role.condition)(node)
    walk.draft.here, fails = branch(walk, condition)
    walk.visit(field(role.then)(node) or condition)
    ends = walk.draft.here
    walk.draft.close()
    walk.draft.here = fails
    walk.visit(field(role.otherwise)(node))
    _meet(walk, ends)


def _meet(walk: Walk, others: Ends) -> None:
    walk.draft.close()
    walk.draft.here = walk.draft.here + others


def operator_of(walk: Walk, node: Node) -> str:
    """The operator of a node if it decides whether an operand is evaluated, else ""."""
    written = node.child_by_field_name("operator")
    text = walk.text(written) if written is not None else token(node, control.DECIDING) or ""
    return text if text in control.DECIDING else ""
