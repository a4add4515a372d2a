"""Jumps, their targets, and calls that are deferred to the end of a routine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import roles as control
from tersely.code.languages.children import field
from tersely.code.languages.nodes import named_parts
from tersely.code.languages.roles import Leap
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.blocks import (
    block,
    lower,
    open_statement,
)
from tersely.code.syntax.cfg.draft import Frame

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def lower_jump(walk: Walk, node: Node, role: control.Goes) -> None:
    """Evaluate the value of a jump, and leave."""
    draft = walk.draft
    open_statement(walk, node, role.to.value)
    label = field(role.label)(node)
    outer, walk.result = walk.result, None
    for child in named_parts(node):
        if label is None or child.id != label.id:
            walk.visit(child)
    walk.result = outer
    draft.at(node)
    name = walk.label_of(label)
    if role.to is Leap.BREAK:
        _take_along(walk, node, name)
    if role.to is Leap.GOTO:
        draft.gotos.append((draft.last(), name))
    if role.to is Leap.FALLTHROUGH:
        draft.frames[-1].raised.append((draft.last(), EdgeKind.NEXT)) if draft.frames else None
    is_next = role.to is Leap.FALLTHROUGH
    draft.jump(role.to, name, EdgeKind.NEXT if is_next else EdgeKind(role.to.value))


def _take_along(walk: Walk, node: Node, label: str) -> None:
    """Assign the value of a `break` to the loop or switch that it leaves."""
    kinds = ("loop", "switch")
    for frame in reversed(walk.draft.frames):
        if frame.label == label if label else frame.kind in kinds:
            if frame.result is not None:
                walk.write((frame.result,), node)
                walk.draft.own.add(frame.result)
            return


def lower_labelled(walk: Walk, node: Node, role: control.Labelled) -> None:
    """A name for a statement: `break name` leaves it, `goto name` comes to it."""
    draft = walk.draft
    label, body = field(role.label)(node), field(role.body)(node)
    name = walk.label_of(label if label is not None else node)
    draft.close()
    draft.labels.setdefault(name, []).append(len(draft.points))
    loops = (control.While, control.Each, control.Switch)
    if body is not None and type(walk.role(body)) in loops:
        walk.label = name
        lower(walk, body)
        return
    frame = Frame("block", label=name)
    draft.frames.append(frame)
    if body is not None and (label is None or body.id != label.id):
        block(walk, body)
    else:
        open_statement(walk, node, "simple")
        draft.at(node)
        walk.label = name
    draft.frames.pop()
    draft.close()
    draft.here = draft.here + frame.breaks


def lower_deferred(walk: Walk, node: Node, role: control.Deferred) -> None:
    """The call is prepared here and runs when the routine is left."""
    open_statement(walk, node, "simple")
    walk.visit_children(node)
    walk.draft.at(node)
    walk.draft.deferred.append(walk.draft.statement)
