"""The paths by which rules reach the children of a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import methodcaller
from typing import TYPE_CHECKING

from tersely.code.languages.nodes import OptionalNode, named_parts, parts_in

if TYPE_CHECKING:
    from tree_sitter import Node


Child = Callable[["Node"], "Node | None"]
_NOWHERE: dict[Node, Node] = {}


@cache
def field(name: str) -> Child:
    """A path to a child: a field name, `#n` by position, `:type` or `:type,type` by node type, `a|b`
    for a or else b, "" none.
    """
    if not name:
        return _NOWHERE.get
    if "|" in name:
        first, second = map(field, name.split("|", 1))
        return lambda node: first(node) or second(node)
    if "/" in name:
        outer, inner = (field(part) for part in name.split("/", 1))
        return lambda node: inner(found) if (found := outer(node)) is not None else None
    if name[0] == "=":
        token = name[1:]
        return lambda node: next((child for child in node.children if child.type == token), None)
    if name[0] == "#":
        position = int(name[1:])

        def by_position(node: Node) -> OptionalNode:
            children = node.named_children
            for child in children:
                if child.is_extra:  # few have any
                    children = named_parts(node)
                    break
            return children[position] if -len(children) <= position < len(children) else None

        return by_position
    if name[0] == ":":
        wanted = frozenset(name[1:].split(","))

        def by_type(node: Node) -> OptionalNode:
            for child in node.named_children:
                if child.type in wanted:
                    return child
            return None

        return by_type
    return methodcaller("child_by_field_name", name)


def only_leaf(node: Node, but: str) -> OptionalNode:
    """The node that a node wraps, level by level up to one of the type `but`, if that is all of its
    text.
    """
    inner = node
    while len(named_parts(inner)) == 1 and inner.type != but:
        inner = named_parts(inner)[0]
    return (
        inner if inner.start_byte == node.start_byte and inner.end_byte == node.end_byte else None
    )


def every(node: Node, place: str) -> list[Node]:
    """All children in a field or of a type, or the one that is reached otherwise, if it is there;
    `a|b` for a or else b.
    """
    first, _, second = place.partition("|")
    if first.isidentifier():
        found = parts_in(node, first)
    elif first[:1] == ":" and "/" not in first:
        wanted = first[1:].split(",")
        found = [child for child in node.named_children if child.type in wanted]
    else:
        one = field(first)(node)
        found = [one] if one is not None else []
    return found or (every(node, second) if second else [])


def token(node: Node, tokens: frozenset[str]) -> str | None:
    """The first of these tokens among the children of a node."""
    return next((child.type for child in node.children if child.type in tokens), None)
