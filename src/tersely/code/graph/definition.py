"""The definitions of the name at a position, in this file or another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tersely.code.expressions import (
    Expression,
)
from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ContainerLiteral,
    Defined,
    ExternalObject,
    FunctionObject,
    Instance,
    ModuleObject,
    SuperObject,
    Value,
    Values,
    has,
    only,
    own_class,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    Call,
    ConstantValue,
    DefinedHere,
    Displayed,
    ImportedValue,
    Item,
    Member,
    decoded,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, MEMBER_OWNERS, CallSite, Definition
from tersely.code.syntax.nodes.uses import Use
from tersely.code.syntax.trace import Binding, Token, Trace, offset_of, trace

# what a definition with a name of its own in the source is
NAMED_KINDS = CALLABLE_KINDS | CLASS_KINDS
MAX_IMPORT_HOPS = 12  # re-exports that a name is followed through
HOPS_LIMIT = f"names were followed through at most {MAX_IMPORT_HOPS} re-exports"
MAX_PLACES = 40  # of one name; re-exports in circles may bind it in every file
PLACES_LIMIT = f"the first {MAX_PLACES} definitions of the name"

_WORD = re.compile(r"\w+")


class DefinitionPlace(NamedTuple):
    """A place where something is defined. `symbol` is its id, empty for local names."""

    path: str
    line: int
    symbol: str


Places = list[DefinitionPlace]


class NameUse(NamedTuple):
    """A name where it is written, and what it means there."""

    token: Token
    line: int
    scope: int  # the definition in whose scope it is written
    use: Use
    places: Places  # where it is defined
    names: int = -1  # the definition that gets this name here, -1 if none does


class ImportChain(NamedTuple):
    """The re-exports that led to a name: how many, and what the names between mean."""

    hops: int
    # (file, scope, name); nothing yet for one that is being followed
    known: dict[tuple[int, int, str], Places]

    @staticmethod
    def start() -> ImportChain:
        """That of the place where the name is written."""
        return ImportChain(0, {})

    def longer(self) -> ImportChain:
        """That behind one more re-export."""
        return ImportChain(self.hops + 1, self.known)


class Definitions:
    """Definitions of names; `source_of` gives the text of a file."""

    def __init__(self, graph: CallGraph, source_of: Callable[[str], bytes]) -> None:
        self._graph = graph
        self._evaluator = graph.evaluator
        self._program = graph.program
        self._source_of = source_of
        self._traces: dict[int, Trace] = {}

    def at(self, path: str, line: int, column: int) -> Places:
        """The places where the name at a position is defined, nearest first; line from 1, column
        from 0.
        """
        file = self._program.file(self._program.by_path[path])
        source = self._source_of(path)
        if own := self._named_at(file, source, line, column):
            return self._announced(own)
        offset = offset_of(source, line, column)
        if offset < 0:
            return []
        walk = self._read(file, source, [offset])
        found, bounds = self._program.bounds.collect(
            self._meant, file, walk, _token(walk, offset), line
        )
        if not found:
            self._program.notes.add(*bounds)
        if len(found) > MAX_PLACES:
            self._program.notes.add(PLACES_LIMIT)
        return found[:MAX_PLACES]

    def of_member(self, path: str, position: int, name: str) -> Places:
        """The places where a class of a file, or one that it inherits from, defines a member."""
        file = self._program.file(self._program.by_path[path])
        return self._of_class(ClassObject(file.id, position), name)

    def names(self, file: File, source: bytes, lines: Mapping[int, int]) -> Iterator[NameUse]:
        """The same for many names of a file, by their offsets in it, each with its line."""
        walk = self._read(file, source, sorted(lines))
        for offset, line in lines.items():
            token = _token(walk, offset)
            if not walk.is_text(token):
                places = self._meant(file, walk, token, line)
                names = walk.defined.get(token.offset, -1)
                yield NameUse(
                    token, line, walk.innermost(token.offset), walk.use(token), places, names
                )

    def _read(self, file: File, source: bytes, offsets: Sequence[int]) -> Trace:
        walk = self._traces[file.id] = trace(source, file.language, offsets)
        return walk

    def _meant(self, file: File, walk: Trace, token: Token, line: int) -> Places:
        """The definitions of what stands at an offset."""
        found = self._of_token(file, token)
        if walk.is_in_import(token.offset):
            found = [place for place in found if place[:2] != (file.path, line)]
            found = found or self._of_imported_module(file, token.path)
        found = self._overloads_called(file, walk.innermost(token.offset), line, found)
        return self._announced(found or self._written_at(file, token, line))

    def _of_token(self, file: File, token: Token) -> Places:
        """The member that a token names, and the variable, where it names one."""
        if token.key is not None:
            expected = self._evaluator.contexts.mapping(file, token.key.serial)
            found = self._of_members(expected, token.key.name)
        elif token.is_variable and token.member is not None:
            found = self._of_known_member(file, *token.member)
        elif token.member is not None:
            return self._of_member_expression(file, *token.member)
        else:
            return self._of_name(file, token) if token.name else []
        variables = self._of_name(file, token) if token.is_variable else []
        return [*found, *(place for place in variables if place not in found)]

    def _overloads_called(self, file: File, scope: int, line: int, places: Places) -> Places:
        """Of several functions of one name those that a call on the line reaches; all of them if it
        reaches none.
        """
        if len(places) < 2 or not all(self._is_function(place) for place in places):
            return places
        caller = self._program.symbol_id(file.id, file.named_owner(scope))
        site = CallSite(file.path, line)
        called = (edge for edge in self._graph.callees(caller, guesses=False) if site in edge.sites)
        reached = {edge.callee for edge in called}
        return [place for place in places if place.symbol in reached] or places

    def _is_function(self, place: DefinitionPlace) -> bool:
        at = self._graph.place(place.symbol) if place.symbol else None
        if at is None:
            return False
        file, position = at
        return file.kind(position) in CALLABLE_KINDS

    def _announced(self, places: Places) -> Places:
        """Prototypes replaced by the functions that they announce, where there are any."""
        found: Places = []
        for place in places:
            at = self._graph.place(place.symbol) if place.symbol else None
            if at is None or not self._announces(*at) or self._place(*at) != place:
                found.append(place)
                continue
            file, position = at
            value = FunctionObject(file.id, position)
            found += self._of_definitions(self._evaluator.typed.with_bodies(frozenset({value})))
        return list(dict.fromkeys(found))

    def _announces(self, file: File, position: int) -> bool:
        scope = file.body(position)
        return (
            file.semantics.announces and scope is not None and file.kind(position) in CALLABLE_KINDS
        )

    def _written_at(self, file: File, token: Token, line: int) -> Places:
        """The definition whose own name a token is; of the key of a mapping its own line."""
        if token.key is None:
            return self._standing_at(file, line, token.name)
        own = self._standing_at(file, line, token.key.name)
        return own or [DefinitionPlace(file.path, line, "")]

    def _standing_at(self, file: File, line: int, name: str) -> Places:
        """The definition whose own name is asked for."""
        return [
            self._place(file, position)
            for position, definition in enumerate(file.definitions)
            if position and definition.name_line == line and definition.name == name
        ]

    def _named_at(self, file: File, source: bytes, line: int, column: int) -> Places:
        """The callable or class whose own name stands there: to know that, nothing of the file is
        traced. The key of a mapping may mean something else as well.
        """
        text = source.split(b"\n", line)[line - 1 : line]
        word = _word_at(text[0].decode("utf-8", "replace"), column) if text else ""
        return [
            self._place(file, position)
            for position, definition in enumerate(file.definitions)
            if definition.name_line == line
            and definition.name == word
            and definition.kind in NAMED_KINDS
            and not self._is_in_mapping(file, position)
        ]

    def _is_in_mapping(self, file: File, position: int) -> bool:
        scope = file.body(position)
        return scope is not None and isinstance(scope.holder, Displayed)

    def _of_imported_module(self, file: File, path: str) -> Places:
        """The module, or what of it, that a part of an import names."""
        for item in self._trace(file).imports:
            if item.module.startswith(path) and path:
                return self._of_module(file, path)
            if item.name == path:
                return self._of_import(file, item.module, item.name, ImportChain.start())
        return []

    # Members

    def _of_member_expression(self, file: File, scope: int, expression: Expression) -> Places:
        match expression:
            case Item(owner, ConstantValue(key)):
                member = Member(owner, str(key))
            case Member():
                member = expression
            case _:
                return []
        return (
            self._of_known_member(file, scope, member)
            or self._of_values(file, scope, expression)
            or self._assigned_here(file, member.name)
        )

    def _of_known_member(self, file: File, scope: int, member: Member) -> Places:
        """The definitions of a member of something that is known."""
        owner, name = member.object, member.name
        holders = self._evaluator.calls.receivers(file, scope, owner)
        if has(holders, ContainerLiteral):
            declared = self._evaluator.contexts.declared(file, scope, owner)
            if found := self._of_members(_types(declared), name):
                return found
        return [
            *self._of_members(holders, name),
            *self._imported_by_path(file, holders, name),
        ]

    def _imported_by_path(self, file: File, holders: Values, name: str) -> Places:
        """The imports of `a.b` in the file, for `b` of `a`."""
        separator = file.semantics.separator
        paths = {f"{value.name}{separator}{name}" for value in only(holders, ExternalObject)}
        lines = [
            item.line
            for item in self._trace(file).imports
            if item.module in paths and not item.name
        ]
        modules = [
            place for path in sorted(paths) if lines for place in self._of_module(file, path)
        ]
        return [*(DefinitionPlace(file.path, line, "") for line in dict.fromkeys(lines)), *modules]

    def _of_members(self, holders: Values, name: str) -> Places:
        found: dict[DefinitionPlace, None] = {}
        for value in sorted(holders, key=repr):
            for place in self._of_member(value, name):
                found[place] = None
        return list(found)

    def _of_member(self, value: Value, name: str) -> Places:
        if isinstance(value, ModuleObject):
            return self._of_module_name(self._program.file(value.file), name, ImportChain.start())
        if isinstance(value, ContainerLiteral):
            return self._of_key(self._program.file(value.file), value.serial, name)
        if not isinstance(value, (Instance, ClassObject, SuperObject)):
            return []
        return self._of_class(value, name)

    def _of_expected(self, home: File, serial: int, name: str) -> Places:
        """The member of that name which the type declares that a mapping is expected to have."""
        expected = self._evaluator.contexts.mapping(home, serial)
        return self._of_members(_types(expected), name)

    def _of_key(self, home: File, serial: int, name: str) -> Places:
        """The declaration of a key in the type that a list or mapping is expected to have,
        else the places that give it a value.
        """
        if declared := self._of_expected(home, serial, name):
            return declared
        key = int(name) if name.isdigit() else name
        lines = self._trace(home).keys.get((serial, key), ())
        return [DefinitionPlace(home.path, line, "") for line in dict.fromkeys(lines)]

    def _of_class(self, value: Defined, name: str) -> Places:
        owners = self._evaluator.inheritance.linearised(own_class(value))
        for owner in owners[1:] if isinstance(value, SuperObject) else owners:
            file = self._program.file(owner.file)
            for body, position in [
                (file, owner.position),
                *self._evaluator.bodies.added(owner),
            ]:
                if body.definitions[position].kind not in CALLABLE_KINDS and name in body.names(
                    position
                ):
                    return self._of_bindings(body, position, name, ImportChain.start())
                stores = body.stores.receiver_stores(position, name)
                lines = [
                    line for scope, _ in stores for line in self._stored_lines(body, scope, name)
                ]
                if lines:
                    return [DefinitionPlace(body.path, line, "") for line in dict.fromkeys(lines)]
        return []

    def _stored_lines(self, file: File, scope: int, name: str) -> list[int]:
        """Lines inside a scope that assign a member."""
        inside = file.definitions[scope]
        return [
            line
            for offset, line in self._trace(file).stores.get(name, ())
            if inside.start_byte <= offset < inside.end_byte
        ]

    def _assigned_here(self, file: File, name: str, holder: str | None = None) -> Places:
        """The assignments of that member in the file itself, be it of any object or of a name at
        its top level: `exports.name = …`.
        """
        stores = [
            store for store in file.stores.member_stores(name) if holder in (None, store.base)
        ]
        lines = [line for store in stores for line in self._stored_lines(file, store.scope, name)]
        return [DefinitionPlace(file.path, line, "") for line in dict.fromkeys(lines)]

    # Names

    def _of_name(self, file: File, token: Token) -> Places:
        """What a bare name means where it stands: local bindings, members of the classes around,
        the file, imports.
        """
        walk, name = self._trace(file), token.name
        seen = walk.lookup(token)
        inner = seen[0].start if seen else -1
        scope = walk.innermost(token.offset)
        position = scope
        while position > 0 and file.definitions[position].start_byte > inner:
            own = file.definitions[position]
            if file.semantics.implicit_receiver and own.kind in MEMBER_OWNERS:
                found = self._of_class(ClassObject(file.id, position), name)
                if found:
                    return found
            position = own.parent
        if seen and self._is_passed_on(file, token, seen):
            return self._of_bindings(file, 0, name, ImportChain.start())
        if seen:
            return self._of_seen(file, name, seen, ImportChain.start())
        position, owners = scope, {each.owner for each in walk.bindings(name)}
        while position >= 0:
            own = file.definitions[position]
            is_visible = own.kind not in MEMBER_OWNERS or position == scope
            if is_visible and name in file.names(position) and position not in owners:
                return self._of_bindings(file, position, name, ImportChain.start())
            position = own.parent
        return self._from_outside(file, scope, name)

    def _is_passed_on(self, file: File, token: Token, bindings: Iterable[Binding]) -> bool:
        """True if what is asked for stands where a name is but another one of something for others:
        `export {a as b}`.
        """
        entries = file.all_bindings(0, token.name) if file.semantics.default_export else ()
        if not entries or any(type(entry) is not str for _, entry in entries):
            return False
        if any(each.owner or each.imported or each.definition >= 0 for each in bindings):
            return False
        if file.named_inside(0, token.name):
            return False
        line = self._source_of(file.path).count(b"\n", 0, token.offset) + 1
        return any(each.line == line for each in bindings)

    def _of_seen(
        self, file: File, name: str, bindings: Iterable[Binding], chain: ImportChain
    ) -> Places:
        found: dict[DefinitionPlace, None] = {}
        for binding in bindings:
            if binding.imported is not None:
                fact = binding.imported
                target = fact.name or file.semantics.module_object
                for place in (
                    self._of_import(file, fact.module, target, chain.longer())
                    if self._goes_on(chain)
                    else ()
                ):
                    found[place] = None
                found[DefinitionPlace(file.path, binding.line, "")] = None
            elif binding.definition >= 0:
                found[self._place(file, binding.definition)] = None
            else:
                found[self._bound_place(file, binding.owner, name, binding.line)] = None
        return list(found)

    def _of_bindings(self, file: File, owner: int, name: str, chain: ImportChain) -> Places:
        """All that a scope binds a name to, as seen from outside of it; of imports in a circle,
        each once.
        """
        key = (file.id, owner, name)
        if key not in chain.known:
            chain.known[key] = []
            chain.known[key] = self._followed_bindings(file, owner, name, chain)
        return chain.known[key]

    def _goes_on(self, chain: ImportChain) -> bool:
        """True if one more re-export is followed; said in the answer when it is not."""
        if chain.hops >= MAX_IMPORT_HOPS:
            self._program.notes.add(HOPS_LIMIT)
        return chain.hops < MAX_IMPORT_HOPS

    def _followed_bindings(self, file: File, owner: int, name: str, chain: ImportChain) -> Places:
        found = dict.fromkeys(self._of_traced(file, owner, name, chain))
        for _, entry in file.all_bindings(owner, name):
            definition = _definition_of(entry)
            if definition >= 0:
                found[self._place(file, definition)] = None
            elif isinstance(entry, ImportedValue) and self._goes_on(chain):
                found.update(
                    dict.fromkeys(self._of_import(file, entry.module, entry.name, chain.longer()))
                )
            elif (
                type(entry) is str
                and not owner
                and name != entry in file.names(0)
                and self._goes_on(chain)
            ):
                found.update(dict.fromkeys(self._of_bindings(file, 0, entry, chain.longer())))
        return list(found) or self._of_children(file, owner, name)

    def _of_traced(self, file: File, owner: int, name: str, chain: ImportChain) -> Places:
        """What the widest bindings of a name in a scope bind it to."""
        bindings = [
            each
            for each in self._trace(file).bindings(name)
            if each.owner == owner and each.declares
        ]
        widest = min((each.start for each in bindings), default=0)
        return self._of_seen(file, name, [each for each in bindings if each.start == widest], chain)

    def _of_children(self, file: File, owner: int, name: str) -> Places:
        """The definitions of a name that stand in another."""
        return [self._place(file, position) for position in file.named_inside(owner, name)]

    def _of_import(self, file: File, module: str, name: str, chain: ImportChain) -> Places:
        targets = self._program.modules(file, module)
        whole = file.semantics.module_object
        if not name or (
            name == whole and not any(name in self._program.file(each).names(0) for each in targets)
        ):
            return [self._place(self._program.file(target), 0) for target in targets[:1]]
        for target in targets:
            found = self._of_module_name(self._program.file(target), name, chain)
            if found:
                return found
        submodule = self._program.modules(
            file, f"{module}{'' if module.endswith('.') else file.semantics.separator}{name}"
        )
        if submodule:
            return [self._place(self._program.file(submodule[0]), 0)]
        values = self._evaluator.imported.of(file, module, name)
        return self._of_definitions(values)

    def _of_module_name(self, file: File, name: str, chain: ImportChain) -> Places:
        """A name that a file has or passes on."""
        return self._of_own_name(file, name, chain) or self._of_stars(file, name, chain)

    def _of_own_name(self, file: File, name: str, chain: ImportChain) -> Places:
        """A name that a file has."""
        if name in file.names(0):
            return self._of_bindings(file, 0, name, chain)
        whole = file.semantics.module_object
        if whole and (stored := self._assigned_here(file, name, whole)):
            return stored
        if whole and name == file.semantics.default_export and whole in file.names(0):
            return self._of_bindings(file, 0, whole, chain)
        return []

    def _of_stars(self, file: File, name: str, chain: ImportChain) -> Places:
        for other in self._program.starred(file, lambda each: True, self._program.notes.add):
            if found := self._of_own_name(other, name, chain.longer()):
                return found
        return []

    def _from_outside(self, file: File, scope: int, name: str) -> Places:
        """A name that the file does not bind in sight."""
        found = self._of_stars(file, name, ImportChain.start())
        if found:
            return found
        for neighbour in self._program.neighbours(file):
            other = self._program.file(neighbour)
            if neighbour != file.id and name in other.names(0):
                found.extend(self._of_bindings(other, 0, name, ImportChain.start()))
        if found:
            return found
        if name in file.names(0):  # but not here
            return self._of_definitions(self._evaluator.modules.top_level(file, name))
        if file.semantics.by_name:
            meant = self._program.meant_by(name, file)
            return [self._place(self._program.file(at), position) for at, position in meant]
        return self._of_values(file, scope, name)

    def _of_values(self, file: File, scope: int, expression: Expression) -> Places:
        """What an expression evaluates to, where that is a definition."""
        return self._of_definitions(self._evaluator.values(file, scope, expression))

    def _of_definitions(self, values: Values) -> Places:
        ours = sorted(only(values, FunctionObject, ClassObject), key=repr)
        return [self._place(self._program.file(value.file), value.position) for value in ours]

    def _of_module(self, file: File, text: str) -> Places:
        return [
            self._place(self._program.file(target), 0)
            for target in self._program.modules(file, text)[:1]
        ]

    # Places

    def _bound_place(self, file: File, owner: int, name: str, line: int) -> DefinitionPlace:
        """A line that binds a name, with the symbol that the name is at module and class level."""
        for position in file.named_inside(owner, name):
            if file.body(position) is None and file.definitions[position].name_line == line:
                return self._place(file, position)
        return DefinitionPlace(file.path, line, "")

    def _trace(self, file: File) -> Trace:
        walk = self._traces.get(file.id)
        if walk is None:
            walk = self._traces[file.id] = trace(self._source_of(file.path), file.language)
        return walk

    def _place(self, file: File, position: int) -> DefinitionPlace:
        return DefinitionPlace(
            file.path,
            file.definitions[position].name_line,
            self._program.symbol_id(file.id, position),
        )


class SymbolsMeant(Definitions):
    """The symbols that names may mean, by the semantics alone: no source is read.

    They are all that `Definitions` finds, and perhaps more: where a name is seen, and which
    assignment hides what, is not known.
    """

    def __init__(self, graph: CallGraph) -> None:
        super().__init__(graph, lambda path: b"")

    def of(self, file: File, name: str, lines: Collection[int]) -> Iterator[str]:
        """The ids that a name may mean on some lines of a file, which are all that write it; "" for
        what is no symbol. An id may come again.
        """
        places = chain(
            self._of_bare(file, name, lines),
            self._of_member_everywhere(file, name, lines),
            self._of_key_everywhere(file, name),
        )
        return (each.symbol for place in places for each in self._announced([place]))

    def _of_bare(self, file: File, name: str, lines: Collection[int]) -> Iterator[DefinitionPlace]:
        for module in file.uses.modules_giving.get(name, ()):
            yield from self._of_import(file, module, name, ImportChain.start())
        for position, definition in enumerate(file.definitions):
            if file.body(position) is None:
                continue
            if name in file.names(position) and _may_see(definition, lines):
                yield from self._of_bindings(file, position, name, ImportChain.start())
            if definition.kind in MEMBER_OWNERS and file.semantics.implicit_receiver:
                yield from self._of_class(ClassObject(file.id, position), name)
        yield from self._from_outside(file, 0, name)

    def _of_member_everywhere(
        self, file: File, name: str, lines: Container[int]
    ) -> Iterator[DefinitionPlace]:
        for scope, _, expression in file.uses.members_named(name, lines):
            yield from self._of_member_expression(file, scope, expression)

    def _of_key_everywhere(self, file: File, name: str) -> Iterator[DefinitionPlace]:
        yield from self._of_members(self._evaluator.contexts.with_key(file, name), name)

    def _of_traced(self, file: File, owner: int, name: str, chain: ImportChain) -> Places:
        return self._of_children(file, owner, name)

    def _of_key(self, home: File, serial: int, name: str) -> Places:
        return []

    def _stored_lines(self, file: File, scope: int, name: str) -> list[int]:
        return []

    def _imported_by_path(self, file: File, holders: Values, name: str) -> Places:
        return []


def _may_see(definition: Definition, lines: Collection[int]) -> bool:
    """True if what stands on one of the lines may see the names of a definition's scope: those of a
    function are seen inside it alone.
    """
    if definition.kind not in CALLABLE_KINDS:
        return True
    return any(definition.start_line <= line <= definition.end_line for line in lines)


def _types(values: Values) -> Values:
    """What is of a type with a name."""
    return without(values, ContainerLiteral)


def _token(walk: Trace, offset: int) -> Token:
    """The token at an offset, with nodes for the member that it names."""
    token = walk.token(offset)
    if token.member is None:
        return token
    scope, member = token.member
    return token._replace(member=(scope, decoded(member, {})))


def _definition_of(entry: Expression) -> int:
    """The definition that a binding stands for, decorators aside; -1 for none."""
    while isinstance(entry, Call) and len(entry.arguments) == 1:
        (entry,) = entry.arguments
    return entry.definition if isinstance(entry, DefinedHere) else -1


def _word_at(text: str, column: int) -> str:
    """The word that begins at a column or stands around it."""
    return next(
        (word[0] for word in _WORD.finditer(text) if word.start() <= column < word.end()), ""
    )
