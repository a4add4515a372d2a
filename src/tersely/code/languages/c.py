"""C, and the parts of C++ that it shares: declarators, declarations, the preprocessor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    line_of,
    named_parts,
    parts_in,
    parts_of,
    previous_part,
)
from tersely.code.languages.parts import c_types
from tersely.code.languages.parts.c_declarators import (
    UNNAMED_NAMESPACE,
    Declarator,
    chain,
    converts,
    in_class,
    owns_names,
    qualified,
    read_declarator,
)
from tersely.code.languages.preprocessor import readable_c
from tersely.code.languages.summaries import resolution_facts
from tersely.code.languages.tables import rules_of
from tersely.code.places import directory_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

PARAMETERS = (
    "parameter_declaration",
    "optional_parameter_declaration",
    "variadic_parameter_declaration",
)
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
    if found.name is None or (found.function is None and not converts(found.name)):
        walk.values(node)
        return None
    body = node.child_by_field_name("body") or child_of(node, "try_statement")
    looks_like_one = (
        node.child_by_field_name("type") is None or walk.text(found.name) in MACRO_WORDS
    )
    if looks_like_one and not owns_names(walk):  # `foreach (…) {…}`, or `if (…) {…}` after a macro
        return walk.value(body)
    return define_function(walk, node, found.name, found.function, body)


def define_function(
    walk: Lowering, node: Node, name: Node, function: OptionalNode, body: OptionalNode
) -> Expression:
    """Define a function or, without a body, a declaration that announces one."""
    parent, outermost = walk.scope, walk.wrapped
    qualifiers, text, name_node = qualified(walk, name)
    fixture = FIXTURES.get(text) if node.child_by_field_name("type") is None else None
    listed_names = parts_of(child_in(function, "parameters")) if fixture is not None else []
    if len(listed_names) > 1:  # `TEST(Suite, name) {…}`
        qualifiers = [walk.text(listed_names[0])]
        text = walk.text(listed_names[1])
        name_node = listed_names[1]
        function = None
    returned = walk.field_value(node, "type")
    initializers = _initializers(node, body)
    listed = child_in(function, "parameters")
    parameters = _parameters(walk, listed)
    kind = fixture or (Kind.METHOD if qualifiers or in_class(walk) else Kind.FUNCTION)
    walk.wrapped = outermost
    draft = walk.enter(node, kind, text, name_node, initializers or body, ".".join(qualifiers))
    if qualifiers and fixture is not Kind.FUNCTION:
        draft.receiver_type = chain(qualifiers)
        draft.flags |= OUTSIDE
    draft.flags |= _flags(
        walk, node, body, is_member=parent.kind in (Kind.CLASS, Kind.STRUCT, Kind.TYPE)
    )
    draft.returned_type = returned
    draft.parameters += parameters
    draft.bound.update(parameter.name for parameter in parameters)
    walk.scope = draft
    if initializers is not None:
        _initialize_members(walk, initializers)
    walk.value(body)
    return walk.leave(draft)


def _flags(walk: Lowering, node: Node, body: OptionalNode, *, is_member: bool) -> int:
    """The flags of a function: STATIC of a class; PRIVATE to its file; ABSTRACT without a body."""
    flags = 0
    specifiers = (child for child in node.children if child.type == "storage_class_specifier")
    if any(walk.text(one) == "static" for one in specifiers):
        flags |= STATIC if is_member else PRIVATE
    is_default = child_of(node, "default_method_clause") is not None
    if body is None and not is_default:
        # known where it is included
        flags |= ABSTRACT if is_member else ABSTRACT | PRIVATE
    if walk.notes.get(UNNAMED_NAMESPACE):
        flags |= PRIVATE
    return flags


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
        elif (found.function is not None or converts(found.name)) and owns_names(walk):
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
    if annotation == walk.text(found.name) and in_class(walk):
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
    owns = owns_names(walk)
    walk.rebinds = not owns
    walk.bind_name(text, value, name_node)
    walk.rebinds = False
    is_extern = any(
        child.type == "storage_class_specifier" and walk.text(child) == "extern"
        for child in node.children
    )
    if owns and not (is_extern and value_node is None):
        walk.define_value(node, text, name_node, Kind.FIELD if in_class(walk) else Kind.VARIABLE)


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
        if constructs and not owns_names(walk) and found.function is None:
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


RULES = rules_of("c", vars(c_types) | globals())

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
