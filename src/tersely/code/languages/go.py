"""Go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CONST,
    DECLARED,
    DEFINED,
    EITHER,
    ELEMENT,
    GENERIC,
    HELD,
    ITEM,
    KEY_OF,
    MAPPING,
    MEMBER,
    SEQUENCE,
    TYPED,
    Expression,
    is_tagged,
    last_name,
)  # fmt: skip
from tersely.code.languages import classes
from tersely.code.languages.children import field
from tersely.code.languages.classes import name_at
from tersely.code.languages.model import (  # fmt: skip
    Files,
    Language,
    Resolution,
    directories_above,
    joined_path,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    child_in,
    children_in,
    first_part,
    has_token,
    line_of,
    named_parts,
    parts_in,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

OPENING = field(":field_declaration_list|={")  # the brace that opens a type
# generic types that the grammar spells with symbols
SLICE, MAP, CHANNEL, TUPLE = "[]", "map", "chan", "()"


# Imports

VERSION = re.compile(r"v\d+")


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`"a/b"`, `name "a/b"`, `. "a/b"`, `_ "a/b"`."""
    path_node, name_node = children_in(node, "path", "name")
    module = text(path_node).strip('"`') if path_node else ""
    line = line_of(node)
    if name_node is None:
        return [Import(module, "", _package_name(module), line)]
    if name_node.type == "dot":
        return [Import(module, "*", "", line)]
    return [
        Import(module, "", "" if name_node.type == "blank_identifier" else text(name_node), line)
    ]


def _package_name(module: str) -> str:
    """The name that a package most likely declares: the last part of its path without versions and
    affixes.
    """
    parts = [part for part in module.split("/") if part]
    if len(parts) > 1 and VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1]) if parts else ""
    last = re.sub(r"^go-|[-.]go$", "", last)
    return last.rpartition("-")[2]


def package_files(files: Files, importer: str, module: str) -> list[str]:
    """Files of the package with an import path, those of tests last."""
    for directory in _directories(files, importer, module):
        found = [
            path
            for path in files.under(directory)
            if path.endswith(".go") and directory_of(path) == directory
        ]
        if found:
            return sorted(found, key=lambda path: (path.endswith("_test.go"), path))
    return []


def _directories(files: Files, importer: str, module: str) -> list[str]:
    modules = files.once(_module_roots)
    found = []
    if module.startswith("."):
        return [joined_path(directory_of(importer), module)]
    for name, directory in modules:
        if module == name or module.startswith(name + "/"):
            found.append((directory + module[len(name) :]).strip("/"))
    home = directory_of(importer)
    while home:
        found.append(f"{home}/vendor/{module}")
        home = directory_of(home)
    found.append(f"vendor/{module}")
    if not modules and "/" in module:  # before modules: the repository lies somewhere in GOPATH
        parts = module.split("/")
        found += ["/".join(parts[start:]) for start in range(len(parts))]
    return found


def _module_roots(files: Files) -> list[tuple[str, str]]:
    """(module path, directory) of every module of the repository and of local replacements, longest
    path first.
    """
    found: dict[str, str] = {}
    for directory in directories_above(files, ".go"):
        text = files.text(f"{directory}/go.mod" if directory else "go.mod")
        declared = re.search(r'^[ \t]*module[ \t]+"?([^\s"]+)', text, re.MULTILINE)
        if declared:
            found.setdefault(declared[1], directory)
        for name, target in re.findall(
            r"^[ \t]*(?:replace[ \t]+)?(\S+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.\S*)",
            text,
            re.MULTILINE,
        ):
            found.setdefault(name, joined_path(directory, target))
    return sorted(found.items(), key=lambda item: (-len(item[0]), item))


# Types


