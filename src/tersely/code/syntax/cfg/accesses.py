"""The variables that each kind of expression reads, writes and changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import field, only_leaf, token
from tersely.code.languages.nodes import OptionalNode, last_part, named_parts, parts_in, parts_of
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.conditions import visit_choice, visit_ternary
from tersely.code.syntax.cfg.definitions import visit_class, visit_function, visit_wrapper
from tersely.code.syntax.cfg.paths import callee_of
from tersely.code.syntax.cfg.walk import declaration_variable

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Handlers, Walk

NAME = re.compile(r"[A-Za-z_]\w*")
MUTABLE = frozenset({"mutable_specifier"})
NOT_UPDATES = frozenset({":=", "==", "=", "<=", ">=", "!=", "=>", "~="})


def _name(walk: Walk, node: Node, role: model.Name) -> None:
    walk.read((walk.draft.variable(walk.text(node)),), node)


def _part(walk: Walk, node: Node, role: Any) -> None:
    path = walk.path(node)
    if walk.discarded == node.id and type(role) is model.Member:
        inside, member = field(role.object)(node), field(role.member)(node)
        if inside is not None:
            _visit_receiver(walk, inside, walk.text(member), discarded=True)
    elif path is not None:
        walk.read(path, node)
    else:
        walk.visit(field(role.object)(node))
    if type(role) is model.Item:
        walk.visit(field(role.index)(node))
    walk.draft.fail()


def _call(walk: Walk, node: Node, role: model.Call) -> None:
    discarded = walk.discarded == node.id
    callee, arguments = field(role.callee)(node), field(role.arguments)(node)
    name, receiver = callee_of(walk, callee, field(role.receiver)(node))
    if receiver is None:
        walk.visit(callee)
    path = walk.path(receiver)
    of_module = path is not None and path[0] in walk.imported
    if receiver is not None:
        _visit_receiver(walk, receiver, name, discarded=discarded and not of_module)
    passed = parts_of(arguments)
    _visit_arguments(walk, name, passed)
    around = arguments.parent if arguments is not None else None
    if around is not None and around.id != node.id:
        walk.visit_children(around, but=(callee, arguments))
    walk.visit_children(node, but=(callee, arguments, receiver, around))
    may_change = discarded and name not in walk.control.pure and not walk.control.lends_openly
    walk.note_call(node, name, path, passed, blind=may_change and (receiver is None or of_module))
    walk.draft.fail()


def _visit_receiver(walk: Walk, receiver: Node, name: str, *, discarded: bool) -> None:
    """Record that a method call may change its receiver: surely if the result is unused."""
    table, facts = walk.control, walk.resolution
    path = walk.path(receiver)
    adds = name in facts.adders or name in facts.mergers
    if path is None:
        walk.visit(receiver)
        return
    if not (adds and discarded):
        walk.read(path, receiver)
    if adds or name in table.mutators or (discarded and name not in table.pure):
        walk.change(path, receiver)


def _visit_arguments(walk: Walk, name: str, arguments: list[Node]) -> None:
    changed = walk.control.changing_arguments.get(name, -1)
    for position, argument in enumerate(arguments):
        walk.visit(argument)
        lent = (
            _argument_value(walk, argument) if position == changed else _lent_node(walk, argument)
        )
        path = walk.path(lent)
        if path is not None:
            walk.change(path, argument)


def _argument_value(walk: Walk, argument: Node) -> OptionalNode:
    """The value that an argument passes, without the name of the parameter."""
    role = walk.role(argument)
    return field(role.value)(argument) if type(role) is model.KeywordArgument else argument


def _assign(walk: Walk, node: Node, role: model.Assign) -> None:
    left, right = field(role.left)(node), field(role.right)(node)
    if left is None:
        walk.visit(right)
        return
    if right is not None and right.id == left.id:
        right = None
    walk.visit(right)
    if _updates(node, left, right):
        walk.visit(left)  # which is read before
    declares = not role.outward and not role.updates and not walk.control.declares_by_assignment
    if right is None and walk.control.declares_by_assignment:
        return  # an annotation alone
    walk.bind(left, right, declares=declares)


def _updates(node: Node, left: Node, right: OptionalNode) -> bool:
    for child in node.children:
        if left.end_byte <= child.start_byte and (
            right is None or child.end_byte <= right.start_byte
        ):
            text = child.type if not child.is_named else ""
            if len(text) > 1 and text.endswith("=") and text not in NOT_UPDATES:
                return True
    return False


def _update(walk: Walk, node: Node, role: control.Update) -> None:
    left = field(role.left)(node)
    walk.visit(field(role.right)(node))
    walk.visit(left)
    walk.bind(left, None, declares=False)
    walk.draft.fail()


def _variable(walk: Walk, node: Node, role: model.Variable | model.Variables) -> None:
    _bind(walk, node, role.name, role.value, declares=True)


def _bind(walk: Walk, node: Node, target: str, source: str, *, declares: bool) -> None:
    """Evaluate what stands at one place, and bind what stands at the other to it."""
    given = field(source)(node)
    walk.visit(given)
    walk.bind(field(target)(node), given, declares=declares)


def _variables(walk: Walk, node: Node, role: model.Variables) -> None:
    for each in named_parts(node):
        if each.type == role.each:
            _variable(walk, each, role)


def _iterate(walk: Walk, node: Node, role: model.Iterate) -> None:
    """A clause of a comprehension."""
    _bind(walk, node, role.target, role.iterable, declares=True)
    walk.visit_children(node, but=(field(role.target)(node), field(role.iterable)(node)))
    walk.draft.fail()


def _comprehension(walk: Walk, node: Node, role: model.Comprehension) -> None:
    """Its names are its own. The clauses come first, though they are written last."""
    body = field(role.body)(node)
    with walk.draft.scope():
        walk.visit_children(node, but=(body,))
        walk.visit(body)


def _alias(walk: Walk, node: Node, role: model.Alias) -> None:
    _bind(walk, node, role.target, role.value, declares=walk.declares)


def _catches(walk: Walk, node: Node, role: model.Catches) -> None:
    walk.visit(field(role.type)(node))
    walk.bind(field(role.target)(node), None, declares=walk.declares)


def _captures(walk: Walk, node: Node, role: model.Captures) -> None:
    """A bare name in a pattern is bound; all else is compared with."""
    for child in named_parts(node):
        innermost = only_leaf(child, node.type)
        if innermost is not None and type(walk.role(innermost)) is model.Name:
            walk.bind(innermost, None, declares=walk.declares)
        else:
            walk.visit(child)


def _keyword(walk: Walk, node: Node, role: model.KeywordArgument) -> None:
    walk.visit(field(role.value)(node))


def _pair(walk: Walk, node: Node, role: model.Pair) -> None:
    key = field(role.key)(node)
    if key is not None and not (role.names_are_keys and type(walk.role(key)) is model.Name):
        walk.visit(key)
    walk.visit(field(role.value)(node))


def _imports(walk: Walk, node: Node, role: model.Imports) -> None:
    for fact in role.read(node, walk.text):
        if fact.alias and fact.alias != "*":
            walk.bind_name(fact.alias, node, declares=True)
            walk.imported |= {fact.alias}
    walk.draft.at(node)
    walk.draft.fail()


def _outer(walk: Walk, node: Node, role: model.Outer) -> None:
    names = [walk.text(child) for child in named_parts(node)]
    walk.draft.outer.update(names)
    for name in names:
        walk.draft.own.add(declaration_variable(name))
        walk.write((declaration_variable(name),), node)


def _escape(walk: Walk, node: Node, role: control.Escape) -> None:
    """The value is looked at, and may be returned instead of taken."""
    walk.visit_children(node)
    number = walk.draft.finish()
    walk.draft.here = [(number, EdgeKind.NEXT)]
    walk.draft.route([(number, EdgeKind.RETURN)], control.Leap.RETURN, "")


def _unary(walk: Walk, node: Node, role: control.Unary) -> None:
    operand, deletes = last_part(node), token(node, control.DELETES) is not None
    if not deletes:
        walk.visit(operand)
    if deletes or token(node, control.UPDATES) is not None:
        walk.bind(operand, None, declares=False)


def _lent_node(walk: Walk, argument: Node) -> OptionalNode:
    """The node that an argument lends to the callee, which may change it; None if it lends none."""
    if token(argument, walk.control.lending) is not None:
        return _argument_value(walk, argument)
    argument = _argument_value(walk, argument) or argument
    role = walk.role(argument)
    if isinstance(role, control.Unary) and token(argument, control.BORROWS) is not None:
        return last_part(argument)
    if isinstance(role, control.Borrow) and token(argument, MUTABLE) is not None:
        return argument.child_by_field_name("value")
    return None


def _declares(walk: Walk, node: Node, role: control.Declares) -> None:
    targets = parts_in(node, role.targets)
    values = parts_in(node, "value")
    for given in values:
        walk.visit(given)
    for at, target in enumerate(targets):
        if type(walk.role(target)) is model.Assign:
            walk.visit(target)
        else:
            value = values[at] if len(values) == len(targets) else values[0] if values else None
            walk.bind(target, value, declares=True)
    if not targets:
        walk.visit_children(node)


def _sets(walk: Walk, node: Node, role: control.Sets) -> None:
    walk.visit_children(node)
    named: list[Node] = []
    before = ""
    for child in parts_in(node, role.names):
        is_meant = before == role.behind if role.behind else before not in role.options
        before = walk.text(child)
        if is_meant and NAME.fullmatch(before):
            named.append(child)
    for child in named:
        walk.bind_name(walk.text(child), child, declares=False)
    if not named and role.otherwise:
        walk.bind_name(role.otherwise, node, declares=False)
    walk.draft.fail()


def _forgets(walk: Walk, node: Node, role: control.Forgets) -> None:
    pending = list(named_parts(node))
    while pending:
        child = pending.pop(0)
        kind = type(walk.role(child))
        if kind in (model.Member, model.Item):
            walk.bind(child, None, declares=False)
        elif kind is model.Name:
            walk.read((walk.draft.variable(walk.text(child)),), child)
            walk.bind(child, None, declares=False)
        else:
            pending = [*named_parts(child), *pending]
    walk.draft.fail()


def _fails(walk: Walk, node: Node, role: Any) -> None:
    walk.visit_children(node)
    walk.draft.fail()


def _nothing(walk: Walk, node: Node, role: Any) -> None:
    """Visit nothing: comments and nodes without a meaning at run time."""


VISITORS: Handlers = {
    model.Name: _name,
    model.Member: _part,
    model.Item: _part,
    model.Call: _call,
    model.Assign: _assign,
    model.Variable: _variable,
    model.Variables: _variables,
    model.Iterate: _iterate,
    model.Comprehension: _comprehension,
    model.Alias: _alias,
    model.Captures: _captures,
    model.Catches: _catches,
    model.KeywordArgument: _keyword,
    model.Pair: _pair,
    model.Imports: _imports,
    model.Outer: _outer,
    model.Yield: _fails,
    model.Function: visit_function,
    model.Class: visit_class,
    model.Wrapper: visit_wrapper,
    model.Comment: _nothing,
    model.Skip: _nothing,
    model.Generic: _nothing,
    control.Choice: visit_choice,
    control.Ternary: visit_ternary,
    control.Escape: _escape,
    control.Update: _update,
    control.Unary: _unary,
    control.Declares: _declares,
    control.Forgets: _forgets,
    control.Sets: _sets,
    control.Fails: _fails,
}
