"""Blocks and branches: the variables that names mean in them, and after them.

Names that are declared in a block end with it. A name that straight-line code binds again is another
variable (`Variables.bind_name`). Where bodies of which one runs meet again, a name that they left as
different variables becomes one more, which may be either: static single assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tersely.code.expressions import EITHER, VERSION_MARK
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import named_parts
from tersely.code.syntax.rule_compiler import Handler, Lowerings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.expressions import Expression
    from tersely.code.syntax.lowering import Lowering


Known = Sequence[tuple[str, "Expression"]]  # variables with their known values


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


def _branches(rule: model.Branches, walk: Lowering, node: Node) -> None:
    if not walk.is_straight(node):
        for child, facts in _parts_with_facts(rule, walk, node):
            walk.value_knowing(facts(), child)
        return
    # late: processes that read no source have no tables
    from tersely.code.languages.conditions import leaves

    before = dict(walk.scope.versions)
    ends: list[dict[str, int]] = []
    is_complete = False
    for child, facts in _parts_with_facts(rule, walk, node):
        walk.scope.versions = dict(before)
        if child.type != rule.body:
            walk.value(child)
            before = dict(walk.scope.versions)
            continue
        _run(walk, child, facts())
        walk.scope.stored.clear()
        if not leaves(walk.language, child):
            ends.append(walk.scope.versions)
        is_complete = is_complete or bool(child.parent and child.parent.type == rule.otherwise)
    if not is_complete:
        ends.append(before)
    _meet(walk, ends or [before])
    for name, value in rule.known_behind(walk, node) if rule.known_behind is not None else ():
        walk.narrow(name, value)


def _parts_with_facts(
    rule: model.Branches, walk: Lowering, node: Node
) -> list[tuple[Node, Callable[[], Known]]]:
    """The parts of a node, in order, each with the facts that its condition establishes there."""
    condition: Node | None = None
    parts: list[tuple[Node, Callable[[], Known]]] = []
    for child in named_parts(node):
        if child.type in rule.clauses:
            parts.extend(_parts_with_facts(rule, walk, child))
        elif child.type != rule.body or condition is None or rule.known_in is None:
            condition = child
            parts.append((child, list))
        else:
            parts.append((child, partial(rule.known_in, walk, condition, child)))
    return parts


def _run(walk: Lowering, body: Node, facts: Known = ()) -> None:
    """Lower a body whose statements run one after the other."""
    scope, around = walk.scope, walk.scope.body
    scope.body = body.id
    walk.value_knowing(facts, body)
    scope.body = around


def _meet(walk: Lowering, ends: list[dict[str, int]]) -> None:
    """Go on with one variable for each name, whichever body ran."""
    scope = walk.scope
    scope.versions = dict(ends[0])
    for name in sorted({name for end in ends for name in end}):
        versions = sorted({end.get(name, 0) for end in ends})
        if len(versions) == 1:
            continue
        made = scope.versions[name] = scope.versions_made[name] = scope.versions_made[name] + 1
        variables = tuple(
            f"{name}{VERSION_MARK}{version}" if version else name for version in versions
        )
        scope.binds.append((f"{name}{VERSION_MARK}{made}", (EITHER, variables)))
        walk.note_join(f"{name}{VERSION_MARK}{made}", variables)


def _runs(rule: model.Runs, walk: Lowering, node: Node) -> None:
    body = field(rule.body)(node)
    walk.visit_others(node, body)
    if body is not None and walk.is_straight(node):
        _run(walk, body)
    else:
        walk.value(body)


BLOCKS: Lowerings = {
    model.Block: _block,
    model.Branches: _branches,
    model.Runs: _runs,
}