def lower_results(walk: Lowering, node: Node) -> Expression:
    """Several results are a tuple, one is itself."""
    types: list[Expression] = []
    for child in named_parts(node):
        names = parts_in(child, "name")
        types += [walk.field_value(child, "type")] * max(len(names), 1)
    return types[0] if len(types) == 1 else (GENERIC, TUPLE, tuple(types)) if types else None


def lower_type_spec(
    walk: Lowering,
    node: Node,
    name: OptionalNode,
    made: OptionalNode,
    type_parameters_node: OptionalNode,
) -> Expression:
    """`type T struct {…}`, `type I interface {…}`, `type N M`."""
    if name is None or made is None:
        walk.values(node)
        return None
    type_parameters = walk.type_parameters
    walk.type_parameters = dict(type_parameters)
    walk.value(type_parameters_node)
    walk.wrapped = (_statement(node), 0)
    kind = {"struct_type": Kind.STRUCT, "interface_type": Kind.INTERFACE}.get(made.type, Kind.TYPE)
    opening = None if kind is Kind.TYPE else OPENING(made)
    draft = walk.enter(node, kind, walk.text(name), name, opening)
    walk.scope = draft
    if kind is Kind.TYPE:
        draft.bases.append(walk.value(made))
    else:
        walk.values(made)
    walk.type_parameters = type_parameters
    return walk.leave(draft)


def _statement(node: Node) -> Node:
    """The whole statement, for a specification that is the only one in it."""
    outer = node.parent
    while outer is not None and outer.type.endswith(("_declaration", "_spec_list")):
        if len(named_parts(outer)) != 1 or has_token(outer, "("):
            break
        node, outer = outer, outer.parent
    return node


def lower_anonymous_type(walk: Lowering, node: Node) -> Expression:
    """`struct {…}` or `interface {…}` without a name."""
    kind = Kind.STRUCT if node.type == "struct_type" else Kind.INTERFACE
    parts = named_parts(node)
    if not parts or (kind is Kind.STRUCT and not named_parts(parts[0])):
        return None
    draft = walk.enter(node, kind, walk.anonymous(kind.value), None, OPENING(node))
    walk.scope = draft
    walk.values(node)
    return walk.leave(draft)


def lower_alias(walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode) -> None:
    """`type A = T`: another name for the same type."""
    made = walk.value(type_node)
    if name is not None:
        walk.bind_node(name, made)
        walk.define_node(_statement(node), name, Kind.TYPE)


def lower_field(walk: Lowering, node: Node, declared: OptionalNode) -> None:
    """`a, b T`; without a name the struct has all that the type has."""
    annotation = walk.value(declared)
    names = parts_in(node, "name")
    for name in names:
        walk.bind_node(name, annotation and (TYPED, annotation))
        if not walk.scope.qualname.endswith(">"):  # fields of types without a name are no symbols
            walk.define_node(node, name, Kind.FIELD)
    if not names and declared is not None:
        walk.scope.bases.append(annotation)
        walk.bind_name(last_name(annotation), annotation and (TYPED, annotation), declared)


def lower_embedded(walk: Lowering, node: Node) -> Expression:
    """`interface { Other }`: all methods of the other; in type arguments, the type."""
    values = walk.values(node)
    if node.parent is not None and node.parent.type == "interface_type":
        if len(values) == 1 and values[0] is not None:
            walk.scope.bases.append(values[0])
        return None
    return values[0] if len(values) == 1 else None


def lower_constraint(walk: Lowering, node: Node) -> Expression:
    """One type as a constraint bounds the parameter, several do not."""
    parts = named_parts(node)
    return walk.value(parts[0]) if len(parts) == 1 else None


# Values


def lower_specification(walk: Lowering, node: Node) -> None:
    """`var a, b T = x, y` and `const a = x`."""
    annotation = walk.field_value(node, "type")
    names = [name for name in parts_in(node, "name") if name.type != ","]
    values = _values(walk, node.child_by_field_name("value"), len(names))
    kind = Kind.CONSTANT if node.type == "const_spec" else Kind.VARIABLE
    for position, name in enumerate(names):
        text, value = walk.text(name), values[position]
        walk.bind_anew(text, _with_type(value, annotation), name)
        walk.scope.types[text] = annotation
        if walk.scope.kind is Kind.MODULE and text != "_":
            walk.define_value(_statement(node), text, name, kind)


