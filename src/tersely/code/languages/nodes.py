"""The children of a node without comments and continued lines, which may stand anywhere and mean
nothing.

Positions of children count these only.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

OptionalNode: TypeAlias = "Node | None"
TextOf: TypeAlias = "Callable[[Node | None], str]"

# Asked of every node: written out below, since a call of a function would take as long as the rest.
_REMARKS = frozenset(
    {"comment", "line_comment", "block_comment", "multiline_comment", "line_continuation"}
)
TYPE_OF = attrgetter("type")


def named_parts(node: Node) -> list[Node]:
    """The named children."""
    children = node.named_children
    for child in children:
        if child.is_extra:  # few have any
            return [part for part in children if not _is_remark(part)]
    return children


def parts_of(node: OptionalNode) -> list[Node]:
    """The named children of a node, none of None."""
    return named_parts(node) if node is not None else []


def first_part(node: OptionalNode) -> OptionalNode:
    """The first named child, None where there is none."""
    return next(iter(named_parts(node)), None) if node is not None else None


def last_part(node: OptionalNode) -> OptionalNode:
    """The last named child, None where there is none."""
    return next(reversed(named_parts(node)), None) if node is not None else None


def child_in(node: OptionalNode, name: str) -> OptionalNode:
    """The child in a field, None of None and where there is none."""
    return node.child_by_field_name(name) if node is not None else None


def child_of(node: OptionalNode, *types: str) -> OptionalNode:
    """The first named child of one of some types, None of None and where there is none."""
    for child in node.named_children if node is not None else ():
        if child.type in types:
            return child
    return None


def has_token(node: Node, *tokens: str) -> bool:
    """True if one of some tokens, or of some node types, is among the children of a node."""
    return not {*tokens}.isdisjoint(map(TYPE_OF, node.children))


def children_in(node: Node, *names: str) -> list[OptionalNode]:
    """The children in some fields, None for each that there is not."""
    return list(map(node.child_by_field_name, names))


def all_parts(node: Node) -> list[Node]:
    """All children, tokens included."""
    return [child for child in node.children if not child.is_extra or child.type not in _REMARKS]


def parts_in(node: Node, name: str) -> list[Node]:
    """The children in a field, tokens included."""
    return [
        child
        for child in node.children_by_field_name(name)
        if not child.is_extra or child.type not in _REMARKS
    ]


def parts_and_fields(node: Node) -> list[tuple[Node, str | None]]:
    """The named children, each with the name of the field that it is in, None for none."""
    named = enumerate(node.named_children)
    found = [(child, node.field_name_for_named_child(position)) for position, child in named]
    return [
        (child, name) for child, name in found if not child.is_extra or child.type not in _REMARKS
    ]


def next_part(node: Node) -> OptionalNode:
    """The named node after one."""
    following = node.next_named_sibling
    while following is not None and _is_remark(following):
        following = following.next_named_sibling
    return following


def previous_part(node: Node) -> OptionalNode:
    """The named node before one."""
    previous = node.prev_named_sibling
    while previous is not None and _is_remark(previous):
        previous = previous.prev_named_sibling
    return previous


def line_of(node: Node) -> int:
    """The line on which a node begins, from 1."""
    return node.start_point[0] + 1


def last_line_of(node: Node) -> int:
    """The line on which a node ends, from 1."""
    return node.end_point[0] + 1


def _is_remark(node: Node) -> bool:
    return node.is_extra and node.type in _REMARKS
