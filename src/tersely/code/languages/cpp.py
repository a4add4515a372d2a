"""C++. Headers are read as C++, whose grammar accepts those of C as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import ELEMENT, MEMBER, NEW, PARTIAL, TYPED, Expression, is_tagged
from tersely.code.languages import c, classes
from tersely.code.languages.c import (
    BLOCKS,
    RULES,
    included_files,
    parameter_of,
)  # fmt: skip
from tersely.code.languages.classes import nested_namespaces
from tersely.code.languages.model import (  # fmt: skip
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    child_in,
    child_of,
    first_part,
    has_token,
    last_line_of,
    last_part,
    named_parts,
    parts_of,
)
from tersely.code.languages.parts import c_types
from tersely.code.languages.parts.c_declarators import (
    UNNAMED_NAMESPACE,
    read_declarator,
    unqualified,
)
from tersely.code.languages.preprocessor import readable_cpp
from tersely.code.languages.summaries import resolution_facts
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

CASTS = names("static_cast dynamic_cast const_cast reinterpret_cast down_cast")
MAKERS = names("make_unique make_shared allocate_shared make_ref")


def lower_namespace(
    walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode
) -> Expression:
    """`namespace a::b {…}`: one part of a namespace that other files may reopen; without a name, of
    the file alone.
    """
    if name is None:
        around = walk.notes.get(UNNAMED_NAMESPACE, False)
        walk.notes[UNNAMED_NAMESPACE] = True
        walk.value(body)
        walk.notes[UNNAMED_NAMESPACE] = around
        return None
    return nested_namespaces(walk, node, _parts(name), body, PARTIAL)


def _parts(name: Node) -> list[Node]:
    """The names of `a::b::c`, which the grammar nests."""
    if name.type != "nested_namespace_specifier":
        return [name]
    return [part for child in named_parts(name) for part in _parts(child)]


def lower_qualified(walk: Lowering, node: Node) -> Expression:
    """`a::b::c`, also with template arguments in between."""
    expression: Expression = None
    current: Node | None = node
    while current is not None and current.type == "qualified_identifier":
        scope = current.child_by_field_name("scope")
        if scope is not None:
            value = walk.value(scope)
            expression = value if expression is None else (MEMBER, expression, _name(walk, scope))
        current = current.child_by_field_name("name")
    if current is None:
        return expression
    last = (
        walk.value(current)
        if expression is None or current.type not in ("identifier", "type_identifier")
        else None
    )
    if expression is None:
        return last
    name = _name(walk, current)
    member = walk.member(expression, name)
    if type(last) is tuple and last and current.type in ("template_type", "template_function"):
        return (last[0], member, *last[2:])
    return member


def _name(walk: Lowering, node: Node) -> str:
    inner = node.child_by_field_name("name")
    return walk.text(inner or node)


def lower_template(walk: Lowering, node: Node, listed: OptionalNode) -> None:
    """`template <…> definition`: type parameters have no bound."""
    around = walk.type_parameters
    walk.type_parameters = dict(around)
    for child in parts_of(listed):
        name = child_of(child, "type_identifier")
        if name is not None and child.type.endswith("type_parameter_declaration"):
            walk.type_parameters[walk.text(name)] = None
    outermost = walk.wrapped[0] if walk.wrapped else node
    for child in named_parts(node):
        if listed is None or child.id != listed.id:
            walk.wrapped = (outermost, 0)
            walk.value(child)
    walk.wrapped = None
    walk.type_parameters = around


def lower_using(walk: Lowering, node: Node) -> None:
    """`using namespace a;` brings in all names, `using a::b;` one."""
    for child in named_parts(node):
        value = walk.value(child)
        if has_token(node, "namespace"):
            walk.scope.stars.append(walk.text(child))
        elif is_tagged(value, MEMBER):
            walk.bind_name(value[2], value, child)


def lower_alias(walk: Lowering, node: Node, name: OptionalNode) -> None:
    """`using A = T;`, `namespace a = b::c;`."""
    made = walk.value(node.child_by_field_name("type") or (last_part(node)))
    if name is not None and made != walk.text(name):
        walk.bind_node(name, made)
        if walk.scope.kind not in (Kind.FUNCTION, Kind.METHOD, Kind.LAMBDA):
            walk.define_node(node, name, Kind.TYPE)


def lower_call(
    walk: Lowering, node: Node, function: OptionalNode, listed: OptionalNode
) -> Expression:
    """Calls; `static_cast<T>(x)` and `make_unique<T>(…)` name the type of their result."""
    if function is None:
        return None
    last = unqualified(function)
    line = last_line_of(function)
    if last.type == "template_function":
        name = _name(walk, last)
        types = last.child_by_field_name("arguments")
        first = first_part(types)
        if name in CASTS or name in MAKERS:
            made = walk.value(first)
            values = walk.values(listed)
            if name in CASTS:
                return made and (TYPED, made)
            return walk.call(made, values, (), line, NEW) if made is not None else None
    callee = walk.callee(function)
    return walk.call(callee, walk.values(listed), (), line)


def lower_lambda(
    walk: Lowering, node: Node, body: OptionalNode, declarator: OptionalNode
) -> Expression:
    """`[captures](parameters) {…}`."""
    listed = child_in(declarator, "parameters")
    draft = walk.enter_lambda(node, body)
    for child in parts_of(listed):
        inner = child.child_by_field_name("declarator")
        found = read_declarator(inner)
        name = walk.parameter_name(found.name, len(draft.parameters))
        draft.parameters.append(parameter_of(name, walk.field_value(child, "type")))
        draft.bound.add(name)
    walk.scope = draft
    walk.value(body)
    return walk.leave(draft)


def lower_range_loop(
    walk: Lowering,
    node: Node,
    declarator: OptionalNode,
    type_node: OptionalNode,
    right: OptionalNode,
    body: OptionalNode,
) -> None:
    """`for (T x : values) …`."""
    annotation = walk.value(type_node)
    values = walk.value(right)
    found = read_declarator(declarator)
    if found.name is not None:
        known = annotation is not None and annotation not in walk.resolution.inferred_types
        value = (TYPED, annotation) if known else values and (ELEMENT, values)
        walk.bind_anew(walk.text(found.name), value, found.name)
    walk.value(body)


CPP = Language(
    name="cpp",
    grammar=wheel("tree_sitter_cpp"),
    rules=RULES | rules_of("cpp", vars(classes) | vars(c_types) | vars(c) | globals()),
    readable=readable_cpp,
    blocks=BLOCKS | {"for_range_loop", "catch_clause"},
    control="cpp",
    resolution=Resolution(
        **resolution_facts("cpp"),
        modules=included_files,
    ),
)
