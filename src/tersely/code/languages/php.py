"""PHP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CONST,
    EITHER,
    ELEMENT,
    IMPORTED,
    MAPPING,
    MEMBER,
    NEW,
    REFERENCE,
    SEQUENCE,
    TYPED,
    Expression,
    either,
    is_tagged,
)
from tersely.code.languages import classes
from tersely.code.languages.children import every
from tersely.code.languages.classes import (
    anonymous_class,
    name_at,
    namespace_files,
)
from tersely.code.languages.model import (
    Call,
    Files,
    Language,
    Resolution,
    nearest_first,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    child_of,
    first_part,
    line_of,
    named_parts,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


_CALLABLE = re.compile(r"[^\W\d]\w*(?:\\[^\W\d]\w*)*(?:::[^\W\d]\w*)?")


def read_use(node: Node, text: TextOf) -> list[Import]:
    r"""`use A\B\C;`, `use A\B\{D as E, F};`, `use function A\f;`."""
    line = line_of(node)
    prefix = child_of(node, "namespace_name")
    group = node.child_by_field_name("body")
    found = []
    for clause in named_parts(group or node):
        if clause.type != "namespace_use_clause" or not named_parts(clause):
            continue
        alias = clause.child_by_field_name("alias")
        path = text(named_parts(clause)[0]).lstrip("\\")
        if prefix is not None and group is not None:
            path = f"{text(prefix)}\\{path}"
        module, _, name = path.rpartition("\\")
        found.append(Import(module, name, text(alias) if alias is not None else name, line))
    return found


def module_files(files: Files, importer: str, module: str) -> list[str]:
    """Files of a namespace, the file of a class, or a file that is included by its path."""
    if "/" not in module and not module.endswith(".php"):
        return BY_NAMESPACE(files, importer, module)
    directory = directory_of(importer)
    path = module.lstrip("./") if module.startswith(("./", "/")) else module
    while path.startswith("../"):
        path, directory = path[3:], directory_of(directory)
    beside = f"{directory}/{path}" if directory else path
    if files.exists(beside):
        return [beside]
    return nearest_first(files.ending(path), importer)


BY_NAMESPACE = namespace_files(".php", "\\")
namespace_of = name_at(":namespace_definition/name")


def lower_qualified(walk: Lowering, node: Node) -> Expression:
    r"""`\A\B`, `Alias\B`, `B\C` below the file's own namespace."""
    text = walk.text(node)
    module, _, name = text.rpartition("\\")
    walk.mentions.add(name)
    if text.startswith("\\"):
        return (IMPORTED, module.lstrip("\\"), name) if module.strip("\\") else name
    head, _, rest = module.partition("\\")
    for known in walk.imports:
        if known.alias == head:
            head = "\\".join(part for part in (known.module, known.name) if part)
            return (IMPORTED, f"{head}\\{rest}" if rest else head, name)
    root = node
    while root.parent is not None:
        root = root.parent
    own = namespace_of(root, walk.text)
    return (IMPORTED, f"{own}\\{module}" if own else module, name)


def lower_class_constant(
    walk: Lowering, node: Node, owner_node: OptionalNode, constant: OptionalNode
) -> Expression:
    """`T::NAME`; `T::class` stands for the class."""
    if constant is None:
        return None
    owner, name = walk.value(owner_node), walk.text(constant)
    walk.mentions.add(name)
    return owner if name == "class" else (MEMBER, owner, name)


def lower_creation(walk: Lowering, node: Node) -> Expression:
    """`new T(…)`, `new class(…) extends T { … }`."""
    line = line_of(node)
    anonymous = child_of(node, "anonymous_class")
    home = anonymous if anonymous is not None else node
    listed = child_of(home, "arguments")
    positional, keywords = walk.arguments(listed)
    if anonymous is None:
        created = walk.value(first_part(node))
        return walk.call(created, positional, keywords, line, NEW)
    clauses = every(anonymous, ":base_clause,class_interface_clause")
    bases = [walk.value(base) for clause in clauses for base in named_parts(clause)]
    made = anonymous_class(walk, anonymous, anonymous.child_by_field_name("body"), bases)
    return walk.call(made[1], positional, keywords, line, NEW)


def lower_array(walk: Lowering, node: Node) -> Expression:
    """`[a, b]`, `['k' => v]`; `[object, 'method']` may be meant to be called."""
    elements = every(node, ":array_element_initializer")
    if any(len(named_parts(child)) > 1 for child in elements):
        pairs = []
        for child in elements:
            parts = walk.values(child)
            pairs.append((parts[0] if len(parts) > 1 else None, parts[-1] if parts else None))
        return (MAPPING, tuple(pairs), walk.next_serial())
    values = tuple(walk.value(named_parts(child)[0]) for child in elements if named_parts(child))
    display = (SEQUENCE, values, walk.next_serial())
    if len(values) == 2 and is_tagged(values[1], CONST) and str(values[1][1]).isidentifier():
        walk.mentions.add(values[1][1])
        return (EITHER, (display, (REFERENCE, values[0], values[1][1])))
    return display


