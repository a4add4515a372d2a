"""Where a condition says what a variable or a member of one is an instance of: `x instanceof A`,
`this.x instanceof A`, and `isA(x)` of a type guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    CONST,
    DECLARED,
    GUARD,
    GUARDED,
    Expression,
    either,
    joined_texts,
)
from tersely.code.languages.nodes import first_part, named_parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

VALUE_OPERATORS = ("||", "&&", "??")  # of which one side is the value
JUMPS = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
CALLEES = frozenset({"identifier", "member_expression"})
PLACE = re.compile(r"[\w$]+(?:\.[\w$#]+)*")  # a variable, or a member of a member … of one


class Test(NamedTuple):
    """A variable or member that a condition asks about, and the node that asks: a class, or the
    call of a guard.
    """

    name: Node
    asked: Node


def lower_if(walk: Lowering, node: Node) -> Expression:
    """What a condition tells holds in the branch, and behind a branch that leaves where it is not
    true.
    """
    condition = node.child_by_field_name("condition")
    branch = node.child_by_field_name("consequence")
    alternative = node.child_by_field_name("alternative")
    walk.value(condition)
    with _narrowed(walk, condition, branch):
        walk.value(branch)
    walk.value(alternative)
    if (
        condition is not None
        and alternative is None
        and node.parent is not None
        and _leaves(branch)
    ):
        told = [
            test
            for test in _told(condition, when=False)
            if not _assigns(walk, node.parent, test.name)
        ]
        walk.known_behind += [_known(walk, test) for test in told]
    return None


def lower_binary(walk: Lowering, node: Node) -> Expression:
    """`a && b`: what `a` tells holds in `b`; `"text" + b` is a text."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "+":
        return joined_texts(walk.value(left), walk.value(right))
    if operator is None or operator.type not in VALUE_OPERATORS:
        walk.visit(named_parts(node))
        return None
    value = walk.value(left)
    with _narrowed(walk, left if operator.type == "&&" else None, right):
        return either(value, walk.value(right))


def lower_ternary(walk: Lowering, node: Node) -> Expression:
    """`a ? b : c`: what `a` tells holds in `b`."""
    condition = node.child_by_field_name("condition")
    branch = node.child_by_field_name("consequence")
    walk.value(condition)
    with _narrowed(walk, condition, branch):
        value = walk.value(branch)
    return either(value, walk.field_value(node, "alternative"))


def lower_predicate(walk: Lowering, node: Node) -> Expression:
    """`x is A` in place of the type of a result."""
    predicate = first_part(node)
    name = predicate.child_by_field_name("name") if predicate is not None else None
    type_ = predicate.child_by_field_name("type") if predicate is not None else None
    return (GUARD, walk.text(name), walk.value(type_)) if name is not None else None


@contextmanager
def _narrowed(walk: Lowering, condition: Node | None, branch: Node | None) -> Iterator[None]:
    """What a condition tells of what a branch does not assign holds meanwhile."""
    told = list(_told(condition, when=True)) if condition is not None and branch is not None else []
    kept = [test for test in told if branch is not None and not _assigns(walk, branch, test.name)]
    if not kept:
        yield
        return
    with walk.in_block():
        for test in kept:
            walk.narrow(*_known(walk, test))
        yield


def _known(walk: Lowering, test: Test) -> tuple[str, Expression]:
    """A variable or member, and what it is after a test."""
    held = walk.callee(test.name)
    return walk.text(test.name), (DECLARED, held, _type_of(walk, test.name, test.asked))


def _type_of(walk: Lowering, name: Node, asked: Node) -> Expression:
    """The type that a test asks for."""
    if asked.type != "call_expression":
        return walk.value(asked)
    callee = asked.child_by_field_name("function")
    arguments = asked.child_by_field_name("arguments")
    place = (
        [part.id for part in named_parts(arguments)].index(name.id) if arguments is not None else 0
    )
    return (GUARDED, walk.callee(callee) if callee is not None else None, (CONST, place))


def _told(condition: Node, *, when: bool) -> Iterator[Test]:
    """What a condition tells of variables when it is true, or when it is false."""
    parts = named_parts(condition)
    operator = condition.child_by_field_name("operator")
    word = operator.type if operator is not None else ""
    if condition.type == "parenthesized_expression" or word == ("&&" if when else "||"):
        for part in parts:
            yield from _told(part, when=when)
    elif word == "!" and parts:
        yield from _told(parts[0], when=not when)
    elif when and word == "instanceof" and len(parts) > 1 and _is_place(parts[0]):
        yield Test(parts[0], parts[1])
    elif when and condition.type == "call_expression":
        yield from _guarded(condition)


def _guarded(call: Node) -> Iterator[Test]:
    """The variables that the call of something which has a name may say something of."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if (
        callee is None
        or arguments is None
        or callee.type not in CALLEES
        or b"(" in (callee.text or b"")
    ):
        return
    for argument in named_parts(arguments):
        if _is_place(argument):
            yield Test(argument, call)


def _is_place(node: Node) -> bool:
    """True if a node is a variable, or a member that is written with names alone."""
    return (
        node.type in CALLEES
        and PLACE.fullmatch((node.text or b"").decode("utf-8", "replace")) is not None
    )


def _leaves(branch: Node | None) -> bool:
    """True if what stands behind a branch does not run after it."""
    if branch is not None and branch.type == "statement_block":
        branch = named_parts(branch)[-1] if named_parts(branch) else None
    return branch is not None and branch.type in JUMPS


def _assigns(walk: Lowering, branch: Node, name: Node) -> bool:
    """True if a branch gives a variable, or a member or what it is a member of, another value."""
    first, *members = walk.text(name).split(".")
    place = re.escape(first) + "".join(rf"(?:\.{re.escape(member)}" for member in members)
    written = rf"(?<![\w$.]){place}{')?' * len(members)}\s*=(?!=|>)"
    return re.search(written, walk.text(branch)) is not None
