"""C#."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CALL,
    GENERIC,
    NEW,
    POSITIONAL,
    PROPERTY,
    REST,
    STATIC,
    TYPED,
    Expression,
    is_tagged,
)
from tersely.code.expressions import Parameter as Parameter_
from tersely.code.languages import classes
from tersely.code.languages.classes import (
    bind_typed,
    name_at,
    namespace_files,
)
from tersely.code.languages.model import (
    Class,
    Function,
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    child_of,
    children_in,
    last_line_of,
    last_part,
    line_of,
    named_parts,
    parts_and_fields,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`using A.B;`, `using static A.B.C;`, `using X = A.B.C;`."""
    line = line_of(node)
    alias = node.child_by_field_name("name")
    path = last_part(node)
    if path is None:
        return []
    module = text(path).removeprefix("global::").partition("<")[0]
    if alias is None:
        return [Import(module, "*", "", line)]
    package, _, name = module.rpartition(".")
    return [Import(package, name, text(alias), line)]


def read_parameters(walk: Lowering, node: Node) -> list[Parameter_]:
    """Parameters of a method, a lambda or an indexer; a `params` parameter has no node of its own."""
    listed = node.child_by_field_name("parameters")
    if listed is None:
        return []
    if listed.type == "implicit_parameter":
        return [Parameter_(walk.parameter_name(listed, 0), None, None, POSITIONAL)]
    found = []
    rest: Expression = None
    for position, (child, role) in enumerate(parts_and_fields(listed)):
        if child.type == "parameter":
            name, typed = children_in(child, "name", "type")
            last = last_part(child)
            default = (
                last
                if name is not None and last is not None and last.start_byte > name.start_byte
                else None
            )
            text = walk.parameter_name(name, position)
            found.append(
                Parameter_(
                    text,
                    walk.value(typed),
                    walk.value(default) or (default and (TYPED, None)),
                    POSITIONAL,
                )
            )
        elif role == "type":
            rest = walk.value(child)
        elif role == "name":
            element = rest[2][0] if is_tagged(rest, GENERIC) and rest[2] else rest
            found.append(Parameter_(walk.parameter_name(child, position), element, None, REST))
    return found


def mark_extension(walk: Lowering, node: Node) -> None:
    """`static T M(this U u)` is a member of every U."""
    listed = node.child_by_field_name("parameters")
    first = child_of(listed, "parameter")
    modifier = child_of(first, "modifier")
    if modifier is not None and walk.text(modifier) == "this":
        walk.scope.receiver_type = walk.scope.parameters[0].annotation
        walk.scope.flags &= ~STATIC


def read_chaining(walk: Lowering, node: Node) -> None:
    """`: base(…)`, `: this(…)`; without either the base's constructor is called all the same."""
    initializer = child_of(node, "constructor_initializer")
    called, arguments = "base", None
    if initializer is not None:
        called = next(
            (child.type for child in initializer.children if child.type in ("base", "this")), called
        )
        arguments = child_of(initializer, "argument_list")
    values = walk.values(arguments)
    walk.scope.calls.insert(0, (CALL, called, values, (), line_of(initializer or node)))


def lower_property(
    walk: Lowering,
    node: Node,
    name: OptionalNode,
    accessors: OptionalNode,
    value: OptionalNode,
    type_node: OptionalNode,
) -> Expression:
    """A property with code is a function that reading calls; one without is a field."""
    arrow = value is not None and value.type == "arrow_expression_clause"
    bodies = (
        [child.child_by_field_name("body") for child in named_parts(accessors)]
        if accessors is not None
        else []
    )
    if arrow or any(bodies):
        return walk.as_rule(COMPUTED_BY_ARROW if arrow else COMPUTED, node)
    if name is not None:
        annotation = walk.value(type_node)
        initial = walk.value(value)
        bind_typed(walk, name, annotation, initial)
        walk.define_node(node, name, Kind.PROPERTY)
    return None


def lower_creation(
    walk: Lowering,
    node: Node,
    typed: OptionalNode,
    arguments: OptionalNode,
    initializer: OptionalNode,
) -> Expression:
    """`new T(…) { Member = value, … }`."""
    line = last_line_of(typed or node)
    created = walk.value(typed)
    positional, keywords = walk.arguments(arguments)
    made = walk.call(created, positional, keywords, line, NEW) if created is not None else None
    for child in parts_of(initializer):
        left = child.child_by_field_name("left") if child.type == "assignment_expression" else None
        if left is None or left.type != "identifier":
            walk.visit(named_parts(child) if left is not None else [child])
            continue
        walk.fill(made, left, walk.field_value(child, "right"))
    return made


def lower_binding(walk: Lowering, node: Node, name: OptionalNode) -> Expression:
    """`.b` of `a?.b`."""
    access = node.parent
    inside = node
    while access is not None and (
        access.type != "conditional_access_expression" or named_parts(access)[0].id == inside.id
    ):
        inside, access = access, access.parent
    value = walk.value(named_parts(access)[0]) if access is not None else None
    if name is None:
        return value
    if name.type == "generic_name":
        name = named_parts(name)[0]
    return walk.member(value, walk.text(name))


def lower_pattern(walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode) -> None:
    """`T name` in a pattern, `out T name` among arguments."""
    annotation = walk.value(type_node)
    walk.visit([child for child in named_parts(node) if child.type.endswith("clause")])
    if name is not None and name.type == "identifier":
        bind_typed(walk, name, None if annotation == "var" else annotation)


COMPUTED = Function(Kind.PROPERTY, parameters="", body="accessors", returns="type", flags=PROPERTY)
COMPUTED_BY_ARROW = Function(
    Kind.PROPERTY, parameters="", body="value", returns="type", flags=PROPERTY, body_is_value=True
)
LAMBDA = Function(name="", read=read_parameters, body_is_value=True)


def lower_lambda(walk: Lowering, node: Node) -> Expression:
    """`x => …`, whose name its assignment does not give."""
    return walk.as_rule(LAMBDA, node)


def lower_delegate(walk: Lowering, node: Node) -> Expression:
    """`delegate T F(…);`: a type."""
    return walk.as_rule(Class(Kind.TYPE, body=""), node)


CSHARP = Language(
    name="csharp",
    grammar=wheel("tree_sitter_c_sharp"),
    rules=rules_of("csharp", vars(classes) | globals()),
    control="csharp",
    namespace_of=name_at(":file_scoped_namespace_declaration,namespace_declaration/name"),
    blocks=names(
        "block for_statement foreach_statement using_statement switch_section switch_expression_arm "
        "catch_clause while_statement"
    ),
    resolution=Resolution(
        **resolution_facts("csharp"),
        modules=namespace_files(".cs"),
        methods=summaries("csharp", "methods"),
    ),
)
