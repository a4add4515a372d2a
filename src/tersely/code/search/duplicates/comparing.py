"""Functions of the collection as symbols, with their code and what differs between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tersely.code.search.duplicates.collection import Functions
from tersely.code.search.duplicates.differences import Difference, differences
from tersely.code.search.duplicates.shingles import code_of
from tersely.code.symbols import Symbol


class Comparing:
    """Looks up functions by their number in a collection."""

    def __init__(
        self,
        functions: Functions,
        source_of: Callable[[str], bytes],
        symbols_of: Callable[[str], list[Symbol]],
    ) -> None:
        self._functions = functions
        self._source_of = cache(source_of)
        self._symbols_of: Callable[[str], list[Symbol]] = cache(symbols_of)

    def symbol(self, index: int) -> Symbol:
        """A function as a symbol."""
        return self._symbols_of(self._functions.path(index))[
            int(self._functions.table.positions[index])
        ]

    def index_of(self, symbol: Symbol) -> int | None:
        """The number of a symbol, None for one that is not compared: no function, or one without a
        body.
        """
        position = next(
            at for at, other in enumerate(self._symbols_of(symbol.path)) if other.id == symbol.id
        )
        return self._functions.index_of(symbol.path, position)

    def is_within(self, one: int, other: int) -> bool:
        """True if of two functions of a file one stands inside of the other."""
        first, second = self.symbol(one), self.symbol(other)
        inner, outer = (first, second) if first.start_byte >= second.start_byte else (second, first)
        return inner.end_byte <= outer.end_byte

    def differences(self, one: int, other: int) -> list[Difference]:
        """The differences between the code of two functions, their documentation and their names
        aside.
        """
        names = Difference(self.symbol(one).name, self.symbol(other).name)
        return [
            found for found in differences(self._code(one), self._code(other)) if found != names
        ]

    def _code(self, index: int) -> str:
        symbol = self.symbol(index)
        return code_of(symbol, self._source_of(symbol.path)).decode("utf-8", "replace")
