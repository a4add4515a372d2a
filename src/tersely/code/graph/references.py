"""The references to a definition: the names that mean it, in calls, types, bases, imports, reads
and writes.

Candidates are the names in the files that mention it, where the semantics of the file allow that they
mean it; each is resolved as one that is asked for by its place. A member of something of which
nothing is known counts by name, where few definitions have the name. Calls that the call graph has
found count as well where the name alone leads elsewhere: to what the definition overrides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from math import inf
from typing import NamedTuple

from tersely.code.expressions import Expression
from tersely.code.graph.callgraph import MAX_WALK_WORK, WALK_LIMIT, CallGraph
from tersely.code.graph.definition import NAMED_KINDS, Definitions, NameUse, SymbolsMeant
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import MAX_NAMESAKES
from tersely.code.graph.searches.searches import SEARCH_LIMIT
from tersely.code.nodes import (
    ImportedValue,
    Member,
)
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS, CallSite, Edge, Grade, Kind
from tersely.code.syntax.nodes.uses import Use

MAX_REFERENCE_FILES = 300  # files that mention a name and are read for what it means there
MAX_WORK_UNCALLED = 4_000  # equations for the names of a function of which no call was found
MAX_FILE_SHARE = 0.25  # of the work that is left, for the names in one file
KEPT_SYMBOLS = 100  # whose references stay known: an editor asks for them and for their lenses
MAX_KEPT_PATTERNS = 1_000  # of names that are looked for in texts
_QUOTES = (b"'", b'"', b"`")  # before the key of a mapping
_IS_INSIDE = re.compile(rb"[\w\x80-\xff]").match  # whether a byte goes on with a name


class Reference(NamedTuple):
    """A name that means a definition. `column` counts from 1, in characters; `owner` is the symbol
    around it.
    """

    path: str
    line: int
    column: int
    owner: str
    use: Use
    grade: Grade
    rule: str = ""  # of the framework by which it means the definition


class References:
    """References to definitions over one call graph; `source_of` gives the text of a file."""

    def __init__(self, graph: CallGraph, source_of: Callable[[str], bytes]) -> None:
        self._graph = graph
        self._program = graph.program
        self._source_of = source_of
        self._meant = SymbolsMeant(graph)
        self._known = lru_cache(KEPT_SYMBOLS)(partial(self._program.notes.collect, self._find))

    def of(self, symbol_id: str) -> list[Reference]:
        """Every reference to a symbol, by path and place; nothing for a module or a symbol that is
        not there.
        """
        found, bounds = self._known(symbol_id)
        self._program.notes.add(*bounds)
        return list(found)

    def _find(self, symbol_id: str) -> list[Reference]:
        place = self._graph.place(symbol_id)
        if place is None or place[1] == 0:
            return []
        wanted = _Wanted(symbol_id, *place)
        found = list[Reference]()
        with self._program.within(MAX_WALK_WORK, WALK_LIMIT):
            wanted.calls.update(self._calls_of(symbol_id))
        has_no_known_call = wanted.is_callable and not wanted.calls
        most = MAX_WORK_UNCALLED if has_no_known_call else inf
        self._graph.evaluator.searches.within_work(self._search, wanted, found, most=most)
        written = {(each.path, each.line) for each in found if each.use is Use.CALL}
        unnamed = [
            call for site, call in wanted.calls.items() if (site.path, site.line) not in written
        ]
        return sorted({*found, *unnamed, *self._links(wanted)})

    def _search(self, wanted: _Wanted, found: list[Reference]) -> None:
        """Find the names, the nearest files first. Each file may cost a part of what is left, so
        that none takes all.
        """
        definitions, work = Definitions(self._graph, self._source_of), self._program.bounds
        for other in map(self._program.file, self._files(wanted)):
            with self._program.within(MAX_FILE_SHARE * work.left, SEARCH_LIMIT):
                found += self._in_file(other, wanted, definitions)

    def _links(self, wanted: _Wanted) -> Iterator[Reference]:
        """The places that name the route of a handler, in code and in templates."""
        is_handler = any(call.rule for call in wanted.calls.values())
        place = (wanted.file.id, wanted.position)
        for link in self._graph.evaluator.topics.links_to(place) if is_handler else ():
            yield Reference(*link[:4], Use.LINK, Grade.INFERRED, link.rule)

    def edges(self, symbol_id: str) -> list[Edge]:
        """The same but for links, as edges of the symbols around, each as sure as its surest
        reference.
        """
        by_owner: dict[str, list[Reference]] = {}
        for each in self.of(symbol_id):
            if each.use is not Use.LINK:
                by_owner.setdefault(each.owner, []).append(each)
        order = list(Grade)
        return [
            Edge(
                owner,
                symbol_id,
                min((each.grade for each in group), key=order.index),
                tuple(dict.fromkeys(CallSite(each.path, each.line) for each in group)),
            )
            for owner, group in sorted(by_owner.items())
        ]

    def _calls_of(self, symbol_id: str) -> dict[CallSite, Reference]:
        """The calls that the call graph knows, each as a reference from the beginning of its line."""
        return {
            site: Reference(site.path, site.line, 1, edge.caller, Use.CALL, edge.grade, edge.rule)
            for edge in self._graph.callers(symbol_id)
            for site in edge.sites
        }

    def _files(self, wanted: _Wanted) -> list[int]:
        """The files that may write the name, its own first, then the nearest; where they are too
        many, this is noted.
        """
        home = wanted.file
        others = {*self._program.mentioning(wanted.name, home)}
        others |= self._graph.evaluator.aliases.importers(home.id)
        every = [home.id, *self._program.nearest(others - {home.id}, home)]
        if len(every) > MAX_REFERENCE_FILES:
            files = f"{MAX_REFERENCE_FILES} of {len(every):,} files with {wanted.name}"
            self._program.notes.add(f"references were looked for in {files}")
        return every[:MAX_REFERENCE_FILES]

    def _in_file(
        self, other: File, wanted: _Wanted, definitions: Definitions
    ) -> Iterator[Reference]:
        source = self._source_of(other.path)
        names = [wanted.name, *self._aliases(other, wanted)]
        written = {
            name: places
            for name, places in _written(source, names).items()
            if self._may_refer(other, name, source, places, wanted)
        }
        lines = dict(sorted(each for places in written.values() for each in places.items()))
        for use in definitions.names(other, source, lines) if lines else ():
            grade = self._grade(other, use, wanted)
            if grade is not None:
                start = use.token.offset
                column = (
                    len(
                        source[source.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
                    )
                    + 1
                )
                owner = self._program.symbol_id(other.id, other.named_owner(use.scope))
                yield Reference(other.path, use.line, column, owner, use.use, grade)

    def _may_refer(
        self, other: File, name: str, source: bytes, places: Mapping[int, int], wanted: _Wanted
    ) -> bool:
        """True if a name may mean the definition at some places of a file, by the semantics of the
        file.
        """
        lines = {*places.values()}
        if other.id == wanted.file.id:
            lines -= wanted.own_line(name, source, places)
            if not (lines and wanted.is_callable):
                return bool(lines)
            if any(CallSite(other.path, line) in wanted.calls for line in lines):
                return True
        if any(symbol == wanted.id for symbol in self._meant.of(other, name, lines)):
            return True
        return any(
            self._is_member_of_unknown(other, scope, expression, wanted)
            for scope, _, expression in other.uses.members_named(name, lines)
        )

    def _aliases(self, other: File, wanted: _Wanted) -> list[str]:
        """The names under which a file imports the definition, or the whole of its module."""
        originals = (wanted.name, other.semantics.default_export, other.semantics.module_object)
        return [
            name
            for name in other.names(0)
            if name != wanted.name
            and any(
                isinstance(entry, ImportedValue) and entry.name in originals
                for _, entry in other.bindings(0, name)
            )
        ]

    def _grade(self, other: File, use: NameUse, wanted: _Wanted) -> Grade | None:
        """The grade with which a name means the definition, None if it does not."""
        is_named = use.names >= 0 and other.kind(use.names) != Kind.EXTENSION
        if is_named or wanted.is_own_name(other, use):
            return None
        member = use.token.member
        if any(place.symbol == wanted.id for place in use.places):
            if other.semantics.by_name:
                return Grade.BY_NAME
            return (
                Grade.EXACT
                if member is None
                else self._graph.evaluator.grades.of_member(other, *member)
            )
        call = wanted.calls.get(CallSite(other.path, use.line))
        if call is not None and use.use is Use.CALL and use.token.name == wanted.name:
            return call.grade
        is_guessed = (
            member is not None
            and not use.places
            and self._is_member_of_unknown(other, *member, wanted)
        )
        return Grade.BY_NAME if is_guessed else None

    def _is_member_of_unknown(
        self, other: File, scope: int, expression: Expression, wanted: _Wanted
    ) -> bool:
        """True if a member of the name is one of something of which nothing is known, and few
        definitions have the name.
        """
        name = wanted.name
        if not isinstance(expression, Member):
            return False
        is_namesake = wanted.is_member and expression.name == name
        is_common = name in other.semantics.common_members
        if not is_namesake or is_common or len(self._program.named(name)) > MAX_NAMESAKES:
            return False
        return not self._graph.evaluator.values(other, scope, expression.object)


class _Wanted:
    """The definition that is looked for, and the calls of it that are known."""

    def __init__(self, symbol_id: str, file: File, position: int) -> None:
        self.id = symbol_id
        self.file = file
        self.position = position
        own = file.definitions[position]
        self.name, self.line = own.name, own.name_line
        self.is_value = own.kind in VALUE_KINDS
        self.is_callable = own.kind in CALLABLE_KINDS
        # whether it is what has a name of its own in the source
        self._is_named = own.kind in NAMED_KINDS
        self._own = -1  # the offset of its own name
        self.is_member = file.owner_class(position) >= 0
        self.calls: dict[CallSite, Reference] = {}

    def own_line(self, name: str, source: bytes, places: Mapping[int, int]) -> set[int]:
        """The line on which a function or class gets a name, if nothing else there is written so."""
        own = [offset for offset, line in places.items() if line == self.line]
        is_own = self._is_named and name == self.name and len(own) == 1
        # a key is no name by itself
        return {self.line} if is_own and source[own[0] - 1 : own[0]] not in _QUOTES else set()

    def is_own_name(self, other: File, use: NameUse) -> bool:
        """True if a name is where a value itself gets it: on its line the first that is not its
        type.
        """
        is_there = self.is_value and other.id == self.file.id and use.line == self.line
        if not is_there or use.use is Use.TYPE or self._own >= 0:
            return self._own == use.token.offset
        self._own = use.token.offset
        return True


def _written(source: bytes, names: Iterable[str]) -> dict[str, dict[int, int]]:
    """The offsets at which a source writes some names, with their lines, by name."""
    found: dict[str, dict[int, int]] = {}
    for name in names:
        line, last = 1, 0
        for match in _end_of(name).finditer(source):
            start = match.start()
            if not _IS_INSIDE(source, max(0, start - 1), start):
                line += source.count(b"\n", last, start)
                last = start
                found.setdefault(name, {})[start] = line
    return found


@lru_cache(MAX_KEPT_PATTERNS)
def _end_of(name: str) -> re.Pattern[bytes]:
    """A pattern for the end of words in a name. One that began by looking back could not skip to
    its text.
    """
    return re.compile(re.escape(name).encode() + rb"(?![\w\x80-\xff])")
