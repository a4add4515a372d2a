"""What a compiler decides of a call site, and whether our answer agrees.

What is agreed:

- A site is decided if the compiler names a function, method or class of the repository there, or something outside of
  it. Where it stops at a name, a local one, a parameter or a field, it does not say what is called: set aside.
- A class and its constructor are one. An interface's method and what implements it are one: what the index relates,
  and what has the name of a method without a body.
- Found by name alone is not found; `by_name` counts the sites that such an answer would add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from bench.compiler.scip import LOCAL, CompilerIndex, Place, last_name
from bench.compiler.sites import NO_ANSWER, Answer, Site, our_answers, written_calls
from tersely.code.engine import Engine
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Symbol


class Outcome(StrEnum):
    """What became of a site."""

    RIGHT = "right"
    WRONG = "wrong"  # we name something else, or more
    MISSED = "missed"
    BY_NAME = "found by name alone"
    OUTSIDE = "outside"  # the compiler names something outside the repository, and we nothing of it
    ASIDE = "set aside"


class Verdict(NamedTuple):
    """One decided site. `expected` and `extra` are symbol ids, or places where we have no symbol."""

    site: Site
    outcome: Outcome
    expected: tuple[str, ...]
    extra: tuple[str, ...]
    is_found: bool


class Judge:
    """An indexed repository beside the index of a compiler."""

    def __init__(self, engine: Engine, compiler: CompilerIndex) -> None:
        self.engine = engine
        self.compiler = compiler
        self.symbols = {symbol.id: symbol for symbol in engine.store.symbols()}
        self._at: dict[tuple[str, int], list[Symbol]] = {}
        for symbol in self.symbols.values():
            if symbol.kind in CALLABLE_KINDS | CLASS_KINDS:
                self._at.setdefault((symbol.path, symbol.name_line), []).append(symbol)

    def verdicts(self) -> Iterator[Verdict]:
        """Every site of the files that both have read."""
        for file in self.engine.store.files():
            if file.path not in self.compiler.encodings:
                continue
            lines = self.engine.source(file.path).split(b"\n")
            answers = our_answers(self.engine.graph, file.path)
            named: dict[Site, set[str]] = {}
            for site, byte in written_calls(self.engine, file.path, file.language):
                column = self.compiler.column(file.path, lines[site.line - 1], byte)
                found = self.compiler.symbols.get(Place(file.path, site.line - 1, column), set())
                named.setdefault(site, set()).update(found)
            for site, symbols in sorted(named.items()):
                yield self.judged(site, symbols, answers.get(site, NO_ANSWER))

    def judged(self, site: Site, symbols: set[str], answer: Answer) -> Verdict:
        """One site: the symbols that the compiler has there beside our answer."""
        wanted = self._ours(symbols)
        is_outside = bool(symbols) and not any(map(self._is_inside, symbols))
        if not wanted and not is_outside:
            return Verdict(site, Outcome.ASIDE, (), (), False)
        agreeing = wanted | self._ours({one for symbol in symbols for one in self.compiler.family(symbol)})
        ours = {self._whole(one) for one in answer.by_value}
        by_name = {self._whole(one) for one in answer.by_name}
        extra = {one for one in ours - agreeing if not self._implements(one, wanted)}
        is_found = bool(ours - extra)
        outcome = self._outcome(bool(wanted), is_found, bool(extra), bool(by_name & agreeing))
        return Verdict(site, outcome, tuple(sorted(wanted)), tuple(sorted(extra)), is_found)

    def _outcome(self, is_ours: bool, is_found: bool, is_too_much: bool, is_guessed: bool) -> Outcome:
        if is_too_much:
            return Outcome.WRONG
        if not is_ours:
            return Outcome.OUTSIDE
        if is_found:
            return Outcome.RIGHT
        return Outcome.BY_NAME if is_guessed else Outcome.MISSED

    def _is_inside(self, symbol: str) -> bool:
        return symbol.startswith(LOCAL) or symbol in self.compiler.definitions

    def _ours(self, symbols: Iterable[str]) -> set[str]:
        """What we have where some symbols of the compiler are defined, under the same name."""
        found: set[str] = set()
        for symbol in symbols:
            name = last_name(symbol)
            for place in self.compiler.definitions.get(symbol, ()) if name else ():
                here = self._at.get((place.path, place.line + 1), ())
                found.update(self._whole(one.id) for one in here if one.name == name)
        return found

    def _whole(self, symbol_id: str) -> str:
        """A constructor as its class."""
        symbol = self.symbols.get(symbol_id)
        around = self.symbols.get(symbol.parent) if symbol is not None else None
        if symbol is None or around is None or around.kind not in CLASS_KINDS:
            return symbol_id
        is_constructor = symbol.name in LANGUAGES[symbol.language].resolution.constructors
        return around.id if is_constructor else symbol_id

    def _implements(self, symbol_id: str, wanted: set[str]) -> bool:
        """Whether what we name stands for a method without a body of the same name."""
        mine = self.symbols.get(symbol_id)
        bodiless = [one for one in wanted if self._has_no_body(self.symbols[one])]
        return mine is not None and any(self.symbols[one].name == mine.name for one in bodiless)

    def _has_no_body(self, symbol: Symbol) -> bool:
        return symbol.kind in CALLABLE_KINDS and symbol.signature_end_byte == symbol.end_byte


class Figures(NamedTuple):
    """Sums over the verdicts of a repository."""

    expected: int  # sites where the compiler names something of the repository
    found: int
    extra: int  # things that we name and the compiler does not
    by_name: int
    aside: int

    @property
    def precision(self) -> float:
        """Share of right ones among what we name."""
        return self.found / (self.found + self.extra) if self.found + self.extra else 0.0

    @property
    def recall(self) -> float:
        """Share of found ones among the sites."""
        return self.found / self.expected if self.expected else 0.0


def figures(verdicts: list[Verdict]) -> Figures:
    """What the verdicts come to."""
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    return Figures(
        expected=sum(bool(verdict.expected) for verdict in verdicts),
        found=sum(verdict.is_found for verdict in verdicts),
        extra=sum(len(verdict.extra) for verdict in verdicts),
        by_name=outcomes[Outcome.BY_NAME],
        aside=outcomes[Outcome.ASIDE],
    )
