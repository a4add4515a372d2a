"""Kotlin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CALL,
    CONST,
    EITHER,
    ELEMENT,
    ITEM,
    MEMBER,
    NEW,
    POSITIONAL,
    PROPERTY,
    REFERENCE,
    REST,
    SEQUENCE,
    TYPED,
    Expression,
    NamedExpressions,
    Parameter,
    either,
)
from tersely.code.languages import classes
from tersely.code.languages.children import every
from tersely.code.languages.classes import (
    anonymous_class,
    bind_typed,
    name_at,
    namespace_files,
    own_name,
)
from tersely.code.languages.model import (
    Class,
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    child_of,
    first_part,
    has_token,
    last_line_of,
    line_of,
    named_parts,
    parts_of,
)
from tersely.code.languages.parts import kotlin_conditions
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import CLASS_KINDS, Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

TYPES = ("user_type", "nullable_type", "function_type", "parenthesized_type", "non_nullable_type")
TYPE = ":" + ",".join(TYPES)  # as a place


# Between the modifiers of a constructor on a line of its own, a word that the grammar does not know
# there.
PLATFORM_WORDS = re.compile(rb"\b(?:actual|expect)(?=[ \t]+constructor\b)")


# In a class body on one line: texts, which stay, and spaces where the grammar misses the end of a
# member.
ONE_LINE_CLASS = re.compile(
    rb"^[^\n]*\b(?:class|interface|object)\b[^\n]*\{[^\n]*\}[^\n]*$", re.MULTILINE
)
MEMBER_WORDS = (
    rb"abstract|class|companion|const|data|enum|fun|infix|init|inline|inner|interface|internal|lateinit|object|open|"
    rb"operator|override|private|protected|public|sealed|suspend|tailrec|val|value|var|vararg"
)
MEMBER_ENDS = re.compile(
    rb'"(?:\\.|[^"\\\n])*"|(?<=[^\s{;])[ \t](?=[ \t]*\})|(?<=\})[ \t](?=[ \t]*(?:%b)\b)'
    % MEMBER_WORDS
)


def readable(source: bytes) -> bytes:
    """The source in the form that the grammar reads: without unknown words, with the ends that it
    requires.
    """
    if b"constructor" in source:
        source = PLATFORM_WORDS.sub(b" " * len(b"actual"), source)
    return ONE_LINE_CLASS.sub(lambda line: MEMBER_ENDS.sub(_end_statement, line[0]), source)


def _end_statement(found: re.Match[bytes]) -> bytes:
    return b";" if len(found[0]) == 1 else found[0]


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`import a.b.C`, `import a.b.C as D`, `import a.b.*`."""
    path = child_of(node, "qualified_identifier", "identifier")
    if path is None:
        return []
    line = line_of(node)
    if has_token(node, "*"):
        return [Import(text(path), "*", "", line)]
    aliases = [child for child in every(node, ":identifier") if child.id != path.id]
    module, _, name = text(path).rpartition(".")
    return [Import(module, name, text(aliases[0]) if aliases else name, line)]


def read_parameters(walk: Lowering, node: Node) -> list[Parameter]:
    """Parameters of a function; modifiers and defaults are their siblings. A receiver comes first,
    as `this`.
    """
    found: list[Parameter] = []
    receiver = receiver_of(node)
    if receiver is not None:
        found.append(Parameter("this", walk.value(receiver), None, POSITIONAL))
    listed = child_of(node, "function_value_parameters")
    mode = POSITIONAL
    for child in parts_of(listed):
        if child.type == "parameter_modifiers":
            mode = REST if "vararg" in walk.text(child) else POSITIONAL
        elif child.type == "parameter":
            name = child_of(child, "identifier")
            annotation = walk.value(child_of(child, *TYPES))
            found.append(Parameter(walk.parameter_name(name, len(found)), annotation, None, mode))
            mode = POSITIONAL
        elif found and child.type not in ("line_comment", "block_comment"):
            found[-1] = found[-1]._replace(default=walk.value(child) or (EITHER, ()))
    return found


def receiver_of(node: Node) -> OptionalNode:
    """The type before the name of an extension."""
    name = node.child_by_field_name("name") or child_of(node, "variable_declaration")
    types = every(node, TYPE)
    is_before = name is not None and types and types[0].end_byte <= name.start_byte
    return types[0] if is_before else None


