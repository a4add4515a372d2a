"""The answers to the symbol lens, from the call graph and the index of one revision."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import cache

from tersely.code.graph.callgraph import CallGraph, SparingGraph
from tersely.code.graph.pointsto.values import (
    ClassObject,
)
from tersely.code.index.storage.store import Store
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import (
    CALLABLE_KINDS,
    CLASS_KINDS,
    MEMBER_OWNERS,
    Edge,
    Import,
    Kind,
    Symbol,
)
from tersely.code.syntax.names_alone import names_alone
from tersely.context.lenses.candidate import View
from tersely.context.lenses.mentions import DEPENDENCY_KINDS, Used, declared_in, mentioned
from tersely.context.lenses.symbol import around, nothing
from tersely.foundation.limits import DEFAULT_DEPTH_HOPS
from tersely.foundation.types import Strings

MAX_SIBLING_SYMBOLS = 16  # of the file of a target, the nearest
MAX_VISIBLE_FILES = 1_000  # through whose imports one name is followed
VISIBLE_LIMIT = f"names were followed through at most {MAX_VISIBLE_FILES:,} imported files"
ALL_NAMES = "*"
_LAST_PART = re.compile(r"\w+$")
SIBLING_KINDS = (CALLABLE_KINDS | CLASS_KINDS) - {Kind.LAMBDA}


def view_of(
    targets: Sequence[Symbol],
    neighbours: Neighbours,
    *,
    depth: int = DEFAULT_DEPTH_HOPS,
    siblings: bool = False,
    callers: bool = True,
) -> View:
    """The symbol lens on an indexed repository; with `siblings`, what stands in the files of the
    targets comes last. Without `callers` nobody asks who calls them.
    """
    return around(
        targets,
        neighbours,
        depth=depth,
        callers=callers,
        uses=neighbours.uses,
        members=neighbours.definitions,
        beside=neighbours.beside if siblings else nothing,
        popularity=neighbours.popularity,
    )


class Neighbours:
    """Callers, callees, members and compile-time dependencies of symbols; each question is answered
    once.
    """

    def __init__(self, graph: CallGraph, store: Store, source_of: Callable[[str], bytes]) -> None:
        graph = SparingGraph(graph)
        self._program = graph.program
        self._imports = graph.imports
        self._store = store
        self._place = graph.place
        self._linearised = graph.evaluator.inheritance.linearised
        self._source_of = source_of
        self.callers: Callable[[str], list[Edge]] = cache(graph.callers)
        self.callees: Callable[[str], list[Edge]] = cache(graph.callees)
        self.symbol: Callable[[str], Symbol | None] = cache(store.symbol)
        self._imports_of: Callable[[str], list[Import]] = cache(store.imports)
        self._top_level: Callable[[str], dict[str, Symbol]] = cache(
            lambda path: declared_in(store.symbols_of(path))
        )
        self._named_imports: Callable[[str], dict[str, list[Import]]] = cache(
            self._find_named_imports
        )
        self._wholesale: Callable[[str], Strings] = cache(self._find_wholesale)
        self._visible: Callable[[str, str], Symbol | None] = cache(self._find_visible)

    def popularity(self, symbol: Symbol) -> int:
        """The number of files that mention the name of a symbol."""
        return len(self._store.files_mentioning(symbol.name))

    def members(self, symbol: Symbol) -> list[Symbol]:
        """The symbols directly inside a class, none for other symbols."""
        if symbol.kind not in CLASS_KINDS:
            return []
        return [other for other in self._store.symbols_of(symbol.path) if other.parent == symbol.id]

    def definitions(self, symbol: Symbol) -> list[Symbol]:
        """The members of a class; of a module all functions and classes that are in no function,
        and its values.
        """
        if symbol.kind is not Kind.MODULE:
            return self.members(symbol)
        listed = self._store.symbols_of(symbol.path)
        functions = {one.id for one in listed if one.kind in CALLABLE_KINDS}
        return [
            one
            for one in listed
            if one.parent not in functions
            and (one.kind in SIBLING_KINDS or one.parent == symbol.id)
        ]

    def beside(self, symbol: Symbol) -> list[Symbol]:
        """Functions and classes of the same file that are no part of the symbol, nor it of them,
        the nearest first.
        """
        listed = self._store.symbols_of(symbol.path)
        functions = {one.id for one in listed if one.kind in CALLABLE_KINDS}
        found = [
            one
            for one in listed
            if one.kind in SIBLING_KINDS
            and one.parent not in functions
            and (one.end_byte <= symbol.start_byte or symbol.end_byte <= one.start_byte)
        ]
        found.sort(key=lambda one: (abs(one.start_line - symbol.start_line), one.start_byte))
        return found[:MAX_SIBLING_SYMBOLS]

    def names_in(self, symbol: Symbol) -> bytes:
        """The file of a symbol, with blanks where the symbol's text has words that are no names."""
        source = self._source_of(symbol.path)
        return names_alone(source, LANGUAGES[symbol.language], symbol.start_byte, symbol.end_byte)

    def uses(self, symbol: Symbol) -> list[Used]:
        """The classes and values whose names the text of a symbol mentions, imported ones included."""
        source = self.names_in(symbol)
        signature = source[symbol.start_byte : symbol.signature_end_byte].decode("utf-8", "replace")
        body = source[symbol.signature_end_byte : symbol.end_byte].decode("utf-8", "replace")
        return mentioned(symbol, signature, body, lambda name: self.meaning(symbol.path, name))

    def meaning(self, path: str, name: str) -> Symbol | None:
        """The meaning of a name at the top level of a file: its own definition, else an imported or
        a shared one.
        """
        own = self._visible(path, name)
        return own if own is not None else self._shared(path, name)

    def inner_meaning(self, symbol: Symbol, name: str) -> Symbol | None:
        """The meaning of a bare name in a symbol by the functions and classes around it: a
        definition in one of them.

        Functions and classes that are called are the call graph's business, where they are members
        of a class.
        """
        place = self._place(symbol.id)
        while place is not None and place[1] > 0:
            file, position = place
            kind = file.kind(position)
            if kind in CALLABLE_KINDS and name in file.names(position):
                return self._defined_in(file.id, position, name, CALLABLE_KINDS | DEPENDENCY_KINDS)
            if kind in MEMBER_OWNERS and file.semantics.implicit_receiver:
                for owner in self._linearised(ClassObject(file.id, position)):
                    found = self._defined_in(*owner.place, name, DEPENDENCY_KINDS)
                    if found is not None:
                        return found
            place = file, file.parent(position)
        return None

    def _defined_in(
        self, file_id: int, position: int, name: str, kinds: Collection[Kind]
    ) -> Symbol | None:
        """The definition of a name that stands directly in another."""
        file = self._program.file(file_id)
        for child in file.named_inside(position, name):
            if file.kind(child) in kinds:
                return self.symbol(self._program.symbol_id(file_id, child))
        return None

    def module(self, path: str, item: Import) -> Symbol | None:
        """The module that an import of a file means, None for what is in a module and for one from
        outside.
        """
        targets = self._imports.targets(path, item)
        if not targets or (item.name and self.meaning(path, item.alias or item.name) is not None):
            return None
        return self.symbol(targets[0])

    def imports(self, path: str) -> list[Import]:
        """The imports of a file."""
        return self._imports_of(path)

    def locals(self, symbol: Symbol) -> frozenset[str]:
        """The names that the function which a symbol is, and those around it, bind to values of
        their own.
        """
        place = self._place(symbol.id)
        found: set[str] = set()
        while place is not None and place[1] > 0:
            file, position = place
            if file.definitions[position].kind in CALLABLE_KINDS:
                found.update(file.names(position))
            place = file, file.parent(position)
        return frozenset(found)

    def _find_visible(self, path: str, name: str) -> Symbol | None:
        """The meaning of a name at the top level of a file by its own definitions and its imports,
        the nearest first.
        """
        pending = deque([(path, name)])
        seen = set(pending)
        while pending:
            current, wanted = pending.popleft()
            for file in self._wholesale(current):
                own = self._top_level(file).get(wanted)
                if own is not None:
                    return own
                for item in self._named_imports(file).get(wanted, ()):
                    taken = wanted if item.name == ALL_NAMES else item.name
                    found = self._imported_member(file, item, taken)
                    if found is not None:
                        return found
                    further = [(target, taken) for target in self._imports.targets(file, item)]
                    pending += [each for each in further if each not in seen]
                    seen.update(further)
            if len(seen) > MAX_VISIBLE_FILES:
                self._program.notes.add(VISIBLE_LIMIT)
                return None
        return None

    def _find_wholesale(self, path: str) -> Strings:
        """A file and those whose names it takes all, by way of others too, each once, in the order
        of the imports.
        """
        found: dict[str, None] = {}
        pending = [path]
        while pending:
            current = pending.pop()
            if current in found:
                continue
            if len(found) == MAX_VISIBLE_FILES:
                self._program.notes.add(VISIBLE_LIMIT)
                break
            found[current] = None
            wholesale = (
                item for item in self._imports_of(current) if (item.alias or item.name) == ALL_NAMES
            )
            targets = [
                target for item in wholesale for target in self._imports.targets(current, item)
            ]
            pending += reversed(targets)
        return tuple(found)

    def _find_named_imports(self, path: str) -> dict[str, list[Import]]:
        """The imports of a file that bind a name, by that name."""
        found: dict[str, list[Import]] = {}
        for item in self._imports_of(path):
            bound = item.alias or item.name
            if bound != ALL_NAMES:
                found.setdefault(bound, []).append(item)
        return found

    def _imported_member(self, path: str, item: Import, name: str) -> Symbol | None:
        """The member that an import takes from a module, or from a class named as if it were one,
        `import a.Outer.Inner`.
        """
        targets = self._imports.targets(path, item)
        own = next(
            (
                found
                for target in targets
                if (found := self._top_level(target).get(name)) is not None
            ),
            None,
        )
        if own is not None:
            return own
        holder_name = _LAST_PART.search(item.module)
        for target in targets if holder_name else ():
            holder = self._top_level(target).get(holder_name[0] if holder_name else "")
            named = (
                (one for one in self.members(holder) if one.name == name)
                if holder is not None
                else ()
            )
            found = next((one for one in named if one.kind in DEPENDENCY_KINDS), None)
            if found is not None:
                return found
        return None

    def _shared(self, path: str, name: str) -> Symbol | None:
        """A definition in a file that shares its top-level names with this one: of the same package
        or namespace.
        """
        program = self._program
        if path not in program.by_path:  # a document
            return None
        sharing = set(program.neighbours(program.file(program.by_path[path])))
        named = self._store.symbols_named(name) if sharing else []
        beside = (
            one
            for one in named
            if one.kind in DEPENDENCY_KINDS and program.by_path[one.path] in sharing
        )
        return next((one for one in beside if self._top_level(one.path).get(name) == one), None)
