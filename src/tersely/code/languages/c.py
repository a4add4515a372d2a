"""C, and the parts of C++ that it shares: declarators, declarations, the preprocessor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    ABSTRACT,
    DECLARED,
    EITHER,
    ITEM,
    MEMBER,
    NEW,
    OUTER_NAME,
    OUTSIDE,
    PRIVATE,
    SEQUENCE,
    STATIC,
    TYPED,
    UNFOLLOWED,
    Expression,
    last_name,
)  # fmt: skip
from tersely.code.expressions import Parameter as Positional
from tersely.code.languages.model import (
    Custom,
    Files,
    Language,
    Resolution,
    joined_path,
    names,
    shared_directories,
    wheel,
)  # fmt: skip
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    all_parts,
    child_in,
    child_of,
    children_in,
    line_of,
    named_parts,
    parts_in,
    parts_of,
    previous_part,
)
from tersely.code.languages.preprocessor import readable_c
from tersely.code.languages.summaries import resolution_facts
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

TYPE_NODES = ("struct_specifier", "union_specifier", "class_specifier", "enum_specifier")
PARAMETERS = (
    "parameter_declaration",
    "optional_parameter_declaration",
    "variadic_parameter_declaration",
)
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
DEFINED_HERE = "functions with a body"  # a note: their names


# Includes


def read_include(node: Node, text: TextOf) -> list[Import]:
    """`#include "a/b.h"` and `#include <a/b.h>` import all names of a file."""
    path = node.child_by_field_name("path")
    return [] if path is None else [Import(text(path).strip('<>"'), "*", "", line_of(node))]


def included_files(files: Files, importer: str, module: str) -> list[str]:
    """The file beside the importer, else those anywhere that end in the path, the nearest first."""
    here = joined_path(directory_of(importer), module)
    if files.exists(here):
        return [here]
    tail = joined_path("", module)
    found = files.ending(tail) if tail else []
    return sorted(
        found, key=lambda path: (-shared_directories(path, importer), path.count("/"), path)
    )


# Declarators: the name is in the middle of its type


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


def _converts(name: Node) -> bool:
    """True if a name is that of `operator T`, which declares a function without a function
    declarator.
    """
    while name.type == "qualified_identifier":
        last = name.child_by_field_name("name")
        if last is None:
            break
        name = last
    return name.type == "operator_cast"


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


def _owns_names(walk: Lowering) -> bool:
    return walk.scope.kind not in (Kind.FUNCTION, Kind.METHOD, Kind.LAMBDA, Kind.MACRO)


def _in_class(walk: Lowering) -> bool:
    return walk.scope.kind in (Kind.CLASS, Kind.STRUCT, Kind.TYPE, Kind.ENUM)


# Functions

# Macros that define a test: of nothing, or as a method of the class that is named first.
FIXTURES = {
    "TEST": Kind.FUNCTION,
    "TEST_F": Kind.METHOD,
    "TEST_P": Kind.METHOD,
    "TYPED_TEST": Kind.METHOD,
}


def lower_function(walk: Lowering, node: Node, declarator: OptionalNode) -> Expression:
    """A function with its body, also one of a class that it names: `void A::b() {…}`."""
    found = read_declarator(declarator)
    if found.name is None or (found.function is None and not _converts(found.name)):
        walk.values(node)
        return None
    body = node.child_by_field_name("body") or child_of(node, "try_statement")
    looks_like_one = (
        node.child_by_field_name("type") is None or walk.text(found.name) in MACRO_WORDS
    )
    if looks_like_one and not _owns_names(walk):  # `foreach (…) {…}`, or `if (…) {…}` after a macro
        return walk.value(body)
    return define_function(walk, node, found.name, found.function, body)


def define_function(
    walk: Lowering, node: Node, name: Node, function: OptionalNode, body: OptionalNode
) -> Expression:
    """Define a function or, without a body, a declaration that announces one."""
    parent, outermost = walk.scope, walk.wrapped
    qualifiers, text, name_node = qualified(walk, name)
    fixture = FIXTURES.get(text) if node.child_by_field_name("type") is None else None
    listed_names = _parameter_nodes(function) if fixture is not None else []
    if len(listed_names) > 1:  # `TEST(Suite, name) {…}`
        qualifiers = [walk.text(listed_names[0])]
        text = walk.text(listed_names[1])
        name_node = listed_names[1]
        function = None
    returned = walk.field_value(node, "type")
    initializers = _initializers(node, body)
    listed = child_in(function, "parameters")
    parameters = _parameters(walk, listed)
    kind = fixture or (Kind.METHOD if qualifiers or _in_class(walk) else Kind.FUNCTION)
    walk.wrapped = outermost
    draft = walk.enter(node, kind, text, name_node, initializers or body, ".".join(qualifiers))
    if qualifiers and fixture is not Kind.FUNCTION:
        draft.receiver_type = chain(qualifiers)
        draft.flags |= OUTSIDE
    draft.flags |= _flags(walk, node, body, in_class=_in_class_draft(parent.kind))
    draft.returned_type = returned
    draft.parameters += parameters
    draft.bound.update(parameter.name for parameter in parameters)
    walk.scope = draft
    if initializers is not None:
        _initialize_members(walk, initializers)
    walk.value(body)
    return walk.leave(draft)


def _flags(walk: Lowering, node: Node, body: OptionalNode, *, in_class: bool) -> int:
    """The flags of a function: STATIC of a class; PRIVATE to its file; ABSTRACT without a body."""
    flags = 0
    specifiers = (child for child in node.children if child.type == "storage_class_specifier")
    if any(walk.text(one) == "static" for one in specifiers):
        flags |= STATIC if in_class else PRIVATE
    is_default = child_of(node, "default_method_clause") is not None
    if body is None and not is_default:
        # known where it is included
        flags |= ABSTRACT if in_class else ABSTRACT | PRIVATE
    if walk.notes.get(UNNAMED_NAMESPACE):
        flags |= PRIVATE
    return flags


def _parameter_nodes(function: OptionalNode) -> list[Node]:
    """The nodes in the parentheses of a function declarator."""
    listed = child_in(function, "parameters")
    return parts_of(listed)


def _initializers(node: Node, body: OptionalNode) -> OptionalNode:
    """The list `: member(value), …` of a constructor, before its body or within its `try`."""
    heads = (node, body) if body is not None and body.type == "try_statement" else (node,)
    for head in heads:
        for child in named_parts(head):
            if child.type == "field_initializer_list":
                return child
    return None


def lower_unit(walk: Lowering, node: Node) -> None:
    """A file. `main() {…}` and `TEST(a, b) {…}` have no type, so the grammar sees a call and a
    block.
    """
    for child in named_parts(node):
        head = previous_part(child) if child.type == "compound_statement" else None
        name = _lone_call(head) if head is not None else None
        if head is None or name is None:
            walk.value(child)
            continue
        made = define_function(walk, child, name, None, child)
        if type(made) is tuple:
            line = line_of(head)
            row = walk.definitions[made[1]]
            walk.definitions[made[1]] = row._replace(
                start_line=line, name_line=line, start_byte=head.start_byte
            )


def _is_defined_here(walk: Lowering, node: Node, name: str) -> bool:
    """True if the file of a declaration has a function of that name with a body; never where names
    are overloaded.
    """
    if walk.resolution.overloads:
        return False
    if DEFINED_HERE not in walk.notes:
        root = node
        while root.parent is not None:
            root = root.parent
        walk.notes[DEFINED_HERE] = frozenset(_defined_functions(walk, root))
    return name in walk.notes[DEFINED_HERE]


def _defined_functions(walk: Lowering, node: Node) -> Iterator[str]:
    """The names of the functions that have a body in a file, on any branch of the preprocessor."""
    for child in named_parts(node):
        if child.type.startswith("preproc_") or child.type in (
            "linkage_specification",
            "declaration_list",
            "ERROR",
        ):
            yield from _defined_functions(walk, child)
        elif child.type == "function_definition":
            declarator = child.child_by_field_name("declarator")
            found = read_declarator(declarator)
            if found.name is not None:
                yield walk.text(found.name)


def _lone_call(head: Node) -> OptionalNode:
    """The function of a call that nothing ends, or a name alone: a macro that makes the head of a
    function.
    """
    if len(named_parts(head)) != 1 or not (head.is_error or all_parts(head)[-1].is_missing):
        return None
    call = named_parts(head)[0]
    if call.type == "identifier":
        return call
    name = call.child_by_field_name("function") if call.type == "call_expression" else None
    return name if name is not None and name.type == "identifier" else None


def parameter_of(name: str, annotation: Expression) -> Positional:
    """A positional parameter."""
    return Positional(name, annotation, None, 0)


def _in_class_draft(kind: Kind) -> bool:
    return kind in (Kind.CLASS, Kind.STRUCT, Kind.TYPE)


def _parameters(walk: Lowering, listed: OptionalNode) -> list[Positional]:
    found: list[Positional] = []
    for child in parts_of(listed):
        if child.type not in PARAMETERS:
            continue
        annotation = walk.field_value(child, "type")
        given = child.child_by_field_name("default_value")
        walk.value(given)
        default = UNFOLLOWED if given is not None else None
        declarator = child.child_by_field_name("declarator")
        inner = read_declarator(declarator)
        if inner.is_function_pointer or inner.function is not None:
            annotation = None
        name = walk.parameter_name(inner.name, len(found))
        found.append(Positional(name, annotation, default, 0))
    return found


def _initialize_members(walk: Lowering, initializers: Node) -> None:
    """`: base(x), member(y)`."""
    for child in named_parts(initializers):
        parts = named_parts(child)
        if child.type == "field_initializer" and len(parts) > 1:
            values = walk.values(parts[-1])
            if parts[0].type == "field_identifier":
                walk.call((MEMBER, "this", walk.text(parts[0])), values, (), line_of(child), NEW)
            else:
                walk.call(walk.value(parts[0]), values, (), line_of(child), NEW)


# Declarations


def lower_declaration(walk: Lowering, node: Node, typed: OptionalNode) -> None:
    """Variables, fields and prototypes of one type."""
    annotation = walk.value(typed)
    declarators = parts_in(node, "declarator")
    default = node.child_by_field_name("default_value") or node.child_by_field_name("value")
    for declarator in declarators:
        found = read_declarator(declarator)
        if found.name is None:
            walk.value(declarator)
        elif (found.function is not None or _converts(found.name)) and _owns_names(walk):
            body = _empty_body(declarator, default)
            if body is None and _is_defined_here(walk, node, walk.text(found.name)):
                listed = child_in(found.function, "parameters")
                _parameters(walk, listed)  # its definition is in this file
            else:
                define_function(walk, node, found.name, found.function, body)
        else:
            _declare_variable(walk, node, declarator, found, annotation, default)
            default = None
    used = (typed, *declarators, node.child_by_field_name("default_value"))
    known = {child.id for child in used if child is not None}
    rest = [child for child in named_parts(node) if child.id not in known]
    walk.visit([child for child in rest if child.type != "field_initializer_list"])


def _empty_body(declarator: Node, default: OptionalNode) -> OptionalNode:
    """`void f() {};` reads like a variable with an initialiser."""
    body = (
        declarator.child_by_field_name("value") if declarator.type == "init_declarator" else default
    )
    return body if body is not None and body.type == "initializer_list" else None


def _declare_variable(walk: Lowering, node: Node, declarator: Node, found: Declarator, annotation: Expression,
                      default: OptionalNode) -> None:  # fmt: skip
    if found.name is None:
        return
    if found.is_function_pointer:
        annotation = None
    if annotation == walk.text(found.name) and _in_class(walk):
        # a field that is called like its type
        annotation = (OUTER_NAME, annotation)
    value_node = (
        declarator.child_by_field_name("value") if declarator.type == "init_declarator" else default
    )
    value = _initial(walk, value_node, annotation, found, node)
    if value is not None and annotation is not None:
        value = (DECLARED, value, annotation)
    elif annotation is not None:
        value = (TYPED, annotation)
    _, text, name_node = qualified(walk, found.name)
    owns = _owns_names(walk)
    walk.rebinds = not owns
    walk.bind_name(text, value, name_node)
    walk.rebinds = False
    is_extern = any(
        child.type == "storage_class_specifier" and walk.text(child) == "extern"
        for child in node.children
    )
    if owns and not (is_extern and value_node is None):
        walk.define_value(node, text, name_node, Kind.FIELD if _in_class(walk) else Kind.VARIABLE)


def _initial(
    walk: Lowering, value: OptionalNode, annotation: Expression, found: Declarator, node: Node
) -> Expression:
    """The value of an initialiser; `T x(a)`, `T x{a}` and, where classes have constructors, `T x`
    construct a T.
    """
    constructs = (
        bool(walk.resolution.constructor_is_class_name)
        and found.is_direct
        and annotation is not None
    )
    constructs = constructs and annotation not in walk.resolution.inferred_types
    if value is None:
        if constructs and not _owns_names(walk) and found.function is None:
            return walk.call(annotation, (), (), line_of(node), NEW)
        return None
    if value.type == "argument_list":
        arguments = walk.values(value)
        return (
            walk.call(annotation, arguments, (), line_of(value), NEW)
            if annotation is not None
            else None
        )
    if value.type == "initializer_list":
        return _initializer_list(walk, value, annotation, found.is_direct)
    return walk.value(value)


def _initializer_list(
    walk: Lowering, node: Node, annotation: Expression, is_one: bool
) -> Expression:
    """`{…}` of one value of a type, or of an array of them. Members that it names or places are
    bound.
    """
    if not is_one:
        elements = [
            _initializer_list(walk, child, annotation, is_one=True)
            if child.type == "initializer_list"
            else _element(walk, child, annotation)
            for child in named_parts(node)
        ]
        return (SEQUENCE, tuple(elements), walk.next_serial())
    typed = annotation and (TYPED, annotation)
    for place, child in enumerate(named_parts(node)):
        if child.type == "initializer_pair":
            designator = child.child_by_field_name("designator")
            value = _element(walk, child, annotation)
            if (
                designator is not None
                and designator.type == "field_designator"
                and named_parts(designator)
            ):
                walk.fill(typed, named_parts(designator)[0], value)
        else:
            value = _element(walk, child, None)
            if typed is not None and value is not None:
                member = f"{last_name(annotation)}#{place}"
                walk.store(walk.member(typed, member), value)
    return typed


def _element(walk: Lowering, node: Node, annotation: Expression) -> Expression:
    if node.type == "initializer_pair":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "initializer_list":
            designator = node.child_by_field_name("designator")
            is_array = designator is not None and "subscript" in designator.type
            return _initializer_list(walk, value, annotation if is_array else None, is_one=True)
        return walk.value(value)
    return (
        _initializer_list(walk, node, None, is_one=True)
        if node.type == "initializer_list"
        else walk.value(node)
    )


# Types


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
    declarators = parts_in(node, "declarator")
    first = read_declarator(declarators[0]) if declarators else None
    body = (
        made.child_by_field_name("body") if made is not None and made.type in TYPE_NODES else None
    )
    is_nameless = made is not None and body is not None and made.child_by_field_name("name") is None
    if (
        is_nameless
        and made is not None
        and body is not None
        and first is not None
        and first.name is not None
    ):
        walk.wrapped = (node, 0)
        annotation = define_class(walk, made, first.name, body, Kind.TYPE)
        declarators = declarators[1:]
    else:
        annotation = walk.value(made)
    for declarator in declarators:
        found = read_declarator(declarator)
        text = walk.text(found.name) if found.name is not None else ""
        if found.name is None or not text:  # `typedef struct T {…};` declares no other name
            continue
        if text == annotation:  # `typedef struct T T;` only announces the struct
            continue
        is_function = found.is_function_pointer or found.function is not None
        walk.bind_name(text, None if is_function else annotation, found.name)
        if _owns_names(walk):
            walk.define_value(node, text, found.name, Kind.TYPE)


def lower_subscript(walk: Lowering, node: Node) -> Expression:
    """`a[i]`: an element of an array, or the object behind a pointer."""
    value = walk.field_value(node, "argument")
    key = walk.value(node.child_by_field_name("index") or node.child_by_field_name("indices"))
    return value and (EITHER, ((ITEM, value, key), value))


# The preprocessor


CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
MACRO_WORDS = names(
    "if while for switch return sizeof defined do else case typeof alignof __attribute__"
)


def lower_macro(
    walk: Lowering, node: Node, name: OptionalNode, value: OptionalNode, listed: OptionalNode
) -> Expression:
    """`#define NAME(a) text`: text that looks like a call is one. Macros know no scopes."""
    if name is None:
        return None
    around, module = walk.scope, walk.drafts[0]
    walk.scope = module or around
    draft = walk.enter(node, Kind.MACRO, walk.text(name), name, value)
    draft.flags |= PRIVATE  # known where the file is included
    own = {walk.text(child) for child in named_parts(listed)} if listed is not None else set()
    for parameter in sorted(own):
        draft.parameters.append(parameter_of(parameter, None))
    walk.scope = draft
    for called in dict.fromkeys(CALLED.findall(walk.text(value))) if value is not None else ():
        if called not in MACRO_WORDS and called not in own:
            draft.read.add(called)
            walk.call(called, (), (), line_of(node))
    result = walk.leave(draft)
    walk.scope = around
    return result


def lower_branch(
    walk: Lowering, node: Node, condition: OptionalNode, alternative: OptionalNode
) -> Expression:
    """Skip the code in `#if 0`; all other branches are read."""
    if condition is not None and walk.text(condition) == "0":
        return walk.value(alternative)
    walk.values(node)
    return None


RULES = rules_of("c", globals())

BLOCKS = names("compound_statement for_statement while_statement if_statement switch_statement")

C = Language(
    name="c",
    grammar=wheel("tree_sitter_c"),
    rules={
        **RULES,
        "translation_unit": Custom(lower_unit),
        "subscript_expression": Custom(lower_subscript),
    },
    readable=readable_c,
    blocks=BLOCKS,
    control="c",
    resolution=Resolution(
        **resolution_facts("c"),
        modules=included_files,
    ),
)
