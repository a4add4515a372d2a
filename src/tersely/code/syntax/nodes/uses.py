"""The use of a name, by the rules of its language: in the bases of a class, as a type, in
a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.languages.children import field

if TYPE_CHECKING:
    from tree_sitter import Node


class Use(StrEnum):
    """The uses of a name."""

    CALL = "call"
    IMPORT = "import"
    BASE = "base"
    TYPE = "type"
    WRITE = "write"
    READ = "read"
    LINK = "link"  # to the URL of a handler, which calls nothing


# node types of identifiers that can only name types
TYPE_TOKENS = frozenset({"type_identifier"})
_FIELDS = {"bases": Use.BASE, "type": Use.TYPE, "returns": Use.TYPE, "bound": Use.TYPE}
_ENDS = (model.Block, model.Call)  # their content is no part of a header


def use_in_header(leaf: Node, rules: Sequence[Any]) -> Use | None:
    """The use of a name as a base or a type, by the fields of the nodes around it; None if of
    neither.
    """
    node = leaf
    while node.parent is not None:
        around = node.parent
        rule = rules[around.kind_id]
        for use, part in _header(rule):
            found = field(part)(around)
            if found is not None and found.start_byte <= leaf.start_byte < found.end_byte:
                return use
        if isinstance(rule, _ENDS):
            break
        node = around
    return Use.TYPE if leaf.type in TYPE_TOKENS else None


def _header(rule: Any) -> Iterator[tuple[Use, str]]:
    """The parts of a node that hold bases or types."""
    for name, use in _FIELDS.items():
        part = getattr(rule, name, "")
        for one in (part,) if type(part) is str else part:
            if one:
                yield use, one
