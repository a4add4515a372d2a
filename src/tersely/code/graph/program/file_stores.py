"""What a file assigns to members and items, and what it puts into objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import (
    CONST,
    DECLARED,
    EITHER,
    ITEM,
    MAPPING,
    MEMBER,
    OWN_RECEIVER,
    SPREAD,
    TYPED,
    is_tagged,
)
from tersely.code.graph.program.scopes import Entry, Stored, StoredBindings, kept
from tersely.code.nodes import (
    Expression,
)
from tersely.code.symbols import CALLABLE_KINDS, MEMBER_OWNERS
from tersely.code.syntax.mentions import (
    callee_names,
    displays_in,
)

if TYPE_CHECKING:
    from tersely.code.graph.program.file import File


class Store(NamedTuple):
    """An assignment to a member or an item: `base.name = value`, `base[key] = value`."""

    scope: int
    base: Expression
    key: Any
    value: Expression


class _Stores(NamedTuple):
    """The assignments to items, and those to members by name, as they are stored."""

    items: list[Store]
    members: dict[str | int, list[Store]]


class Placement(NamedTuple):
    """A value that becomes a member of an object: `object.name = value`, `{name: value}`."""

    scope: int
    value: Expression
    object: Expression


class FileStores:
    """Assignments to members and items of one file. Tables are made when first asked for."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.semantics = file.semantics
        self.decode = file.decode
        self.scopes = file.scopes

    def receiver_stores(self, owner: int, member: str) -> list[Entry]:
        """The entries that methods of a class assign to a member of their receiver."""
        entries = self._receiver_stores(owner).get(member, ())
        return [(at, self.decode(value)) for at, value in entries]

    @kept
    def _receiver_stores(self, owner: int) -> StoredBindings:
        found: StoredBindings = defaultdict(list)
        if self._file.kind(owner) in CALLABLE_KINDS:  # a function that makes objects
            self._collect_receiver_stores(owner, set(self.semantics.receiver_names), found)
            return found
        for child in self._file.children.get(owner, ()):
            if self.scopes[child] is not None and self._file.kind(child) not in MEMBER_OWNERS:
                names = {self._file.receiver_name(child), *self.semantics.receiver_names}
                self._collect_receiver_stores(child, names, found)
        return found

    def _collect_receiver_stores(
        self, position: int, names: set[str], found: StoredBindings
    ) -> None:
        scope = self.scopes[position]
        for target, value in scope.binds if scope is not None else ():
            _, base, name, *_ = target if is_tagged(target, MEMBER) else (None,) * 3
            if base and base in names:
                found[name].append((position, value))
        for child in self._file.children.get(position, ()):
            scope = self.scopes[child]
            if (
                scope is not None
                and self._file.kind(child) not in MEMBER_OWNERS
                and not scope.flags & OWN_RECEIVER
            ):
                self._collect_receiver_stores(child, names, found)

    def declared_members(self, position: int) -> list[tuple[str, Expression]]:
        """The members that a scope gives values with a type, with those."""
        scope = self.scopes[position]
        return [
            (target[2], self.decode(value))
            for target, value in (scope.binds if scope is not None else ())
            if is_tagged(target, MEMBER) and is_tagged(value, TYPED, DECLARED, EITHER)
        ]

    @kept
    def member_stores(self, name: str | int) -> list[Store]:
        """Every `base.name = value` of the file."""
        return list(map(self._decoded_store, self._stores.members.get(name, ())))

    @property
    def stores_members(self) -> bool:
        """True if the file has any `base.name = value`."""
        return bool(self._stores.members)

    @cached_property
    def item_stores(self) -> list[Store]:
        """Every `base[key] = value` of the file."""
        return list(map(self._decoded_store, self._stores.items))

    @kept
    def item_stores_of(self, name: Any) -> list[Store]:
        """Every `base[key] = value` of the file whose base writes a name."""
        return list(map(self._decoded_store, self._items_by_base.get(name, ())))

    @cached_property
    def _items_by_base(self) -> dict[Any, list[Store]]:
        found: dict[Any, list[Store]] = defaultdict(list)
        for store in self._stores.items:
            for name in callee_names(store.base):
                found[name].append(store)
        return found

    @cached_property
    def computed_stores(self) -> list[Store]:
        """Assignments to items whose key is not written down."""
        return [
            self._decoded_store(store)
            for store in self._stores.items
            if not is_tagged(store.key, CONST)
        ]

    @cached_property
    def merges(self) -> list[Store]:
        """Statements that add everything that one object holds to another."""
        stores = [store for store in self._stores.items if is_tagged(store.key, SPREAD)]
        return list(map(self._decoded_store, stores))

    def computed_receiver_stores(self, owner: int) -> list[Store]:
        """What a class, or a function that makes objects, assigns to items of its receiver under
        keys that are not written down.
        """
        return [store for store in self.computed_stores if self._stores_into(store) == owner]

    def _stores_into(self, store: Store) -> int:
        """The class, or function that makes objects, whose receiver an assignment changes; -1 for
        none.
        """
        if store.base not in self.semantics.receiver_names:
            return -1
        method = self._file.enclosing_method(store.scope)
        owner = self._file.owner_class(method)
        return owner if owner >= 0 else method

    def placements(self, name: Any) -> list[Placement]:
        """The places that make something a member of an object, by a name in it."""
        return [
            Placement(at, *map(self.decode, given)) for at, *given in self._placements.get(name, ())
        ]

    @cached_property
    def _placements(self) -> dict[Any, list[Placement]]:
        found: dict[Any, list[Placement]] = defaultdict(list)
        for stores in self._stores.members.values():
            for store in stores:
                for name in callee_names(store.value):
                    found[name].append(Placement(store.scope, store.value, store.base))
        for position, prototype, members in self._given_prototypes:
            for _, value in members:
                for name in callee_names(value):
                    found[name].append(Placement(position, value, prototype))
        for position, scope in self._file.stored_scopes:
            for display in displays_in((scope.binds, scope.calls, scope.returns, scope.yields)):
                tag, entries, _ = display
                for _, value in entries if tag == MAPPING else ():
                    for name in callee_names(value):
                        found[name].append(Placement(position, value, display))
        return found

    @property
    def _given_prototypes(self) -> Iterator[tuple[int, Stored, Any]]:
        """What a prototype is, or is given by another object, as far as it is written there: the
        scope, the prototype, and the members.
        """
        name = self.semantics.prototype
        for store in self._stores.members.get(name, ()) if name else ():
            if is_tagged(store.value, MAPPING):
                yield store.scope, (MEMBER, store.base, name), store.value[1]
        for store in self._stores.items:
            if (
                is_tagged(store.key, SPREAD)
                and is_tagged(store.key[1], MAPPING)
                and callee_names(store.base) == (name,)
            ):
                yield store.scope, store.base, store.key[1][1]

    @cached_property
    def _stores(self) -> _Stores:
        items: list[Store] = []
        members: dict[str | int, list[Store]] = defaultdict(list)
        are_items = self.semantics.members_are_items
        for position, scope in self._file.stored_scopes:
            for target, value in scope.binds:
                if not is_tagged(target, ITEM, MEMBER):
                    continue
                tag, base, key, *_ = target
                is_constant = is_tagged(key, CONST)
                name = key[1] if is_constant else key
                if tag == MEMBER or (is_constant and are_items):
                    members[name].append(Store(position, base, name, value))
                if tag == ITEM or are_items:
                    given = key if tag == ITEM else (CONST, name)
                    items.append(Store(position, base, given, value))
        return _Stores(items, members)

    def _decoded_store(self, store: Store) -> Store:
        scope, *rest = store
        return Store(scope, *map(self.decode, rest))
