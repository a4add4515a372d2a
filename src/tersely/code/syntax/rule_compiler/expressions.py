"""Names, members, calls, literals, and syntax that wraps a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import call
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CALL,
    CONST,
    DEFINED,
    ELEMENT,
    GENERIC,
    HOLE,
    IMPORTED,
    ITEM,
    LITERAL,
    MAPPING,
    MEMBER,
    NEW,
    PART,
    REFERENCE,
    SEQUENCE,
    SPREAD,
    Expression,
    NamedExpressions,
    beginning_of,
    either,
    is_tagged,
    patterned,
)
from tersely.code.languages import model
from tersely.code.languages.children import field
from tersely.code.languages.nodes import OptionalNode, all_parts, has_token, line_of, named_parts
from tersely.code.syntax.effects import with_named_callbacks
from tersely.code.syntax.items import item, store_items
from tersely.code.syntax.rule_compiler import Lowerings, visited

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


MAX_INDEX_DIGITS = 6

INDEX_TYPES = ("int", "number")


def _name(rule: model.Name, walk: Lowering, node: Node) -> Expression:
    name = walk.texts[walk.source[node.start_byte : node.end_byte]]
    if name in walk.type_parameters:
        return walk.type_parameters[name]
    if walk.in_blocks and (variable := walk.visible_block_variable(name)) is not None:
        return variable
    walk.scope.read.add(name)
    if rule.may_call and name not in walk.scope.bound:
        walk.scope.reads.append((name, node.start_point[0] + 1))
    return walk.current_variable(name) if walk.scope.versions else name


def _member(rule: model.Member, walk: Lowering, node: Node) -> Expression:
    member = field(rule.member)(node)
    # Of a long chain each end would be read, and they are as many as it has members.
    is_short = rule.aliases and node.end_byte - node.start_byte <= max(map(len, rule.aliases))
    if is_short and walk.text(node) in rule.aliases:
        return rule.aliases[walk.text(node)]
    if member is None:
        return walk.value(field(rule.object)(node))
    rule_of_member = walk.rules[member.kind_id]
    if type(rule_of_member) is model.Generic:  # a.b<T>
        member = field(rule_of_member.base)(member) or member
    text = walk.texts[walk.source[member.start_byte : member.end_byte]]
    name = text.removeprefix(walk.resolution.sigil)
    walk.mentions.add(name)
    known = walk.in_blocks.get(walk.text(node)) if name in walk.narrowed_members else None
    if known in walk.scope.block_variables:
        return known
    is_reference = rule.reference and has_token(node, rule.reference)
    tag = REFERENCE if is_reference else MEMBER
    result = (tag, walk.value(field(rule.object)(node)), name)
    walk.scope.reads.append((result, node.start_point[0] + 1))
    return result


def arguments_of(walk: Lowering, node: OptionalNode) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Positional and keyword arguments of an argument list."""
    if node is None:
        return (), ()
    own = type(walk.rules[node.kind_id])
    if own is not model.Sequence and own is not type(None):
        return (walk.value(node),), ()
    positional: list[Expression] = []
    keywords: NamedExpressions = []
    for child in named_parts(node):
        rule = walk.rules[child.kind_id]
        kind = type(rule)
        if kind is model.KeywordArgument:
            name, value = field(rule.name)(child), field(rule.value)(child)
            if name is None:
                positional.append(walk.value(value))
            else:
                keywords.append((walk.resolution.sigil + walk.text(name), walk.value(value)))
        elif kind is model.Spread and rule.keyed:
            keywords.append(("", walk.value(field(rule.value)(child))))
        elif kind is not model.Comment:
            positional.append(walk.value(child))
    return tuple(positional), tuple(keywords)


def _call(rule: model.Call, walk: Lowering, node: Node) -> Expression:
    fact = rule.imports(node, walk.text) if rule.imports is not None else None
    if fact is not None:
        walk.add_import(fact)
        return walk.imported_value(fact)
    callee_node = field(rule.callee)(node)
    callee = _callee(walk, callee_node, field(rule.receiver)(node))
    positional, keywords = arguments_of(walk, field(rule.arguments)(node))
    kind = callee[0] if type(callee) is tuple else None
    called = callee[2] if kind == MEMBER else callee
    if type(called) is str and called in walk.resolution.named_callbacks:
        positional, keywords = with_named_callbacks(walk, called, positional, keywords)
    is_noted = kind == MEMBER and called in walk.noted
    end = (callee_node or node).end_point
    line = (node.start_point if kind == DEFINED else end)[0] + 1
    listed = field(rule.generics)(node)
    generics = walk.values(listed)
    of_call = () if rule.constructs else generics
    result = walk.call(
        callee, positional, keywords, line, NEW if rule.constructs else CALL, of_call
    )
    for target, added in _mergers(walk, callee, positional) if is_noted else ():
        if walk.is_straight(node):
            store_items(walk, target, added)
    if walk.resolution.deriving_functions and positional and _derives(walk, callee):
        return (MAPPING, (((SPREAD, None), positional[0]),), walk.next_serial())
    may_fill = type(called) is str and called in walk.filling_names
    made = (may_fill and _new_collection(walk, callee, positional, keywords)) or result
    is_typed = rule.constructs and generics
    return walk.with_type(made, (GENERIC, callee, generics)) if is_typed else made


