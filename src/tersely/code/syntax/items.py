"""Items that straight-line code stores and reads again: a read gives the value stored last.

Between the two nothing may run that could store another: a call, a binding of a name, an item of
that key elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.code.expressions import CONST, ITEM, MAPPING, VERSION_MARK, Expression, is_tagged

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.syntax.lowering import Lowering

BODIES = ("body", "consequence")  # fields of statements that hold other statements


def store_item(walk: Lowering, item: Expression, value: Expression, *, straight: bool) -> None:
    """Record that an item was assigned a value."""
    known = walk.scope.stored
    if not walk.resolution.items_in_order or not is_tagged(item, ITEM):
        return
    path = item[:3]
    if not straight or not _is_place(path):
        known.clear()
        return
    for other in [other for other in known if other[2] == path[2] or _leads_through(other, path)]:
        del known[other]
    name = f"{_root(path)}{VERSION_MARK}.{walk.next_serial()}"
    walk.scope.binds.append((name, value))
    known[path] = name


def store_items(walk: Lowering, target: Expression, added: Expression) -> None:
    """Record that straight-line code added all items of another mapping: the written ones are
    stored.
    """
    if is_tagged(added, MAPPING):
        for key, value in added[1]:
            store_item(walk, (ITEM, target, key), value, straight=True)


def item(walk: Lowering, container: Expression, key: Expression, node: Node) -> Expression:
    """The expression of an item that is read, with the variable of its value if it was stored just
    before.
    """
    found = (ITEM, container, key)
    name = walk.scope.stored.get(found) if walk.scope.stored else None
    return (*found, name) if name is not None and _is_in_line(walk, node) else found


def _is_place(path: Expression) -> bool:
    """True if an item is identified by names and constants alone."""
    if type(path) is str:
        return True
    is_item = is_tagged(path, ITEM) and is_tagged(path[2], CONST)
    return is_item and _is_place(path[1])


def _leads_through(path: Any, outer: Expression) -> bool:
    while type(path) is tuple:
        path = path[1]
        if path == outer:
            return True
    return False


def _root(path: Expression) -> str:
    while type(path) is tuple:
        path = path[1]
    return str(path).partition(VERSION_MARK)[0]


def _is_in_line(walk: Lowering, node: Node) -> bool:
    """True if a node is in a statement that runs once, in its place, and holds no other statements."""
    outer: Node | None = node
    while outer is not None:
        parent = outer.parent
        if parent is not None and parent.id == walk.scope.body:
            return not any(outer.child_by_field_name(name) for name in BODIES)
        outer = parent
    return False
