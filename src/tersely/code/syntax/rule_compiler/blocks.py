"""Blocks: names that are declared in one end with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import named_parts
from tersely.code.syntax.rule_compiler import Handler, Lowerings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.expressions import Expression
    from tersely.code.syntax.lowering import Lowering


def as_block(lower: Handler) -> Handler:
    """The handler that lowers a node and then restores the names that it declared to their earlier
    meaning.
    """

    def lower_in_block(walk: Lowering, node: Node) -> Expression:
        if walk.scope.body == node.id:  # the names of a function's body are those of the function
            return lower(walk, node)
        with walk.in_block():
            if walk.language.hoists:
                walk.announce(_declared_names(walk, node))
            return lower(walk, node)

    return lower_in_block


def _declared_names(walk: Lowering, node: Node) -> Iterator[str]:
    """The names that statements of a block declare for the whole of it."""
    outlives = walk.language.outlives
    for statement in named_parts(node):
        for child in (
            named_parts(statement) if type(walk.rules[statement.kind_id]) is model.Statement else ()
        ):
            rule = walk.rules[child.kind_id]
            left = (
                field(rule.left)(child)
                if type(rule) is model.Assign and rule.defines is not None
                else None
            )
            if left is not None and not (outlives is not None and outlives(left)):
                yield from (walk.text(name) for name in target_names(walk, left))


def target_names(walk: Lowering, target: Node) -> Iterator[Node]:
    """The names that a target of an assignment binds, patterns taken apart."""
    rule = walk.rules[target.kind_id]
    kind = type(rule)
    if kind is model.Name:
        yield target
    elif kind in (model.Sequence, model.Spread, model.Inner, model.Dictionary):
        for child in named_parts(target):
            yield from target_names(walk, child)
    elif kind in (model.Pair, model.Assign):
        inner = field(rule.value if kind is model.Pair else rule.left)(target)
        if inner is not None:
            yield from target_names(walk, inner)


def _block(rule: model.Block, walk: Lowering, node: Node) -> Expression:
    value: Expression = None
    for child in named_parts(node):
        value = walk.value(child)
    return value if rule.is_value else None


BLOCKS: Lowerings = {model.Block: _block}
