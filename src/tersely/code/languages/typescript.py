"""TypeScript and TSX: JavaScript with types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CONST,
    EITHER,
    ELEMENT,
    GENERIC,
    ITEM,
    KEY_OF,
    MAPPING,
    MEMBER,
    REST,
    SIGNATURE,
    SPREAD,
    TYPED,
    UNIT,
    Expression,
    either,
    is_tagged,
)
from tersely.code.languages import ecmascript
from tersely.code.languages.classes import nested_namespaces
from tersely.code.languages.ecmascript import (
    BLOCKS,
    QUOTES,
    RESOLUTION,
    RULES,
    outlives,
)
from tersely.code.languages.model import (
    Class,
    Custom,
    Function,
    Language,
    Rule,
    Statement,
    wheel,
)  # fmt: skip
from tersely.code.languages.nodes import (
    OptionalNode,
    child_in,
    child_of,
    first_part,
    has_token,
    named_parts,
)
from tersely.code.languages.parts import ecmascript_narrowing
from tersely.code.languages.parts.ecmascript_scripts import namespace_of
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Kind
from tersely.foundation.types import replace

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

GLOBAL = "global"  # the namespace of a module's declarations for all files
CALLED = "()"  # the member of an interface by which it is called
UNKNOWN_TYPES = frozenset({"any", "unknown", "object", "void", "never", "undefined", "null"})
SIGNATURES = ("function_signature", "method_signature")
# The indentation before type parameters that begin a line: those with a bound or several are no
# element of TSX.
BOUNDED_SIGNATURE = re.compile(rb"^[ \t]+(?=<\s*\w+(?:\s+extends\b|\s*,))", re.MULTILINE)
GENERIC_SIGNATURE = re.compile(rb"^[ \t]+(?=<\s*\w+(?:\s+extends\b|\s*,|\s*>\())", re.MULTILINE)
MAX_REMARK_BYTES = 4_000  # of comments before a signature that are looked through
IMPLEMENTATIONS = ("function_declaration", "generator_function_declaration", "method_definition")


def tsx_grammar() -> object:
    """The grammar of TypeScript with elements."""
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


def with_separators(source: bytes, signature: re.Pattern[bytes]) -> bytes:
    """Source with a semicolon before each signature on a line of its own, without which the grammar
    goes astray.
    """
    readable = bytearray(source)
    for found in signature.finditer(source):
        if _ends_member(source[: found.start()]):
            readable[found.end() - 1] = ord(";")
    return bytes(readable)


def _ends_member(before: bytes) -> bool:
    """True if the last code of a text, comments aside, may end a type."""
    code = before[-MAX_REMARK_BYTES:].rstrip()
    while code.endswith(b"*/") or code.rpartition(b"\n")[2].lstrip().startswith(b"//"):
        code = code.rpartition(b"/*" if code.endswith(b"*/") else b"\n")[0].rstrip()
    return code[-1:].isalnum() or code[-1:] in (b">", b")", b"]", b"}")


def readable_types(source: bytes) -> bytes:
    """TypeScript that the grammar can read."""
    return with_separators(source, GENERIC_SIGNATURE)


def readable_elements(source: bytes) -> bytes:
    """TSX that the grammar can read."""
    return with_separators(source, BOUNDED_SIGNATURE)


def announces(node: Node) -> bool:
    """True if a signature is an overload: another of the same name follows it, at last one with a
    body.
    """
    outer = (
        node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    )
    following = outer.next_named_sibling
    while following is not None and following.type in ("comment", "decorator"):
        following = following.next_named_sibling
    if following is not None and following.type == "export_statement":
        following = following.child_by_field_name("declaration")
    if following is None or following.type not in (*SIGNATURES, *IMPLEMENTATIONS):
        return False
    own, other = node.child_by_field_name("name"), following.child_by_field_name("name")
    if own is None or other is None or own.text != other.text:
        return False
    return following.type in IMPLEMENTATIONS or announces(following)


def lower_predefined(walk: Lowering, node: Node) -> Expression:
    """`string` is a builtin type; `any` an unknown one."""
    return None if walk.text(node) in UNKNOWN_TYPES else walk.text(node)


def lower_literal(walk: Lowering, node: Node) -> Expression:
    """`'a'`, `1`, `true` as a type."""
    text = walk.text(node)
    if text[:1] in QUOTES:
        return (UNIT, text.strip(QUOTES))
    if text in UNKNOWN_TYPES:
        return None
    return (UNIT, int(text) if text.isdecimal() else text)


def lower_annotation(walk: Lowering, node: Node, type_node: OptionalNode) -> Expression:
    """`: T`, after `?` in a type one of which values may be undefined."""
    type_, around = walk.value(type_node), node.parent
    if type_ is None or around is None or around.type != "property_signature":
        return type_
    is_optional = has_token(around, "?")
    return (EITHER, (type_,)) if is_optional else type_


def lower_tuple_type(walk: Lowering, node: Node) -> Expression:
    """`[A, B]`, as an array of either."""
    parts = tuple(part for part in walk.values(node) if part is not None)
    return (GENERIC, "Array", ((EITHER, parts),)) if parts else None


def lower_type_query(walk: Lowering, node: Node, named: OptionalNode) -> Expression:
    """`typeof x` as a type."""
    inner = walk.value(named)
    return inner and (GENERIC, "typeof", (inner,))


def lower_function_type(walk: Lowering, node: Node) -> Expression:
    """`(a: A) => T`, `new (a: A) => T`."""
    type_parameters, listed = walk.type_parameters, node.child_by_field_name("type_parameters")
    if listed is not None:
        walk.type_parameters = dict(type_parameters)
        walk.value(listed)
    returned = node.child_by_field_name("return_type") or node.child_by_field_name("type")
    parameters, _ = walk.parameters(node.child_by_field_name("parameters"))
    types = tuple(
        (SPREAD, each.annotation) if each.mode == REST else each.annotation for each in parameters
    )
    given = walk.value(returned)
    walk.type_parameters = type_parameters
    return (SIGNATURE, given, types)


def lower_call_signature(walk: Lowering, node: Node) -> None:
    """`(a: A): T` and `new (a: A): T` in an interface: its instances may be called."""
    walk.bind_name(CALLED, (TYPED, lower_function_type(walk, node)))


def lower_object_type(walk: Lowering, node: Node) -> Expression:
    """`{a: T}`: the members of a type that it defines, else a mapping of instances."""
    if node.parent is not None and node.parent.type == "type_alias_declaration":
        walk.values(node)
        return None
    pairs: list[tuple[Any, Any]] = []
    serial = walk.next_serial()
    signatures = [
        _of_every_member(walk, child)
        for child in named_parts(node)
        if child.type == "index_signature"
    ]
    for child in named_parts(node):
        name = child.child_by_field_name("name")
        if child.type in ("property_signature", "method_signature") and name is not None:
            annotation = _type_of_member(walk, child)
            key = (CONST, walk.text(name).strip(QUOTES))
            walk.note_key(serial, key, name)
            pairs.append((key, annotation and (TYPED, annotation)))
    return either((MAPPING, tuple(pairs), serial) if pairs or not signatures else None, *signatures)


def _of_every_member(walk: Lowering, node: Node) -> Expression:
    """`[name: string]: T` and `[K in Names]: T`: the type of an object all of whose members are T."""
    clause = child_of(node, "mapped_type_clause")
    if clause is not None:
        walk.visit([clause, *named_parts(clause)])
    element = walk.field_value(node, "type")
    keys = child_in(clause, "type")
    is_lookup = element is None or is_tagged(element, ITEM)
    if keys is not None and keys.type == "index_type_query" and is_lookup:
        # as `Readonly<T>` has all members of T
        return walk.value(first_part(keys))
    return (GENERIC, "Record", (None, element)) if element is not None else None


def lower_index_signature(walk: Lowering, node: Node) -> None:
    """The same in an interface or a type with a name: it is below that type."""
    every = _of_every_member(walk, node)
    if every is not None:
        walk.scope.bases.append(every)


def lower_keys(walk: Lowering, node: Node, owner: OptionalNode) -> Expression:
    """`keyof T`: the names of the members of a type."""
    return (KEY_OF, (TYPED, walk.value(owner)))


def lower_lookup(walk: Lowering, node: Node) -> Expression:
    """`T["member"]`, `T[number]` and `T[K]`: the type of a member, of an element, of any of the
    members that K may name.
    """
    parts = named_parts(node)
    owner = walk.value(parts[0]) if len(parts) > 1 else None
    if owner is None:
        return None
    key = walk.text(parts[1])
    if key == "number":
        return (ELEMENT, (TYPED, owner))
    is_name = parts[1].type == "literal_type" and key[:1] in QUOTES
    if not is_name:
        return (ITEM, (TYPED, owner), (TYPED, walk.value(parts[1])))
    member = (MEMBER, (TYPED, owner), key.strip(QUOTES))
    walk.note_pattern_member(member, parts[1])
    return member


def _type_of_member(walk: Lowering, node: Node) -> Expression:
    if node.type == "method_signature":
        return lower_function_type(walk, node)
    return walk.field_value(node, "type")


def lower_cast(
    walk: Lowering, node: Node, value: OptionalNode, type_node: OptionalNode
) -> Expression:
    """`x as T`, `x satisfies T`: the value of x, and an instance of T."""
    return _cast(walk.value(value), walk.value(type_node))


def _cast(value: Expression, annotation: Expression) -> Expression:
    if value is None or annotation is None:
        return value if annotation is None else (TYPED, annotation)
    return (EITHER, (value, (TYPED, annotation)))


def lower_assertion(
    walk: Lowering, node: Node, type_node: OptionalNode, value: OptionalNode
) -> Expression:
    """`<T>x`."""
    annotation = walk.value(type_node)
    return _cast(walk.value(value), annotation)


def lower_namespace(
    walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode
) -> Expression:
    """`namespace a.b {…}` is a namespace in a namespace."""
    path = _names_of_path(name) if name is not None else []
    if len(path) < 2:
        return walk.as_rule(Class(kind=Kind.NAMESPACE), node)
    return nested_namespaces(walk, node, path, body)


def _names_of_path(node: Node) -> list[Node]:
    return [name for child in named_parts(node) for name in _names_of_path(child)] or [node]


GLOBAL_NAMESPACE = Class(kind=Kind.NAMESPACE, name=f"={GLOBAL}", body=":statement_block")


def lower_ambient(walk: Lowering, node: Node) -> Expression:
    """`declare …` belongs to the declaration in it; `declare global {…}` is a namespace."""
    is_global = has_token(node, GLOBAL)
    return walk.as_rule(GLOBAL_NAMESPACE if is_global else Statement(), node)


def lower_enum_body(walk: Lowering, node: Node) -> None:
    """Members of an enum without a value are one more than the member before."""
    number: int | None = 0
    for child in named_parts(node):
        if child.type in ("property_identifier", "string"):
            name = walk.text(child).strip(QUOTES)
            walk.bind_name(name, (CONST, number) if number is not None else None, child)
            walk.define_value(child, name, child, Kind.CONSTANT)
        else:
            walk.value(child)
            number = _number(walk, child.child_by_field_name("value"))
        number = number + 1 if number is not None else None


def _number(walk: Lowering, node: Node | None) -> int | None:
    text = walk.text(node)
    return int(text) if text.isdecimal() else None


def _with_types(rule: Rule) -> Rule:
    """The rule of JavaScript with the fields in which TypeScript keeps types."""
    if isinstance(rule, Function):
        return replace(rule, returns="return_type", generics=("type_parameters",))
    if isinstance(rule, Class):
        return replace(rule, generics=("type_parameters",))
    return rule


ELEMENT_RULES = (
    "jsx_opening_element",
    "jsx_self_closing_element",
    "jsx_closing_element",
    "jsx_expression",
)
SHARED: dict[str, Rule] = {
    name: _with_types(rule)
    for name, rule in RULES.items()
    if name not in ("field_definition", *ELEMENT_RULES)
}

TYPE_RULES: dict[str, Rule] = {
    **SHARED,
    **rules_of("typescript", vars(ecmascript) | vars(ecmascript_narrowing) | globals()),
}

TYPED_BLOCKS = BLOCKS | {
    "function_type",
    "constructor_type",
    "call_signature",
    "construct_signature",
    "conditional_type",
    "index_signature",
}
TYPED_RESOLUTION = replace(
    RESOLUTION,
    call_method=CALLED,
    virtual=True,
    structural=frozenset((Kind.INTERFACE, Kind.TYPE)),
    declarations_suffice=True,
    scripts_declare_for_all=True,
)

TYPESCRIPT = Language(
    name="typescript",
    grammar=wheel("tree_sitter_typescript", "language_typescript"),
    readable=readable_types,
    rules={**TYPE_RULES, "type_assertion": Custom(lower_assertion, ":type_arguments/#0 #-1")},
    blocks=TYPED_BLOCKS,
    hoists=True,
    outlives=outlives,
    control="ecmascript",
    namespace_of=namespace_of,
    resolution=TYPED_RESOLUTION,
)

TSX = replace(
    TYPESCRIPT,
    name="tsx",
    grammar=tsx_grammar,
    readable=readable_elements,
    rules={**TYPE_RULES, **{name: RULES[name] for name in ELEMENT_RULES}},
)
