"""The access path of an expression, or of the variable whose value it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tersely.code.languages import model
from tersely.code.languages import roles as control
from tersely.code.languages.children import field, token
from tersely.code.languages.nodes import OptionalNode, last_part, named_parts
from tersely.code.routines import AccessPath

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.cfg.walk import Walk

PARTS = (model.Member, model.Item)
MAX_SOURCES = 16  # variables that one value is made of
MAX_SOURCE_DEPTH = 8  # nested displays that are looked into


def path_of(walk: Walk, node: OptionalNode, names: int) -> AccessPath | None:
    """`self.cache["key"]` as ("self", ".cache", "['key']"), of at most `names` names; None for a
    node that is no variable.
    """
    if node is None:
        return None
    role = walk.role(node)
    kind = type(role)
    if kind is model.Name:
        return (walk.draft.variable(walk.text(node)),)
    if kind is model.Inner and len(named_parts(node)) == 1:
        return path_of(walk, named_parts(node)[0], names)
    if kind is control.Unary and token(node, control.FOLLOWS) is not None:
        return path_of(walk, last_part(node), names)
    if kind not in PARTS:
        return None
    whole, name = path_of(walk, field(role.object)(node), names), _name_of_part(walk, node, role)
    return whole if whole is None or not name or len(whole) >= names else (*whole, name)


def _name_of_part(walk: Walk, node: Node, role: model.Member | model.Item) -> str:
    """The name of a member or of an item with a constant text as key, "" of others."""
    if isinstance(role, model.Member):
        member = field(role.member)(node)
        return f".{walk.text(member)}" if member is not None else ""
    index = field(role.index)(node)
    key = walk.text(index) if type(walk.role(index)) is model.Text else ""
    return f"[{key[1:-1]}]" if key[:1] in ("'", '"') else ""


def sources_of(walk: Walk, node: Node) -> list[str]:
    """The variables whose objects a value may share: those it is, is a part of, or holds."""
    found: dict[str, None] = {}
    pending = [(node, 0)]
    while pending and len(found) < MAX_SOURCES:
        current, depth = pending.pop()
        role = walk.role(current)
        kind = type(role)
        path = path_of(walk, current, 1)
        if path is not None:
            found[path[0]] = None
        elif kind in PARTS or kind is model.Call:
            inside = (
                callee_of(walk, field(role.callee)(current), field(role.receiver)(current)).receiver
                if kind is model.Call
                else field(role.object)(current)
            )
            pending += [(inside, depth)] if inside is not None else []
        elif depth < MAX_SOURCE_DEPTH and _holds(kind):
            pending += [(child, depth + 1) for child in named_parts(current)]
    return list(found)


class Callee(NamedTuple):
    """The function of a call: its name, "" of one without, and the object that it is a method of."""

    name: str
    receiver: OptionalNode


def callee_of(walk: Walk, node: OptionalNode, receiver: OptionalNode = None) -> Callee:
    """The callee that a node is, with the receiver that stands apart from it."""
    role = walk.role(node)
    if node is not None and receiver is None and type(role) is model.Member:
        return Callee(walk.text(field(role.member)(node)), field(role.object)(node))
    is_named = receiver is not None or type(role) is model.Name
    return Callee(walk.text(node) if is_named else "", receiver)


def _holds(kind: type) -> bool:
    """True if a value may hold, or be, one of those it is made of."""
    return kind in (
        model.Inner, model.Either, model.Sequence, model.Dictionary, model.Pair, model.Spread, model.KeywordArgument,
        control.Choice, control.Ternary, control.Unary, control.Borrow,
    )  # fmt: skip