def _with_type(value: Expression, annotation: Expression) -> Expression:
    if value is not None and annotation is not None:
        return (DECLARED, value, annotation)
    return value if annotation is None else (TYPED, annotation)


def _values(walk: Lowering, node: OptionalNode, wanted: int) -> list[Expression]:
    """One expression for each of the wanted targets."""
    listed = [] if node is None else named_parts(node) if node.type == "expression_list" else [node]
    values = list(map(walk.value, listed))
    if len(values) == 1 and wanted > 1:
        if listed[0].type == "call_expression":
            return [(ITEM, values[0], (CONST, position)) for position in range(wanted)]
        return [values[0]] + [None] * (wanted - 1)  # `value, ok`
    return (values + [None] * wanted)[:wanted]


def lower_assignment(walk: Lowering, node: Node, left: OptionalNode) -> None:
    """`a, b := x, y` declares, `a, b = x, y` does not; also the left side of `range`."""
    targets = parts_of(left)
    declares = has_token(node, ":=")
    if node.type == "range_clause":
        values = _range_values(walk, node, len(targets))
    else:
        values = _values(walk, node.child_by_field_name("right"), len(targets))
    for target, value in zip(targets, values, strict=True):
        name = walk.text(target)
        if target.type == "identifier" and not declares:
            walk.update(name, value, straight=False)
        elif name != "_":
            walk.rebinds = declares
            walk.bind(target, value)
            walk.rebinds = False


def _range_values(walk: Lowering, node: Node, wanted: int) -> list[Expression]:
    """A key and the value at it; a single variable is a key, or the element of a channel."""
    iterable = walk.field_value(node, "right")
    if iterable is None:
        return [None] * wanted
    return [(KEY_OF, iterable), (HELD, iterable), *[None] * wanted][:wanted]


def lower_send(walk: Lowering, node: Node, channel: OptionalNode, value: OptionalNode) -> None:
    """`channel <- value`."""
    walk.store((ITEM, walk.value(channel), None), walk.value(value))


def lower_unary(walk: Lowering, node: Node) -> Expression:
    """`&x` and `*x` are x; `<-x` is an element of it."""
    value = walk.field_value(node, "operand")
    operator = node.children[0].type if node.children else ""
    if operator == "<-":
        return value and (ELEMENT, value)
    return value if operator in ("&", "*") else None


def lower_type_switch(
    walk: Lowering,
    node: Node,
    alias: OptionalNode,
    initializer: OptionalNode,
    value_node: OptionalNode,
) -> None:
    """`switch x := v.(type)`: in each case x is of the types of the case."""
    walk.value(initializer)
    value = walk.value(value_node)
    name = first_part(alias)
    for case in named_parts(node):
        if case.type not in ("type_case", "default_case"):
            continue
        types = parts_in(case, "type")
        expressions = [walk.value(child) for child in types if child.is_named]
        if name is not None:
            known = tuple(
                (TYPED, expression) for expression in expressions if expression is not None
            )
            walk.bind_anew(walk.text(name), (EITHER, known) if known else value, name)
        with walk.in_block():
            walk.visit_others(case, *types)


def lower_composite(
    walk: Lowering, node: Node, made: OptionalNode, body: OptionalNode
) -> Expression:
    """`T{…}`, `&T{…}`, `[]T{…}`, `map[K]V{…}`."""
    return _composite_literal(walk, walk.value(made), body)


STRUCT_TYPES = frozenset({"type_identifier", "qualified_type", "generic_type", "struct_type"})


