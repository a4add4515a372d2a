"""The contents of lists, mappings, tuples and generators."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TypeGuard

from tersely.code.expressions import (
    Expression,
    is_spread,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    UNIQUE_KEY,
    ClassObject,
    CollectionObject,
    ConstantObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    GeneratorObject,
    Instance,
    ModuleObject,
    Outside,
    RestArguments,
    TupleObject,
    Value,
    Values,
    ValuesByPlace,
    external,
    instance_of,
    only,
    own_class,
    singleton,
    tuple_of,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.file_stores import Store
from tersely.code.graph.program.scopes import ANYWHERE
from tersely.code.nodes import (
    ConstantValue,
    Entries,
    Expressions,
    Item,
    ListLiteral,
    MappingLiteral,
    Member,
)
from tersely.code.symbols import Kind

Keys = frozenset[str | int]  # constants that a key may be

# `base[key] = …` of a file that may be a member of any name; with more, none is taken for one
MAX_COMPUTED_STORES = 40
MAX_STORE_FILES = 40  # that name a list or mapping, above which only its own fills it
STORES_LIMIT = (
    f"what fills lists and mappings whose names over {MAX_STORE_FILES} files use"
    " was looked for in their own file alone"
)
MAX_DECLARED_KEYS = 100  # members of a type, above which a key of it may be any
MAX_STORES = 40  # `base[key] = …` of a file, above which only those near a display fill it
NEAR_STORES_LIMIT = (
    f"what fills lists and mappings of files that fill over {MAX_STORES} of them was looked for"
    " in the functions and classes that write them"
)
MAX_PLACES = 40  # of a list of which a slice is told apart


class Containers(Component):
    """Items and elements of values."""

    def item(self, file: File, scope: int, expression: Item) -> Values:
        """The values that `object[index]` may have."""
        containers = self.values(file, scope, expression.object)
        if not containers:
            return BOTTOM
        if expression.name is not None and all(
            isinstance(value, ContainerLiteral) for value in containers
        ):
            return self.values(file, scope, expression.name)
        if any(self._is_generic(container, file) for container in containers):
            alias = self.annotations.instances(file, scope, expression)
            if any(not isinstance(value, ExternalResult) for value in alias):
                return alias
        keys = self.keys(file, scope, expression.key)
        found: Values = BOTTOM
        for container in containers:
            found |= self.items(container, keys, file)
        return found

    def _is_generic(self, value: Value, file: File) -> bool:
        """True if a value is a type that says with others what something is: `Annotated[A, …]`."""
        semantics = file.semantics
        generic = semantics.union_types | semantics.transparent_types
        return isinstance(value, ExternalObject) and value.last_name in generic

    def keys(self, file: File, scope: int, expression: Expression) -> Keys | None:
        """The constants that a key may be, None if it may be any."""
        if expression is None:
            return None
        if isinstance(expression, ConstantValue):
            return frozenset((expression.value,))
        values = self.values(file, scope, expression)
        if isinstance(expression, Member) and _are_symbols_of_packages(values, file):
            return frozenset(f"{UNIQUE_KEY}{value.name}" for value in values)
        constants = only(values, ConstantObject)
        if not values or len(constants) < len(values):
            return None
        return frozenset(value.constant for value in constants)

    def elements(self, values: Values) -> Values:
        """The values that iterating over some values gives."""
        found: Values = BOTTOM
        for value in values:
            if isinstance(value, ContainerLiteral):
                found |= (
                    self._iterated_mapping(value)
                    if self.is_mapping(value)
                    else self.items(value, None, None)
                )
            elif isinstance(value, CollectionObject):
                found |= value.items if value.keys is None else tuple_of((value.keys, value.items))
            elif isinstance(value, TupleObject):
                found |= frozenset().union(*value.parts)
            elif isinstance(value, RestArguments):
                found |= self.evaluator.parameters.rest(value)
            elif isinstance(value, GeneratorObject):
                found |= self.calls.yielded(value)
            elif isinstance(value, Instance):
                found |= self._iterated(value)
            elif isinstance(value, ClassObject):
                found |= self._constants(value)
        return found

    def _constants(self, class_: ClassObject) -> Values:
        """The instances that iterating over an enumeration gives."""
        enumerations = self.home(class_).semantics.enumerations
        bases = self.inheritance.bases(class_) if enumerations else ()
        is_one = any(
            isinstance(base, ExternalObject) and base.last_name in enumerations for base in bases
        )
        return singleton(instance_of(class_)) if is_one else BOTTOM

    def _iterated_mapping(self, display: ContainerLiteral) -> Values:
        """What iterating over a mapping gives: its keys; where only mappings that are no objects
        can be, pairs.
        """
        file = self.home(display)
        if not file.semantics.members_are_items:
            return self.display_keys(display)
        items = self.items(display, None, None)
        keys = self.display_keys(display)
        return self._by_iterator(display, file) or (
            tuple_of((keys, items)) if keys or items else BOTTOM
        )

    def held(self, values: Values) -> Values:
        """The values that collections hold: of mappings the items, of all else what iterating over
        it gives.
        """
        found: Values = BOTTOM
        for value in values:
            underlying = self._underlying(value) if isinstance(value, Instance) else BOTTOM
            if underlying:
                found |= self.held(underlying)
            elif isinstance(value, (CollectionObject, ContainerLiteral)):
                found |= self.items(value, None, None)
            else:
                found |= self.elements(frozenset((value,)))
        return found

    def keys_of(self, values: Values) -> Values:
        """The keys of the mappings among some values."""
        found: Values = BOTTOM
        for value in values:
            if isinstance(value, Instance):
                found |= self.keys_of(self._underlying(value)) or self._declared_keys(value)
            elif isinstance(value, CollectionObject):
                found |= value.keys or BOTTOM
            elif isinstance(value, ContainerLiteral):
                found |= self.display_keys(value)
        return found

    def _declared_keys(self, value: Instance) -> Values:
        """The names of the members of a type, as keys of the objects that it admits."""
        file = self.home(value)
        is_type = file.kind(value.position) in (Kind.INTERFACE, Kind.TYPE)
        if not is_type or not file.semantics.members_are_items:
            return BOTTOM
        owners = self.inheritance.linearised(own_class(value))
        names = {name for owner in owners for name in self.home(owner).names(owner.position)}
        keys = frozenset(ConstantObject(name) for name in names)
        return keys if len(keys) <= MAX_DECLARED_KEYS else BOTTOM

    def _underlying(self, value: Instance) -> Values:
        """The collections that a type with a name is made of: `type T []E`."""
        file = self.home(value)
        kind, outer = file.kind(value.position), file.parent(value.position)
        found: Values = BOTTOM
        for expression in file.scope(value.position).bases if kind == Kind.TYPE else ():
            found |= only(
                self.annotations.instances(file, outer, expression),
                CollectionObject,
                TupleObject,
            )
        return found

    def _iterated(self, value: Instance) -> Values:
        file = self.home(value)
        found = self.elements(self._underlying(value) | self.generics.elements(value))
        return found | self._by_iterator(value, file)

    def _by_iterator(self, value: Value, file: File) -> Values:
        """What the methods of an object give that iterating over it calls."""
        found: Values = BOTTOM
        semantics = file.semantics
        for method in semantics.iterate_methods:
            found |= self._by_methods(value, method, semantics.next_method, file)
            if method in semantics.async_methods:
                going_on = semantics.async_methods[semantics.next_method]
                found |= self._by_methods(value, semantics.async_methods[method], going_on, file)
        return found

    def _by_methods(self, value: Value, starting: str, going_on: str, file: File) -> Values:
        """What an object gives by the method that starts iterating over it and that which goes on."""
        found: Values = BOTTOM
        for started in self.calls.of_member(value, starting, file):
            if isinstance(started, (Instance, ContainerLiteral)) and going_on:
                found |= self._next_items(started, going_on, file)
            elif started != value:
                found |= self.elements(frozenset((started,)))
        return found

    def _next_items(self, iterator: Value, method: str, file: File) -> Values:
        given = self.calls.of_member(iterator, method, file)
        return (
            self.members.of_all(given, file.semantics.next_item, file)
            if file.semantics.next_item
            else given
        )

    def items(self, container: Value, keys: Keys | None, file: File | None) -> Values:
        """`container[key]` for a set of possible keys, None for any."""
        if (
            file is not None
            and keys
            and file.semantics.members_are_items
            and isinstance(container, (Instance, ClassObject, ModuleObject, FunctionObject))
        ):
            return frozenset().union(*[self.members.of(container, str(key), file) for key in keys])
        if isinstance(container, ContainerLiteral):
            key = ("items", container, keys)
            return self.solve(key, self._display_items, container, keys)
        if isinstance(container, CollectionObject):
            return container.items
        if isinstance(container, RestArguments):
            return self.evaluator.parameters.rest(container)
        if isinstance(container, TupleObject):
            parts = container.parts
            chosen = (
                parts
                if keys is None
                else [parts[k] for k in keys if type(k) is int and -len(parts) <= k < len(parts)]
            )
            return frozenset().union(*chosen)
        if isinstance(container, Instance) and file is not None:
            read = file.semantics.item_methods[:1]
            found = self.calls.of_member(container, read[0], file) if read else BOTTOM
            for underlying in BOTTOM if found else self._underlying(container):
                found |= self.items(underlying, keys, file)
            found = found or self._fields_at(container, keys, file)
            return found or self.elements(frozenset((container,)))
        if isinstance(container, (ClassObject, FunctionObject)):
            return frozenset((container,))
        if isinstance(container, GeneratorObject):
            return self.calls.yielded(container)
        return frozenset((container,)) if isinstance(container, Outside) else BOTTOM

    def _fields_at(self, value: Instance, places: Keys | None, file: File) -> Values:
        """What an object holds in fields that are given in order, by their places."""
        fields = self.evaluator.header_fields.of(own_class(value))
        found: Values = BOTTOM
        for place in places or ():
            if type(place) is int and -len(fields) <= place < len(fields):
                found |= self.members.of(value, fields[place].name, file)
        return found

    def parts(self, values: Values, bounds: slice) -> Values | None:
        """The values that a slice with bounds takes, None if what has a place in the values is not
        known.
        """
        found: Values = BOTTOM
        for value in values:
            places = self._places(value)
            if places is None:
                return None
            found |= tuple_of(places[bounds])
        return found

    def _places(self, value: Value) -> ValuesByPlace | None:
        """What each place of a list or tuple holds that nobody adds to."""
        if isinstance(value, TupleObject):
            return value.parts
        if not isinstance(value, ContainerLiteral):
            return None
        file = self.home(value)
        scope, expression = file.display(value.serial)
        if isinstance(expression, MappingLiteral) or len(expression.elements) > MAX_PLACES:
            return None
        if any(map(is_spread, expression.elements)) or self.stores_into(value):
            return None
        if any(True for _ in self._stores_elsewhere(value)):
            return None
        return tuple(self.values(file, scope, part) for part in expression.elements)

    def is_mapping(self, display: ContainerLiteral) -> bool:
        """True if a display is a mapping and no list."""
        _, written = self.home(display).display(display.serial)
        return isinstance(written, MappingLiteral)

    def display_keys(self, display: ContainerLiteral) -> Values:
        """The keys that a mapping is written with, or that are put into it."""
        return self.solve(("keys", display), self._key_values, display)

    def _key_values(self, display: ContainerLiteral) -> Values:
        file, scope, pairs = self._written_pairs(display)
        keys = [self.values(file, scope, key) for key, _ in pairs if not is_spread(key)]
        for store in self.stores_into(display):
            keys += [] if is_spread(store.key) else [self.values(file, store.scope, store.key)]
        return frozenset().union(*keys)

    def _display_items(self, display: ContainerLiteral, keys: Keys | None) -> Values:
        file = self.home(display)
        scope, expression = file.display(display.serial)
        if isinstance(expression, ListLiteral):
            found = self._sequence_items(file, scope, expression.elements, keys)
        else:
            found = self._mapping_items(file, scope, expression.entries, keys)
        if file.semantics.members_are_items and keys is not None:
            return self._members_stored(file, display, keys, found)
        own = ((file, store) for store in self.stores_into(display))
        for home, store in (*own, *self._stores_elsewhere(display)):
            if is_spread(store.key):
                for merged in self.values(home, store.scope, store.key.collection):
                    found |= self.items(merged, keys, home)
                continue
            stored = self.keys(home, store.scope, store.key)
            if keys is None or stored is None or stored & keys:
                found |= self.values(home, store.scope, store.value)
        return found

    def _stores_elsewhere(self, display: ContainerLiteral) -> Iterator[tuple[File, Store]]:
        """What other files put into a list or mapping that a member or a module has."""
        home = self.home(display)
        names = home.display_names.get(display.serial, set())
        files = {file for name in names for file in self.mentioning(name, home)}
        if len(files) > MAX_STORE_FILES:
            self.bounds.add(STORES_LIMIT)
            return
        for other in map(self.file, sorted(files - {home.id})):
            for store in chain.from_iterable(
                map(other.stores.item_stores_of, sorted(names, key=repr))
            ):
                if display in self.values(other, store.scope, store.base):
                    yield other, store

    def _members_stored(
        self, file: File, display: ContainerLiteral, keys: Keys, written: Values
    ) -> Values:
        """What a mapping holds under some keys: written in it, stored or merged into it, if all
        else fails anywhere.
        """
        found = written
        for key in keys:
            found |= self.stores.into(display, key)
        certain = bool(found)
        for store in (
            file.stores.computed_stores
            if len(file.stores.computed_stores) <= MAX_COMPUTED_STORES
            else ()
        ):
            if store.key is None and all(type(key) is str for key in keys):
                continue  # an element that was added, not a member
            stored = None if is_spread(store.key) else self.keys(file, store.scope, store.key)
            if stored is None and certain and not is_spread(store.key):
                continue  # a member of that name is known, so that this is most likely another
            if (stored is None or stored & keys) and display in self.values(
                file, store.scope, store.base
            ):
                if is_spread(store.key):
                    found |= self._merged_items(
                        file, self.values(file, store.scope, store.key.collection), keys
                    )
                else:
                    found |= self.values(file, store.scope, store.value)
        return found

    def _sequence_items(
        self, file: File, scope: int, parts: Expressions, keys: Keys | None
    ) -> Values:
        places = [key for key in keys or () if type(key) is int]
        if keys is not None and len(places) == len(keys) and not any(map(is_spread, parts)):
            parts = tuple(parts[at] for at in places if -len(parts) <= at < len(parts))
        elif keys and file.semantics.members_are_items and not places:
            parts = ()
        return self.union(file, scope, parts)

    def _mapping_items(self, file: File, scope: int, pairs: Entries, keys: Keys | None) -> Values:
        found: Values = BOTTOM
        for key, value in pairs:
            if is_spread(key):
                found |= self._merged_items(file, self.values(file, scope, value), keys)
                continue
            own = self.keys(file, scope, key)
            if keys is None or own is None or own & keys:
                found |= self.values(file, scope, value)
        return found

    def _merged_items(self, file: File, values: Values, keys: Keys | None) -> Values:
        """What a mapping holds because everything that another holds was added to it."""
        found: Values = BOTTOM
        for value in values:
            if keys and file.semantics.members_are_items and isinstance(value, Outside):
                found |= frozenset().union(*[external(f"{value.name}.{key}") for key in keys])
            else:
                found |= self.items(value, keys, file)
        return found

    def merged_into(self, display: ContainerLiteral) -> Values:
        """Objects whose members a mapping takes over where it is written."""
        file, scope, pairs = self._written_pairs(display)
        return frozenset().union(
            *[self.values(file, scope, value) for key, value in pairs if is_spread(key)]
        )

    def _written_pairs(self, display: ContainerLiteral) -> tuple[File, int, Entries]:
        """The file and scope of a display, and its pairs where it is a mapping."""
        file = self.home(display)
        scope, expression = file.display(display.serial)
        return file, scope, expression.entries if isinstance(expression, MappingLiteral) else ()

    def stores_into(self, display: ContainerLiteral) -> list[Store]:
        """The item assignments of the file of a display that go into it."""
        file = self.home(display)
        places = self.solve(("stores", display), self._stored_places, display)
        return [file.stores.item_stores[index] for index in sorted(places)]

    def _stored_places(self, display: ContainerLiteral) -> frozenset[int]:
        file, within = self.home(display), ANYWHERE
        if len(file.stores.item_stores) > MAX_STORES:
            scope, _ = file.display(display.serial)
            owner = file.owner_class(scope)
            within = scope if owner < 0 else owner
            self.bounds.add(NEAR_STORES_LIMIT)
        found = set[int]()
        for index, store in enumerate(file.stores.item_stores):
            is_near = file.is_inside(store.scope, within)
            if is_near and display in self.values(file, store.scope, store.base):
                found.add(index)
        return frozenset(found)


def _are_symbols_of_packages(values: Values, file: File) -> TypeGuard[frozenset[ExternalObject]]:
    """True if values are members of packages from outside, in a language where a key may be a
    symbol that is equal to no name: `[util.inspect.custom]`.
    """
    builtins = f"{file.semantics.builtins}."
    return bool(file.semantics.symbols and values) and all(
        isinstance(value, ExternalObject) and not value.name.startswith(builtins)
        for value in values
    )
