"""Operators: the methods of their operands that they call, and their results."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CONST,
    EITHER,
    ENTER,
    HOLE,
    ITEM,
    OPERATED,
    REMOVED,
    SEQUENCE,
    SPREAD,
    Expression,
    either,
    is_literal,
    is_tagged,
    is_text,
    joined_texts,
    patterned,
    text_of,
)
from tersely.code.languages import model
from tersely.code.languages.nodes import all_parts, line_of, named_parts
from tersely.code.syntax.patterns import note_stored
from tersely.code.syntax.rule_compiler import Lowerings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


MINUS = "-"
PLACE = re.compile(r"%[sdr]")  # in a text, where `%` puts something in


def _operator(rule: model.Operator, walk: Lowering, node: Node) -> Expression:
    values: list[Expression] = []
    tokens: list[str] = []
    for child in all_parts(node):
        if child.is_named:
            values.append(walk.value(child))
        else:
            tokens.append(child.type)
    line = node.start_point[0] + 1
    if len(values) == 1 and tokens:
        return _of_one(walk, rule, tokens[0], values[0], line)
    made = either(*values)
    for token, left, right in zip(tokens, values, values[1:], strict=False):
        if token in rule.methods:
            made = _operate(walk, rule.methods[token], left, right, line)
    if rule.updates and len(values) == 2:
        _update(walk, values[0], values[1], line)
    if values and (is_text(values[0]) or (tokens == ["+"] and is_text(values[-1]))):
        text = _text_with(values, tokens)
        walk.spelled.update(text[1:3])  # of one that is not whole type and pattern
        return text
    return made if rule.values else None


def _text_with(values: list[Expression], tokens: list[str]) -> Expression:
    """The known parts of the text that an operator makes of other texts."""
    if tokens == ["+"]:
        return reduce(joined_texts, values)
    return patterned(PLACE.sub(HOLE, text_of(values[0])) if tokens == ["%"] else HOLE)


def _of_one(
    walk: Lowering, rule: model.Operator, token: str, operand: Expression, line: int
) -> Expression:
    """An operator before its only operand; a number with a sign is a number."""
    if is_tagged(operand, CONST) and type(operand[1]) is int:
        return (CONST, -operand[1]) if token == MINUS else operand
    if token in rule.methods:
        walk.implicit(operand, rule.methods[token], (), line)
    return operand if rule.values else None


def _operate(
    walk: Lowering, method: str, left: Expression, right: Expression, line: int
) -> Expression:
    """The result of an operator's method: of the left operand, or of the right one. Of lists it is
    either operand.
    """
    facts = walk.resolution
    if method in facts.container_first:
        left, right = right, left
    elif is_literal(left) and method in facts.reflected:
        method, left, right = facts.reflected[method], right, left
    walk.implicit(left, method, (right,), line)
    if left is None or right is None:
        return (left and (ENTER, left, method)) or right
    return (EITHER, ((ENTER, left, method), right), OPERATED)


def _update(walk: Lowering, left: Expression, right: Expression, line: int) -> None:
    """Record `left += right`: an item is stored again, and the elements of a list are added to the
    left one.
    """
    if is_tagged(left, ITEM) and len(walk.resolution.item_methods) > 1:
        walk.implicit(left[1], walk.resolution.item_methods[1], (left[2], None), line)
        walk.scope.stored.clear()
    note_stored(walk, left, line)
    if is_tagged(right, SEQUENCE) and left is not None:
        walk.store((ITEM, left, (SPREAD, right)), None)


def _removes(rule: model.Removes, walk: Lowering, node: Node) -> None:
    for child in named_parts(node):
        removed = (
            named_parts(child) if type(walk.rules[child.kind_id]) is model.Sequence else [child]
        )
        for each in removed:
            item = walk.value(each)
            walk.scope.stored.clear()
            if note_stored(walk, item, line_of(each), REMOVED):
                continue
            walk.instead_of_reading(item, 2, (item[2],) if is_tagged(item, ITEM) else ())


OPERATORS: Lowerings = {
    model.Operator: _operator,
    model.Removes: _removes,
}