def lower_foreach(walk: Lowering, node: Node, body: OptionalNode) -> None:
    """`foreach (collection as key => value)`."""
    parts = [child for child in named_parts(node) if body is None or child.id != body.id]
    if len(parts) > 1:
        value = walk.value(parts[0])
        target = named_parts(parts[1])[-1] if parts[1].type in ("pair", "by_ref") else parts[1]
        walk.bind(target, value and (ELEMENT, value))
        if value is not None:
            walk.call(walk.member(value, "getIterator"), (), (), line_of(node))
    walk.value(body)


def lower_property(walk: Lowering, node: Node) -> None:
    """`private T $a = x, $b;`: members without the sign of variables."""
    annotation = walk.field_value(node, "type")
    for element in named_parts(node):
        name = element.child_by_field_name("name") if element.type == "property_element" else None
        if name is None:
            continue
        text = walk.text(name).removeprefix("$")
        value = walk.field_value(element, "default_value")
        walk.bind_name(text, walk.with_type(value, annotation), name)
        walk.define_value(node, text, name, Kind.FIELD)


def lower_constants(walk: Lowering, node: Node) -> None:
    """`const A = 1, B = 2;`."""
    for element in named_parts(node):
        if element.type == "const_element" and named_parts(element):
            name, *values = named_parts(element)
            walk.bind_node(name, walk.value(values[-1]) if values else None)
            walk.define_node(node, name, Kind.CONSTANT)


def lower_call(walk: Lowering, node: Node) -> Expression:
    """`f(…)`; `define('NAME', …)` is a definition too."""
    result = walk.as_rule(Call(), node)
    if result[1] == "define" and result[2] and is_tagged(result[2][0], CONST):
        listed = node.child_by_field_name("arguments")
        walk.define_value(node, str(result[2][0][1]), listed or node, Kind.CONSTANT)
    return result


def lower_traits(walk: Lowering, node: Node) -> None:
    """`use T1, T2 { T1::a insteadof T2; T2::a as protected b; }` in a class: members come from
    there, and are meant by further names.
    """
    traits = [walk.value(child) for child in named_parts(node) if child.type != "use_list"]
    walk.scope.bases += traits
    for clause in parts_of(child_of(node, "use_list")):
        written, *others = named_parts(clause)
        parts = named_parts(written) or [written]
        owners = [walk.value(parts[0])] if len(parts) > 1 else traits
        name = walk.text(parts[-1])
        given = others[-1] if clause.type == "use_as_clause" and others else parts[-1]
        walk.mentions.add(name)
        if given.type == "name":
            members = ((REFERENCE, owner, name) for owner in owners)
            walk.bind_name(walk.text(given), either(*members), given)


def lower_include(walk: Lowering, node: Node, path: OptionalNode) -> None:
    """`require 'path'`, `require __DIR__ . '/path'`."""
    while path is not None and path.type == "parenthesized_expression":
        path = first_part(path)
    if path is not None and path.type == "binary_expression":
        path = path.child_by_field_name("right")
    value = walk.value(path)
    if is_tagged(value, CONST) and type(value[1]) is str:
        walk.add_import(Import(value[1], "*", "", line_of(node)))


def promote_parameters(walk: Lowering, node: Node) -> None:
    """`__construct(private T $x)` declares a member and assigns the argument to it."""
    listed = node.child_by_field_name("parameters")
    constructor = walk.scope
    for child in parts_of(listed):
        name = child.child_by_field_name("name")
        if name is None or child.type != "property_promotion_parameter":
            continue
        text = walk.text(name)
        constructor.binds.append(((MEMBER, "$this", text[1:]), text))
        owner = walk.drafts[walk.definitions[constructor.definition].parent]
        if owner is not None:
            walk.scope = owner
            annotation = walk.field_value(child, "type")
            walk.bind_name(text[1:], annotation and (TYPED, annotation), name)
            walk.define_value(child, text[1:], name, Kind.FIELD)
            walk.scope = constructor


def meant_by_text(text: str) -> Expression:
    r"""The function that a text names: `name`, `A\name`, `A::method`; None for other texts."""
    text = text.replace("\\\\", "\\").removeprefix("\\")
    if not _CALLABLE.fullmatch(text):
        return None
    path, _, method = text.partition("::")
    space, _, name = path.rpartition("\\")
    named = (IMPORTED, space, name) if space else name
    return (REFERENCE, named, method) if method else named


PHP = Language(
    name="php",
    grammar=wheel("tree_sitter_php", "language_php"),
    rules=rules_of("php", vars(classes) | globals()),
    prologue=b"<?php ",
    control="php",
    namespace_of=namespace_of,
    resolution=Resolution(
        **resolution_facts("php"),
        modules=module_files,
        meant_by_text=meant_by_text,
        methods=summaries("php", "methods"),
        summaries=summaries("php", "functions"),
    ),
)
