"""Taking apart the targets of assignments: names, members, items, destructuring patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CONST,
    DEFINED,
    ELEMENT,
    ITEM,
    MEMBER,
    SEQUENCE,
    SPREAD,
    STORED,
    Expression,
    either,
    is_tagged,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import line_of, named_parts
from tersely.code.syntax import items

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


QUOTES = "\"'`"  # around a key


def note_stored(walk: Lowering, member: Expression, line: int, *how: int) -> bool:
    """Record that a member is assigned, or removed, where that may call a function; whether it may."""
    may_call = walk.resolution.setters and is_tagged(member, MEMBER)
    if may_call:
        reads = walk.scope.reads
        if how and reads and reads[-1][0] is member:
            reads.pop()
        reads.append(((STORED, *member[1:], *how), line))
    return may_call


def bind(walk: Lowering, target: Node, value: Expression) -> None:
    """Bind the names in `target` to `value`, taking patterns apart."""
    rule = walk.rules[target.kind_id]
    kind = type(rule)
    if kind is model.Name:
        walk.bind_node(target, value)
    elif kind is model.Member:
        member = walk.callee(target)
        note_stored(walk, member, line_of(target))
        walk.note_member_store(member[2] if is_tagged(member, MEMBER) else "", target)
        walk.scope.binds.append((member, value))
    elif kind is model.Item:
        item = walk.value(target)
        walk.instead_of_reading(item, 1, (item[2], value) if is_tagged(item, ITEM) else ())
        walk.scope.binds.append((item, value))
        items.store_item(walk, item, value, straight=walk.rebinds)
        _hold(walk, item, value)
    elif kind is model.Sequence and rule.unwraps and len(named_parts(target)) == 1:
        bind(walk, named_parts(target)[0], value)
    elif kind is model.Sequence:
        _bind_elements(walk, target, value)
    elif kind is model.Dictionary:
        _bind_members(walk, target, value)
    elif kind is model.Spread:
        for child in named_parts(target)[:1]:
            bind(walk, child, value)
    elif kind is model.Assign:  # a pattern with a default
        _bind_default(walk, rule, target, value)
    elif kind is model.Inner or rule is None:
        for child in named_parts(target):
            bind(walk, child, value)


def _hold(walk: Lowering, item: Expression, value: Expression) -> None:
    """Record `table[key] = function …`: the function is a member of the table, under any name."""
    draft = walk.drafts[value[1]] if is_tagged(value, DEFINED) else None
    if draft is not None and draft.holder is None and is_tagged(item, ITEM):
        draft.holder = item[1]


def _bind_elements(walk: Lowering, target: Node, value: Expression) -> None:
    elements = named_parts(target)
    known: tuple[Any, ...] = ()
    if is_tagged(value, SEQUENCE):
        known = value[1]
        if any(is_tagged(part, SPREAD) for part in known):
            known = ()
    spread = False
    # two in a row leave one out
    commas = [part.start_byte for part in target.children if part.type == ","]
    for index, child in enumerate(elements):
        position = max(index, sum(start < child.start_byte for start in commas))
        if type(walk.rules[child.kind_id]) is model.Spread:
            spread = True
            tail = len(elements) - position - 1
            rest = (
                (SEQUENCE, known[position : len(known) - tail], walk.next_serial())
                if known
                else value
            )
            bind(walk, child, rest)
        elif spread:
            from_end = position - len(elements)
            bind(walk, child, known[from_end] if len(known) >= -from_end else (ELEMENT, value))
        elif position < len(known):
            bind(walk, child, known[position])
        else:
            bind(walk, child, (ITEM, value, (CONST, position)) if value is not None else None)


def _bind_members(walk: Lowering, target: Node, value: Expression) -> None:
    for child in named_parts(target):
        rule = walk.rules[child.kind_id]
        kind = type(rule)
        if kind is model.Name:
            walk.bind_node(child, _member(walk, child, value, walk.text(child)))
        elif kind is model.Pair:
            key, inner = field(rule.key)(child), field(rule.value)(child)
            if key is not None and inner is not None:
                name = walk.text(key).strip(QUOTES)
                bind(walk, inner, _member(walk, key, value, name))
        elif kind is model.Assign:  # a name with a default
            left = field(rule.left)(child)
            bind(walk, child, left and _member(walk, left, value, walk.text(left)))
        else:
            bind(walk, child, value)


def _member(walk: Lowering, node: Node, value: Expression, name: str) -> Expression:
    """The member of that name, written as `node`, which a pattern reads."""
    walk.mentions.add(name)
    if value is None:
        return None
    member = (MEMBER, value, name)
    walk.scope.reads.append((member, line_of(node)))
    walk.note_pattern_member(member, node)
    return member


def _bind_default(walk: Lowering, rule: model.Assign, target: Node, value: Expression) -> None:
    left, right = field(rule.left)(target), field(rule.right)(target)
    default = walk.value(right)
    if left is not None:
        bind(walk, left, either(value, default))
