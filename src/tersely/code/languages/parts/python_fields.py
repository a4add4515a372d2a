"""What Python makes of assignments with a type: fields that calling a class is given, type parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import PARAMETER, POSITIONAL, Parameter
from tersely.code.languages.nodes import named_parts
from tersely.code.languages.parts.python_generics import declare_type_parameter
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

OF_CLASS = "ClassVar"  # in the type of what is no field
NOT_GIVEN = ("init", "False")  # the keyword argument that says so of a field, and its value


def note_declared(walk: Lowering, node: Node) -> None:
    """Make what an assignment in a class declares a field: where the class has no constructor,
    calling it is given the fields in order.
    """
    declare_type_parameter(walk, node)
    name, type_ = node.child_by_field_name("left"), node.child_by_field_name("type")
    is_field = (
        walk.scope.kind is Kind.CLASS and type_ is not None and OF_CLASS not in walk.text(type_)
    )
    if not is_field or name is None or _is_left_out(walk, node.child_by_field_name("right")):
        return
    index = len(walk.scope.parameters)
    walk.scope.parameters.append(Parameter(walk.text(name), walk.value(type_), None, POSITIONAL))
    walk.scope.binds.append((walk.text(name), (PARAMETER, index)))


def _is_left_out(walk: Lowering, value: Node | None) -> bool:
    """Whether the description of a field says that it is not given: `field(init=False)`."""
    arguments = value.child_by_field_name("arguments") if value is not None else None
    return any(
        tuple(part.strip() for part in walk.text(argument).split("=")) == NOT_GIVEN
        for argument in (named_parts(arguments) if arguments is not None else ())
    )
