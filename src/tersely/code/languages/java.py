"""Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CALL,
    DECLARED,
    DEFINED,
    MEMBER,
    NEW,
    REFERENCE,
    TYPED,
    joined_texts,
)
from tersely.code.languages import classes
from tersely.code.languages.classes import (
    anonymous_class,
    name_at,
    namespace_files,
    narrow_name,
)
from tersely.code.languages.model import (
    Language,
    Resolution,
    names,
    wheel,
)
from tersely.code.languages.nodes import (
    OptionalNode,
    TextOf,
    all_parts,
    child_of,
    children_in,
    has_token,
    last_line_of,
    line_of,
    named_parts,
    parts_of,
)
from tersely.code.languages.summaries import resolution_facts, summaries
from tersely.code.languages.tables import rules_of
from tersely.code.symbols import Import, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def read_import(node: Node, text: TextOf) -> list[Import]:
    """`import a.b.C`, `import static a.b.C.member`, either with `*`."""
    line = line_of(node)
    path = child_of(node, "scoped_identifier", "identifier")
    if path is None:
        return []
    if child_of(node, "asterisk") is not None:
        return [Import(text(path), "*", "", line)]
    module, _, name = text(path).rpartition(".")
    return [Import(module, name, name, line)]


def lower_creation(
    walk: Lowering,
    node: Node,
    first: OptionalNode,
    type_node: OptionalNode,
    arguments: OptionalNode,
    body: OptionalNode,
) -> Any:
    """`new T(…)`, also with a class body, also of an inner class: `outer.new T(…)`."""
    created = walk.value(type_node)
    if (
        first is not None
        and type_node is not None
        and first.id != type_node.id
        and first.type != "type_arguments"
    ):
        outer = walk.value(first)
        if type(created) is str and outer is not None:
            created = (MEMBER, outer, created)
    values = walk.values(arguments)
    line = last_line_of(type_node or node)
    made = walk.call(created, values, (), line, NEW)
    return anonymous_class(walk, node, body, [created]) if body is not None else made


def lower_enum_constant(
    walk: Lowering, node: Node, name: OptionalNode, arguments: OptionalNode, body: OptionalNode
) -> None:
    """`A(1) { … }`: a constant that holds an instance of the enum or of a class below it."""
    if name is None:
        return
    owner = walk.definitions[walk.scope.definition].name
    values = walk.values(arguments)
    value = walk.call(owner, values, (), last_line_of(name), NEW)
    if body is not None:
        value = anonymous_class(walk, node, body, [owner])
    walk.bind_node(name, value)
    walk.define_node(node, name, Kind.CONSTANT)


def lower_method_reference(walk: Lowering, node: Node, owner: OptionalNode) -> Any:
    """`T::m`, `x::m`, `super::m`; `T::new` is a function that constructs."""
    if owner is None:
        return None
    target, last = walk.value(owner), all_parts(node)[-1]
    line = last_line_of(node)
    if last.type != "new":
        member = walk.text(last)
        walk.mentions.add(member)
        return (REFERENCE, target, member)
    draft = walk.enter_lambda(node, None)
    walk.scope = draft
    draft.returns.append(walk.call(target, (), (), line, NEW))
    return walk.leave(draft)


def lower_pattern(walk: Lowering, node: Node, type_node: OptionalNode, name: OptionalNode) -> None:
    """`T name` in a pattern."""
    if type_node is not None and name is not None:
        typed = walk.value(type_node)
        walk.bind(name, typed and (TYPED, typed))


def lower_instanceof(
    walk: Lowering,
    node: Node,
    name: OptionalNode,
    left: OptionalNode,
    pattern: OptionalNode,
    right: OptionalNode,
) -> None:
    """`value instanceof T name`, `value instanceof R(…)`."""
    value = walk.value(left)
    typed = walk.value(right)
    walk.value(pattern)
    if name is not None and typed is not None:
        walk.bind(name, (DECLARED, value, typed))


def lower_binary(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Any:
    """`"text" + x` is a text."""
    values = walk.value(left), walk.value(right)
    return joined_texts(*values) if operator is not None and operator.type == "+" else None


def lower_if(
    walk: Lowering,
    node: Node,
    condition: OptionalNode,
    branch: OptionalNode,
    alternative: OptionalNode,
) -> None:
    """Lower an `if`: a local variable whose type the condition tests has that type in the branch."""
    walk.value(condition)
    tested, typed = _type_test(walk, condition) if condition is not None else (None, None)
    name = walk.text(tested)
    with walk.in_block():
        if name in walk.scope.bound and branch is not None and not _assigns(walk, branch, name):
            narrow_name(walk, name, walk.value(typed))
        walk.value(branch)
    walk.value(alternative)


def _type_test(walk: Lowering, node: Node) -> tuple[OptionalNode, OptionalNode]:
    """The variable and the type that it has where a condition holds: `x instanceof T`,
    `x.getClass() == T.class`, …
    """
    while node.type == "parenthesized_expression" and len(named_parts(node)) == 1:
        node = named_parts(node)[0]
    left, right = children_in(node, "left", "right")
    if node.type == "instanceof_expression":
        return _variable(left), right
    if node.type == "binary_expression" and walk.text(all_parts(node)[1]) == "==":
        return _variable(_called_on(walk, left, "getClass")), _of_literal(right)
    typed = _of_literal(node.child_by_field_name("object"))
    arguments = node.child_by_field_name("arguments")
    if typed is None or arguments is None or len(named_parts(arguments)) != 1:
        return None, None
    argument: OptionalNode = named_parts(arguments)[0]
    if _called_on(walk, node, "isAssignableFrom") is not None:
        argument = _called_on(walk, argument, "getClass")
    elif _called_on(walk, node, "isInstance") is None:
        return None, None
    return _variable(argument), typed


def _variable(node: OptionalNode) -> OptionalNode:
    return node if node is not None and node.type == "identifier" else None


def _of_literal(node: OptionalNode) -> OptionalNode:
    """The type in `T.class`."""
    return named_parts(node)[0] if node is not None and node.type == "class_literal" else None


def _called_on(walk: Lowering, node: OptionalNode, method: str) -> OptionalNode:
    """The receiver of a call of a method of that name."""
    if node is None or node.type != "method_invocation":
        return None
    name, called_on = children_in(node, "name", "object")
    return called_on if walk.text(name) == method else None


def _assigns(walk: Lowering, node: Node, name: str) -> bool:
    """True if a variable is assigned anywhere inside."""
    left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
    if left is not None and walk.text(left) == name:
        return True
    return any(_assigns(walk, child, name) for child in named_parts(node))


def lower_resource(
    walk: Lowering, node: Node, name: OptionalNode, type_node: OptionalNode, given: OptionalNode
) -> None:
    """`try (T name = value)`: the resource is closed at the end."""
    typed = walk.value(type_node)
    value = walk.value(given)
    if name is not None:
        value = (DECLARED, value, typed) if typed not in (None, "var") else value
        walk.bind(name, value)
        value = walk.text(name)
    walk.call(walk.member(value, "close"), (), (), last_line_of(node))


MAIN_ELEMENTS = names("value path")  # elements of annotations that may be written without a name


def lower_annotations(walk: Lowering, node: Node) -> None:
    """Annotations by which a framework calls a method are calls that the class makes, with the
    method.
    """
    method = walk.scope
    owner = walk.drafts[walk.definitions[method.definition].parent]
    if owner is not None:
        walk.scope = owner
        _call_annotations(walk, node, (DEFINED, method.definition))
        walk.scope = method


def _call_annotations(walk: Lowering, node: Node, annotated: Any) -> None:
    """Record calls of the annotations that are in the table of the framework."""
    modifiers = node.child_by_field_name("modifiers") or child_of(node, "modifiers")
    for annotation in parts_of(modifiers):
        name = annotation.child_by_field_name("name")
        if name is None or walk.text(name) not in ANNOTATIONS:
            continue
        values: list[Any] = []
        keywords: list[tuple[str, Any]] = []
        for part in parts_of(annotation.child_by_field_name("arguments")):
            key = part.child_by_field_name("key")
            value = walk.value(part.child_by_field_name("value") or part)
            if key is None or walk.text(key) in MAIN_ELEMENTS:
                values.append(value)
            else:
                keywords.append((walk.text(key), value))
        walk.mentions.add(walk.text(name))
        walk.call(walk.text(name), (annotated, *values), tuple(keywords), line_of(annotation))


def call_base(walk: Lowering, node: Node) -> None:
    """A constructor that names no other first calls that of the base class."""
    body = node.child_by_field_name("body")
    if body is not None and not has_token(body, "explicit_constructor_invocation"):
        walk.scope.calls.insert(0, (CALL, "super", (), (), line_of(node)))


ANNOTATIONS = summaries(
    "java", "annotations"
)  # take the definition that they annotate, then its parts

JAVA = Language(
    name="java",
    grammar=wheel("tree_sitter_java"),
    rules=rules_of("java", vars(classes) | globals()),
    namespace_of=name_at(":package_declaration/#-1"),
    blocks=names(
        "block constructor_body for_statement enhanced_for_statement switch_block_statement_group switch_rule "
        "catch_clause try_with_resources_statement while_statement"
    ),
    control="java",
    resolution=Resolution(
        **resolution_facts("java"),
        modules=namespace_files(".java"),
        summaries=summaries("java", "functions"),
        methods=ANNOTATIONS | summaries("java", "methods"),
    ),
)
