"""Lists and mappings as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import (
    CONST,
    DEFINED,
    DISPLAYED,
    MAPPING,
    MEMBER,
    PROPERTY,
    SEQUENCE,
    SPREAD,
    Expression,
    is_tagged,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import named_parts
from tersely.code.symbols import Kind
from tersely.code.syntax.drafts import Naming
from tersely.code.syntax.rule_compiler import Lowerings
from tersely.code.syntax.rule_compiler.expressions import MAX_INDEX_DIGITS

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


def _sequence(rule: model.Sequence, walk: Lowering, node: Node) -> Expression:
    parts = named_parts(node)
    if rule.unwraps and len(parts) == 1:
        return walk.value(parts[0])
    values = walk.values(node)
    serial = walk.next_serial()
    for index, child in enumerate(parts):
        walk.note_key(serial, (CONST, index), child)
    return (SEQUENCE, values, serial)


def _comprehension(rule: model.Comprehension, walk: Lowering, node: Node) -> Expression:
    body = field(rule.body)(node)
    walk.visit_others(node, body)
    if body is None:
        return None
    inner = walk.rules[body.kind_id]
    if type(inner) is model.Pair:
        walk.value(field(inner.key)(body))
        return (MAPPING, ((None, walk.value(field(inner.value)(body))),), walk.next_serial())
    return (SEQUENCE, (walk.value(body),), walk.next_serial())


def _mapping(rule: model.Dictionary, walk: Lowering, node: Node) -> Expression:
    naming, walk.naming = walk.naming, None
    walk.wrapped = None
    display = _Display(
        naming.path if naming is not None else "", walk.next_serial(), naming is not None
    )
    pairs: list[tuple[Expression, Expression]] = []
    for child in named_parts(node):
        inner = walk.rules[child.kind_id]
        kind = type(inner)
        if kind is model.Pair:
            pairs.append(_entry(walk, inner, child, display))
        elif kind is model.Spread:
            pairs.append(((SPREAD, None), walk.value(field(inner.value)(child))))
        elif kind is model.Name:  # { name }
            walk.note_key(display.serial, (CONST, walk.text(child)), child)
            pairs.append(((CONST, walk.text(child)), walk.value(child)))
        elif kind is model.Function:  # { name() { … } }
            name = field(inner.name)(child)
            key = _key_of_function(walk, name) if name is not None else None
            if name is not None:
                walk.naming = display.naming(walk.text(name), name)
                walk.note_key(display.serial, key, name)
            pairs.append((key, walk.value(child)))
        else:
            walk.value(child)
    return (MAPPING, _last_of_each(walk, pairs), display.serial)


class _Display(NamedTuple):
    """A mapping whose entries are being read."""

    path: str  # qualifies the names of its entries
    serial: int
    is_named: bool

    def naming(self, name: str, node: Node) -> Naming:
        """The name of a function, class or mapping that stands at a key."""
        return Naming(name, node, self.path, (DISPLAYED, self.serial), Kind.METHOD)


def _entry(
    walk: Lowering, rule: model.Pair, node: Node, display: _Display
) -> tuple[Expression, Expression]:
    """One `key: value`; a definition at a constant key is named by it."""
    key_node, value_node = field(rule.key)(node), field(rule.value)(node)
    is_word = key_node is not None and rule.names_are_keys and not len(named_parts(key_node))
    key = _key(walk.text(key_node)) if is_word and key_node else walk.value(key_node)
    if rule.names_are_keys and is_tagged(key, CONST):
        key = _key(str(key[1]))
    walk.note_key(display.serial, key, key_node or node)
    if not rule.names_are_keys or not is_tagged(key, CONST) or value_node is None:
        return key, walk.value(value_node)
    member = display.naming(str(key[1]), key_node or node)
    if type(walk.rules[value_node.kind_id]) in (model.Function, model.Class):
        walk.wrapped = (node, 0)
    value = walk.named_value(value_node, member)
    is_value = (
        display.is_named
        and walk.scope.kind is Kind.MODULE
        and not walk.is_definition(value, member.name)
    )
    if rule.defines is not None and is_value:
        walk.define_value(node, member.name, member.node, rule.defines, display.path)
    return key, value


def _key_of_function(walk: Lowering, name: Node) -> Expression:
    """The key of a function in a mapping: its name, or the value of a name in brackets."""
    inner = (
        named_parts(name)[0]
        if type(walk.rules[name.kind_id]) is model.Inner and named_parts(name)
        else None
    )
    computed = walk.value(inner) if inner is not None and not walk.is_symbol(inner) else None
    is_known = type(computed) is str or is_tagged(computed, CONST, MEMBER)
    return computed if is_known else (CONST, walk.text(name))


def _last_of_each(
    walk: Lowering, pairs: list[tuple[Expression, Expression]]
) -> tuple[tuple[Expression, Expression], ...]:
    """Pairs without those whose constant key comes again; one key may have a function to read it
    and one to assign it.
    """
    last: dict[Expression, int] = {}
    kept: list[tuple[Expression, Expression]] = []
    for index, (key, value) in enumerate(pairs):
        if is_tagged(key, CONST) and not _is_accessor(walk, value):
            last[key] = index
    for index, (key, value) in enumerate(pairs):
        if last.get(key, index) == index or _is_accessor(walk, value):
            kept.append((key, value))
    return tuple(kept)


def _is_accessor(walk: Lowering, value: Expression) -> bool:
    """True if a value is a function that is called where its member is read or assigned."""
    draft = walk.drafts[value[1]] if is_tagged(value, DEFINED) else None
    return draft is not None and bool(draft.flags & PROPERTY)


def _key(text: str) -> Expression:
    """The constant key that is written in a mapping; digits in quotes are a number all the same."""
    plain = text.strip("\"'")
    return (
        CONST,
        int(plain)
        if plain.isascii() and plain.isdigit() and len(plain) <= MAX_INDEX_DIGITS
        else plain,
    )


def _pair(rule: model.Pair, walk: Lowering, node: Node) -> Expression:
    if not rule.names_are_keys:
        walk.value(field(rule.key)(node))
    return walk.value(field(rule.value)(node))


DISPLAYS: Lowerings = {
    model.Sequence: _sequence,
    model.Comprehension: _comprehension,
    model.Dictionary: _mapping,
    model.Pair: _pair,
}
