"""Routines of files, read on demand and kept while the text stays the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from laconic.code.flow.effects import with_effects
from laconic.code.languages.registry import LANGUAGES
from laconic.code.routines import Routines
from laconic.code.symbols import Kind, Symbol
from laconic.foundation.errors import LaconicError
from laconic.foundation.hashing import content_hash
from laconic.foundation.limits import MAX_KEPT_FLOW_FILES

NO_FLOW = "none"  # the level of a language whose control flow is not known


class FlowReader:
    """Reads the routines of files of a repository."""

    def __init__(self, source_of: Callable[[str], bytes]) -> None:
        self._source_of = source_of
        self._kept: OrderedDict[tuple[str, bytes], Routines] = OrderedDict()

    def routines(self, path: str, language: str) -> Routines:
        """All routines of a file; raises `unsupported_language` where nothing is known of how statements run."""
        source = self._source_of(path)
        key = (language, content_hash(source))
        if key not in self._kept:
            from laconic.code.syntax.control.read import read_routines

            self._kept[key] = with_effects(read_routines(source, LANGUAGES[language]))
            while len(self._kept) > MAX_KEPT_FLOW_FILES:
                self._kept.popitem(last=False)
        found = self._kept[key]
        if found.level == NO_FLOW:
            raise LaconicError("unsupported_language", f"control flow of {language} is not read", "see docs/flow.md")
        return found

    def of_symbol(self, symbol: Symbol) -> tuple[Routines, int]:
        """The routine that a function, class or module is, with those of its file."""
        routines = self.routines(symbol.path, symbol.language)
        if symbol.kind is Kind.MODULE:
            return routines, 0
        at = routine_of(routines, symbol)
        if at < 0:
            what = f"{symbol.id} is a {symbol.kind.value}: it has no statements of its own"
            raise LaconicError("no_statements", what, "name a function, a class or a file")
        return routines, at


def routine_of(routines: Routines, symbol: Symbol) -> int:
    """The position of the routine that a symbol is, -1 if it is none."""
    last = symbol.name
    inside = [
        at
        for at, routine in enumerate(routines.routines)
        if at and symbol.start_line <= routine.line <= symbol.name_line + 1 and routine.end_line <= symbol.end_line
    ]
    named = [at for at in inside if routines.routines[at].name.rpartition(".")[2] == last]
    return named[0] if named else inside[0] if inside else -1
