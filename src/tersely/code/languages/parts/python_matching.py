"""The narrowing of the subject of `match` by its patterns, and the names that these bind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import CONST, DECLARED, ITEM, Expression, either
from tersely.code.languages.nodes import OptionalNode, child_in, first_part, named_parts, parts_of
from tersely.code.languages.parts.python_narrowing import PLACE, is_assigned

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


class Captured(NamedTuple):
    """A name in a pattern, and its value where the pattern matches."""

    name: Node
    value: Expression


def lower_case(walk: Lowering, node: Node, body: OptionalNode, guard: OptionalNode) -> None:
    """One case: its pattern gives values to its names, and to the subject, in its body."""
    statement = node.parent.parent if node.parent is not None else None
    subject = child_in(statement, "subject")
    is_place = subject is not None and PLACE.fullmatch(walk.text(subject)) is not None
    matched = walk.callee(subject) if subject is not None and is_place else None
    narrowed: dict[str, Expression] = {}
    patterns = [part for part in named_parts(node) if part.type == "case_pattern"]
    for pattern in patterns:
        fitting, captured = _read(walk, pattern, matched)
        if subject is not None and is_place and fitting is not matched:
            narrowed[walk.text(subject)] = fitting
        for name, value in captured:
            walk.bind(name, value)
            narrowed[walk.text(name)] = either(narrowed.get(walk.text(name)), value)
    text = walk.text(body)
    known = [(name, value) for name, value in narrowed.items() if not is_assigned(text, name)]
    walk.value_knowing(known, guard, body)


Read = tuple[Expression, list[Captured]]  # the value that fits a pattern, and the names in it


def _read(walk: Lowering, pattern: Node, value: Expression) -> Read:
    """The subject narrowed by a pattern, and the values of the names in the pattern."""
    reader = _READERS.get(pattern.type)
    if reader is not None:
        return reader(walk, pattern, value)
    walk.values(pattern)
    return value, []


def _read_inner(walk: Lowering, pattern: Node, value: Expression) -> Read:
    inner = named_parts(pattern)
    return _read(walk, inner[0], value) if inner else (value, [])


def _read_name(walk: Lowering, pattern: Node, value: Expression) -> Read:
    """A name holds the subject; a name with a dot is a constant."""
    parts = named_parts(pattern)
    if len(parts) != 1:
        walk.callee(parts[0])
        walk.mentions.update(walk.text(part) for part in parts[1:])
        return value, []
    return value, [Captured(parts[0], value)]


def _read_alias(walk: Lowering, pattern: Node, value: Expression) -> Read:
    inner, *_, name = named_parts(pattern)
    fitting, captured = _read(walk, inner, value)
    return fitting, [*captured, Captured(name, fitting)]


def _read_union(walk: Lowering, pattern: Node, value: Expression) -> Read:
    fitting, captured = [], list[Captured]()
    for part in named_parts(pattern):
        one, names = _read(walk, part, value)
        fitting.append(one)
        captured += names
    return either(*fitting), captured


def _read_class(walk: Lowering, pattern: Node, value: Expression) -> Read:
    """`A(x, name=y)`: an instance of the class, and its fields by place or by name."""
    named, *fields = named_parts(pattern)
    fitting = (DECLARED, value, _class_named(walk, named))
    captured: list[Captured] = []
    for place, field in enumerate(fields):
        keyword = _keyword_in(field)
        if keyword is None:
            captured += _read(walk, field, (ITEM, fitting, (CONST, place)))[1]
        else:
            name, inner = keyword
            captured += _read(walk, inner, walk.member(fitting, walk.text(name)))[1]
    return fitting, captured


def _keyword_in(field: Node) -> list[Node] | None:
    """The name and the pattern of `name=pattern`, None for any other."""
    inner: Node | None = field
    while inner is not None and inner.type == "case_pattern":
        inner = first_part(inner)  # none in `_`
    parts = parts_of(inner)
    is_keyword = inner is not None and inner.type == "keyword_pattern"
    return parts if is_keyword and len(parts) == 2 else None


def _class_named(walk: Lowering, named: Node) -> Expression:
    first, *members = named_parts(named)
    class_ = walk.value(first)
    for member in members:
        class_ = walk.member(class_, walk.text(member))
    return class_


def _read_sequence(walk: Lowering, pattern: Node, value: Expression) -> Read:
    captured: list[Captured] = []
    for place, part in enumerate(named_parts(pattern)):
        captured += _read(walk, part, value and (ITEM, value, (CONST, place)))[1]
    return value, captured


def _read_rest(walk: Lowering, pattern: Node, value: Expression) -> Read:
    """`*others`: several elements of the subject, of unknown values."""
    return value, [Captured(part, None) for part in named_parts(pattern)]


def _read_mapping(walk: Lowering, pattern: Node, value: Expression) -> Read:
    captured: list[Captured] = []
    key: Expression = None
    for part in named_parts(pattern):
        if part.type == "case_pattern":
            captured += _read(walk, part, value and (ITEM, value, key))[1]
        elif part.type == "splat_pattern":
            captured += _read_rest(walk, part, value)[1]
        else:
            key = walk.value(part)
    return value, captured


_READERS: dict[str, Callable[[Lowering, Node, Expression], Read]] = {
    "case_pattern": _read_inner,
    "dotted_name": _read_name,
    "as_pattern": _read_alias,
    "union_pattern": _read_union,
    "class_pattern": _read_class,
    "list_pattern": _read_sequence,
    "tuple_pattern": _read_sequence,
    "splat_pattern": _read_rest,
    "dict_pattern": _read_mapping,
}
