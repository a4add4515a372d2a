"""A file as the graph reads it: its semantics, with tables of what each scope binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tersely.code.expressions import (
    DEFINED,
    DETACHED,
    EXTENSION,
    GENERATOR,
    MAPPING,
    MEMBER,
    OUTSIDE,
    OWN_RECEIVER,
    PARAMETER,
    STATIC,
    STUB,
    VARIADIC,
    VERSION_MARK,
    Scope,
    dotted_name,
    is_tagged,
)
from tersely.code.graph.program.file_stores import FileStores
from tersely.code.graph.program.file_uses import FileUses
from tersely.code.graph.program.scopes import (
    ANYWHERE,
    Body,
    Entry,
    IndexedFile,
    Stored,
    StoredBindings,
    kept,
)
from tersely.code.languages.model import Language, Resolution
from tersely.code.languages.registry import LANGUAGES, family_of
from tersely.code.nodes import (
    Expression,
    Invocation,
    Known,
    ListLiteral,
    MappingLiteral,
    decoded,
)
from tersely.code.places import directory_of
from tersely.code.symbols import CALLABLE_KINDS, MEMBER_OWNERS, Definition, Kind
from tersely.code.syntax.mentions import (
    callee_names,
    displays_in,
    original_names,
    serials_in,
)
from tersely.foundation.types import Numbers


class File:
    """One file with what is known of it statically. Tables are made when first asked for."""

    def __init__(
        self, row: IndexedFile, definitions: Sequence[Definition], scopes: Sequence[Any]
    ) -> None:
        self.id = row.id
        self.path = row.path
        self.namespace = row.namespace
        self.language: Language = LANGUAGES[row.language]
        self.family = family_of(row.language)
        self.semantics: Resolution = self.language.resolution
        self.definitions = definitions
        self.scopes = [
            tuple.__new__(Scope, scope) if type(scope) is tuple else None for scope in scopes
        ]
        self._bodies: list[Body | None] = [None] * len(definitions)
        self._known: Known = {}
        # by position of what is another name of a definition
        self._meant = {
            position: scope for position, scope in enumerate(scopes) if type(scope) is int
        }
        self.children: dict[int, list[int]] = defaultdict(list)
        for position, definition in enumerate(definitions):
            if position:
                self.children[definition.parent].append(position)
        self._versions: dict[tuple[int, str], int] = {}
        self.stores = FileStores(self)
        self.uses = FileUses(self)
        # serial -> where a list or mapping is written
        self.displays: dict[int, tuple[int, ListLiteral | MappingLiteral]] = {}

    @cached_property
    def stored_scopes(self) -> list[tuple[int, Scope]]:
        """Every scope as it is stored, with the position of its definition."""
        return [
            (position, scope) for position, scope in enumerate(self.scopes) if scope is not None
        ]

    @property
    def bodies(self) -> Iterator[tuple[int, Body]]:
        """Every scope, with the position of its definition."""
        return ((position, self.scope(position)) for position, _ in self.stored_scopes)

    def kind(self, position: int) -> str:
        """The kind of a definition, one of `Kind`."""
        return self.definitions[position].kind

    def name(self, position: int) -> str:
        """The name of a definition, "" of an anonymous one."""
        return self.definitions[position].name

    def parent(self, position: int) -> int:
        """The position of the definition around one, below 0 for the file itself."""
        return self.definitions[position].parent

    def decode(self, stored: Stored) -> Any:
        """What is stored in this file, as nodes."""
        return decoded(stored, self._known)

    @cached_property
    def import_base(self) -> str:
        """The path that the meaning of an import in this file depends on."""
        return self.path if self.semantics.relative_to_file else directory_of(self.path)

    def display(self, serial: int) -> tuple[int, ListLiteral | MappingLiteral]:
        """Scope and expression of a list or mapping by its serial."""
        known = self.displays.get(serial)
        if known is None:
            position, display = self._written_displays.get(serial, (0, (MAPPING, (), serial)))
            known = self.displays[serial] = position, decoded(display, {})
        return known

    @cached_property
    def _written_displays(self) -> dict[int, tuple[int, Stored]]:
        """The scope and expression of each list and mapping, by serial."""
        found: dict[int, tuple[int, Stored]] = {}
        for position, scope in self.stored_scopes:
            parts = (scope.binds, scope.calls, scope.reads, scope.returns, scope.yields)
            for display in displays_in(parts):
                _, _, serial = display
                found.setdefault(serial, (position, display))
        return found

    def scope(self, position: int) -> Body:
        """The scope of a definition that has one."""
        body = self.body(position)
        assert body is not None
        return body

    def call(self, position: int, index: int) -> Invocation:
        """One of the calls of a scope."""
        scope = self.scopes[position]
        assert scope is not None
        called: Invocation = self.decode(scope.calls[index])
        return called

    def body(self, position: int) -> Body | None:
        """The scope of a definition, None if it has none of its own."""
        known = self._bodies[position]
        if known is None and (stored := self.scopes[position]) is not None:
            known = self._bodies[position] = Body(stored, self._known)
        return known

    @kept
    def qualnames(self) -> list[str]:
        """Qualified names by position, numbered where a name is defined again."""
        return [definition.numbered_qualname for definition in self.definitions]

    def all_bindings(self, position: int, name: str) -> list[Entry]:
        """The entries that a name of a scope is bound to at any time, as seen from outside the
        scope.
        """
        entries = self.bindings(position, name)
        for version in range(2, self._versions.get((position, name), 1) + 1):
            entries = entries + self.bindings(position, f"{name}{VERSION_MARK}{version}")
        return entries

    @kept
    def bindings(self, position: int, name: str) -> list[Entry]:
        """The entries that a name of a scope is bound to in this version."""
        entries = self.bound_names[position].get(name, ())
        return [(owner, self.decode(value)) for owner, value in entries]

    def names(self, position: int) -> Mapping[str, object]:
        """The names that a scope binds, by version."""
        return self.bound_names[position]

    @cached_property
    def by_qualname(self) -> dict[str, int]:
        """Positions by numbered qualified name: for another name of a definition its position."""
        return {
            name: self._meant.get(position, position)
            for position, name in enumerate(self.qualnames())
        }

    def named_owner(self, position: int) -> int:
        """The innermost definition with a name of its own at or around a scope."""
        while self.kind(position) == Kind.LAMBDA or self.name(position)[:1] == "<":
            position = self.parent(position)
        return position

    def inside(self, position: int) -> list[int]:
        """A definition and, for a class, everything in it; for a function what is anonymous in it."""
        is_class = self.kind(position) in MEMBER_OWNERS
        found = [position]
        for child in self.children.get(position, ()):
            if is_class or self.named_owner(child) != child:
                found.extend(self.inside(child))
        return found

    @cached_property
    def stars(self) -> list[str]:
        """Modules whose names the file imports wholesale, in any scope."""
        return [module for _, scope in self.stored_scopes for module in scope.stars]

    def original_names(self, name: Any) -> list[str]:
        """The names that something has where it is defined; "" when only evaluating it would tell."""
        return original_names(name, (entry for _, entry in self.bound_names[0].get(name, ())))

    def is_inside(self, position: int, outer: int) -> bool:
        """True if a definition is another, or in it, or in any place."""
        definitions = self.definitions
        while position > outer:
            position = definitions[position].parent
        return position == outer

    def named_inside(self, position: int, *names: str) -> list[int]:
        """The definitions of some names that stand in another, not deeper."""
        around = self.children.get(position, ())
        return [child for child in around if self.name(child) in names]

    def owner_class(self, position: int) -> int:
        """The class whose member a definition is, -1 for none, or where there is no definition."""
        parent = self.parent(position) if position >= 0 else -1
        return parent if parent >= 0 and self.kind(parent) in MEMBER_OWNERS else -1

    def origin(self, position: int) -> str:
        """The name of the class around a definition, else its own."""
        owner = self.owner_class(position)
        return self.name(position if owner < 0 else owner)

    def is_prefixed(self, position: int) -> bool:
        """True if a definition names its owner instead of standing in it."""
        own = self.definitions[position]
        around = self.definitions[own.parent].qualname
        return own.qualname != (f"{around}.{own.name}" if around else own.name)

    def enclosing_method(self, position: int) -> int:
        """The innermost method around a scope (itself included), -1 for none."""
        while position > 0:
            if self.kind(position) in CALLABLE_KINDS:
                scope = self.scopes[position]
                has_own = scope is not None and (
                    scope.receiver_type is not None or scope.flags & OWN_RECEIVER
                )
                if has_own or self.owner_class(position) >= 0:
                    return position
            position = self.parent(position)
        return -1

    def receiver_name(self, method: int) -> str:
        """The name of the receiver parameter of a method, empty when it has none."""
        scope = self.scopes[method]
        if scope is None or scope.flags & (STATIC | OUTSIDE) or not scope.parameters:
            return ""
        if self.kind(method) in MEMBER_OWNERS:
            return ""
        if scope.receiver_type is not None or self.semantics.receiver_parameter:
            return scope.parameters[0][0]
        return ""

    def is_parameter(self, position: int, name: str) -> bool:
        """True if a name is a parameter of a function and nothing else."""
        if self.kind(position) not in CALLABLE_KINDS:
            return False
        entries = self.bound_names[position].get(name, ())
        return len(entries) == 1 and is_tagged(entries[0][1], PARAMETER)

    @kept
    def given_back(self, position: int) -> Numbers:
        """The parameters that a function returns just as they came, its receiver aside."""
        scope = self.scope(position)
        returns = () if scope.flags & GENERATOR else scope.returns
        names = {each for each in returns if type(each) is str}
        own = {self.receiver_name(position)} if self.owner_class(position) >= 0 else set()
        return tuple(
            index
            for index, (name, _, _, mode) in enumerate(scope.parameters)
            if name in names - own
            and mode not in VARIADIC
            and len(self.all_bindings(position, name)) == 1
        )

    @cached_property
    def display_names(self) -> dict[int, set[str]]:
        """Names by which other files may reach lists and mappings, by their serials: of members, and
        of what is not local to a function.
        """
        found: dict[int, set[str]] = defaultdict(set)
        for position, scope in self.stored_scopes:
            for target, value in scope.binds:
                is_member = is_tagged(target, MEMBER)
                if is_member or self.kind(position) not in CALLABLE_KINDS:
                    for serial in serials_in(value):
                        found[serial].update(callee_names(target))
        return found

    @cached_property
    def computed_names(self) -> dict[int, dict[str, Expression]]:
        """What stands in brackets in place of the names of methods, by name, by what is around."""
        found: dict[int, dict[str, Expression]] = defaultdict(dict)
        for _, name, _, parent, *_ in self.definitions:
            computed = decoded(dotted_name(name[1:-1]), {}) if name[:1] == "[" else None
            if computed is not None:
                found[parent][name] = computed
        return found

    @cached_property
    def bound_names(self) -> dict[int, StoredBindings]:
        """What each name of each scope is bound to, by version."""
        tables: dict[int, StoredBindings] = {
            position: defaultdict(list) for position, _ in self.stored_scopes
        }
        for position, scope in self.stored_scopes:
            own = self.definitions[position]
            if self._binds_its_name(position, scope):
                value = scope.decorated if scope.decorated is not None else (DEFINED, position)
                tables[own.parent][own.name].append((own.parent, value))
            table = tables[position]
            # those of its header are bound as its members
            is_class = self.kind(position) in MEMBER_OWNERS
            for index, (name, *_) in enumerate(() if is_class else scope.parameters):
                table[name].append((position, (PARAMETER, index)))
            outer = dict(scope.outer)
            for target, value in scope.binds:
                if type(target) is str:
                    owner = (
                        self._outer_owner(position, target, outer[target])
                        if target in outer
                        else position
                    )
                    tables[owner][target].append((position, value))
                    name, _, version = target.partition(VERSION_MARK)
                    if version.isdigit():
                        tables[owner].setdefault(name, [])
                        self._versions[owner, name] = max(
                            int(version), self._versions.get((owner, name), 1)
                        )
        return tables

    def known_within(self, position: int) -> int:
        """The function inside which alone a function is known by its name."""
        outer, scope = self.parent(position), self.scopes[position]
        if scope is None or scope.holder is not None or self.semantics.found_anywhere:
            return ANYWHERE
        is_bound = self.name(position) in self.bound_names.get(outer, ())
        is_local = is_bound and self.kind(outer) in CALLABLE_KINDS
        return outer if is_local else ANYWHERE

    def _binds_its_name(self, position: int, scope: Scope) -> bool:
        """True if a definition binds its name in the scope around it."""
        own = self.definitions[position]
        if position == 0 or own.kind == Kind.LAMBDA or scope.flags & (EXTENSION | DETACHED | STUB):
            return False
        is_method_outside = scope.receiver_type is not None and own.parent == 0
        return not is_method_outside and not self.is_prefixed(position)

    def _outer_owner(self, position: int, name: str, of_module: int) -> int:
        if of_module:
            return 0
        owner: int = self.parent(position)
        while owner > 0:
            if name in self._declared_in(owner):
                return owner
            owner = self.parent(owner)
        return 0

    @kept
    def _declared_in(self, position: int) -> set[str]:
        """Names that the scope of a definition binds as its own."""
        scope = self.scopes[position]
        found = {self.name(child) for child in self.children.get(position, ())}
        if scope is not None:
            found.update(name for name, *_ in scope.parameters)
            found.update(target for target, _ in scope.binds if type(target) is str)
            found.difference_update(name for name, _ in scope.outer)
        return found
