"""What a condition says of the code that runs when it is true or false, and bodies that are left: as
far as the roles of a language and the words for `and`, `or` and `not` tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

from tersely.code.languages.model import names
from tersely.code.languages.nodes import TYPE_OF, OptionalNode, last_part, named_parts
from tersely.code.languages.roles import CONJUNCTIONS, Case, Goes, Suite, roles_of
from tersely.code.languages.tables import control_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from tersely.code.languages.model import Language

DISJUNCTIONS = names("or ||")
NEGATIONS = ("not", "!")


def certain_parts(condition: Node, *, when: bool) -> list[tuple[Node, bool]]:
    """The conditions of which one consists that are known where it is true, or false: each with
    whether it is true.
    """
    found: list[tuple[Node, bool]] = []
    pending = [(condition, when)]
    while pending:
        part, holds = pending.pop()
        inside = named_parts(part) if part.child_count else []
        joining = CONJUNCTIONS if holds else DISJUNCTIONS
        is_joined = not joining.isdisjoint(map(TYPE_OF, part.children))
        if part.type == "parenthesized_expression" or is_joined:
            pending += zip(reversed(inside), repeat(holds))
        elif inside and part.children[0].type in NEGATIONS:
            pending.append((inside[0], not holds))
        else:
            found.append((part, holds))
    return found


def leaves(language: Language, body: OptionalNode) -> bool:
    """True if the code behind a body does not run after it: its last statement is a jump."""
    roles = _roles(language)
    while body is not None and type(roles.get(body.type)) in (Suite, Case):
        body = last_part(body)
    return body is not None and type(roles.get(body.type)) is Goes


@cache
def _roles(language: Language) -> Mapping[str, Any]:
    return roles_of(language, control_of(language.control or "shared"))
