"""The common part of languages with classes, packages and declared types: functions that their
values are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    DECLARED,
    GENERIC,
    MEMBER,
    NEW,
    SEQUENCE,
    TYPED,
    Expression,
    either,
)
from tersely.code.languages.children import field
from tersely.code.languages.model import Files, nearest_first
from tersely.code.languages.nodes import OptionalNode, TextOf, line_of, named_parts
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

Namespaces = Callable[[Files, str, str], list[str]]


def namespace_files(suffix: str, separator: str = ".") -> Namespaces:
    """Files that declare a namespace, and the file that a class of that name lives in by custom;
    nearest first.
    """

    def modules(files: Files, importer: str, module: str) -> list[str]:
        by_path = (
            files.ending(module.replace(separator, "/") + suffix) if module[:1].isalpha() else []
        )
        found = {*by_path, *files.declaring(module)}
        return nearest_first(found, importer)

    return modules


def name_at(place: str) -> Callable[[Node, TextOf], str]:
    """The name of the package or namespace of a file, which stands at a place below its root."""
    child = field(place)
    return lambda root, text: text(child(root))


def word(walk: Lowering, node: Node) -> Expression:
    """The text of a builtin type: `int`."""
    return walk.text(node)


def only(walk: Lowering, node: Node, child: OptionalNode) -> Expression:
    """The value of one child; no other means anything."""
    return walk.value(child)


def new_array(walk: Lowering, node: Node, initial: OptionalNode) -> Expression:
    """`new T[n]`, `new T[] {…}`, `new[] {…}`."""
    walk.visit_others(node, initial)
    return walk.value(initial) if initial is not None else (SEQUENCE, (), walk.next_serial())


def alternatives(
    walk: Lowering, node: Node, left: OptionalNode, right: OptionalNode, operator: OptionalNode
) -> Expression:
    """`a ?? b`, `a ?: b`: the value is one of the operands; of other operators it is unknown."""
    values = walk.value(left), walk.value(right)
    return either(*values) if operator is not None and operator.type in ("??", "?:") else None


def dotted_type(walk: Lowering, node: Node) -> Expression:
    """`a.b.T<U>`, whose names and type arguments are children side by side."""
    value: Expression = None
    for child in named_parts(node):
        if child.type == "identifier":
            value = walk.value(child) if value is None else (MEMBER, value, walk.text(child))
        elif child.type == "type_arguments" and value is not None:
            value = (GENERIC, value, walk.values(child))
    return value


def anonymous_class(
    walk: Lowering, node: Node, body: OptionalNode, bases: Iterable[Expression]
) -> Expression:
    """Define a class body without a name; returns the value of its one instance."""
    draft = walk.enter(node, Kind.CLASS, walk.anonymous("class"), None, body)
    draft.bases = [*filter(None, bases)]
    walk.scope = draft
    walk.value(body)
    return (NEW, walk.leave(draft), (), (), line_of(node))


def namespace(walk: Lowering, node: Node, name: OptionalNode, body: OptionalNode) -> Expression:
    """`namespace A { … }`, `namespace A;`: a symbol; the definitions inside stand at the top level."""
    if name is not None:
        walk.define_node(node, name, Kind.NAMESPACE)
    return walk.value(body)


def nested_namespaces(
    walk: Lowering, node: Node, path: Iterable[Node], body: OptionalNode, flags: int = 0
) -> Expression:
    """`namespace a.b {…}`: a namespace in a namespace, by the nodes of the names."""
    drafts = []
    for part in path:
        drafts.append(walk.enter(node, Kind.NAMESPACE, walk.text(part), part, body))
        walk.scope = drafts[-1]
        walk.scope.flags |= flags
    walk.scope.body = body.id if body is not None else 0
    walk.value(body)
    result: Expression = None
    while drafts:
        result = walk.leave(drafts.pop())
    return result


def enum_member(walk: Lowering, node: Node, name: OptionalNode, value: OptionalNode) -> None:
    """A constant of the enum's type."""
    walk.value(value)
    if name is not None:
        walk.bind_node(name, (TYPED, own_name(walk)))
        walk.define_node(node, name, Kind.CONSTANT)


def own_name(walk: Lowering) -> str:
    """The name of the class whose body is read."""
    return walk.definitions[walk.scope.definition].name


def narrow_name(walk: Lowering, name: str, annotation: Expression) -> None:
    """Narrow a name to a type from here on."""
    if annotation is not None:
        value = (DECLARED, walk.current_variable(name), annotation)
        walk.rebinds = True
        walk.bind_name(name, value)
        walk.rebinds = False


def bind_typed(
    walk: Lowering, name: OptionalNode, annotation: Expression, value: Expression = None
) -> None:
    """Bind a local name to a value of a declared type."""
    if name is not None:
        walk.bind(name, walk.with_type(value, annotation))