def finish_function(walk: Lowering, node: Node) -> None:
    """Read the return type behind the parameters, and the receiver type of an extension."""
    listed = child_of(node, "function_value_parameters")
    types = every(node, TYPE)
    if listed is not None and types and types[-1].start_byte >= listed.end_byte:
        walk.scope.returned_type = walk.value(types[-1])
    if receiver_of(node) is not None:
        walk.scope.receiver_type = walk.scope.parameters[0].annotation


def lower_body(walk: Lowering, node: Node, inner: OptionalNode) -> Expression:
    """`= value` has a value, `{ … }` has none."""
    value = walk.value(inner)
    return None if inner is not None and inner.type == "block" else value


def lower_lambda(walk: Lowering, node: Node, listed: OptionalNode) -> Expression:
    """`{ a, b -> … }`; without parameters it has `it`."""
    parameters: list[Parameter] = []
    several: list[tuple[str, Node]] = []
    for child in parts_of(listed):
        name = child_of(child, "identifier")
        text = walk.parameter_name(name, len(parameters))
        if child.type == "multi_variable_declaration":
            several.append((text, child))
        parameters.append(Parameter(text, walk.value(child_of(child, *TYPES)), None, POSITIONAL))
    draft = walk.enter_lambda(node, node)
    draft.take(parameters or [Parameter("it", None, None, POSITIONAL)])
    walk.scope = draft
    for text, declared in several:
        bind_components(walk, declared, text)
    value: Expression = None
    for child in named_parts(node):
        if listed is None or child.id != listed.id:
            value = walk.value(child)
    if value is not None:
        draft.returns.append(value)
    return walk.leave(draft)


def lower_call(
    walk: Lowering, node: Node, callee: OptionalNode, listed: OptionalNode, trailing: OptionalNode
) -> Expression:
    """`f(…)`, `f(…) { … }`, `f { … }`."""
    is_inside = listed is None and trailing is not None and callee is not None
    if is_inside and callee is not None and callee.type == "call_expression":
        inner = child_of(callee, "value_arguments")
        if inner is not None and child_of(callee, "annotated_lambda") is None:
            listed, callee = inner, first_part(callee)
    line = last_line_of(callee) if callee is not None else line_of(node)
    called = walk.callee(callee)
    positional, keywords = call_arguments(walk, listed)
    if trailing is not None:
        positional.append(walk.value(trailing))
    return walk.call(called, tuple(positional), tuple(keywords), line)


def label_of(node: Node) -> OptionalNode:
    """The parameter of `name = value`."""
    is_named = node.type == "value_argument" and has_token(node, "=")
    return named_parts(node)[0] if is_named else None


def call_arguments(walk: Lowering, node: OptionalNode) -> tuple[list[Expression], NamedExpressions]:
    """Arguments by place and by name."""
    positional: list[Expression] = []
    keywords: NamedExpressions = []
    for argument in parts_of(node):
        if argument.type != "value_argument" or not named_parts(argument):
            continue
        value = walk.value(named_parts(argument)[-1])
        if has_token(argument, "="):
            keywords.append((walk.text(named_parts(argument)[0]), value))
        else:
            positional.append(value)
    return positional, keywords


def lower_class(walk: Lowering, node: Node) -> Expression:
    """Classes, interfaces, enums, objects."""
    tokens = {child.type for child in node.children}
    modifiers = child_of(node, "modifiers")
    kind = Kind.INTERFACE if "interface" in tokens else Kind.CLASS
    body = child_of(node, "enum_class_body", "class_body")
    if (body is not None and body.type == "enum_class_body") or (
        modifiers and "enum" in walk.text(modifiers).split()
    ):
        kind = Kind.ENUM
    return walk.as_rule(CLASSES[kind], node)


def lower_companion(
    walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode
) -> Expression:
    """`companion object { … }`: its members are members of the enclosing class too."""
    draft = walk.enter(node, Kind.CLASS, walk.text(name) or COMPANION, name, body)
    draft.bases = supertypes(walk, node)
    walk.scope = draft
    walk.value(body)
    result = walk.leave(draft)
    if name is not None:
        walk.bind_name(COMPANION, result)
    return result


COMPANION = "Companion"


def lower_object_literal(walk: Lowering, node: Node, body: OptionalNode) -> Expression:
    """`object : T { … }`."""
    return anonymous_class(walk, node, body, supertypes(walk, node))


