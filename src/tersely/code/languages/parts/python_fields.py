"""Assignments in Python that define more than variables: fields that are constructor parameters,
constants of an enumeration, type parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    DEFINED,
    PARAMETER,
    POSITIONAL,
    TYPED,
    UNFOLLOWED,
    Parameter,
    last_name,
)
from tersely.code.languages.model import Call
from tersely.code.languages.nodes import OptionalNode, child_in, parts_of
from tersely.code.languages.parts.python_generics import declare_type_parameter
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

OF_CLASS = "ClassVar"  # in the type of an assignment that makes no field
NOT_GIVEN = ("init", "False")  # the keyword argument that says so of a field, and its value
FIELD = "field("  # what makes a field, with a default only if it is told of one
ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def note_declared(walk: Lowering, name: Node, type_: OptionalNode, value: OptionalNode) -> None:
    """Define a field, or a constant, for an assignment in a class."""
    if value is not None and type(walk.rules[value.kind_id]) is Call:
        declare_type_parameter(walk, name, value)
    if walk.scope.kind is not Kind.CLASS:
        return
    if type_ is None:
        _note_constant(walk, name)
    elif OF_CLASS not in walk.text(type_):
        _note_field(walk, name, type_, value)


def _note_constant(walk: Lowering, name: Node) -> None:
    """In an enumeration, make the value of an assignment an instance of it."""
    if any(last_name(base) in ENUMERATIONS for base in walk.scope.bases):
        own = (DEFINED, walk.scope.definition)
        walk.store(walk.text(name), (TYPED, own))


def _note_field(walk: Lowering, name: Node, type_: Node, value: OptionalNode) -> None:
    """Record a field; a class without a constructor takes its fields in order when it is called."""
    if _is_left_out(walk, value):
        return
    index = len(walk.scope.parameters)
    given = walk.text(value) if value else ""
    default = UNFOLLOWED if given and (FIELD not in given or "default" in given) else None
    walk.scope.parameters.append(Parameter(walk.text(name), walk.value(type_), default, POSITIONAL))
    walk.store(walk.text(name), (PARAMETER, index))


def _is_left_out(walk: Lowering, value: OptionalNode) -> bool:
    """True if a field is no parameter of the constructor: `field(init=False)`."""
    arguments = child_in(value, "arguments")
    return any(
        tuple(part.strip() for part in walk.text(argument).split("=")) == NOT_GIVEN
        for argument in (parts_of(arguments))
    )
