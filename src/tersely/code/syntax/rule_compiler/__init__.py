"""The meaning of rules: one function a rule lowers the nodes that have it.

The modules are themes; each ends with the table of its functions, and `compilers` joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import Expression

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

Handler = Callable[["Lowering", "Node"], Expression]
Lowerings = Mapping[type[Any], Callable[[Any, "Lowering", "Node"], Expression]]


def visited(rule: object, walk: Lowering, node: Node) -> None:
    """A node without a value, of which only the children are lowered."""
    walk.values(node)