def _callee(walk: Lowering, callee: OptionalNode, receiver: OptionalNode) -> Expression:
    """The callee of a call, where the grammar may have its receiver in a node apart."""
    if callee is None:
        return walk.value(receiver)
    if receiver is None:
        return walk.callee(callee)
    return walk.member(walk.value(receiver), walk.text(callee))


def _mergers(
    walk: Lowering, callee: Expression, positional: tuple[Any, ...]
) -> Iterator[tuple[Expression, Expression]]:
    """The pairs (target, source) of a call that adds all members of the source to the target."""
    place = walk.resolution.mergers.get(callee[2], -1)
    if 0 <= place < len(positional):
        yield callee[1], positional[place]
    if callee[2] in walk.resolution.mixing_functions:
        yield from ((positional[0], added) for added in positional[1:])


def _new_collection(
    walk: Lowering, callee: Expression, positional: tuple[Any, ...], keywords: tuple[Any, ...]
) -> Expression:
    """The collection that a call makes, None if it makes none that code fills."""
    filling = walk.resolution.fillable.get(_name_outside(walk, callee))
    if filling is None:
        return None
    if filling is model.Filling.DEFAULT:
        held = tuple(value for name, value in keywords if name == filling.value)
        return (SEQUENCE, held, walk.next_serial())
    given = positional[0] if len(positional) == 1 else None
    pairs: tuple[Any, ...] = ()
    if filling is model.Filling.ELEMENTS:
        is_size = is_tagged(given, CONST)
        elements = () if given is None or is_size else ((SPREAD, given),)
        return (SEQUENCE, elements, walk.next_serial())
    if filling is model.Filling.FACTORY:
        made = _new_collection(walk, given, (), ()) or (CALL, given, (), (), 0)
        pairs = ((None, made),) if given is not None else ()
    elif given is not None:
        pairs = _pairs_in(given)
    if filling is model.Filling.ITEMS:
        walk.spelled.update(dict(keywords))
        spread = (((SPREAD, None), given),) if given is not None else ()
        named = tuple(
            ((CONST, name) if name else (SPREAD, None), value) for name, value in keywords
        )
        pairs = (*pairs, *spread, *named)
    return (MAPPING, pairs, walk.next_serial())


def _name_outside(walk: Lowering, callee: Expression) -> str:
    """The full name of a callee outside the file, of a builtin or an import; "" if it has none."""
    module = walk.drafts[0]
    owner, name = callee[1:3] if is_tagged(callee, MEMBER) else ("", callee)
    if type(name) is not str or type(owner) is not str or module is None:
        return ""
    first = owner or name
    if first in walk.scope.bound and walk.scope is not module:
        return ""
    if first not in module.bound:
        return "" if owner else name
    for target, value in module.binds:
        if target == first and is_tagged(value, IMPORTED):
            return ".".join(part for part in (*value[1:], name if owner else "") if part)
    return ""


def _pairs_in(given: Expression) -> tuple[Any, ...]:
    """The pairs of key and item among the elements of an argument."""
    if is_tagged(given, SEQUENCE) and all(_is_pair(part) for part in given[1]):
        return tuple(part[1] for part in given[1])
    pair = (ELEMENT, given)
    return (((ITEM, pair, (CONST, 0)), (ITEM, pair, (CONST, 1))),)


def _is_pair(part: Expression) -> bool:
    """True if an element of a list is written as two values."""
    return is_tagged(part, SEQUENCE) and len(part[1]) == len(("key", "item"))


def _derives(walk: Lowering, callee: Expression) -> bool:
    """True if the callee makes an object that inherits from its argument."""
    # an owner that is no name may be a long chain of calls
    is_of_name = is_tagged(callee, MEMBER) and type(callee[1]) is str
    return is_of_name and f"{callee[1]}.{callee[2]}" in walk.resolution.deriving_functions


def _keyword_argument(rule: model.KeywordArgument, walk: Lowering, node: Node) -> Expression:
    return walk.value(field(rule.value)(node))


def _spread(rule: model.Spread, walk: Lowering, node: Node) -> Expression:
    value = walk.value(field(rule.value)(node))
    return value and (SPREAD, value)


