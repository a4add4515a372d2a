"""Conditionals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import every, field
from tersely.code.languages.nodes import line_of, named_parts
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.blocks import (
    block,
    body_of,
    initial,
    open_statement,
    sequence,
)
from tersely.code.syntax.cfg.conditions import branch
from tersely.code.syntax.cfg.draft import Ends

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def lower_if(walk: Walk, node: Node, role: control.If) -> None:
    """Arms one after the other; without a last one, control goes on after it."""
    ends = _arms_of(walk, node, role)
    walk.draft.here = walk.draft.here + ends


def _arms_of(walk: Walk, node: Node, role: control.If) -> Ends:
    """The ends of the arms; `here` holds the ends of paths that take no arm."""
    draft, result = walk.draft, walk.result
    then = _then(walk, node, role)
    me = open_statement(walk, node, "if", next(iter(then), None))
    initial(walk, node, role.initial)
    draft.decisions += 1
    holds, fails = branch(walk, field(role.condition)(node))
    draft.here = fails if role.negated else holds
    if role.then:
        block(walk, next(iter(then), None), result=result)
    else:
        sequence(walk, then, result)
    ends = draft.here
    draft.here = holds if role.negated else fails
    for arm in _arms(walk, node, role):
        draft.statement = me
        part = walk.role(arm)
        if type(part) is control.If and arm.type != node.type:
            ends = ends + _arms_of(walk, arm, part)
            continue
        if type(part) is not control.If:
            draft.current.tails.append(_line_of_else(arm))
        block(walk, body_of(arm, part) if type(part) is control.Else else arm, result=result)
    return ends


def _then(walk: Walk, node: Node, role: control.If) -> list[Node]:
    """What runs where the condition holds: a block or statement, or all that stands beside the
    condition and the arms.
    """
    arms = _arms(walk, node, role)
    apart = {child.id for child in (*arms, *every(node, role.condition))}
    if role.then:
        apart = {arm.id for arm in arms[:1]}  # the same where nothing is between the brackets
    inside = every(node, role.then)[:1] if role.then else named_parts(node)
    return [child for child in inside if child.id not in apart]


def _line_of_else(arm: Node) -> int:
    """The line of the `else` before an arm, where the arm does not begin with it."""
    before = arm.prev_sibling
    while before is not None and before.type != "else" and (before.is_extra or not before.is_named):
        before = before.prev_sibling
    return line_of(before if before is not None and before.type == "else" else arm)


def _arms(walk: Walk, node: Node, role: control.If) -> list[Node]:
    """Arms in the order in which they are tried: an `elif` holds those after it."""
    return [
        arm
        for arm in every(node, role.otherwise)
        if arm.is_named and type(walk.role(arm)) is not model.Comment
    ]


def lower_refutable(walk: Walk, node: Node, role: control.Refutable) -> None:
    """Bind the names of a refutable pattern where the value fits; elsewhere the alternative runs."""
    draft = walk.draft
    left, right, otherwise = (
        node.child_by_field_name(name) for name in ("pattern", "value", "alternative")
    )
    open_statement(walk, node, "if", otherwise)
    draft.decisions += 1
    walk.visit(right)
    walk.bind(left, right, declares=True)
    draft.head().tests = True
    number = draft.finish()
    draft.here = [(number, EdgeKind.FALSE)]
    block(walk, otherwise)
    draft.here = [(number, EdgeKind.TRUE), *draft.here]
