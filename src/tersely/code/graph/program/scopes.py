"""Scopes as the index has them, decoded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from tersely.code.expressions import Scope
from tersely.code.nodes import (
    Expression,
    Expressions,
    Invocation,
    Known,
    decoded,
)
from tersely.foundation.types import Strings

Entry = tuple[int, Expression]  # (scope in which to evaluate, expression)
Stored = Any  # an expression as the index has it, in plain tuples
StoredBindings = dict[str, list[tuple[int, Stored]]]  # by name: scopes and expressions
ANYWHERE = -1  # in place of a definition around: the name may be known in every file
Method = TypeVar("Method", bound=Callable[..., Any])


def kept(compute: Method) -> Method:
    """A method whose answers are kept in its object, each by its arguments."""
    name = f"_kept_{compute.__name__}"

    @wraps(compute)
    def answer(owner: Any, /, *key: Any, **named: Any) -> Any:
        known = vars(owner).setdefault(name, {})
        asked = (*key, *named.items()) if named else key
        if asked not in known:
            known[asked] = compute(owner, *key, **named)
        return known[asked]

    return cast("Method", answer)


class DeclaredParameter(NamedTuple):
    """One parameter of a function."""

    name: str
    annotation: Expression
    default: Expression
    mode: int


class Body:
    """What `Scope` says, each part decoded when it is first asked for."""

    binds: tuple[tuple[Expression, Expression], ...]
    calls: tuple[Invocation, ...]
    reads: tuple[tuple[Expression, int], ...]
    returns: Expressions
    yields: Expressions
    outer: tuple[tuple[str, int], ...]
    stars: Strings
    bases: Expressions
    decorated: Expression
    returned_type: Expression
    receiver_type: Expression
    flags: int
    holder: Expression
    type_parameters: Strings

    def __init__(self, stored: Scope, known: Known) -> None:
        self._stored = stored
        self._known = known

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            found = decoded(getattr(self._stored, name), self._known)
            setattr(self, name, found)
            return found

    def parts(self) -> tuple[Any, ...]:
        """Everything that a scope says, in order."""
        return tuple(decoded(part, self._known) for part in self._stored)

    @cached_property
    def parameters(self) -> tuple[DeclaredParameter, ...]:
        """The parameters, a receiver that is written down first."""
        return tuple(map(DeclaredParameter._make, decoded(self._stored.parameters, self._known)))


class IndexedFile(NamedTuple):
    """A file of the index, without its semantics."""

    id: int
    path: str
    language: str
    namespace: str
