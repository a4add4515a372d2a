"""Where Python declares type parameters: `T = TypeVar("T", bound=A)`, `class Box[T: A]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import TYPE_PARAMETER, Expression, either
from tersely.code.languages.model import KeywordArgument
from tersely.code.languages.nodes import named_parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

MAKER = "TypeVar"
BOUND = "bound"


def declare_type_parameter(walk: Lowering, node: Node) -> None:
    """Make what an assignment gives a `TypeVar` a type parameter from here on."""
    name, made = node.child_by_field_name("left"), node.child_by_field_name("right")
    callee = made.child_by_field_name("function") if made is not None else None
    if name is None or made is None or callee is None:
        return
    if walk.text(callee).rpartition(".")[2] == MAKER:
        bound = _bound(walk, made.child_by_field_name("arguments"))
        walk.loose_type_parameters[walk.text(name)] = (TYPE_PARAMETER, bound, walk.text(name))
        walk.type_parameters = walk.type_parameters | walk.loose_type_parameters


def _bound(walk: Lowering, arguments: Node | None) -> Expression:
    """The type that a type parameter is bound by: `bound=A`, or one of those that are listed."""
    listed: list[Expression] = []
    for part in named_parts(arguments)[1:] if arguments is not None else ():
        if type(walk.rule(part)) is not KeywordArgument:
            listed.append(walk.value(part))
        elif walk.text(part).partition("=")[0].strip() == BOUND:
            listed.append(walk.field_value(part, "value"))
    return either(*listed)


def lower_type_parameters(walk: Lowering, node: Node) -> Expression:
    """The type parameters that the header of a class or function declares."""
    for part in named_parts(node):
        inner = named_parts(part)[:1]
        parts = named_parts(inner[0]) if inner else []
        name = parts[0] if parts else next(iter(inner), None)
        bound = walk.value(parts[1]) if len(parts) > 1 else None
        if name is not None:
            text = walk.text(name)
            walk.type_parameters[text] = (TYPE_PARAMETER, bound, text)
    return None