def _item(rule: model.Item, walk: Lowering, node: Node) -> Expression:
    index, container = field(rule.index)(node), field(rule.object)(node)
    value = walk.value(container)
    if index is not None and walk.is_symbol(index):
        name = f"[{walk.text(index)}]"
        walk.mentions.add(name)
        return value and (MEMBER, value, name)
    is_slice = index is not None and type(walk.rules[index.kind_id]) is model.Slice
    bounds = _bounds(walk, index) if is_slice and index is not None else None
    key = None if is_slice else walk.value(index)
    if node.named_child_count > 2 - (index is None) - (container is None):
        others = [part for part in named_parts(node) if part not in (index, container)]
        key = _keys(walk, key, others) if others else key
    if value is None:
        return None
    if walk.resolution.item_methods:
        walk.implicit(value, walk.resolution.item_methods[0], (key,), line_of(node))
    if is_slice:
        return (PART, value, *(bounds or (None, None)), walk.next_serial())
    return item(walk, value, key, node)


def _keys(walk: Lowering, first: Expression, others: list[Node]) -> Expression:
    """Several keys as one: `x[a, b]`."""
    return (SEQUENCE, (first, *map(walk.value, others)), walk.next_serial())


def _bounds(walk: Lowering, node: Node) -> tuple[int | None, int | None] | None:
    """The beginning and the end of a slice, None if they are not written down."""
    found: list[int | None] = [None, None]
    place = 0
    known = True
    for child in all_parts(node):
        if child.type == ":":
            place += 1
        elif child.is_named:
            value = walk.value(child)
            is_number = is_tagged(value, CONST) and type(value[1]) is int
            known = known and place < len(found) and is_number
            if known:
                found[place] = value[1]
    return (found[0], found[1]) if known else None


def _text(rule: model.Text, walk: Lowering, node: Node) -> Expression:
    parts = node.named_children
    is_whole = True
    texts: list[str] = []  # the written parts, and a hole for each interpolated one
    first: Expression = None  # the expression interpolated at the beginning
    for part in parts:
        if part.type in rule.content:
            texts.append(walk.text(part))
        elif part.child_count and named_parts(part):
            put_in = walk.value(part)
            first = first if texts else put_in
            texts.append(HOLE)
            is_whole = False
    known = "".join(texts)
    walk.spelled.add(known)
    is_one = len(texts) == 1 and len(parts) <= 3
    if is_whole and (is_one or 1 < len(texts) == len(parts)):
        return (CONST, known)
    text = walk.text(node).strip("\"'`")
    if not parts or not text:
        return (CONST, text)
    return patterned(known, beginning_of(first))


def _literal(rule: model.Literal, walk: Lowering, node: Node) -> Expression:
    if rule.type in INDEX_TYPES:
        text = walk.text(node)
        if text.isascii() and text.isdigit() and len(text) <= MAX_INDEX_DIGITS:
            return (CONST, int(text))
    return (LITERAL, rule.type)


def _either(rule: model.Either, walk: Lowering, node: Node) -> Expression:
    return either(*_values_at(rule.fields, walk, node))


def _values_at(places: Sequence[str], walk: Lowering, node: Node) -> tuple[Expression, ...]:
    """The values of the children at some places, of all where none is named; others are visited."""
    if not places:
        return walk.values(node)
    chosen = [field(place)(node) for place in places]
    walk.visit_others(node, *chosen)
    return tuple(map(walk.value, chosen))


def _inner(rule: model.Inner, walk: Lowering, node: Node) -> Expression:
    chosen = field(rule.field)(node)
    if node.named_child_count > 1:
        walk.visit_others(node, chosen)
    return walk.value(chosen)


def _typed(rule: model.Typed, walk: Lowering, node: Node) -> Expression:
    chosen, known = field(rule.type)(node), field(rule.value)(node)
    walk.visit_others(node, chosen, known)
    return walk.with_type(walk.value(known), walk.value(chosen))


def _generic(rule: model.Generic, walk: Lowering, node: Node) -> Expression:
    base, arguments = walk.value(field(rule.base)(node)), field(rule.arguments)(node)
    if base is None or arguments is None:
        return base
    return (GENERIC, base, walk.values(arguments))


def _spelled(rule: model.Spelled, walk: Lowering, node: Node) -> Expression:
    return (GENERIC, rule.base, _values_at(rule.arguments, walk, node))


def _custom(rule: model.Custom, walk: Lowering, node: Node) -> Expression:
    children = map(call, map(field, rule.fields.split()), repeat(node))
    return rule.lower(walk, node, *children)


EXPRESSIONS: Lowerings = {
    model.Name: _name,
    model.Member: _member,
    model.Call: _call,
    model.KeywordArgument: _keyword_argument,
    model.Spread: _spread,
    model.Item: _item,
    model.Slice: visited,
    model.Text: _text,
    model.Literal: _literal,
    model.Either: _either,
    model.Inner: _inner,
    model.Typed: _typed,
    model.Generic: _generic,
    model.Spelled: _spelled,
    model.Custom: _custom,
}
