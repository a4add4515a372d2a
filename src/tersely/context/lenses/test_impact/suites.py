"""The definitions that are tests, by the conventions of each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache

from tersely.code.languages.runners.conventions import CONVENTIONS, Conventions
from tersely.code.languages.runners.runner import SelectedTest
from tersely.code.places import file_name_of, is_test
from tersely.code.symbols import CALLABLE_KINDS, Kind, Symbol

_NO_CONVENTIONS = Conventions(runners=())


class Suites:
    """The tests of one repository. Both callables are asked about paths of the index."""

    def __init__(
        self, symbols_of: Callable[[str], list[Symbol]], source_of: Callable[[str], bytes]
    ) -> None:
        self._source_of = cache(source_of)
        self.symbols: Callable[[str], dict[str, Symbol]] = cache(
            lambda path: {symbol.id: symbol for symbol in symbols_of(path)}
        )
        self.functions: Callable[[str], list[Symbol]] = cache(self._functions)

    def test_of(self, symbol: Symbol) -> SelectedTest | None:
        """The test that a symbol is, or is part of; None for what only helps tests, and for all
        other code.
        """
        conventions = conventions_of(symbol)
        if not (conventions.anywhere or is_test(symbol.path)):
            return None
        for around in self._outward(symbol):
            if self._is_test_function(around):
                return SelectedTest(symbol.path, around.qualname)
        is_whole = symbol.kind is Kind.MODULE and self.holds_tests(symbol.path, symbol.language)
        return SelectedTest(symbol.path) if is_whole else None

    def run_with(self, symbol: Symbol) -> list[Symbol]:
        """The tests around each of which a function runs."""
        if not self._fits(
            symbol, conventions_of(symbol).around, conventions_of(symbol).around_header
        ):
            return []
        return [test for test in self.functions(symbol.path) if test.parent == symbol.parent]

    def holds_tests(self, path: str, language: str) -> bool:
        """True if a file has tests that can be run: some test function, where the language has
        such. What lies in a folder of fixtures is for tests to read.
        """
        conventions = CONVENTIONS.get(language, _NO_CONVENTIONS)
        is_beside = file_name_of(path) == conventions.setup or "fixtures" in path.split("/")
        if is_beside or not (is_test(path) and re.search(conventions.file, path)):
            return False
        return bool(self.functions(path)) or not (conventions.name or conventions.header)

    def tests(self, path: str) -> list[Symbol]:
        """The test functions of a file; where its language has none, the file as a whole."""
        modules = [one for one in self.symbols(path).values() if one.kind is Kind.MODULE]
        whole = [one for one in modules if self.holds_tests(path, one.language)]
        return self.functions(path) or whole

    def has_others(self, path: str, language: str, known: Collection[SelectedTest]) -> bool:
        """True if a file has tests that can be run and are not all known already."""
        if not self.holds_tests(path, language) or SelectedTest(path) in known:
            return False
        functions = self.functions(path)
        return not functions or any(self.test_of(one) not in known for one in functions)

    def _functions(self, path: str) -> list[Symbol]:
        return [symbol for symbol in self.symbols(path).values() if self._is_test_function(symbol)]

    def _outward(self, symbol: Symbol) -> list[Symbol]:
        """A symbol and those around it, the outermost first."""
        found = [symbol]
        while (parent := self.symbols(symbol.path).get(found[0].parent)) is not None:
            found.insert(0, parent)
        return found

    def _is_test_function(self, symbol: Symbol) -> bool:
        conventions = conventions_of(symbol)
        return self._fits(symbol, conventions.name, conventions.header)

    def _fits(self, symbol: Symbol, name: str, header: str) -> bool:
        is_setup = file_name_of(symbol.path) == conventions_of(symbol).setup
        if symbol.kind not in CALLABLE_KINDS or symbol.kind is Kind.LAMBDA or is_setup:
            return False
        if name and re.match(name, symbol.name):
            return is_test(symbol.path)
        return bool(header and re.search(header, self._header(symbol)))

    def _header(self, symbol: Symbol) -> str:
        """The text before the body: annotations, attributes, the comment above."""
        start = (
            symbol.doc_start_byte
            if 0 < symbol.doc_start_byte < symbol.start_byte
            else symbol.start_byte
        )
        return self._source_of(symbol.path)[start : symbol.signature_end_byte].decode(
            "utf-8", "replace"
        )


def conventions_of(symbol: Symbol) -> Conventions:
    """The conventions by which the language of a symbol writes tests."""
    return CONVENTIONS.get(symbol.language, _NO_CONVENTIONS)
