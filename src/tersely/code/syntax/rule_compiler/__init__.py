"""One compiler a rule: it reaches for fields once and returns the function that lowers a node.

The modules are themes; each ends with the table of its compilers, and `compilers` joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import Expression

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

Handler = Callable[["Lowering", "Node"], Expression]
Compilers = Mapping[type[Any], Callable[[Any], Handler]]


def visited(rule: object) -> Handler:
    """The compiler of rules for nodes without a value, of which only the children are lowered."""

    def lower(walk: Lowering, node: Node) -> Expression:
        walk.values(node)
        return None

    return lower
