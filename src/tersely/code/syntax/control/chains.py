"""Chains of matches, and calls that run a block which they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.languages import model
from tersely.code.languages.control import roles as control
from tersely.code.routines import Way
from tersely.code.syntax.children import field
from tersely.code.syntax.control.blocks import block, give_result, open_statement
from tersely.code.syntax.control.cases import cases_in, choose, matched, refuse
from tersely.code.syntax.control.draft import Ends

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.control.walk import Walk

# What the pattern of a block's argument is made of, besides names.
PATTERNS = (model.Custom, model.Pair, control.Match, control.Qualified)


def lower_chain(walk: Walk, node: Node, role: control.Chain) -> None:
    """Each link is a statement; where one does not fit, the cases are tried with its value."""
    draft, result = walk.draft, walk.result
    body, otherwise = field(role.body)(node), field(role.otherwise)(node)
    links = [link for link in _children(walk, field(role.links)(node)) if body is None or not _holds(link, body)]
    open_statement(walk, node, "if", links[0] if links else body)
    me = draft.statement
    draft.point(node.start_byte, draft.statements[me].end)
    draft.close()
    draft.scopes.append({})
    missed: Ends = []
    for link in links:
        draft.statement = me
        missed += _lower_link(walk, link, matched(node), result if otherwise is None else None)
    draft.statement = me
    block(walk, body, result=result)
    draft.close()
    draft.scopes.pop()
    ends, draft.here = draft.here, missed
    if otherwise is not None and missed:
        draft.statements[me].tails.append(otherwise.start_point[0] + 1)
        ends = ends + choose(walk, node, cases_in(walk, otherwise), missed, result)
        refuse(walk)
    draft.here = ends + draft.here
    draft.statement = draft.statements[me].owner


def _children(walk: Walk, node: Node | None) -> list[Node]:
    found = node.named_children if node is not None else []
    return [child for child in found if type(walk.role(child)) is not model.Comment]


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _lower_link(walk: Walk, link: Node, value: str, result: str | None) -> Ends:
    """One link of a chain; gives the ends where its value does not fit, which then is `result`."""
    draft, role = walk.draft, walk.role(link)
    decides = type(role) is model.Iterate
    open_statement(walk, link, "if" if decides else "simple")
    walk.visit(link)
    point = draft.point(link.start_byte, link.end_byte)
    number = draft.last()
    if not decides:
        draft.close()
        return []
    walk.write((value,), link)
    draft.own.add(value)
    if result is not None:
        walk.result = result
        give_result(walk, link)
    point.tests = True
    draft.close()
    target = field(role.target)(link)
    if target is not None and type(walk.role(target)) in (model.Name, model.Skip):
        return []
    draft.decisions += 1
    draft.here = [(number, Way.TRUE)]
    return [(number, Way.FALSE)]


def lower_given(walk: Walk, node: Node, role: control.Given) -> None:
    """What the call evaluates comes first, then the block."""
    draft, result = walk.draft, walk.result
    body, arguments = field(role.body)(node), field(role.arguments)(node)
    open_statement(walk, node, "with", body)
    me = draft.statement
    draft.scopes.append({})
    for child in node.named_children:
        if body is None or child.id != body.id:
            _visit_given(walk, child, binds=arguments is not None and child.id == arguments.id)
    draft.point(node.start_byte, draft.statements[me].end)
    draft.fail()
    draft.close()
    block(walk, body, result=result)
    draft.close()
    draft.statement = draft.statements[me].owner
    draft.scopes.pop()


def _visit_given(walk: Walk, node: Node, *, binds: bool) -> None:
    """Outside of functions, names that nobody has bound are what the block is given: `test "it", %{user: user}`."""
    role = walk.role(node)
    if not binds:
        walk.visit(node) if type(role) is not model.Name else None
    elif walk.draft.kind == "function":
        walk.visit(node)
    else:
        for child in node.named_children:
            kind = type(walk.role(child))
            if kind is model.Name and not walk.draft.knows(walk.text(child)):
                walk.bind(child, None, declares=True)
            elif kind in PATTERNS or walk.role(child) is None:
                _visit_given(walk, child, binds=True)
            else:
                walk.visit(child)
