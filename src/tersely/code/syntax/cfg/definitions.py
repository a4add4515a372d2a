"""Functions and classes: each is a routine of its own, and one step of the routine around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.languages.children import every, field
from tersely.code.languages.nodes import OptionalNode, last_line_of, line_of, named_parts, parts_of
from tersely.code.routines import RESULT, Routine
from tersely.code.syntax.cfg.blocks import block, sequence
from tersely.code.syntax.cfg.draft import Draft, StatementDraft, begin, closing_line
from tersely.code.syntax.cfg.walk import Postponed

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def visit_function(walk: Walk, node: Node, role: model.Function) -> None:
    """Read a function as another routine. A name is bound to it; without one, its value holds its
    captures.
    """
    name_node, parameters = field(role.name)(node), field(role.parameters)(node)
    if role.read is None:
        _visit_defaults(walk, parameters)
    if role.body and field(role.body)(node) is None:
        _announce(walk, node, name_node)
        return
    name = walk.text(name_node)
    if name_node is not None and type(walk.role(name_node)) is model.Member:
        _visit_member_function(walk, node, role, name_node)
        return
    if _is_passed_by(walk, node):
        _pass_by(walk, node, role, name)
        return
    inner = _routine(walk, node, role, name)
    _take(walk, node, name if not role.is_value else "", inner)
    if not name:
        walk.draft.decisions += inner.decisions


def _is_passed_by(walk: Walk, node: Node) -> bool:
    wanted = walk.wanted
    return wanted is not None and (
        last_line_of(node) < wanted.start or line_of(_whole(walk, node)) >= wanted.stop
    )


def _pass_by(walk: Walk, node: Node, role: model.Function, name: str) -> None:
    """Record the effects of a function that is not read on the routine around; its captures stay
    unknown.
    """
    if not name:
        _unnamed(walk.draft)
    elif not role.is_value:
        walk.bind_name(name, node, declares=True)
        if walk.draft.kind != "function":
            qualified = f"{walk.draft.name}.{name}".removeprefix(".")
            postponed = Postponed(node, role, walk.imported, walk.draft)
            walk.postponed.setdefault(qualified, []).append(postponed)


def read_called(walk: Walk) -> None:
    """Read the functions that were passed by and that routines call, directly or through others.

    These are functions of the module by name, and methods called on the object of a method.
    """
    module = walk.draft
    for routine in walk.routines:  # which grows meanwhile
        if routine is None or routine.kind != "function":
            continue
        owner = _owner(walk, routine)
        for call in routine.calls:
            wanted = [] if call.receiver else [call.callee]
            wanted += [f"{owner}.{call.callee}".removeprefix(".")] if call.on_own else []
            for one in (one for name in wanted for one in walk.postponed.pop(name, ())):
                walk.imported, walk.draft = one.imported, one.around
                walk.apply(partial(_routine, name=call.callee), one.node, one.role)
    walk.draft = module


def _owner(walk: Walk, routine: Routine) -> str:
    """The name of the class or module that a function is of."""
    around: Routine | None = routine
    while around is not None and around.kind == "function":
        around = walk.routines[around.parent]
    return around.name if around is not None else ""


def _announce(walk: Walk, node: Node, name: OptionalNode) -> None:
    """A function without a body is a name and no routine."""
    if name is not None and type(walk.role(name)) is model.Name:
        walk.bind_name(walk.text(name), node, declares=True)


def _visit_member_function(walk: Walk, node: Node, role: model.Function, target: Node) -> None:
    """Record `function object.member() …`: a part of an object is assigned."""
    member = field(walk.role(target).member)(target)
    inner = _routine(walk, node, role, walk.text(member or target))
    _take(walk, node, "", inner)
    walk.bind(target, None, declares=False)


def visit_class(walk: Walk, node: Node, role: model.Class) -> None:
    """Read the body of a class, which runs where it stands, with names of its own."""
    name_node = field(role.name)(node)
    for base in role.bases:
        walk.visit(field(base)(node))
    name = walk.text(name_node)
    inner = _routine(walk, node, role, name)
    for free in inner.free:
        walk.read((walk.draft.variable(free),), node)
    for changed in inner.outward:
        walk.change((walk.draft.variable(changed),), node)
    if name and not role.is_value:
        walk.bind_name(name, node, declares=True)


def visit_wrapper(walk: Walk, node: Node, role: model.Wrapper) -> None:
    """Decorators run when the definition does."""
    definition = field(role.definition)(node)
    walk.visit_children(node, but=(definition,))
    walk.visit(definition)


def _take(walk: Walk, node: Node, name: str, inner: Draft) -> None:
    """Bind the name of a function that is defined; without a name, read and change its captures
    here.
    """
    reads = tuple(walk.draft.variable(free) for free in inner.free if free not in inner.own)
    writes = tuple(
        walk.draft.variable(changed) for changed in inner.outward if changed not in inner.own
    )
    if name:
        walk.bind_name(name, node, declares=True)
        known_reads, known_writes = walk.draft.captures.get(walk.draft.variable(name), ((), ()))
        merged = (
            tuple(dict.fromkeys(known_reads + reads)),
            tuple(dict.fromkeys(known_writes + writes)),
        )
        walk.draft.captures[walk.draft.variable(name)] = merged
        return
    walk.draft.at(node)
    for path in reads:
        walk.read((path,), node)
    for path in writes:
        walk.change((path,), node)


def _visit_defaults(walk: Walk, parameters: OptionalNode) -> None:
    """Defaults of parameters are evaluated where the function is defined."""
    for child in parts_of(parameters):
        role = walk.role(child)
        default = field(role.default)(child) if type(role) is model.Parameter else None
        walk.visit(default)


@contextmanager
def _new_routine(walk: Walk, kind: str, name: str, first: Node, last: Node) -> Iterator[Draft]:
    """A routine that goes from one node to another; behind it the walk goes on in the enclosing one,
    whose variables it may read.
    """
    around, place = walk.draft, len(walk.routines)
    state = walk.result, walk.discarded, walk.imported, walk.wanted
    walk.routines.append(None)
    qualified = f"{around.name}.{name or _unnamed(around)}".removeprefix(".")
    draft = walk.draft = Draft(
        qualified, kind, around.place, line_of(first), last_line_of(last), place
    )
    walk.result, walk.discarded = None, -1
    if kind == "function":
        draft.receivers, walk.wanted = around.receivers, None
        draft.around = around if walk.control.closures_share and not name else None
    begin(draft)
    yield draft
    walk.routines[place] = draft.freeze()
    for free in draft.free:
        if free not in draft.own:
            around.variable(free)
    walk.draft = around
    walk.result, walk.discarded, walk.imported, walk.wanted = state


def _routine(walk: Walk, node: Node, role: Any, name: str) -> Draft:
    """Read the body of a definition as a routine; the walk goes on in the enclosing one."""
    whole, body = _whole(walk, node), field(role.body)(node)
    is_class = type(role) is model.Class
    with _new_routine(walk, "class" if is_class else "function", name, whole, node) as draft:
        _head_of(walk, whole, body)
        if not is_class:
            _bind_parameters(walk, node, role)
        draft.close()
        draft.here = [(0, draft.here[0][1])]
        gives = RESULT if not is_class and role.body_is_value else None
        if body is not None:
            block(walk, body, scoped=False, result=gives)
        elif not role.body:
            parameters = field(role.parameters)(node)
            sequence(walk, [child for child in named_parts(node) if child != parameters], gives)
    return draft


def _head_of(walk: Walk, whole: Node, body: OptionalNode) -> None:
    """The head of a routine is its first statement; it ends where the body begins."""
    line = line_of(whole)
    end = body if body is not None and body.start_point[0] > whole.start_point[0] else None
    head_end = end.start_point[0] if end is not None else line
    made = StatementDraft(
        "entry",
        whole.start_byte,
        (body or whole).start_byte,
        line,
        head_end,
        last_line_of(whole),
        -1,
    )
    if end is not None:
        made.tails += closing_line(whole)
    walk.draft.statements.append(made)
    walk.draft.statement = 0


def _whole(walk: Walk, node: Node) -> Node:
    """A definition with its decorators."""
    around = node.parent
    return around if around is not None and type(walk.role(around)) is model.Wrapper else node


def _unnamed(outer: Draft) -> str:
    outer.unnamed += 1
    return f"<lambda{outer.unnamed}>"


def _bind_parameters(walk: Walk, node: Node, role: model.Function) -> None:
    """Bind the parameters: the head of a function writes them."""
    draft = walk.draft
    point, wanted = draft.points[0], walk.control.parameters
    draft.open, draft.here = point, [(0, draft.here[0][1])]
    for place in (role.receiver, role.parameters):
        # one list or several; "." is the node itself
        for listed in [node] if place == "." else every(node, place):
            inside = [child for child in named_parts(listed) if child.type in wanted]
            for each in inside if wanted else [listed]:
                _bind_parameter(walk, each)
    if not point.writes and not field(role.parameters)(node):
        for name in sorted(walk.control.implicit_parameters if not role.name else ()):
            walk.bind_name(name, node, declares=True)
    draft.parameters = [path[0] for path in point.writes]
    draft.receivers = draft.receivers or frozenset(draft.parameters[:1])


def _bind_parameter(walk: Walk, node: Node) -> None:
    role = walk.role(node)
    kind = type(role)
    if kind is model.Name:
        walk.bind_name(walk.text(node), node, declares=True)
    elif kind is model.Parameter:
        for name in every(node, role.name):
            if type(walk.role(name)) is not model.Parameter:
                _bind_parameter(walk, name)
    elif kind in (model.Skip, model.Comment, model.Generic):
        return
    elif kind is model.Pair:
        walk.bind(node, None, declares=True)
    elif kind is model.Assign:
        left = field(role.left)(node)
        if left is not None:
            _bind_parameter(walk, left)
    else:
        for child in named_parts(node):
            _bind_parameter(walk, child)