def supertypes(walk: Lowering, node: Node) -> list[Expression]:
    """The types that an object is declared to be of: `: T(x), U`."""
    specifiers = parts_of(child_of(node, "delegation_specifiers"))
    found = [walk.value(first_part(one)) for one in specifiers]
    return [type_ for type_ in found if type_ is not None]


def lower_class_parameter(walk: Lowering, node: Node) -> None:
    """`val x: T = default` in a class header is a member; without `val` it is visible to
    initializers.
    """
    name, annotation = child_of(node, "identifier"), walk.value(child_of(node, *TYPES))
    rest = [
        child
        for child in named_parts(node)
        if child.type not in (*TYPES, "modifiers", "identifier")
    ]
    walk.visit(rest)
    if name is not None:
        bind_typed(walk, name, annotation)
        if node.parent is not None and has_token(node, "val", "var"):
            walk.define_node(node, name, Kind.FIELD)
            number = [
                child.id for child in named_parts(node.parent) if child.type == node.type
            ].index(node.id) + 1
            walk.store(f"{COMPONENT}{number}", annotation and (TYPED, annotation))


def lower_property(walk: Lowering, node: Node) -> Expression:
    """`val x: T = value`, `val x get() = …`, `val x by lazy { … }`, `val (a, b) = value`."""
    declared, getter = child_of(node, "variable_declaration"), child_of(node, "getter")
    several = child_of(node, "multi_variable_declaration")
    known = (*TYPES, "modifiers", "variable_declaration", "multi_variable_declaration", "getter", "setter",
             "property_delegate", "type_parameters", "type_constraints", "line_comment", "block_comment")  # fmt: skip
    initial = next((child for child in named_parts(node) if child.type not in known), None)
    if several is not None:
        for each in bind_components(walk, several, walk.value(initial)):
            if walk.scope.kind is Kind.MODULE:  # of a script
                walk.define_node(node, each, Kind.VARIABLE)
        return None
    name = child_of(declared, "identifier")
    if declared is None or name is None:
        return None
    owned = walk.scope.kind is Kind.MODULE or walk.scope.kind in CLASS_KINDS
    if getter is not None and initial is None and owned:
        return computed_property(walk, node, declared, name, getter)
    annotation = walk.value(child_of(declared, *TYPES))
    value = walk.value(initial)
    delegated = _delegated_value(walk, node, value)
    walk.rebinds = not owned
    bind_typed(walk, name, annotation, delegated)
    walk.rebinds = False
    walk.value(getter)
    walk.value(child_of(node, "setter"))
    if owned:
        modifiers = child_of(node, "modifiers")
        constant = modifiers is not None and "const" in walk.text(modifiers).split()
        variable = Kind.FIELD if walk.scope.kind in CLASS_KINDS else Kind.VARIABLE
        walk.define_node(node, name, Kind.CONSTANT if constant else variable)
    return None


def _delegated_value(walk: Lowering, node: Node, value: Expression) -> Expression:
    """The value of a property: the result of the initializer of `by lazy { … }`, else `value`."""
    delegate = child_of(node, "property_delegate")
    made = walk.value(first_part(delegate))
    if type(made) is tuple and made[1] == "lazy" and made[2]:
        return (CALL, made[2][-1], (), (), line_of(node))
    return value


def computed_property(
    walk: Lowering, node: Node, declared: Node, name: Node, getter: Node
) -> Expression:
    """A property without a value of its own: reading it calls the getter."""
    receiver = receiver_of(node)
    draft = walk.enter(node, Kind.PROPERTY, walk.text(name), name, getter)
    draft.flags |= PROPERTY
    draft.returned_type = walk.value(child_of(declared, *TYPES))
    if receiver is not None:
        draft.receiver_type = walk.value(receiver)
        draft.parameters = [Parameter("this", draft.receiver_type, None, POSITIONAL)]
    walk.scope = draft
    for child in named_parts(getter):
        value = walk.value(child)
        if value is not None:
            draft.returns.append(value)
    walk.visit(every(node, ":setter"))
    return walk.leave(draft)


