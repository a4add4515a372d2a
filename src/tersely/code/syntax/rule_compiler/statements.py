"""Assignments, control flow, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    DEFINED,
    ELEMENT,
    ENTER,
    GENERATOR,
    KEY_OF,
    MAPPING,
    MEMBER,
    NEW,
    SEQUENCE,
    TYPED,
    Expression,
    is_tagged,
)
from tersely.code.languages import model
from tersely.code.languages.children import field, only_leaf
from tersely.code.languages.nodes import has_token, line_of, named_parts
from tersely.code.symbols import CLASS_KINDS, Kind
from tersely.code.syntax.drafts import naming_of
from tersely.code.syntax.rule_compiler import Lowerings, visited
from tersely.code.syntax.rule_compiler.blocks import target_names

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering


LABEL_MARK = "\x02"  # before the name of a label, which names no value

HELD_IN_STATEMENTS = (model.Assign, model.Function, model.Class, model.Variable, model.Statement)


def _assign(rule: model.Assign, walk: Lowering, node: Node) -> Expression:
    wrapped, walk.wrapped = walk.wrapped, None
    left, right, typed = field(rule.left)(node), field(rule.right)(node), field(rule.type)(node)
    annotation = walk.value(typed)
    if rule.updates and left is not None:
        left = _without_parentheses(walk, left)
    if rule.names and left is not None and right is not None:
        value = walk.assigned_value(left, right, wrapped)
    else:
        value = walk.value(right)
    if left is None:
        return walk.with_type(value, annotation)
    is_definition = is_tagged(value, DEFINED) and walk.is_definition(value, walk.text(left))
    value = walk.with_type(value, annotation)
    if rule.updates and type(walk.rules[left.kind_id]) is model.Name:
        return walk.update(walk.text(left), value, straight=walk.is_straight(node))
    _bind_left(walk, rule, node, left, value)
    if rule.noted is not None:
        rule.noted(walk, left, typed, right)
    outermost = wrapped[0] if wrapped else node
    if rule.defines is not None and walk.scope.holds_symbols and not is_definition:
        meant = value[1] if is_tagged(value, DEFINED) else -1
        _define_targets(walk, outermost, left, rule.defines, meant)
    elif rule.names and is_tagged(value, DEFINED):
        _define_other_name(walk, outermost, left, value[1])
    return value


def _without_parentheses(walk: Lowering, node: Node) -> Node:
    """The node inside any number of parentheses."""
    inside = named_parts(node)
    while len(inside) == 1 and type(walk.rules[node.kind_id]) is model.Inner:
        node, inside = inside[0], named_parts(inside[0])
    return node


def _bind_left(
    walk: Lowering, rule: model.Assign, node: Node, left: Node, value: Expression
) -> None:
    """Bind the names on the left of an assignment. In straight-line code, names that are bound
    already become new variables.
    """
    text = walk.text(left)
    is_bound = text in walk.scope.bound or left.named_child_count > 0
    walk.rebinds = is_bound and walk.is_straight(node)
    outward, walk.outward = walk.outward, rule.outward
    if type(walk.rules[left.kind_id]) is model.Name:
        walk.bind_name(text, value, left)
    else:
        walk.bind(left, value)
    walk.rebinds, walk.outward = False, outward


def _define_targets(walk: Lowering, node: Node, target: Node, kind: Kind, meant: int) -> None:
    for place in target_names(walk, target):
        name, own = walk.text(place).removeprefix(walk.resolution.sigil), kind
        if kind is Kind.VARIABLE and walk.scope.kind in CLASS_KINDS:
            own = Kind.FIELD
        elif kind is Kind.VARIABLE and name.isupper():
            own = Kind.CONSTANT
        walk.define_value(node, name, place, own, meant=meant)


def _define_other_name(walk: Lowering, node: Node, target: Node, meant: int) -> None:
    """`a.b = a.c = function …`: a name before the last is another of the same definition."""
    naming = naming_of(walk, target)
    if naming is None or not naming.name:
        return
    if walk.qualname(naming.name, naming.prefix) != walk.definitions[meant].qualname:
        kind = Kind.FIELD if naming.prefix else Kind.VARIABLE
        walk.define_value(node, naming.name, naming.node, kind, naming.prefix, meant)


def _return(rule: model.Return, walk: Lowering, node: Node) -> None:
    value = walk.value(field(rule.value)(node))
    if value is not None:
        walk.scope.returns.append(value)


def _yield(rule: model.Yield, walk: Lowering, node: Node) -> None:
    value = walk.value(field(rule.value)(node))
    delegates = has_token(node, rule.delegate)
    walk.scope.flags |= GENERATOR
    if value is not None:
        walk.scope.yields.append((ELEMENT, value) if delegates else value)
    if value is not None and delegates:
        _implicit_iteration(walk, value, node, waits=False)


def _raises(rule: model.Raises, walk: Lowering, node: Node) -> None:
    raised = field(rule.value)(node)
    if raised is None:
        return
    value = walk.callee(raised)
    walk.visit_others(node, raised)
    if type(value) is str or is_tagged(value, MEMBER):
        walk.call(value, (), (), line_of(node), NEW)


def _iterate(rule: model.Iterate, walk: Lowering, node: Node) -> None:
    target = field(rule.target)(node)
    iterable = field(rule.iterable)(node)
    annotation = walk.value(field(rule.type)(node))
    value = walk.value(iterable)
    if target is not None:
        takes_keys = has_token(node, rule.keys)
        walk.bind(
            target,
            walk.with_type(value and (KEY_OF if takes_keys else ELEMENT, value), annotation),
        )
    if value is not None:
        _implicit_iteration(walk, value, node, waits=has_token(node, rule.waits))
    walk.visit_others(node, target, iterable)


def _implicit_iteration(walk: Lowering, value: Expression, node: Node, *, waits: bool) -> None:
    """Record the method calls that iteration implies."""
    facts, line = walk.resolution, line_of(node)
    if is_tagged(value, SEQUENCE, MAPPING):
        return
    going_on = _called_by_syntax(walk, facts.next_method, waits=waits)
    for method in facts.iterate_methods:
        starting = _called_by_syntax(walk, method, waits=waits)
        walk.mentions.update((starting, going_on))
        started = walk.call((MEMBER, value, starting), (), (), line)
        if going_on:
            walk.call((MEMBER, started, going_on), (), (), line)


def _called_by_syntax(walk: Lowering, method: str, *, waits: bool) -> str:
    """The method that a statement calls, by whether it waits."""
    return walk.resolution.async_methods.get(method, method) if waits else method


def _alias(rule: model.Alias, walk: Lowering, node: Node) -> Expression:
    enters, walk.enters = walk.enters, ""
    value = walk.value(field(rule.value)(node))
    target = field(rule.target)(node)
    if target is not None:
        walk.bind(target, value and (ENTER, value, enters) if enters else value)
    return value


def _enters(rule: model.Enters, walk: Lowering, node: Node) -> Expression:
    inner, facts = field(rule.value)(node), walk.resolution
    waits = has_token(_statement_around(walk, node), rule.waits)
    enter = _called_by_syntax(walk, facts.enter_method, waits=waits)
    if inner is not None and type(walk.rules[inner.kind_id]) is model.Alias:
        walk.enters = enter
    value = walk.value(inner)
    if value is not None:
        leave = _called_by_syntax(walk, facts.exit_method, waits=waits)
        for method in (enter, leave):
            walk.call(walk.member(value, method), (), (), line_of(node))
    return value


def _statement_around(walk: Lowering, node: Node) -> Node:
    """The statement that runs its body with the value that a node enters; the node itself outside
    of any.
    """
    around: Node | None = node
    while around is not None and type(walk.rules[around.kind_id]) is not model.Runs:
        around = around.parent
    return around or node


def _awaits(rule: model.Awaits, walk: Lowering, node: Node) -> Expression:
    value, method = walk.value(field(rule.field)(node)), walk.resolution.await_method
    if value is None:
        return None
    walk.implicit(value, method, (), line_of(node))
    return (ENTER, value, method)


def _catches(rule: model.Catches, walk: Lowering, node: Node) -> None:
    caught, target = field(rule.type)(node), field(rule.target)(node)
    parts = caught, target
    if caught is not None:
        inner = walk.rules[caught.kind_id]
        if type(inner) is model.Alias:  # `except E as e` as one node
            target = field(inner.target)(caught)
            caught = field(inner.value)(caught)
    value = walk.value(caught)
    if target is not None:
        walk.bind(target, value and (TYPED, value))
    walk.visit_others(node, *parts)


def _captures(rule: model.Captures, walk: Lowering, node: Node) -> None:
    for child in named_parts(node):
        innermost = only_leaf(child, node.type)
        if innermost is not None and type(walk.rules[innermost.kind_id]) is model.Name:
            walk.bind(innermost, None)
        else:
            walk.value(child)


def _statement(rule: model.Statement, walk: Lowering, node: Node) -> Expression:
    children = named_parts(node)
    single = len(children) == 1 and type(walk.rules[children[0].kind_id]) in HELD_IN_STATEMENTS
    walk.wrapped = (walk.wrapped or (node, 0)) if single else None
    result: Expression = None
    for child in children:
        result = walk.value(child)
    walk.wrapped = None
    return result


def _outer(rule: model.Outer, walk: Lowering, node: Node) -> None:
    walk.scope.outer.extend((walk.text(child), int(rule.module)) for child in named_parts(node))


def _imports(rule: model.Imports, walk: Lowering, node: Node) -> None:
    walk.rebinds = rule.in_order and walk.is_straight(node)
    for fact in rule.read(node, walk.text):
        walk.add_import(fact)
    walk.rebinds = False


def _label(rule: model.Label, walk: Lowering, node: Node) -> None:
    name = field(rule.name)(node)
    if name is not None:
        walk.note_binding(LABEL_MARK + walk.text(name), name)
    walk.visit_others(node, name)


def _jump(rule: model.Jump, walk: Lowering, node: Node) -> None:
    label = field(rule.label)(node)
    walk.visit_others(node, label)


def _nothing(rule: model.Comment | model.Skip, walk: Lowering, node: Node) -> None:
    """Lower nothing: neither the node nor what is in it means anything."""


STATEMENTS: Lowerings = {
    model.Raises: _raises,
    model.Assign: _assign,
    model.Return: _return,
    model.Yield: _yield,
    model.Iterate: _iterate,
    model.Alias: _alias,
    model.Enters: _enters,
    model.Awaits: _awaits,
    model.Catches: _catches,
    model.Captures: _captures,
    model.Statement: _statement,
    model.Outer: _outer,
    model.Imports: _imports,
    model.Comment: _nothing,
    model.Attribute: visited,
    model.Label: _label,
    model.Jump: _jump,
    model.Skip: _nothing,
}
