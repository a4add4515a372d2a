"""The cost of packs: fast while they are filled, exactly in the end.

While filling, a pack is weighed as the sum of its blocks, each counted once and remembered: that
differs from the count of the whole only where blocks meet, by a token here or there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tersely.context.pack.model import Block, Count, Pack, Part, Render, joined
from tersely.foundation.limits import SETTLE_ROUNDS
from tersely.foundation.types import field, frozen, replace


class Fitted(NamedTuple):
    """A pack and the very text that was counted."""

    pack: Pack
    text: str


@frozen
class TokenMeter:
    """Weighs packs in tokens of their printed text."""

    render: Render
    count: Count
    _known: dict[str, int] = field(default_factory=dict)

    def count_once(self, text: str) -> int:
        """The tokens of a text; the same text is counted once."""
        tokens = self._known.get(text)
        if tokens is None:
            tokens = self._known[text] = self.count(text)
        return tokens

    def blocks(self, pack: Pack) -> Sequence[Block]:
        """The printed pack in blocks."""
        return self.render(pack, self.count_once)

    def weigh(self, pack: Pack) -> int:
        """About the tokens of the printed pack."""
        known = self.count_once
        return sum([known(block.text) for block in self.blocks(pack)])

    def by_path(self, pack: Pack) -> Counter[str]:
        """About the tokens by which the printed pack shows each file; what it says of other files
        is not among them.
        """
        costs: Counter[str] = Counter()
        for block in self.blocks(pack):
            if block.part is not Part.RELATION:
                costs[block.path] += self.count_once(block.text)
        return costs

    def settle(self, pack: Pack) -> Fitted:
        """The pack with its true size, which its text may state, and that text.

        More tokens never take fewer digits, so going up from the smallest size ends at one that is
        true.
        """
        text = ""
        used = 0
        for _ in range(SETTLE_ROUNDS):
            pack = replace(pack, used=used)
            text = joined(self.blocks(pack))
            used = self.count(text)
            if used == pack.used:
                break
        return Fitted(replace(pack, used=used), text)
