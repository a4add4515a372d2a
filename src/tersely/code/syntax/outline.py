"""The part of a large file's facts that is kept: its definitions, and the links between them."""

from __future__ import annotations

from typing import Any

from tersely.code.expressions import Scope
from tersely.code.symbols import OUTLINED, FileFacts, Kind, Problem


def outline_of(facts: FileFacts) -> FileFacts:
    """Facts in which functions without named definitions inside keep only their results."""
    enclosing = _enclosing_definitions(facts)
    scopes = tuple(
        scope if position in enclosing or type(scope) is not tuple else _interface_of(scope)
        for position, scope in enumerate(facts.scopes)
    )
    return facts._replace(scopes=scopes, problems=(Problem(1, OUTLINED), *facts.problems))


def _enclosing_definitions(facts: FileFacts) -> set[int]:
    """The positions of definitions with a named definition inside, at any depth."""
    found = {0}
    for definition in facts.definitions:
        is_named = definition.kind != Kind.LAMBDA and definition.name[:1] != "<"
        around = definition.parent if is_named else -1
        while around > 0 and around not in found:
            found.add(around)
            around = facts.definitions[around].parent
    return found


def _interface_of(scope: tuple[Any, ...]) -> tuple[Any, ...]:
    """A scope seen from outside: its parameters and its results."""
    return tuple(Scope(*scope)._replace(binds=(), calls=(), reads=(), yields=(), outer=()))