def _composite_literal(
    walk: Lowering, made: Expression, body: OptionalNode, outer: Expression = None
) -> Expression:
    """A literal of a type with its braces; inner braces without a type are of the key's or the
    element's type.
    """
    is_container = is_tagged(made, GENERIC) and made[1] in (SLICE, MAP)
    key_type, inner = (made[2][0], made[2][-1]) if is_container else (None, None)
    typed = made and (TYPED, made)
    if typed is None and outer is not None:  # an element of a type that has a name
        typed = (ELEMENT, outer)
    fields = [] if is_container else _field_names(walk, made)
    pairs: list[tuple[Expression, Expression]] = []
    elements: list[Expression] = []
    for element in parts_of(body):
        if element.type != "keyed_element":
            elements.append(_element(walk, element, inner, typed))
            continue
        key, value = children_in(element, "key", "value")
        name = first_part(key)
        if name is not None and name.type == "identifier" and not is_container:
            walk.fill(typed, name, _element(walk, value, inner, typed))
        else:
            pairs.append((_element(walk, key, key_type, None), _element(walk, value, inner, typed)))
    walk.scope.binds += (
        ((MEMBER, typed, name), value) for name, value in zip(fields, elements, strict=False)
    )
    display = _display(walk, pairs, [] if fields else elements)
    if is_container and display is not None:
        return display
    return (EITHER, (typed, display)) if display is not None else typed


def _display(
    walk: Lowering, pairs: list[tuple[Expression, Expression]], elements: list[Expression]
) -> Expression:
    """The mapping or the sequence that braces hold, None where they hold the fields of a struct."""
    if pairs:
        return (MAPPING, tuple(pairs), walk.next_serial())
    return (SEQUENCE, tuple(elements), walk.next_serial()) if elements else None


def _field_names(walk: Lowering, made: Expression) -> list[str]:
    """The fields of a struct that the file has declared so far, in order."""
    position = made[1] if is_tagged(made, DEFINED) else -1
    for at, definition in enumerate(walk.definitions if type(made) is str else ()):
        if definition.kind is Kind.STRUCT and definition.name == made:
            position = at
    draft = walk.drafts[position] if position >= 0 else None
    return [target for target, _ in draft.binds if type(target) is str] if draft is not None else []


def label_of(node: Node) -> OptionalNode:
    """The field of `Type{field: value}`; keys of maps, slices and arrays are values."""
    key = node.child_by_field_name("key") if node.type == "keyed_element" else None
    name = first_part(key)
    if name is None or name.type != "identifier":
        return None
    around = node.parent
    while around is not None and around.type != "composite_literal":
        around = around.parent
    made = child_in(around, "type")
    is_direct = around is not None and node.parent == around.child_by_field_name("body")
    has_fields = not is_direct or made is None or made.type in STRUCT_TYPES
    return name if has_fields else None


def _element(
    walk: Lowering, node: OptionalNode, inner: Expression, outer: Expression
) -> Expression:
    while node is not None and node.type == "literal_element" and named_parts(node):
        node = named_parts(node)[0]
    if node is not None and node.type == "literal_value":
        return _composite_literal(walk, inner, node, outer)
    return walk.value(node)


GO = Language(
    name="go",
    grammar=wheel("tree_sitter_go"),
    rules=rules_of("go", vars(classes) | globals()),
    label_of=label_of,
    namespace_of=name_at(":package_clause/#0"),
    blocks=names(
        "block if_statement for_statement expression_switch_statement type_switch_statement "
        "select_statement expression_case default_case type_case communication_case function_type"
    ),
    control="go",
    resolution=Resolution(
        **resolution_facts("go"),
        modules=package_files,
        structural=frozenset((Kind.INTERFACE,)),
        containers=frozenset((SLICE, CHANNEL)),
        mappings=frozenset((MAP,)),
        tuples=frozenset((TUPLE,)),
        summaries=summaries("go", "functions"),
    ),
)
