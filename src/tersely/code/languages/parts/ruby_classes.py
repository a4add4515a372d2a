"""Classes, modules, methods and attributes of Ruby, those that assignments make among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CLASS_METHOD,
    KEYWORD_ONLY,
    MEMBER,
    STATIC,
    UNFOLLOWED,
    Expression,
    Parameter,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    children_in,
    first_part,
    parts_of,
)
from tersely.code.languages.parts.ruby_names import BODIES, arguments_in, bind, symbol_in
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering


BLOCK = "&"  # the name under which a method receives its block


def _lower_class(
    walk: Lowering,
    node: Node,
    name_node: OptionalNode,
    superclass: OptionalNode,
    body: OptionalNode,
) -> Expression:
    """`class A::B < C`, `module M`."""
    if name_node is None:
        walk.values(node)
        return None
    bases = walk.values(superclass)
    made_of = first_part(superclass)
    kind = Kind.CLASS if node.type == "class" else Kind.NAMESPACE
    draft, last = _open_class(
        walk, node, kind, name_node, [base for base in bases if base is not None]
    )
    _end_signature(walk, draft, superclass or last)
    if made_of is not None:
        _define_struct_members(walk, made_of)
    walk.value(body)
    return walk.leave(draft)


def _open_class(
    walk: Lowering, node: Node, kind: Kind, name_node: Node, bases: list[Expression]
) -> tuple[ScopeDraft, Node]:
    """Enter a class; `A::B` is qualified by the names before it."""
    last = name_node.child_by_field_name("name") if name_node.type == "scope_resolution" else None
    prefix = ""
    if last is not None:
        walk.value(name_node)
        prefix = _dotted_name(walk, name_node.child_by_field_name("scope"))
    draft = walk.enter(node, kind, walk.text(last or name_node), last or name_node, None, prefix)
    draft.bases = bases
    walk.scope = draft
    return draft, last or name_node


def _dotted_name(walk: Lowering, node: OptionalNode) -> str:
    return (
        walk.text(node).strip(":").replace("::", ".").replace(" ", "") if node is not None else ""
    )


def _end_signature(walk: Lowering, draft: ScopeDraft, last: Node) -> None:
    row = walk.definitions[draft.definition]
    walk.definitions[draft.definition] = row._replace(
        signature_end_byte=max(last.end_byte, row.start_byte)
    )


def is_of_class(walk: Lowering, node: Node) -> bool:
    """True if a method definition is in `class << self` or `class_methods do`."""
    around = node.parent
    while around is not None and around.type not in (
        "class",
        "module",
        "method",
        "singleton_method",
    ):
        if around.type == "singleton_class":
            return True
        if around.type == "call":
            name = around.child_by_field_name("method")
            if name is not None and walk.text(name) == "class_methods":
                return True
        around = around.parent
    return False


def _lower_method(
    walk: Lowering,
    node: Node,
    name_node: OptionalNode,
    owner: OptionalNode,
    listed: OptionalNode,
    body: OptionalNode,
) -> Expression:
    """`def m`, `def self.m`, `def A.m`."""
    if name_node is None:
        walk.values(node)
        return None
    flags, prefix = 0, ""
    if owner is not None:
        flags = CLASS_METHOD
        named = _dotted_name(walk, owner)
        if owner.type != "self" and walk.definitions[walk.scope.definition].name != named:
            prefix = named
    elif walk.scope.kind in BODIES and is_of_class(walk, node):
        flags = CLASS_METHOD
    if walk.notes.get(f"functions {walk.scope.definition}") and not flags:
        flags = STATIC
    kind = Kind.FUNCTION if walk.scope.kind is Kind.MODULE and not prefix else Kind.METHOD
    return define(walk, node, kind, walk.text(name_node), name_node, listed, body, flags, prefix)


def define(walk: Lowering, node: Node, kind: Kind, name: str, name_node: OptionalNode, listed: OptionalNode,
            body: OptionalNode, flags: int = 0, prefix: str = "", given: Expression = None) -> Expression:  # fmt: skip
    """A method or block. `given` is the value that its first parameter receives."""
    parameters, patterns = walk.parameters(listed)
    draft = walk.enter(node, kind, name, name_node, None, prefix)
    draft.flags |= flags
    if given is not None and parameters:
        parameters[0] = parameters[0]._replace(default=given)
    draft.take(parameters)
    walk.scope = draft
    for synthetic, pattern in patterns:
        bind(walk, pattern, synthetic)
    for child in parts_of(listed):
        if child.type == "block_parameter":
            receive_block(draft)
            local = child.child_by_field_name("name")
            if local is not None:
                walk.bind_node(local, BLOCK)
    if kind is not Kind.LAMBDA:
        _end_signature(walk, draft, listed or name_node or node)
    value = walk.value(body)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft)


def receive_block(draft: ScopeDraft) -> None:
    """Let a method have its block as a parameter."""
    if all(parameter.name != BLOCK for parameter in draft.parameters):
        draft.parameters.append(Parameter(BLOCK, None, UNFOLLOWED, KEYWORD_ONLY))


def method_around(walk: Lowering) -> ScopeDraft | None:
    """The method that the present place belongs to, blocks being transparent."""
    scope: ScopeDraft | None = walk.scope
    while scope is not None and scope.kind is Kind.LAMBDA:
        scope = walk.drafts[walk.definitions[scope.definition].parent]
    return scope if scope is not None and scope.kind in (Kind.METHOD, Kind.FUNCTION) else None


def define_attribute(walk: Lowering, call: Node, argument: Node, access: str, flags: int) -> None:
    """`attr_accessor :name`: a reader that returns `@name` and a writer that sets it."""
    name = symbol_in(walk, argument)
    if not name:
        return
    if "r" in access:
        reader = walk.enter(call, Kind.PROPERTY, name, argument, None)
        reader.flags |= flags
        reader.returns.append((MEMBER, "self", f"@{name}"))
        walk.leave(reader)
    if "w" in access:
        writer = walk.enter(call, Kind.PROPERTY, f"{name}=", argument, None)
        writer.flags |= flags
        writer.parameters = [Parameter("value", None, None, 0)]
        writer.binds.append(((MEMBER, "self", f"@{name}"), "value"))
        walk.leave(writer)


def _define_struct_members(walk: Lowering, call: Node) -> None:
    """`Struct.new(:a, :b)` and `Data.define(:a)` have an attribute for each symbol."""
    access = STRUCTS.get(_called(walk, call), "")
    for argument in arguments_in(call) if access else ():
        if argument.type == "simple_symbol":
            define_attribute(walk, argument, argument, access, 0)


def _called(walk: Lowering, call: Node) -> str:
    """The receiver and the method of a call, as they are written."""
    return ".".join(map(walk.text, children_in(call, "receiver", "method")))


STRUCTS = {"Struct.new": "rw", "Data.define": "r"}  # the access to their members
MAKERS = dict.fromkeys(("Class.new", *STRUCTS), Kind.CLASS) | {"Module.new": Kind.NAMESPACE}


def _define_made_class(
    walk: Lowering, node: Node, target: Node, call: Node, kind: Kind
) -> Expression:
    """`Name = Class.new(Base) do … end`."""
    arguments = arguments_in(call)
    constants = ("constant", "scope_resolution")
    bases = [walk.value(argument) for argument in arguments if argument.type in constants]
    draft, last = _open_class(walk, node, kind, target, bases)
    _end_signature(walk, draft, last)
    _define_struct_members(walk, call)
    block = call.child_by_field_name("block")
    if block is not None:
        walk.field_value(block, "body")
    return walk.leave(draft)


def _lower_assignment(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode
) -> Expression:
    if left is None or right is None:
        walk.values(node)
        return None
    is_constant = left.type == "constant" or (
        left.type == "scope_resolution" and walk.scope.kind is Kind.MODULE
    )
    kind = MAKERS.get(_called(walk, right)) if is_constant and right.type == "call" else None
    if kind is not None:
        return _define_made_class(walk, node, left, right, kind)
    value = walk.value(right)
    bind(walk, left, value, node)
    return value


def _lower_operator_assignment(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode
) -> Expression:
    """`a ||= b`, `a += b`."""
    value = walk.value(right)
    if left is not None:
        if left.type in ("call", "element_reference"):
            walk.value(left)
        bind(walk, left, value, node)
    return value
