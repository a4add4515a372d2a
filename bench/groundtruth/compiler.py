"""A compiler's own index as the truth of call sites: which definition the name means that is called
there.

What is agreed:
- a site is where a call writes a name; it counts where the compiler takes the name to a function or
  class of the
  repository, or out of it. Where the compiler stops at a variable, parameter or field, the site is
  set aside;
- a fact is `path:line -> definition`. What we find there under another name (a callback, an
  operator) is set aside;
- a method and what it implements or overrides are one, also in an object that is written where a
  type is declared: it
  has the name of a method without a body; a class is its constructors, inherited ones included;
- a variable that is given a function where it is declared is that function;
- where the compiler leaves the repository and we find a method of a class that inherits from
  outside, it is set aside;
- by name alone nothing counts as found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from bench.groundtruth.scip import LOCAL, Index, read
from bench.groundtruth.score import CaseResult, failed
from bench.groundtruth.subject import Subject, copied
from tersely.code.graph.dead import has_base_outside
from tersely.code.languages import model
from tersely.code.languages.model import Language
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Symbol, unnumbered

INDEX = "index.scip"
DESCRIPTOR = re.compile(r"(\w+|`[^`]+`)(?:[#.]|\((?:\+\d+)?\)\.)$")
Place = tuple[str, int]


@dataclass(slots=True)
class Site:
    """The calls of one name on one line."""

    inside: set[str] = field(default_factory=set)  # ids of what is called
    outside: bool = False  # something outside the repository is called
    undecided: bool = False


def run(languages: tuple[str, ...], folder: Path) -> Iterator[CaseResult]:
    """A case for each folder `owner+repository` that holds an index; the sources lie beside it in
    the data folder.
    """
    for index in sorted(folder.glob(f"*/{INDEX}")):
        name = index.parent.name
        try:
            with copied(folder.parent / name) as subject:
                yield Compared(subject, read(index), languages).result(name)
        except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
            yield failed(name, (), error)


class Compared:
    """One repository, as the compiler reads it and as we do."""

    def __init__(self, subject: Subject, index: Index, languages: tuple[str, ...]) -> None:
        self.subject = subject
        self.languages = languages
        self.implements = index.implements
        self.ids: dict[str, set[str]] = defaultdict(set)  # our symbols by the compiler's
        self.theirs: dict[str, str] = {}
        self.defined: set[str] = set()
        self.names: dict[tuple[str, int, int], set[str]] = defaultdict(set)
        by_place: dict[Place, list[Symbol]] = defaultdict(list)
        for symbol in subject.symbols.values():
            by_place[symbol.path, symbol.name_line].append(symbol)
        for one in index.occurrences:
            if one.symbol.startswith(LOCAL):
                continue
            if one.is_definition:
                self.defined.add(one.symbol)
                for symbol in by_place[one.path, one.line]:
                    if symbol.kind in CALLABLE_KINDS | CLASS_KINDS and _names(
                        one.symbol, symbol.name
                    ):
                        self.ids[one.symbol].add(symbol.id)
                        self.theirs[symbol.id] = one.symbol
            else:
                self.names[one.path, one.line, one.column].add(one.symbol)

    def result(self, name: str) -> CaseResult:
        """Our edges against the sites."""
        sites = self.sites()
        agreed: set[str] = set()
        extra: set[str] = set()
        on_line: dict[Place, set[str]] = defaultdict(set)
        for (path, line, _), site in sites.items():
            on_line[path, line] |= site.inside
        for path, line, callee in self._found():
            same = {
                symbol for symbol in on_line.get((path, line), ()) if self._is_same(symbol, callee)
            }
            here = [
                sites[path, line, name]
                for name in self._written(callee)
                if (path, line, name) in sites
            ]
            if same:
                agreed.update(f"{path}:{line} -> {symbol}" for symbol in same)
            elif (
                here
                and not any(site.undecided for site in here)
                and not self._is_from_outside(here, callee)
            ):
                extra.add(f"{path}:{line} -> {callee}")
        wanted = {
            f"{path}:{line} -> {callee}"
            for (path, line, _), site in sites.items()
            for callee in site.inside
        }
        return CaseResult(
            name, len(wanted & agreed), tuple(sorted(wanted - agreed)), tuple(sorted(extra))
        )

    def sites(self) -> dict[tuple[str, int, str], Site]:
        """Every call that writes a name, by path, line and name."""
        found: dict[tuple[str, int, str], Site] = defaultdict(Site)
        for path in self.subject.paths():
            symbol = self.subject.symbols[path]
            if symbol.language in self.languages:
                for line, column, name in called_names(
                    self.subject.text(path).encode(), LANGUAGES[symbol.language]
                ):
                    self._add(found[path, line, name], self.names.get((path, line, column), set()))
        return found

    def _add(self, site: Site, symbols: set[str]) -> None:
        ours = {unnumbered(found) for symbol in symbols for found in self.ids.get(symbol, ())}
        site.inside |= ours
        if (
            not ours
            and symbols
            and not symbols & self.defined
            and not any(_is_value(symbol) for symbol in symbols)
        ):
            site.outside = True
        elif not ours:
            site.undecided = True

    def _found(self) -> Iterator[tuple[str, int, str]]:
        for edge in self.subject.engine.graph.edges(guesses=False):
            if edge.callee in self.subject.symbols:
                for site in edge.sites:
                    yield site.path, site.line, unnumbered(edge.callee)

    def _written(self, callee: str) -> set[str]:
        """The names under which a call reaches a definition."""
        symbol = self.subject.symbols[callee]
        names = {symbol.name}
        if self._is_constructor(symbol):
            names.update(self._named(value) for value in self._class_and_below(symbol.parent))
        return names

    def _is_constructor(self, symbol: Symbol) -> bool:
        return symbol.name in LANGUAGES[symbol.language].resolution.constructors

    def _class_and_below(self, symbol_id: str) -> list[str]:
        graph = self.subject.engine.graph
        place = graph.place(symbol_id)
        target = graph.evaluator.bodies.class_of(*place) if place is not None else None
        below = graph.evaluator.inheritance.subclasses(target) if target is not None else []
        return [symbol_id, *(graph.program.symbol_id(value[1], value[2]) for value in below)]

    def _named(self, symbol_id: str) -> str:
        return self.subject.symbols[symbol_id].name if symbol_id in self.subject.symbols else ""

    def _is_same(self, wanted: str, callee: str) -> bool:
        if wanted == callee:
            return True
        symbol = self.subject.symbols[callee]
        if self._is_constructor(symbol) and wanted in self._class_and_below(symbol.parent):
            return True
        ours, theirs = self._above(callee), self._above(wanted)
        return (
            callee in theirs
            or wanted in ours
            or bool(ours & theirs)
            or self._overrides(wanted, callee)
        )

    def _overrides(self, wanted: str, callee: str) -> bool:
        """Whether one is a method of that name in a class below the other's, or a third class has
        both.
        """
        one, other = self.subject.symbols[wanted], self.subject.symbols[callee]
        if one.name != other.name or not one.parent or not other.parent:
            return False
        if one.signature_end_byte == one.end_byte:  # it has no body
            return True
        return bool(
            set(self._class_and_below(one.parent)) & set(self._class_and_below(other.parent))
        )

    def _above(self, symbol_id: str) -> set[str]:
        """What a symbol implements, at any distance."""
        found: set[str] = set()
        pending = [self.theirs.get(symbol_id, "")]
        while pending:
            for above in self.implements.get(pending.pop(), ()):
                if above not in found:
                    found.add(above)
                    pending.append(above)
        return {ours for symbol in found for ours in self.ids.get(symbol, ())}

    def _is_from_outside(self, sites: list[Site], callee: str) -> bool:
        """Whether the compiler means the method of a base from outside that we say overrides it."""
        parent = self.subject.symbols[callee].parent
        place = (
            self.subject.engine.graph.place(parent) if all(site.outside for site in sites) else None
        )
        if place is None or self.subject.symbols[parent].kind not in CLASS_KINDS:
            return False
        return has_base_outside(*place, self.subject.engine.graph.evaluator)


def _names(symbol: str, name: str) -> bool:
    """Whether a compiler's symbol is of that name, by its last descriptor; parameters never are."""
    found = DESCRIPTOR.search(symbol)
    return found is not None and found[1].strip("`") == name


def _is_value(symbol: str) -> bool:
    """Whether a compiler's symbol is a variable, field or parameter, by its descriptor."""
    return symbol.endswith((".", ")")) and not symbol.endswith("().")


def called_names(source: bytes, language: Language) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of the name that each call writes; lines from 1, columns from 0 in
    characters.
    """
    lines = source.split(b"\n")
    pending = [Parser(Grammar(language.grammar())).parse(source).root_node]
    while pending:
        node = pending.pop()
        pending += node.children
        rule = language.rules.get(node.type)
        callee = node.child_by_field_name(rule.callee) if isinstance(rule, model.Call) else None
        name = _last_name(callee, language) if callee is not None else None
        if name is not None and name.text is not None:
            row, column = name.start_point
            yield (
                row + 1,
                len(lines[row][:column].decode(errors="replace")),
                name.text.decode(errors="replace"),
            )


def _last_name(node: Node, language: Language) -> Node | None:
    """The name at the end of a callee, None if it ends in something else."""
    rule = language.rules.get(node.type)
    if isinstance(rule, model.Member):
        return node.child_by_field_name(rule.member)
    return node if isinstance(rule, model.Name) else None
