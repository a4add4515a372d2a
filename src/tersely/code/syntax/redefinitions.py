"""Definitions of one name in one file: the one that the name means, and the numbers of the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import REPLACED, STUB, either
from tersely.code.languages.model import Redefinition
from tersely.code.languages.nodes import TextOf
from tersely.code.symbols import Definition
from tersely.code.syntax.drafts import ScopeDraft

if TYPE_CHECKING:
    from tree_sitter import Node

Drafts = Sequence[ScopeDraft | None]


class _Earlier(NamedTuple):
    """A definition that was read; `block` is the id of the node whose statements it is among."""

    draft: ScopeDraft
    block: int
    does: Redefinition


class Redefinitions:
    """The definitions read so far in a walk over a file. Does nothing without a rule of the
    language.
    """

    def __init__(self, rule: Callable[[Node, TextOf], Redefinition] | None) -> None:
        self._rule = rule
        self._known: dict[str, list[_Earlier]] = defaultdict(list)
        # by the position of their implementation
        self._stubs: dict[int, list[ScopeDraft]] = defaultdict(list)

    def add(self, draft: ScopeDraft, node: Node, text: TextOf) -> None:
        """Note a definition, and mark the earlier ones that it replaces: those beside it, and its
        stubs.
        """
        if self._rule is None:
            return
        does, block = self._rule(node, text), node.parent.id if node.parent is not None else 0
        known = self._known[draft.qualname]
        for earlier in known if does is Redefinition.REPLACES else ():
            is_stub = earlier.does is Redefinition.IS_STUB
            if is_stub:
                self._stubs[draft.definition].append(earlier.draft)
            if is_stub or earlier.block == block:
                earlier.draft.flags |= REPLACED | (STUB if is_stub else 0)
        known.append(_Earlier(draft, block, does))

    def finish(self, definitions: Sequence[Definition], drafts: Drafts) -> list[Definition]:
        """The definitions with their numbers; the implementation of stubs returns their declared
        types as well.
        """
        for position, stubs in self._stubs.items():
            draft = drafts[position]
            types = [
                one.returned_type
                for one in (*stubs, draft)
                if one is not None and one.returned_type is not None
            ]
            if draft is not None and types:
                draft.returned_type = either(*dict.fromkeys(types))
        return _with_numbers(definitions, drafts)


def _with_numbers(definitions: Sequence[Definition], drafts: Drafts) -> list[Definition]:
    replaced: list[bool] = []
    by_name: dict[str, list[int]] = defaultdict(list)
    for position, (definition, draft) in enumerate(zip(definitions, drafts, strict=True)):
        is_in_replaced = definition.parent >= 0 and replaced[definition.parent]
        replaced.append(is_in_replaced or (draft is not None and bool(draft.flags & REPLACED)))
        by_name[definition.qualname].append(position)
    found = list(definitions)
    for positions in by_name.values():
        if len(positions) == 1:
            continue
        meant = next((position for position in positions if not replaced[position]), positions[0])
        others = [position for position in positions if position != meant]
        for number, position in enumerate(others, start=2):
            found[position] = definitions[position]._replace(number=number)
    return found
