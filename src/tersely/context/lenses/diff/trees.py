"""The ranking model: boosted regression trees (Friedman 2001), read from the file beside this one.

`needed.arrays` holds all nodes of all trees in one row of arrays. A node asks whether a figure is
at most a threshold and sends the row left or right; a leaf is its own child. The values of the
leaves that a row comes to add up to the logarithm of the odds that the piece is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from tersely.code.search.storage.arrays import map_arrays
from tersely.foundation.arrays import Array, Figures, np
from tersely.foundation.types import Strings, frozen

SHIPPED = "needed.arrays"


@frozen
class Trees:
    """All trees. Arrays have one entry a node, but for `roots`, which has one a tree."""

    roots: Array
    figure: Array  # by position among `fields`, that a node asks about
    threshold: Array
    left: Array
    right: Array
    value: Array  # of an inner node that of the rows which came through it in training
    depth: int
    fields: Strings

    def columns(self, fields: Sequence[str]) -> list[int]:
        """The places of its figures among others."""
        return [fields.index(name) for name in self.fields]

    def odds(self, figures: Figures) -> Figures:
        """The logarithm of the odds for each row."""
        found: Figures = self.value[self._steps(figures)[-1]].sum(axis=1, dtype=np.float64)
        return found

    def told(self, figures: Figures) -> Figures:
        """The part of each figure in the odds of each row: the change of value at the nodes that
        ask about it, summed (Saabas 2014).
        """
        steps = self._steps(figures)
        size = len(self.fields)
        found = np.zeros(len(figures) * size)
        rows = np.arange(len(figures))[:, None] * size
        for before, after in pairwise(steps):
            change = (self.value[after] - self.value[before]).ravel()
            found += np.bincount((rows + self.figure[before]).ravel(), change, len(found))
        return found.reshape(len(figures), size)

    def _steps(self, figures: Figures) -> list[Array]:
        """The node at which each row is in each tree, (row, tree), after each step."""
        table = figures.astype(np.float32)
        rows = np.arange(len(table))[:, None]
        steps = [np.broadcast_to(self.roots, (len(table), len(self.roots)))]
        for _ in range(self.depth):
            here = steps[-1]
            goes_left = table[rows, self.figure[here]] <= self.threshold[here]
            steps.append(np.where(goes_left, self.left[here], self.right[here]))
        return steps


@cache
def shipped() -> Trees:
    """The trees that come with us."""
    file = map_arrays(Path(__file__).with_name(SHIPPED))
    roots, figure, left, right = (
        file[name].astype(np.int64) for name in ("roots", "figure", "left", "right")
    )
    depth, fields = int(file.about["depth"]), tuple(file.about["fields"])
    return Trees(roots, figure, file["threshold"], left, right, file["value"], depth, fields)
