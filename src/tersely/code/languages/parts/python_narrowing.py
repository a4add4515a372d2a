"""Tests in Python of the class of a variable, or of a member of one: `isinstance(x.y, A)` in
conditions and assertions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import DECLARED, Expression, NamedExpressions, either
from tersely.code.languages.conditions import certain_parts, leaves
from tersely.code.languages.nodes import OptionalNode, named_parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

ASKING = "isinstance"


PLACE = re.compile(r"\w+(?:\.\w+)*")  # a variable, or a member of a member … of one
_PLACES = re.compile(rf"(?<![\w.]){PLACE.pattern}\b(?!\.)")
# before and behind a place that is given another value
_IS_TARGET = re.compile(r"[\s\w.,*()\[\]]*")
_IS_STORED = re.compile(r"\s*(?:,[^=\n]*|:[^=\n]*|\)\s*)?[-+*/|&^%@]*=(?!=)")
_IN_HEADER = re.compile(r"\b(?:for|as|del)\b[^:\n]*\Z")
_IS_MADE = re.compile(r"\s*:=")


class Test(NamedTuple):
    """A variable or member that a condition tests, and the node of the tested classes."""

    name: Node
    classes: Node


def known_in(walk: Lowering, condition: Node, body: Node) -> NamedExpressions:
    """The variables that a condition narrows in a body that runs when it is true, and their values
    there.
    """
    return _narrowed_variables(walk, condition, body, when=True)


def known_behind(walk: Lowering, statement: Node) -> NamedExpressions:
    """The variables that a statement narrows in the code behind it, and their values there.

    It is an assertion, or an `if` that leaves where its condition is not true.
    """
    around = statement.parent
    parts = named_parts(statement)
    if around is None or not parts:
        return []
    if statement.type == "assert_statement":
        return _narrowed_variables(walk, parts[0], around, when=True)
    is_lone = statement.type == "if_statement" and len(parts) == 2
    if not is_lone or not leaves(walk.language, parts[1]):
        return []
    return _narrowed_variables(walk, parts[0], around, when=False)


def lower_assert(walk: Lowering, node: Node) -> None:
    """`assert isinstance(x, A)`: it holds behind it."""
    walk.values(node)
    if walk.is_straight(node):
        for name, value in known_behind(walk, node):
            walk.narrow(name, value)


def lower_boolean(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Expression:
    """`a and b`: `a` narrows in `b` when true; `a or b`: when false."""
    if left is None or right is None or operator is None:
        walk.values(node)
        return None
    value = walk.value(left)
    narrowed = _narrowed_variables(walk, left, right, when=operator.type == "and")
    return either(value, walk.value_knowing(narrowed, right))


def lower_conditional(walk: Lowering, node: Node) -> Expression:
    """`a if b else c`: `b` narrows in `a`."""
    parts = named_parts(node)
    if len(parts) != 3:
        walk.visit(parts)
        return None
    value, condition, other = parts
    walk.value(condition)
    found = walk.value_knowing(known_in(walk, condition, value), value)
    return either(found, walk.value(other))


def _narrowed_variables(
    walk: Lowering, condition: Node, where: Node, *, when: bool
) -> NamedExpressions:
    if ASKING not in walk.text(condition):
        return []
    text, tests = walk.text(where), _tests(walk, condition, when=when)
    kept = [test for test in tests if not is_assigned(text, walk.text(test.name))]
    return [(walk.text(test.name), _narrowed_type(walk, test)) for test in kept]


def _narrowed_type(walk: Lowering, test: Test) -> Expression:
    return (
        DECLARED,
        walk.callee(test.name),
        either(*map(walk.value, _alternatives(test.classes))),
    )


def _alternatives(classes: Node) -> Iterator[Node]:
    """The classes of `(A, B)` or `A | B`."""
    if classes.type in ("tuple", "binary_operator", "parenthesized_expression"):
        for part in named_parts(classes):
            yield from _alternatives(part)
    else:
        yield classes


def _tests(walk: Lowering, condition: Node, *, when: bool) -> Iterator[Test]:
    """The tests that hold when a condition is true, or when it is false."""
    for part, holds in certain_parts(condition, when=when):
        parts = named_parts(part)
        if holds and part.type == "call" and walk.text(parts[0]) == ASKING:
            arguments = named_parts(parts[1])
            if len(arguments) == 2 and PLACE.fullmatch(walk.text(arguments[0])):
                yield Test(*arguments)


def is_assigned(text: str, name: str) -> bool:
    """True if code assigns to a variable, a member, or an owner of the member."""
    places = _PLACES.finditer(text)
    return any(
        _IN_HEADER.search(before := text[text.rfind("\n", 0, place.start()) + 1 : place.start()])
        or _IS_MADE.match(text, place.end())
        or (_IS_TARGET.fullmatch(before) and _IS_STORED.match(text, place.end()))
        for place in places
        if f"{name}.".startswith(f"{place[0]}.")
    )
