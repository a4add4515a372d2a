"""Routines of files, read on demand and kept while the text stays the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from tersely.code.expressions import last_part
from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import routine_at
from tersely.code.languages.registry import LANGUAGES, with_control_flow
from tersely.code.routines import Routine, Routines
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.hashing import content_hash

MAX_KEPT_FLOW_FILES = 32  # whose routines stay in memory
# of a file that are read one by one: each takes about a fifth of the time that all of it takes
MAX_PARTS = 4


class FlowReader:
    """Reads the routines of files of a repository."""

    def __init__(self, source_of: Callable[[str], bytes]) -> None:
        self._source_of = source_of
        self._kept: OrderedDict[tuple[str, bytes, range | None], Routines] = OrderedDict()

    def routines(self, path: str, language: str) -> Routines:
        """All routines of a file; raises `unsupported_language` for a language without a
        control-flow table.
        """
        return self._read(path, language, None)

    def at_line(self, path: str, language: str, line: int) -> tuple[Routines, int]:
        """The routines of a file, with the position of the innermost one that contains a line.

        The rest are the routines that it needs.
        """
        part = self._read(path, language, range(line, line + 1))
        at = routine_at(part, line)
        if part.routines[at].kind == "function":
            return part, at
        whole = self.routines(path, language)
        return whole, routine_at(whole, line)

    def of_symbol(self, symbol: Symbol) -> tuple[Routines, int]:
        """The routines of a symbol's file, with the position of the routine of a function, class or
        module.

        The rest are the routines that it needs.
        """
        if symbol.kind is Kind.MODULE:
            return self.routines(symbol.path, symbol.language), 0
        lines = (
            None if symbol.kind in CLASS_KINDS else range(symbol.start_line, symbol.end_line + 1)
        )
        routines = self._read(symbol.path, symbol.language, lines)
        at = routine_of(routines, symbol)
        if at < 0 or routines.routines[at].kind != "function":
            # of which a part of the file says too little
            routines = self.routines(symbol.path, symbol.language)
            at = routine_of(routines, symbol)
        if at < 0:
            what = f"{symbol.id} is a {symbol.kind.value}: it has no statements of its own"
            raise TerselyError("no_statements", what, "name a function, a class or a file")
        return routines, at

    def _read(self, path: str, language: str, lines: range | None) -> Routines:
        source = self._source_of(path)
        text = (language, content_hash(source))
        kept = [key[2] for key in self._kept if key[:2] == text]
        key = (
            *text,
            None if None in kept or (lines not in kept and len(kept) >= MAX_PARTS) else lines,
        )
        if key not in self._kept:
            self._kept[key] = with_effects(_routines_of(source, language, lines))
            while len(self._kept) > MAX_KEPT_FLOW_FILES:
                self._kept.popitem(last=False)
        return self._kept[key]


def named_functions(source: bytes, language: str) -> list[Routine]:
    """The named functions of a text, without the effects of their calls. Raises as `routines` does."""
    routines = _routines_of(source, language, None).routines
    return [
        one
        for one in routines
        if one.kind == "function" and not last_part(one.name).startswith("<")
    ]


def _routines_of(source: bytes, language: str, lines: range | None) -> Routines:
    from tersely.code.syntax.cfg.read import read_routines

    known = LANGUAGES[language]
    if not known.control:
        raise TerselyError(
            "unsupported_language",
            f"this needs control flow, which is not read in {language}",
            f"it is read in {', '.join(with_control_flow())} alone",
        )
    return read_routines(source, known, lines)


def routine_of(routines: Routines, symbol: Symbol) -> int:
    """The position of the routine that a symbol is, -1 if it is none."""
    last = symbol.name
    inside = [
        at
        for at, routine in enumerate(routines.routines)
        if at
        and symbol.start_line <= routine.line <= symbol.name_line + 1
        and routine.end_line <= symbol.end_line
    ]
    named = [at for at in inside if last_part(routines.routines[at].name) == last]
    return next(iter(named or inside), -1)
