"""Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    AS_TRAIT,
    CONST,
    DECLARED,
    EITHER,
    ELEMENT,
    ITEM,
    LITERAL,
    MEMBER,
    SEQUENCE,
    TYPED,
    Expression,
    either,
    is_tagged,
)  # fmt: skip
from tersely.code.expressions import Parameter as Positional
from tersely.code.languages import classes
from tersely.code.languages.model import (
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    has_token,
    last_line_of,
    named_parts,
    parts_in,
    parts_of,
)
from tersely.code.languages.parts import rust_macros, rust_modules
from tersely.code.languages.parts.rust_macros import part_of
from tersely.code.languages.parts.rust_modules import SEPARATOR, module_files
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

TUPLE = "()"  # a generic type that the grammar spells with symbols


# Types


def lower_qualified_type(walk: Lowering, node: Node) -> Expression:
    """`<T as Trait>`."""
    made = walk.field_value(node, "type")
    trait = walk.field_value(node, "alias")
    return (AS_TRAIT, made, trait) if trait is not None else made


def lower_bounds(walk: Lowering, node: Node, left: OptionalNode, bounds: OptionalNode) -> None:
    """`T: A + B` in a where clause bounds a type parameter once more."""
    bound = walk.value(bounds)
    if left is not None and walk.text(left) in walk.type_parameters:
        name = walk.text(left)
        walk.type_parameters[name] = either(walk.type_parameters[name], bound)


def lower_field(walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode) -> None:
    """`name: Type` of a struct."""
    annotation = walk.value(type_node)
    if name is not None:
        walk.bind_node(name, annotation and (TYPED, annotation))
        walk.define_node(node, name, Kind.FIELD)


def lower_ordered_fields(walk: Lowering, node: Node) -> None:
    """`(A, B)` of a struct: fields 0 and 1."""
    for position, child in enumerate(parts_in(node, "type")):
        annotation = walk.value(child)
        walk.bind_name(str(position), annotation and (TYPED, annotation))


def lower_variant(
    walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode, value: OptionalNode
) -> None:
    """A variant of an enum is the enum's instance; its fields are members `Variant.field` of the
    enum.
    """
    if name is None:
        return
    text, own = walk.text(name), walk.scope.qualname.rpartition(".")[2]
    walk.bind_name(text, (TYPED, own), name)
    walk.define_value(node, text, name, Kind.FIELD)
    walk.value(value)
    if body is not None and body.type == "ordered_field_declaration_list":
        for position, child in enumerate(parts_in(body, "type")):
            annotation = walk.value(child)
            walk.bind_name(f"{text}.{position}", annotation and (TYPED, annotation))
    for field in parts_of(body):
        inner = field.child_by_field_name("name")
        if inner is not None:
            annotation = walk.field_value(field, "type")
            walk.bind_name(f"{text}.{walk.text(inner)}", annotation and (TYPED, annotation))
            walk.define_node(field, inner, Kind.FIELD)


def lower_alias(
    walk: Lowering, node: Node, name: OptionalNode, type_parameters: OptionalNode
) -> None:
    """`type A<T> = B<T>;`: another name for the type; in traits and impls an associated type."""
    parameters = walk.type_parameters
    walk.type_parameters = dict(parameters)
    walk.value(type_parameters)
    made = walk.value(node.child_by_field_name("type") or node.child_by_field_name("bounds"))
    walk.type_parameters = parameters
    if name is not None:
        walk.bind_node(name, made)
        walk.define_node(node, name, Kind.TYPE)


# Patterns and values


def bind_pattern(walk: Lowering, node: OptionalNode, value: Expression) -> None:
    """Bind the names of a pattern to parts of a value."""
    if node is None:
        return
    kind = node.type
    if kind in ("identifier", "shorthand_field_identifier"):
        name = walk.text(node)
        if not name[:1].isupper():
            walk.bind_anew(name, value, node)
    elif kind in ("tuple_pattern", "slice_pattern"):
        known = value[1] if is_tagged(value, SEQUENCE) else ()
        for position, child in enumerate(_patterns(node)):
            inside = value and (ITEM, value, (CONST, position))
            bind_pattern(walk, child, known[position] if position < len(known) else inside)
    elif kind == "tuple_struct_pattern":
        _bind_tuple_struct(walk, node, value)
    elif kind == "struct_pattern":
        _bind_struct(walk, node)
    elif kind in ("or_pattern", "captured_pattern"):
        for child in named_parts(node):
            bind_pattern(walk, child, value)
    elif kind in (
        "scoped_identifier",
        "integer_literal",
        "string_literal",
        "range_pattern",
        "macro_invocation",
    ):
        walk.value(node)
    else:  # references, `mut`, `ref`, parentheses, guards
        condition = node.child_by_field_name("condition")
        for child in named_parts(node):
            if condition is None or child.id != condition.id:
                bind_pattern(walk, child, value)
        walk.value(condition)


def _patterns(node: OptionalNode) -> list[Node]:
    """The patterns of a list, those of which nothing is kept among them; none of None."""
    return [
        child
        for child in (node.children if node is not None else ())
        if child.type == "_" or (child.is_named and "comment" not in child.type)
    ]


def _bind_struct(walk: Lowering, node: Node) -> None:
    made = node.child_by_field_name("type")
    for child in named_parts(node):
        name, inner = child.child_by_field_name("name"), child.child_by_field_name("pattern")
        if child.type == "field_pattern" and name is not None:
            part = _part(walk, made, walk.text(name))
            member = part[1][-1] if is_tagged(part, EITHER) else part  # of a struct
            if member is not None:
                walk.mentions.add(walk.text(name))
                walk.note_pattern_member(member, name)
            bind_pattern(walk, inner or name, part)


def _bind_tuple_struct(walk: Lowering, node: Node, value: Expression) -> None:
    made = node.child_by_field_name("type")
    name = walk.text(made)
    inner = [child for child in _patterns(node) if made is None or child.id != made.id]
    for position, child in enumerate(inner):
        if name in ("Some", "Ok"):
            bind_pattern(walk, child, value)
        elif name == "Err":
            bind_pattern(walk, child, None)
        else:
            bind_pattern(walk, child, _part(walk, made, str(position)))


def _part(walk: Lowering, made: OptionalNode, field: str) -> Expression:
    """A field of the type that a pattern names: of a variant or of a struct."""
    return part_of(walk.value(made), field)


def lower_let(walk: Lowering, node: Node) -> None:
    """`let pattern: Type = value else { … };` and the `let` of a condition."""
    annotation = walk.field_value(node, "type")
    value = walk.field_value(node, "value")
    walk.field_value(node, "alternative")
    if annotation is not None:
        value = (DECLARED, value, annotation) if value is not None else (TYPED, annotation)
    bind_pattern(walk, node.child_by_field_name("pattern"), value)


def lower_for(walk: Lowering, node: Node) -> None:
    """`for pattern in value { … }`."""
    value = walk.field_value(node, "value")
    bind_pattern(walk, node.child_by_field_name("pattern"), value and (ELEMENT, value))
    walk.field_value(node, "body")


def lower_match(walk: Lowering, node: Node, body: OptionalNode, value: OptionalNode) -> Expression:
    """The value is that of one of the arms; each arm takes the matched value apart."""
    matched = walk.value(value)
    values = []
    for arm in parts_of(body):
        if arm.type == "match_arm":
            with walk.in_block():
                bind_pattern(walk, arm.child_by_field_name("pattern"), matched)
                values.append(walk.field_value(arm, "value"))
    return either(*values)


def lower_if(walk: Lowering, node: Node) -> Expression:
    """The value is that of one of the branches."""
    with walk.in_block():
        walk.field_value(node, "condition")
        values = [walk.field_value(node, "consequence")]
    values.append(walk.field_value(node, "alternative"))
    return either(*values)


def lower_block(walk: Lowering, node: Node) -> Expression:
    """The value is that of the last expression, unless a semicolon ends it."""
    value: Expression = None
    for child in named_parts(node):
        value = walk.value(child)
        if child.type == "expression_statement" and has_token(child, ";"):
            value = None
    return value


def lower_closure(
    walk: Lowering, node: Node, body: OptionalNode, listed: OptionalNode, return_type: OptionalNode
) -> Expression:
    """`|a, b: T| body`."""
    draft = walk.enter_lambda(node, body)
    returned = walk.value(return_type)
    patterns = []
    for position, child in enumerate(_patterns(listed)):
        pattern = child.child_by_field_name("pattern") if child.type == "parameter" else child
        annotation = walk.field_value(child, "type") if child.type == "parameter" else None
        plain = pattern is not None and pattern.type == "identifier"
        name = walk.parameter_name(pattern if plain else None, position)
        draft.parameters.append(Positional(name, annotation, None, 0))
        draft.bound.add(name)
        if not plain and pattern is not None:
            patterns.append((name, pattern))
    walk.scope = draft
    draft.returned_type = returned
    for name, pattern in patterns:
        bind_pattern(walk, pattern, name)
    value = walk.value(body)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft)


def lower_call(
    walk: Lowering, node: Node, function: OptionalNode, listed: OptionalNode
) -> Expression:
    """`callee(arguments)`; naming a variant with arguments makes a value of its enum."""
    if function is None:
        return None
    callee = walk.callee(function)
    arguments = tuple(map(walk.value, _patterns(listed)))
    names = walk.text(function).split(SEPARATOR)
    if names[-1] in ("Some", "Ok") and len(names) == 1:
        return arguments[0] if arguments else None
    if names[-1] == "Err" and len(names) == 1:
        return None
    if (
        len(names) > 1
        and names[-1][:1].isupper()
        and names[-2][:1].isupper()
        and "(" not in names[-1]
    ):
        return callee
    return walk.call(callee, arguments, (), last_line_of(function))


def lower_struct_literal(
    walk: Lowering, node: Node, body: OptionalNode, name_node: OptionalNode
) -> Expression:
    """`T { field: value, other, ..base }`."""
    made = walk.value(name_node)
    typed = made and (TYPED, made)
    for child in parts_of(body):
        field = child.child_by_field_name("field")
        if child.type == "shorthand_field_initializer" and named_parts(child):
            name = named_parts(child)[-1]
            walk.store((MEMBER, typed, walk.text(name)), walk.value(name))
            walk.note_pattern_member((MEMBER, typed, walk.text(name)), name)
        elif field is not None:
            value = walk.field_value(child, "value")
            walk.fill(typed, field, value)
        else:
            walk.value(child)
    return typed


def lower_range(walk: Lowering, node: Node) -> Expression:
    """Ranges are of numbers."""
    walk.values(node)
    return (LITERAL, "Range")


METHODS = summaries("rust", "methods")

RUST = Language(
    name="rust",
    grammar=wheel("tree_sitter_rust"),
    rules=rules_of("rust", vars(classes) | vars(rust_macros) | vars(rust_modules) | globals()),
    blocks=names("block match_arm for_expression while_expression if_expression"),
    control="rust",
    resolution=Resolution(
        **resolution_facts("rust"),
        modules=module_files,
        separator=SEPARATOR,
        tuples=frozenset((TUPLE,)),
        methods=METHODS,
        universal_methods=frozenset(METHODS),
        summaries=summaries("rust", "functions"),
    ),
)
