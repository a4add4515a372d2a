"""Names of Ruby: symbols in calls, and what assignments bind. Blocks share the variables around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CONST,
    ITEM,
    MEMBER,
    SEQUENCE,
    Expression,
    is_tagged,
)
from tersely.code.languages.model import names
from tersely.code.languages.nodes import (
    OptionalNode,
    children_in,
    last_line_of,
    line_of,
    named_parts,
)
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering


def arguments_in(call: Node) -> list[Node]:
    """The nodes of the arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return named_parts(listed) if listed is not None else []


def symbol_in(walk: Lowering, node: Node) -> str:
    """The text of `:name` or a plain string, empty for anything else."""
    if node.type == "simple_symbol":
        return walk.text(node)[1:]
    if node.type in ("string", "delimited_symbol"):
        parts = named_parts(node)
        return walk.text(parts[0]) if len(parts) == 1 and parts[0].type == "string_content" else ""
    if node.type == "parenthesized_statements" and len(named_parts(node)) == 1:
        return symbol_in(walk, named_parts(node)[0])
    return ""


def holder(walk: Lowering, name: str) -> ScopeDraft | None:
    """The enclosing scope that binds a name; blocks alone see outwards, methods do not."""
    scope = walk.scope
    while scope.kind is Kind.LAMBDA and scope.definition > 0:
        outer = walk.drafts[walk.definitions[scope.definition].parent]
        if outer is None:
            return None
        if name in outer.bound:
            return outer
        scope = outer
    return None


def _assign_outer(walk: Lowering, owner: ScopeDraft, name: str, value: Expression) -> None:
    """Assign to a variable of an enclosing scope."""
    # says that the name is a variable of that scope, a parameter too
    owner.binds.append((name, None))
    walk.scope.outer.append((name, int(owner.definition == 0)))
    walk.store(name, value)


BODIES = frozenset({Kind.CLASS, Kind.NAMESPACE})


def bind(walk: Lowering, target: Node, value: Expression, node: OptionalNode = None) -> None:
    """Bind the names in a target; `node` is the whole assignment."""
    kind, text = target.type, walk.text(target)
    if kind == "identifier":
        owner = None if text in walk.scope.bound else holder(walk, text)
        if owner is not None:
            _assign_outer(walk, owner, text, value)
        else:
            walk.bind_name(text, value, target)
    elif kind == "constant":
        walk.bind_node(target, value)
        if walk.scope.kind in BODIES or walk.scope.kind is Kind.MODULE:
            walk.define_node(node or target, target, Kind.CONSTANT)
    elif kind in ("instance_variable", "class_variable"):
        walk.note_member_store(text, target)
        walk.mentions.add(text)
        walk.scope.binds.append(((MEMBER, "self", text), value))
    elif kind == "global_variable":
        walk.scope.outer.append((text, 1))
        walk.scope.binds.append((text, value))
    elif kind == "call":
        _bind_attribute(walk, target, value)
    elif kind == "element_reference":
        _bind_element(walk, target, value)
    elif kind in PATTERNS:
        _bind_pattern(walk, target, value)
    elif kind in ("splat_parameter", "rest_assignment"):
        for child in named_parts(target)[:1]:
            bind(walk, child, value)


def _bind_element(walk: Lowering, target: Node, value: Expression) -> None:
    """`container[key] = value` calls `[]=`."""
    container = walk.field_value(target, "object")
    keys = list(map(walk.value, named_parts(target)[1:]))
    walk.scope.binds.append(((ITEM, container, keys[0] if len(keys) == 1 else None), value))
    walk.call((MEMBER, container, "[]="), (*keys, value), (), line_of(target))


PATTERNS = names("left_assignment_list destructured_left_assignment destructured_parameter")


def _bind_attribute(walk: Lowering, target: Node, value: Expression) -> None:
    """`thing.name = value` calls `name=`."""
    receiver, method = children_in(target, "receiver", "method")
    if method is None:
        return
    base, name = walk.value(receiver), walk.text(method)
    walk.note_member_store(f"@{name}", method)
    walk.mentions.add(f"{name}=")
    walk.scope.binds.append(((MEMBER, base, f"@{name}"), value))
    walk.call((MEMBER, base, f"{name}="), (value,), (), last_line_of(method))


def _bind_pattern(walk: Lowering, target: Node, value: Expression) -> None:
    parts = value[1] if is_tagged(value, SEQUENCE) else ()
    for position, child in enumerate(named_parts(target)):
        inside = value and (ITEM, value, (CONST, position))
        bind(walk, child, parts[position] if position < len(parts) else inside)
