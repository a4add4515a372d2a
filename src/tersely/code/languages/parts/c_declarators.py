"""Declarators of C: names in the middle of their types, names that are qualified, and who owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import MEMBER, Expression
from tersely.code.languages.nodes import OptionalNode, child_of, children_in, named_parts
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

WRAPPING = (
    "pointer_declarator", "array_declarator", "parenthesized_declarator", "reference_declarator", "init_declarator",
    "attributed_declarator", "function_declarator", "structured_binding_declarator",
)  # fmt: skip


NAMES = (
    "identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name",
    "operator_cast", "template_function", "template_method", "primitive_type",
)  # fmt: skip


MAX_DECLARATOR_DEPTH = 60


# a note: whether the walk is in one, whose names are those of the file alone
UNNAMED_NAMESPACE = "unnamed namespace"


class Declarator(NamedTuple):
    """A declarator and the name that it declares."""

    name: OptionalNode
    function: OptionalNode  # its function declarator, for functions
    is_direct: bool  # neither pointer, reference nor array
    is_function_pointer: bool


def read_declarator(node: OptionalNode) -> Declarator:
    """The name in a declarator, with the kind of thing that it declares."""
    function: OptionalNode = None
    direct, points = True, False
    for _ in range(MAX_DECLARATOR_DEPTH):
        if node is None or node.type not in WRAPPING:
            break
        if node.type == "function_declarator":
            # the innermost is the one called: `int (*f(char c))(void *a)`
            function, points = node, False
        elif node.type in ("pointer_declarator", "reference_declarator", "array_declarator"):
            direct = False
            points = points or (function is not None and node.type == "pointer_declarator")
        node = node.child_by_field_name("declarator") or child_of(node, *WRAPPING, *NAMES)
    if node is None or node.type not in NAMES:
        return Declarator(None, function, direct, points)
    return Declarator(node, None if points else function, direct, points)


def qualified(walk: Lowering, node: Node) -> tuple[list[str], str, Node]:
    """Qualifiers, last name and its node of a name that may be qualified."""
    qualifiers = []
    while node.type == "qualified_identifier":
        scope, name = children_in(node, "scope", "name")
        if scope is not None:
            inner = scope.child_by_field_name("name") if scope.type == "template_type" else None
            qualifiers.append(walk.text(inner or scope))
        if name is None:
            break
        node = name
    if node.type in ("template_function", "template_method"):
        node = node.child_by_field_name("name") or node
    if node.type == "operator_cast":
        return qualifiers, _conversion(walk, node), node
    return qualifiers, walk.text(node).replace(" ", ""), node


def converts(name: Node) -> bool:
    """True if a name is that of `operator T`, which declares a function without a function
    declarator.
    """
    return unqualified(name).type == "operator_cast"


def unqualified(name: Node) -> Node:
    """The last name of `a::b::c`."""
    while name.type == "qualified_identifier":
        last = name.child_by_field_name("name")
        if last is None:
            break
        name = last
    return name


def _conversion(walk: Lowering, node: Node) -> str:
    """`operator T *`, without the parameters."""
    end = node.child_by_field_name("declarator")
    while end is not None and end.type != "abstract_function_declarator":
        end = next(
            (child for child in named_parts(end) if child.type.startswith("abstract_")), None
        )
    text = walk.text(node)
    if end is not None:
        text = walk.source[node.start_byte : end.start_byte].decode("utf-8", "replace")
    return " ".join(text.split())


def chain(names: list[str]) -> Expression:
    """`a::b` as members of each other."""
    expression: Expression = names[0] if names else None
    for name in names[1:]:
        expression = (MEMBER, expression, name)
    return expression


def owns_names(walk: Lowering) -> bool:
    """True where variables are symbols: outside of functions."""
    return walk.scope.kind not in (Kind.FUNCTION, Kind.METHOD, Kind.LAMBDA, Kind.MACRO)


def in_class(walk: Lowering) -> bool:
    """True directly in a class."""
    return walk.scope.kind in (Kind.CLASS, Kind.STRUCT, Kind.TYPE, Kind.ENUM)
