"""Variables that inner functions share with enclosing functions, for languages without declarations
of scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tersely.code.expressions import Expression
    from tersely.code.syntax.drafts import ScopeDraft
    from tersely.code.syntax.lowering import Lowering


def holder(walk: Lowering, name: str, *, through: frozenset[Kind]) -> ScopeDraft | None:
    """The enclosing scope that binds a name; only definitions of the kinds `through` see outwards."""
    scope = walk.scope
    while scope.kind in through and scope.definition > 0:
        outer = walk.drafts[walk.definitions[scope.definition].parent]
        if outer is None:
            return None
        if name in outer.bound:
            return outer
        scope = outer
    return None


def assign_outer(walk: Lowering, owner: ScopeDraft, name: str, value: Expression) -> None:
    """Assign to a variable of an enclosing scope."""
    # says that the name is a variable of that scope, a parameter too
    owner.binds.append((name, None))
    walk.scope.outer.append((name, int(owner.definition == 0)))
    walk.store(name, value)
