"""Conditions that narrow a variable or a member of one: `x instanceof A`, `this.x instanceof A`,
`isA(x)` of a type guard, `'member' in x`, `x.kind === 'a'`, `x.ok`, and `switch (x.kind)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    CONST,
    DECLARED,
    GUARD,
    GUARDED,
    TESTED,
    Expression,
    Expressions,
    NamedExpressions,
    either,
    joined_texts,
)
from tersely.code.languages.conditions import certain_parts, leaves
from tersely.code.languages.nodes import (
    OptionalNode,
    child_in,
    children_in,
    first_part,
    named_parts,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

VALUE_OPERATORS = ("||", "&&", "??")  # of which one side is the value
CALLEES = frozenset({"identifier", "member_expression"})
PLACE = re.compile(r"[\w$]+(?:\.[\w$#]+)*")  # a variable, or a member of a member … of one


# a constant of an enumeration, or a variable that is written as constants are
CONSTANT = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?:\.[\w$]+)*")
QUOTES = "\"'`"
EQUAL, UNEQUAL = frozenset({"===", "=="}), frozenset({"!==", "!="})
TRUE, FALSE = (CONST, "true"), (CONST, "false")


class Question(NamedTuple):
    """Whether a member is one of some constants, or is there at all if none is named."""

    member: str
    constants: Expressions
    holds: bool  # that it is so, or that it is not


class Test(NamedTuple):
    """A variable or member that a condition tests, with the test: a class, the call of a guard, or
    a question about a member of it.
    """

    name: Node
    criterion: Node | Question


def lower_if(
    walk: Lowering,
    node: Node,
    condition: OptionalNode,
    branch: OptionalNode,
    alternative: OptionalNode,
) -> None:
    """An `if`: its condition narrows in the branch, and behind a branch that leaves when it is
    false.
    """
    walk.value(condition)
    _narrowed_branch(walk, condition, branch)
    _narrowed_branch(walk, condition, alternative, when=False)
    around = node.parent
    if (
        condition is not None
        and alternative is None
        and around is not None
        and leaves(walk.language, branch)
    ):
        for test in _tests(walk, condition, when=False):
            if not _assigns(walk, around, test.name) and _uses(walk, node, around, test):
                walk.known_behind.append(_narrowed_value(walk, test))


def lower_switch(walk: Lowering, node: Node, subject: OptionalNode, body: OptionalNode) -> None:
    """`switch (x.kind)`: a case narrows x to matching values, `default` to all values of no case."""
    walk.value(subject)
    member = first_part(subject)
    if member is None or body is None or not _is_discriminant(walk, member):
        walk.value(body)
        return
    cases = named_parts(body)
    constants = [_constant(walk, case.child_by_field_name("value")) for case in cases]
    others = tuple(constant for constant in constants if constant is not None)
    with walk.in_block():
        entered: Expressions = ()  # by which constants, also from cases above
        is_known = True
        for case, constant in zip(cases, constants, strict=True):
            is_default = case.child_by_field_name("value") is None
            is_known = is_known and (constant is not None or (is_default and not entered))
            entered += (constant,) if constant is not None else ()
            question = _question(walk, member, others if is_default else entered, not is_default)
            narrowed = _narrowed_in_case(walk, question if is_known else None, case)
            if narrowed:
                walk.value_knowing(narrowed, case)
            else:  # its declarations hold in the cases that follow
                walk.value(case)
            if leaves(walk.language, case):
                entered, is_known = (), True
            elif is_default:
                is_known = False


def lower_binary(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Expression:
    """`a && b`: `a` narrows in `b` when true, of `a || b` when false; `"text" + b` is a text."""
    if operator is not None and operator.type == "+":
        return joined_texts(walk.value(left), walk.value(right))
    if operator is None or operator.type not in VALUE_OPERATORS:
        walk.values(node)
        return None
    value = walk.value(left)
    condition = left if operator.type != "??" else None
    return either(value, _narrowed_branch(walk, condition, right, when=operator.type == "&&"))


def lower_ternary(
    walk: Lowering,
    node: Node,
    condition: OptionalNode,
    branch: OptionalNode,
    alternative: OptionalNode,
) -> Expression:
    """`a ? b : c`: `a` narrows in `b` when true, in `c` when false."""
    walk.value(condition)
    value = _narrowed_branch(walk, condition, branch)
    return either(value, _narrowed_branch(walk, condition, alternative, when=False))


def lower_predicate(walk: Lowering, node: Node) -> Expression:
    """`x is A` in place of the type of a result."""
    predicate = first_part(node)
    name = child_in(predicate, "name")
    type_ = child_in(predicate, "type")
    return (GUARD, walk.text(name), walk.value(type_)) if name is not None else None


def _narrowed_branch(
    walk: Lowering, condition: OptionalNode, branch: OptionalNode, *, when: bool = True
) -> Expression:
    """The value of a branch, in which a condition narrows the variables that the branch does not
    assign.
    """
    if condition is None or branch is None:
        return walk.value(branch)
    kept = [
        test
        for test in _tests(walk, condition, when=when)
        if _uses(walk, None, branch, test) and not _assigns(walk, branch, test.name)
    ]
    if not kept:
        return walk.value(branch)
    with walk.in_block():
        for test in kept:
            walk.narrow(*_narrowed_value(walk, test))
        return walk.value(branch)


def _narrowed_in_case(walk: Lowering, test: Test | None, case: Node) -> NamedExpressions:
    """The narrowed values in a case, of variables that the case does not assign."""
    if test is None or not _uses(walk, None, case, test) or _assigns(walk, case, test.name):
        return []
    return [_narrowed_value(walk, test)]


def _uses(walk: Lowering, behind: OptionalNode, place: Node, test: Test) -> bool:
    """True if the subject of a test is written at a place, or in the code behind a node there."""
    start = behind.end_byte if behind is not None else place.start_byte
    return walk.source.find(test.name.text or b"", start, place.end_byte) >= 0


def _narrowed_value(walk: Lowering, test: Test) -> tuple[str, Expression]:
    """A variable or member, and its value after a test."""
    held = walk.callee(test.name)
    return walk.text(test.name), (DECLARED, held, _type_of(walk, test.name, test.criterion))


def _type_of(walk: Lowering, name: Node, criterion: Node | Question) -> Expression:
    """The type in a test."""
    if isinstance(criterion, Question):
        return (TESTED, *criterion)
    if criterion.type != "call_expression":
        return walk.value(criterion)
    callee = criterion.child_by_field_name("function")
    arguments = criterion.child_by_field_name("arguments")
    place = (
        [part.id for part in named_parts(arguments)].index(name.id) if arguments is not None else 0
    )
    return (GUARDED, walk.callee(callee), (CONST, place))


def _tests(walk: Lowering, condition: Node, *, when: bool) -> list[Test]:
    """The tests that hold when a condition is true, or when it is false."""
    parts = certain_parts(condition, when=when)
    return [test for part, holds in parts for test in _tests_in(walk, part, holds)]


def _tests_in(walk: Lowering, condition: Node, when: bool) -> Iterator[Test]:
    operator = condition.child_by_field_name("operator")
    word = operator.type if operator is not None else ""
    parts = named_parts(condition) if word else []
    if when and word == "instanceof" and len(parts) > 1 and _is_place(parts[0]):
        yield Test(parts[0], parts[1])
    elif when and condition.type == "call_expression":
        yield from _guard_tests(condition)
    elif len(parts) == 2 and word in EQUAL | UNEQUAL:
        yield from _comparison_tests(walk, parts[0], parts[1], (word in EQUAL) == when)
    elif len(parts) == 2 and word == "in":
        yield from _containment_tests(walk, parts[0], parts[1], when)
    elif walk.resolution.virtual and _is_discriminant(walk, condition):
        yield _question(walk, condition, (FALSE if when else TRUE,), holds=False)


def _comparison_tests(walk: Lowering, left: Node, right: Node, holds: bool) -> Iterator[Test]:
    """`x.kind === constant`, in either order."""
    for member, other in ((left, right), (right, left)):
        constant = _constant(walk, other) if _is_discriminant(walk, member) else None
        if constant is not None:
            yield _question(walk, member, (constant,), holds)
            return


def _containment_tests(walk: Lowering, key: Node, owner: Node, holds: bool) -> Iterator[Test]:
    """`'member' in x`."""
    if key.type == "string" and _is_place(owner):
        yield Test(owner, Question(walk.text(key).strip(QUOTES), (), holds))


def _question(walk: Lowering, member: Node, constants: Expressions, holds: bool) -> Test:
    """The test of the owner of a member by comparison with constants."""
    owner, name = _parts_of(member)
    return Test(owner, Question(walk.text(name), constants, holds))


def _parts_of(member: Node) -> tuple[Node, Node]:
    """The owner of a member, and its name."""
    owner, *_, name = named_parts(member)
    return owner, name


def _is_discriminant(walk: Lowering, node: Node) -> bool:
    """True if a node is a member that may distinguish types of its owner; members that everything
    has do not.
    """
    if node.type != "member_expression" or len(named_parts(node)) < 2:
        return False
    owner, member = _parts_of(node)
    return _is_place(owner) and walk.text(member) not in walk.resolution.common_members


def _constant(walk: Lowering, node: OptionalNode) -> Expression:
    """The constant that a node is, None for anything else."""
    if node is None:
        return None
    text = walk.text(node)
    if node.type == "string":
        return (CONST, text.strip(QUOTES))
    if node.type in ("true", "false") or text.isdecimal():
        return (CONST, int(text) if text.isdecimal() else text)
    is_named = node.type in CALLEES and CONSTANT.fullmatch(text) is not None
    return walk.callee(node) if is_named else None


def _guard_tests(call: Node) -> Iterator[Test]:
    """The tests in a call of a named function: one for each variable among its arguments, by a type
    guard.
    """
    callee, arguments = children_in(call, "function", "arguments")
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


def _assigns(walk: Lowering, branch: Node, name: Node) -> bool:
    """True if a branch assigns to a variable, a member, or an owner of the member."""
    first, *members = walk.text(name).split(".")
    place = re.escape(first) + "".join(rf"(?:\.{re.escape(member)}" for member in members)
    written = rf"(?<![\w$.]){place}{')?' * len(members)}\s*=(?!=|>)"
    return re.search(written, walk.text(branch)) is not None
