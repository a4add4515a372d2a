"""Sequences of statements, and the parts that all kinds of statements share."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import every, field
from tersely.code.languages.nodes import OptionalNode, last_line_of, line_of, named_parts
from tersely.code.routines import EdgeKind
from tersely.code.syntax.cfg.draft import StatementDraft, closing_line
from tersely.code.syntax.cfg.paths import callee_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk


def lower(walk: Walk, node: Node) -> None:
    """Lower one statement, from the points in `here` to those that are in `here` after it."""
    if walk.is_statement(node):
        walk.statement(node)
        return
    inner = _only_statement(walk, node)
    if inner is not None:
        lower(walk, inner)
        return
    owner = walk.draft.statement
    defines = type(walk.role(node)) in (model.Function, model.Class, model.Wrapper)
    open_statement(walk, node, "definition" if defines else "simple")
    call = _unused_call(walk, node)
    walk.discarded = call.id if call is not None and walk.result is None else -1
    walk.visit(node)
    give_result(walk, node)
    walk.draft.at(node)
    if call is not None and called_name(walk, call) in walk.control.raising:
        walk.draft.jump(control.Leap.RAISE, "", EdgeKind.RAISE)
    walk.draft.close()
    walk.draft.statement = owner


def block(
    walk: Walk, node: OptionalNode, *, scoped: bool = True, result: str | None = None
) -> None:
    """Lower a sequence of statements, or one statement. The last one's value is assigned to
    `result`.
    """
    if node is None:
        return
    walk.draft.current.tails += closing_line(node)
    with walk.draft.scope() if scoped else nullcontext():
        sequence(walk, statements_in(walk, node), result)


def sequence(walk: Walk, nodes: list[Node], result: str | None = None) -> None:
    """Lower statements one after the other. The last one's value is assigned to `result`."""
    outer = walk.result
    for at, node in enumerate(nodes):
        walk.result = result if at == len(nodes) - 1 else None
        lower(walk, node)
    walk.result = outer
    walk.draft.close()


def body_of(node: Node, role: Any) -> Node:
    """The block of an `else` or `finally`, which may be the node itself."""
    return field(role.body)(node) or node


def statements_in(walk: Walk, node: Node) -> list[Node]:
    """The statements of a block; a node that is no block is one itself."""
    role = walk.role(node)
    if type(role) not in (control.Suite, control.Else, control.Finally):
        return [node]
    # these are of the statement around
    apart = (model.Comment, control.Else, control.Catch, control.Finally)
    children = [child for child in named_parts(node) if type(walk.role(child)) not in apart]
    documented = len(walk.draft.statements) == 1 and children and _is_doc_string(walk, children[0])
    return children[1:] if documented else children


def _is_doc_string(walk: Walk, node: Node) -> bool:
    """True if the first statement of a routine only documents it: it is part of the head."""
    wanted = walk.language.doc_string
    return bool(wanted) and len(named_parts(node)) == 1 and named_parts(node)[0].type == wanted


def open_statement(walk: Walk, node: Node, kind: str, head_end: OptionalNode = None) -> int:
    """Begin a statement, whose number is returned; its head ends where the node `head_end` begins."""
    draft = walk.draft
    owner = draft.statement
    draft.close()
    line, last = line_of(node), last_line_of(node)
    if node.end_point[1] == 0 and last > line:
        last -= 1
    if head_end is None:
        end, head_line = node.end_byte, last
    else:
        end, head_line = head_end.start_byte, _line_before(walk, node, head_end)
    made = StatementDraft(kind, node.start_byte, end, line, head_line, last, owner)
    if head_end is not None:
        made.tails += closing_line(node)
    draft.statement = len(draft.statements)
    draft.statements.append(made)
    return draft.statement


def _line_before(walk: Walk, node: Node, body: Node) -> int:
    """The last line of code before a body; comments between do not count."""
    at = body.start_byte
    while at > node.start_byte and walk.source[at - 1 : at].isspace():
        at -= 1
    return max(
        line_of(node),
        line_of(body) - walk.source.count(b"\n", at, body.start_byte),
    )


def _only_statement(walk: Walk, node: Node) -> OptionalNode:
    """The one statement that an expression statement is made of."""
    role = walk.role(node)
    if role is not None and type(role) not in (model.Inner, model.Statement):
        return None
    children = named_parts(node)
    return children[0] if len(children) == 1 and walk.is_statement(children[0]) else None


def _unused_call(walk: Walk, node: Node) -> OptionalNode:
    """The call that a statement consists of, whose value is unused; None for other statements."""
    calls = (model.Call, model.Member) if walk.control.members_call else (model.Call,)
    inner = node
    while len(named_parts(inner)) == 1 and type(walk.role(inner)) not in calls:
        inner = named_parts(inner)[0]
    return inner if type(walk.role(inner)) in calls else None


def called_name(walk: Walk, call: Node) -> str:
    """The name of the callee of a call, without its receiver."""
    role = walk.role(call)
    callee = field(role.callee)(call) if isinstance(role, model.Call) else call
    return callee_of(walk, callee).name or walk.text(callee)


def give_result(walk: Walk, node: Node) -> None:
    """Assign the value of a statement to the variable of the expression around it, if there is one."""
    if walk.result is not None:
        walk.write((walk.result,), node)
        walk.draft.own.add(walk.result)


def initial(walk: Walk, node: Node, place: str) -> None:
    """Visit the part of a statement that runs before its condition."""
    for part in every(node, place):
        walk.visit(part)
        walk.draft.close()
