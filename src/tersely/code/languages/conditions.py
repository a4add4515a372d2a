"""What is known where a condition holds, and where code goes on behind a body: by the roles of nodes."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from tersely.code.languages import roles
from tersely.code.languages.model import Language, names
from tersely.code.languages.nodes import TYPE_OF, OptionalNode, last_part, named_parts
from tersely.code.languages.tables import roles_of

if TYPE_CHECKING:
    from tree_sitter import Node

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
        joining = roles.CONJUNCTIONS if holds else DISJUNCTIONS
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
    known = roles_of(language)
    while body is not None and type(known.get(body.type)) in (roles.Suite, roles.Case):
        body = last_part(body)
    return body is not None and type(known.get(body.type)) is roles.Goes