def lower_enum_entry(
    walk: Lowering, node: Node, name: OptionalNode, listed: OptionalNode, body: OptionalNode
) -> None:
    """`A(1) { … }`: a constant that holds an instance of the enum or of a class below it."""
    if name is None:
        return
    positional, keywords = call_arguments(walk, listed)
    owner = own_name(walk)
    value = walk.call(owner, tuple(positional), tuple(keywords), last_line_of(name), NEW)
    if body is not None:
        value = anonymous_class(walk, node, body, [owner])
    walk.bind_node(name, value)
    walk.define_node(node, name, Kind.CONSTANT)


def lower_own_reference(walk: Lowering, node: Node, name_node: OptionalNode) -> Expression:
    """`::f`: a function in scope, or a method of the class around."""
    name = walk.value(name_node)
    return either(name, (REFERENCE, "this", name)) if type(name) is str else name


def lower_this(walk: Lowering, node: Node, label: OptionalNode) -> Expression:
    """`this`, `this@Outer`."""
    return (MEMBER, walk.value(label), "this") if label is not None else "this"


def bind_components(walk: Lowering, node: Node, value: Expression) -> list[Node]:
    """Bind `(a, b)` to the components of a value; returns the nodes of the names."""
    found: list[Node] = []
    for position, child in enumerate(named_parts(node)):
        name = child_of(child, "identifier")
        if name is not None:
            component = (MEMBER, value, f"{COMPONENT}{position + 1}")
            walk.bind_node(name, value and (EITHER, (component, (ITEM, value, (CONST, position)))))
            found.append(name)
    return found


COMPONENT = "component"


def lower_for(walk: Lowering, node: Node) -> None:
    """`for (x: T in collection)`, `for ((a, b) in collection)`."""
    parts = named_parts(node)
    if len(parts) < 2:
        return
    value = walk.value(parts[1])
    element = value and (ELEMENT, value)
    if parts[0].type == "multi_variable_declaration":
        bind_components(walk, parts[0], element)
    else:
        _bind_declared(walk, parts[0], element)
    walk.visit(parts[2:])


def lower_subject(
    walk: Lowering, node: Node, declared: OptionalNode, value_node: OptionalNode
) -> Expression:
    """`when (val x = value)`."""
    value = walk.value(value_node)
    _bind_declared(walk, declared, value)
    return value


def _bind_declared(walk: Lowering, declared: OptionalNode, value: Expression) -> None:
    """Bind the name of `x: T`."""
    name, typed = child_of(declared, "identifier"), child_of(declared, *TYPES)
    bind_typed(walk, name, walk.value(typed), value)


def lower_catch(walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode) -> None:
    """`catch (e: T) { … }`."""
    bind_typed(walk, name, walk.value(child_of(node, *TYPES)))
    walk.value(body)


def lower_infix(walk: Lowering, node: Node) -> Expression:
    """`a f b` calls a member of `a` or an extension."""
    if len(named_parts(node)) != 3:
        return None
    left, name, right = named_parts(node)
    if walk.text(name) == "to":
        return (SEQUENCE, (walk.value(left), walk.value(right)), walk.next_serial())
    called = walk.member(walk.value(left), walk.text(name))
    return walk.call(called, (walk.value(right),), (), line_of(name))


def lower_alias(walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode) -> None:
    """`typealias A = T`."""
    if name is not None:
        walk.bind_node(name, walk.value(type_node))
        walk.define_node(node, name, Kind.TYPE)


def lower_super(walk: Lowering, node: Node) -> Expression:
    """`super`, `super<T>`."""
    return "super"


CLASSES = {
    kind: Class(
        kind,
        bases=(":delegation_specifiers",),
        body=":class_body,enum_class_body",
        generics=(":type_parameters",),
    )
    for kind in (Kind.CLASS, Kind.INTERFACE, Kind.ENUM)
}

KOTLIN = Language(
    name="kotlin",
    grammar=wheel("tree_sitter_kotlin"),
    rules=rules_of("kotlin", vars(classes) | vars(kotlin_conditions) | globals()),
    label_of=label_of,
    control="kotlin",
    readable=readable,
    namespace_of=name_at(":package_header/#0"),
    blocks=names("block function_body for_statement while_statement when_entry catch_block"),
    resolution=Resolution(
        **resolution_facts("kotlin"),
        modules=namespace_files(".kt"),
        companion=COMPANION,
        methods=summaries("kotlin", "methods"),
        properties=summaries("kotlin", "properties"),
        summaries=summaries("kotlin", "functions"),
    ),
)
