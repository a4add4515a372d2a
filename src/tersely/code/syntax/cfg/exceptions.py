"""Exceptions, and blocks that run however another block is left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tersely.code.languages import roles as control
from tersely.code.languages.children import field
from tersely.code.languages.nodes import line_of, named_parts
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.blocks import (
    block,
    body_of,
    open_statement,
    sequence,
)
from tersely.code.syntax.cfg.draft import Ends, Frame, exit_variable

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def lower_try(walk: Walk, node: Node, role: control.Try) -> None:
    """Lower body, handlers, `else` and `finally`. All paths out of the statement run the `finally`."""
    draft, result = walk.draft, walk.result
    body = field(role.body or "#0")(node)
    parts = [(child, walk.role(child)) for child in named_parts(node)]
    handlers = [(child, part) for child, part in parts if type(part) is control.Catch]
    final = next(((child, part) for child, part in parts if type(part) is control.Finally), None)
    open_statement(walk, node, "try", body)
    walk.visit(field(role.resources)(node))
    draft.head()
    start = draft.finish()
    if final is not None:
        draft.frames.append(Frame("finally"))
    if handlers:
        draft.frames.append(Frame("handlers", raised=[(start, EdgeKind.EXCEPTION)]))
    if role.body:
        block(walk, body, result=result)
    else:
        kinds = (control.Catch, control.Else, control.Finally)
        sequence(walk, [child for child, part in parts if type(part) not in kinds], result)
    raised = draft.frames.pop().raised if handlers else []
    _else_of_try(walk, parts)
    _handlers(walk, handlers, raised)
    if final is not None:
        _finally(walk, *final)


def _handlers(walk: Walk, handlers: Iterable[tuple[Node, control.Catch]], raised: Ends) -> None:
    """Lower all handlers of a statement; exceptions that none of them catches go on."""
    draft = walk.draft
    ends, owner = list(draft.here), draft.statement
    for child, part in handlers:
        draft.here = raised
        with draft.scope():
            raised = _handler(walk, child, part)
        ends += draft.here
        draft.statement = owner
    draft.escape(raised)
    draft.here = ends


def _else_of_try(walk: Walk, parts: Iterable[tuple[Node, Any]]) -> None:
    for child, part in parts:
        if type(part) is control.Else:
            walk.draft.current.tails.append(line_of(child))
            walk.draft.decisions += 1
            block(walk, body_of(child, part))


def _handler(walk: Walk, node: Node, role: control.Catch) -> Ends:
    """Lower one handler; returns the ends of exceptions that it does not catch."""
    draft = walk.draft
    body, caught = field(role.body)(node), field(role.caught)(node)
    open_statement(walk, node, "handler", body)
    draft.decisions += 1
    bound = field(role.binds)(node)
    walk.visit_children(node, but=(body, bound))
    walk.bind(bound, None, declares=walk.declares)
    draft.head()
    number = draft.finish()
    missed: Ends = []
    if caught is not None:
        draft.here = [(number, EdgeKind.TRUE)]
        missed = [(number, EdgeKind.FALSE)]
    block(walk, body, result=walk.result)
    return missed


def _finally(walk: Walk, node: Node, role: control.Finally) -> None:
    """Lower one copy of the block, entered by all paths that leave; each goes on to its own target."""
    draft = walk.draft
    frame = draft.frames.pop()
    normal = any(kind is not EdgeKind.NEVER for _, kind in draft.here)
    draft.here = draft.here + frame.raised
    draft.current.tails.append(line_of(node))
    block(walk, body_of(node, role))
    if not frame.passing:
        return
    draft.point(node.end_byte, node.end_byte).reads[exit_variable(len(draft.frames)),] = None
    number = draft.finish()
    for leap, label, kind in frame.passing:
        draft.route([(number, kind)], leap, label)
    draft.here = [(number, EdgeKind.NEXT if normal else EdgeKind.NEVER)]


def lower_with(walk: Walk, node: Node, role: control.With) -> None:
    """Entering, the body, and leaving at its end; a jump out of it does not pass there."""
    draft = walk.draft
    body = field(role.body)(node)
    open_statement(walk, node, "with", body)
    for child in named_parts(node):
        if body is None or child.id != body.id:
            walk.visit(child)
    draft.head()
    draft.fail()
    draft.close()
    block(walk, body)
    draft.point(node.end_byte, node.end_byte)
