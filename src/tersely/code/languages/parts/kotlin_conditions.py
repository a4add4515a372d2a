"""Conditions of Kotlin that test the types of variables, and the values of what they choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import Expression, either
from tersely.code.languages.classes import narrow_name
from tersely.code.languages.conditions import certain_parts, leaves
from tersely.code.languages.nodes import (
    OptionalNode,
    child_of,
    children_in,
    has_token,
    line_of,
    named_parts,
    parts_in,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def lower_if(walk: Lowering, node: Node, condition: OptionalNode) -> Expression:
    """The value is that of a branch. A type test narrows a variable in the branch or after one that
    leaves.
    """
    parts = named_parts(node)
    before = dict(walk.scope.versions)
    walk.value(condition)
    narrow(walk, condition)
    values: list[Expression] = []
    branches = [part for part in parts if condition is None or part.id != condition.id]
    for branch in branches:
        values.append(walk.value(branch))
        walk.scope.versions = before
    if len(branches) == 1 and leaves(walk.language, branches[0]):
        narrow(walk, condition, negated=True)
    return either(*values)


def lower_when(walk: Lowering, node: Node, subject: OptionalNode) -> Expression:
    """The value is that of an entry; in each the subject is of the types that it tests for."""
    walk.value(subject)
    declared = child_of(subject, "variable_declaration")
    name = child_of(declared or subject, "identifier")
    values: list[Expression] = []
    for entry in named_parts(node):
        if entry.type == "when_entry":
            before = dict(walk.scope.versions)
            conditions = parts_in(entry, "condition")
            values.append(
                _entry_value(walk, entry, [part for part in conditions if part.is_named], name)
            )
            walk.scope.versions = before
    return either(*values)


def _entry_value(
    walk: Lowering, entry: Node, conditions: list[Node], subject: OptionalNode
) -> Expression:
    types: list[Expression] = []
    for condition in conditions:
        types.append(walk.value(condition))
        if len(conditions) == 1:
            narrow(walk, condition)
    tests = [
        condition
        for condition in conditions
        if condition.type == "type_test" and not _is_negated(condition)
    ]
    if subject is not None and tests and len(tests) == len(conditions):
        narrow_name(walk, walk.text(subject), either(*types))
    tested = {condition.id for condition in conditions}
    value: Expression = None
    for child in named_parts(entry):
        if child.id not in tested:
            value = walk.value(child)
    return value


def _is_name(node: OptionalNode) -> bool:
    return node is not None and node.type == "identifier"


def _is_negated(node: Node) -> bool:
    return has_token(node, "!is")


def narrow(walk: Lowering, condition: OptionalNode, *, negated: bool = False) -> None:
    """Names that a condition tests for their types have these types from here on; `negated`, where
    it does not hold.
    """
    tests = certain_parts(condition, when=not negated) if condition is not None else ()
    for test, holds in tests:
        left, right = children_in(test, "left", "right")
        if test.type == "is_expression" and _is_negated(test) is not holds and _is_name(left):
            narrow_name(walk, walk.text(left), walk.value(right))


OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "div", "%": "rem"}


def lower_binary(
    walk: Lowering, node: Node, first: OptionalNode, right_node: OptionalNode
) -> Expression:
    """`a ?: b` is one of both; `a / b` calls `a.div(b)`."""
    tokens = {child.type for child in node.children}
    left, before = walk.value(first), dict(walk.scope.versions)
    narrow(walk, first if "&&" in tokens else None)
    right = walk.value(right_node)
    walk.scope.versions = before
    if "?:" in tokens:
        return either(left, right)
    name = next((OPERATORS[token] for token in tokens if token in OPERATORS), "")
    if not name or first is None or left is None or first.type.endswith("_literal"):
        return None
    return walk.call(walk.member(left, name), (right,), (), line_of(node))
