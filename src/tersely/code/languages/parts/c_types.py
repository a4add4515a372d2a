"""Types that C defines: structs, unions, classes, enumerations, and further names for types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import MEMBER, PRIVATE, TYPED, Expression
from tersely.code.languages.nodes import OptionalNode, child_in, named_parts, parts_in
from tersely.code.languages.parts.c_declarators import (
    UNNAMED_NAMESPACE,
    owns_names,
    qualified,
    read_declarator,
)
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


TYPE_NODES = ("struct_specifier", "union_specifier", "class_specifier", "enum_specifier")


def lower_struct(walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode) -> Expression:
    """`struct T {…}`; without a body it names a type."""
    if body is None:
        return walk.value(name)
    return define_class(
        walk, node, name, body, Kind.CLASS if node.type == "class_specifier" else Kind.STRUCT
    )


def define_class(
    walk: Lowering, node: Node, name: OptionalNode, body: Node, kind: Kind
) -> Expression:
    """Define a struct, union, class or enumeration with the members of its body."""
    if name is not None and name.type == "template_type":
        name = name.child_by_field_name("name")
    qualifiers, text, name_node = qualified(walk, name) if name is not None else ([], "", None)
    draft = walk.enter(
        node, kind, text or walk.anonymous(kind.value), name_node, body, ".".join(qualifiers)
    )
    for child in named_parts(node):
        if child.type == "base_class_clause":
            draft.bases += [
                walk.value(base) for base in named_parts(child) if base.type != "access_specifier"
            ]
    if walk.notes.get(UNNAMED_NAMESPACE):
        draft.flags |= PRIVATE
    walk.scope = draft
    if body.type == "enumerator_list":
        for child in named_parts(body):
            label = child.child_by_field_name("name")
            walk.field_value(child, "value")
            if label is not None:
                walk.bind_node(label, None)
                walk.define_node(child, label, Kind.FIELD)
    else:
        walk.values(body)
        _place_fields(walk, body, text)
    return walk.leave(draft)


def _place_fields(walk: Lowering, body: Node, own: str) -> None:
    """Record that fields for functions hold the values that initialisers put in their place."""
    place = 0
    for field in named_parts(body):
        for declarator in (
            parts_in(field, "declarator") if field.type == "field_declaration" else []
        ):
            found = read_declarator(declarator)
            if (
                found.name is not None
                and own
                and (found.is_function_pointer or _is_plain_type(field))
            ):
                walk.store(walk.text(found.name), (MEMBER, (TYPED, own), f"{own}#{place}"))
            place += 1


def _is_plain_type(field: Node) -> bool:
    made = field.child_by_field_name("type")
    return made is not None and made.type == "type_identifier"


def lower_enum(walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode) -> Expression:
    """`enum T {…}`."""
    return walk.value(name) if body is None else define_class(walk, node, name, body, Kind.ENUM)


def lower_typedef(walk: Lowering, node: Node, made: OptionalNode) -> None:
    """`typedef T name;`; a type without a name of its own receives the name."""
    declarators = list(map(read_declarator, parts_in(node, "declarator")))
    name = declarators[0].name if declarators else None
    body = child_in(made, "body") if made is not None and made.type in TYPE_NODES else None
    is_nameless = body is not None and child_in(made, "name") is None
    if is_nameless and made is not None and body is not None and name is not None:
        walk.wrapped = (node, 0)
        annotation = define_class(walk, made, name, body, Kind.TYPE)
        del declarators[0]
    else:
        annotation = walk.value(made)
    for found in declarators:
        text = walk.text(found.name)
        # `typedef struct T {…};` declares no other name, `typedef struct T T;` only announces it
        if found.name is None or text in ("", annotation):
            continue
        is_function = found.is_function_pointer or found.function is not None
        walk.bind_name(text, None if is_function else annotation, found.name)
        if owns_names(walk):
            walk.define_value(node, text, found.name, Kind.TYPE)
