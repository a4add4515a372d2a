"""Loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import every, field
from tersely.code.languages.nodes import OptionalNode, line_of
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.blocks import (
    block,
    initial,
    open_statement,
)
from tersely.code.syntax.cfg.conditions import branch
from tersely.code.syntax.cfg.draft import Draft, Ends, Frame

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def lower_while(walk: Walk, node: Node, role: control.While) -> None:
    """A loop with a condition, or without any."""
    draft = walk.draft
    head = field(role.head)(node) or node
    body = field(role.body)(node)
    open_statement(walk, node, "loop", body if role.first else None)
    draft.decisions += 1
    initial(walk, head, role.initial)
    frame = _enter_loop(walk, node, role)
    condition = field(role.condition)(head)
    start = len(draft.points)
    if role.first:
        holds, fails = _test(walk, condition, negated=role.negated)
        draft.here = holds
        block(walk, body)
        _update(walk, every(head, role.update), frame)
        _close_loop(draft, frame, start)
    else:
        _body_before_test(walk, body, role, frame)
        holds, fails = _test(walk, condition, negated=role.negated)
        draft.current.tails.append(draft.current.end_line)
        draft.here = holds
        _close_loop(draft, frame, min(start, len(draft.points) - 1))
    _leave_loop(walk, field(role.otherwise)(node), frame, fails)


def _body_before_test(walk: Walk, body: OptionalNode, role: control.While, frame: Frame) -> None:
    """The body of a loop that runs once before its condition is looked at."""
    draft = walk.draft
    draft.current.head_end_line = draft.current.line
    block(walk, body, scoped=not role.sees_body)
    draft.here += frame.continues
    frame.continues = []


def lower_each(walk: Walk, node: Node, role: control.Each) -> None:
    """Lower a loop over elements: one step evaluates the collection, one takes the next element."""
    draft = walk.draft
    body = field(role.body)(node)
    iterable = field(role.iterable)(node)
    target = field(role.target)(node)
    open_statement(walk, node, "loop", body)
    draft.decisions += 1
    initial(walk, node, role.initial)
    walk.visit(iterable)
    if iterable is not None:
        draft.at(iterable)
    draft.fail()
    draft.close()
    frame = _enter_loop(walk, node, role)
    start = len(draft.points)
    at = target if target is not None else node
    draft.at(at).tests = True
    walk.bind(target, iterable, declares=walk.declares)
    draft.fail()
    draft.close()
    draft.here = [(start, EdgeKind.TRUE)]
    block(walk, body)
    _close_loop(draft, frame, start)
    _leave_loop(walk, field(role.otherwise)(node), frame, [(start, EdgeKind.FALSE)])


def _test(walk: Walk, condition: OptionalNode, *, negated: bool) -> tuple[Ends, Ends]:
    if condition is None or type(walk.role(condition)) is model.Skip:
        walk.draft.head()
        number = walk.draft.finish()
        return [(number, EdgeKind.TRUE)], [(number, EdgeKind.NEVER)]
    holds, fails = branch(walk, condition)
    return (fails, holds) if negated else (holds, fails)


def _enter_loop(walk: Walk, node: Node, role: control.While | control.Each) -> Frame:
    label = field(role.label)(node)
    frame = Frame("loop", label=walk.label_of(label) or walk.label, result=walk.result)
    walk.label = ""
    walk.draft.frames.append(frame)
    return frame


def _update(walk: Walk, updates: list[Node], frame: Frame) -> None:
    draft = walk.draft
    if not updates:
        return
    draft.here = draft.here + frame.continues
    frame.continues = []
    for update in updates:
        walk.visit(update)
    draft.point(updates[0].start_byte, updates[-1].end_byte)
    draft.close()


def _close_loop(draft: Draft, frame: Frame, start: int) -> None:
    """Return to the start of the loop."""
    for source, kind in draft.here + frame.continues:
        draft.edge(source, start, kind)


def _leave_loop(walk: Walk, otherwise: OptionalNode, frame: Frame, fails: Ends) -> None:
    draft = walk.draft
    draft.frames.pop()
    draft.close()
    draft.here = fails
    if otherwise is not None:
        draft.decisions += 1
        draft.current.tails.append(line_of(otherwise))
        role = walk.role(otherwise)
        block(walk, field(role.body)(otherwise) if type(role) is control.Else else otherwise)
    draft.here = draft.here + frame.breaks
