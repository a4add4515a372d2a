"""Bodies of which one runs, or that run in their place: the variable that a name means in them and
after them.

A name that straight-line code binds again is another variable (`Lowering.bind_name`). Where bodies
meet again, a name that they left as different variables becomes one more, which may be either:
static single assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tersely.code.expressions import EITHER, VERSION_MARK
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import named_parts
from tersely.code.syntax.rule_compiler import Lowerings

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.expressions import Expression
    from tersely.code.syntax.lowering import Lowering


Known = Sequence[tuple[str, "Expression"]]  # variables with their known values


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


BRANCHES: Lowerings = {
    model.Branches: _branches,
    model.Runs: _runs,
}
