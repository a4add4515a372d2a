"""Type parameters as Python declares them: `T = TypeVar("T", bound=A)`, `class Box[T: A]`, or names
them in types as it imports them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    GENERIC,
    IMPORTED,
    ITEM,
    SEQUENCE,
    TYPE_PARAMETER,
    Expression,
    either,
    is_tagged,
    last_part,
)
from tersely.code.languages.model import KeywordArgument
from tersely.code.languages.nodes import named_parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

MAKER = "TypeVar"
BOUND = "bound"
WORD = re.compile(r"\w+")
CONVENTIONAL = re.compile(r"_?(?:[A-Z]|[A-Z]?[TVK])(?:_co|_contra)?")  # as PEP 8 names them


def declare_type_parameter(walk: Lowering, name: Node, made: Node) -> None:
    """Make a name a type parameter from here on, if it is assigned a call of `TypeVar`."""
    callee = made.child_by_field_name("function")
    if callee is not None and last_part(walk.text(callee)) == MAKER:
        bound = _bound(walk, made.child_by_field_name("arguments"))
        walk.loose_type_parameters[walk.text(name)] = (TYPE_PARAMETER, bound, walk.text(name))
        walk.type_parameters = walk.type_parameters | walk.loose_type_parameters


def lower_type(walk: Lowering, node: Node) -> Expression:
    """A type: a name in it that is imported, and written as type parameters are, may be one."""
    before = walk.type_parameters
    words = _conventional(walk.text(node))
    if words:
        walk.type_parameters = before | _imported_type_parameters(walk, words)
    found = walk.values(node)
    walk.type_parameters = before
    return found[0] if found else None


def base_with_parameters(walk: Lowering, base: Expression) -> Expression:
    """A base of a class, with such names among its type arguments as type parameters."""
    if not is_tagged(base, ITEM):
        return base
    arguments = _written_in(base[2])
    imported = _imported_type_parameters(walk, [part for part in arguments if type(part) is str])
    if not imported:
        return base
    parts = tuple(imported.get(part, part) if type(part) is str else part for part in arguments)
    return (GENERIC, base[1], parts)


def _written_in(key: Expression) -> tuple[Expression, ...]:
    """The expressions in the brackets of a type."""
    return tuple(key[1]) if is_tagged(key, SEQUENCE) else (key,)


def _conventional(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if CONVENTIONAL.fullmatch(word)]


def _imported_type_parameters(walk: Lowering, names: list[str]) -> dict[str, Expression]:
    """The type parameters among imported names, by their spelling. A name that is no type parameter
    stands for itself.
    """
    module = walk.drafts[0]
    found: dict[str, Expression] = {}
    for target, value in module.binds if module is not None and names else ():
        is_meant = target in names and is_tagged(value, IMPORTED)
        if is_meant and CONVENTIONAL.fullmatch(target):
            found[target] = (TYPE_PARAMETER, target, target)
    walk.loose_type_parameters.update(found)
    return found


def _bound(walk: Lowering, arguments: Node | None) -> Expression:
    """The type that a type parameter is bound by: `bound=A`, or one of those that are listed."""
    listed: list[Expression] = []
    for part in named_parts(arguments)[1:] if arguments is not None else ():
        if type(walk.rule(part)) is not KeywordArgument:
            listed.append(walk.value(part))
        elif walk.text(part).partition("=")[0].strip() == BOUND:
            listed.append(walk.field_value(part, "value"))
    return either(*listed)


def lower_type_parameters(walk: Lowering, node: Node) -> None:
    """The type parameters that the header of a class or function declares."""
    for part in named_parts(node):
        inner = named_parts(part)[:1]
        parts = named_parts(inner[0]) if inner else []
        name = parts[0] if parts else next(iter(inner), None)
        bound = walk.value(parts[1]) if len(parts) > 1 else None
        if name is not None:
            text = walk.text(name)
            walk.type_parameters[text] = (TYPE_PARAMETER, bound, text)
