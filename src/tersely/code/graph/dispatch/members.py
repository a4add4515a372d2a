"""Members of values: class hierarchies, modules and what they pass on, names shared between files."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CLASS_METHOD,
    CONST,
    EXTENSION,
    OPTIONAL,
    PROPERTY,
    SETTER,
    STATIC,
)
from tersely.code.graph.dispatch.classes.data_model import MissingMembers
from tersely.code.graph.dispatch.classes.open_classes import OpenClasses
from tersely.code.graph.dispatch.classes.overriding import MAX_SUBTYPE_FILES, SUBTYPE_LIMIT
from tersely.code.graph.pointsto.annotations import written_types
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    UNIQUE_KEY,
    BuiltinMethod,
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
    RestArguments,
    SignatureObject,
    SomeValue,
    SuperObject,
    TraitView,
    TupleObject,
    Value,
    Values,
    collection,
    external,
    has,
    instance_of,
    only,
    own_class,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import CLASSES_A_WORK, ClassName, Inside, Place
from tersely.code.nodes import (
    CallableType,
    Declared,
    DefinedHere,
    Either,
    MappingLiteral,
    Typed,
)
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS, Kind

Called = FunctionObject | SignatureObject

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

MAX_KEEPER_FILES = 40  # files whose calls keep keyword arguments for one kind of object
KEEPER_LIMIT = (
    f"keyword arguments that are kept for later were looked for in {MAX_KEEPER_FILES} files"
)
MAX_SUBCLASS_MEMBERS = 30  # definitions of a name among which those of subclasses are looked for

EXTENSION_KINDS = (Kind.EXTENSION,)


class Members(Component):
    """Member lookup over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.open = OpenClasses(evaluator)
        self.missing = MissingMembers(evaluator)
        self._known_bodies: dict[ClassObject, list[Inside]] = {}

    def of_all(self, values: Values, name: str, file: File) -> Values:
        """The member of that name of every value."""
        return BOTTOM.union(*(self.of(value, name, file) for value in values))

    def of(self, value: Value, name: str, file: File) -> Values:
        """The values that `value.name` may have; properties are read."""
        transfer = self._transfers.get(type(value))
        return BOTTOM if transfer is None else transfer(value, name, file)

    @cached_property
    def _transfers(self) -> dict[type[Value], Callable[..., Values]]:
        """What a member of each kind of value may be; the others have none."""
        return {
            ClassObject: self._of_class,
            Instance: self._of_class_or_instance,
            SuperObject: self._of_parent,
            FunctionObject: self._of_function,
            ModuleObject: self._of_module,
            TraitView: self.evaluator.traits.of_aspect,
            ExternalObject: self._of_external,
            ExternalResult: self._of_result,
            ConstantObject: self.typed.extension_functions,
            ContainerLiteral: self._of_literal,
            TupleObject: self._of_tuple,
            CollectionObject: self._of_container,
            GeneratorObject: self._of_container,
            RestArguments: self._of_container,
            SignatureObject: self._of_container,
        }

    def _of_class(self, value: ClassObject, name: str, file: File) -> Values:
        if name and name == file.semantics.prototype:
            return singleton(instance_of(value))
        return self._of_class_or_instance(value, name, file)

    def _of_module(self, value: ModuleObject, name: str, file: File) -> Values:
        return self.modules.of(self.home(value), name)

    def _of_external(self, value: ExternalObject, name: str, file: File) -> Values:
        assigned = self.missing.assigned(value, name, file)
        return assigned or self.modules.of_external(value, name, file)

    def _of_result(self, value: ExternalResult, name: str, file: File) -> Values:
        return (
            self.typed.extension_functions(value, name, file)
            or self._kept(value.name, name, file)
            or self.missing.assigned(value, name, file)
            or external(f"{value.name}.{name}")
        )

    def _of_literal(self, value: ContainerLiteral, name: str, file: File) -> Values:
        if not file.semantics.members_are_items:
            return self._of_tuple(value, name, file)
        items = self.containers.items(value, frozenset((name,)), file)
        return self.read(items, value) or singleton(BuiltinMethod(value, name))

    def _of_tuple(self, value: ContainerLiteral | TupleObject, name: str, file: File) -> Values:
        """An element by its place, else what is known of a method."""
        if name.isdecimal():
            return self.containers.items(value, frozenset((int(name),)), file)
        return self._of_container(value, name, file)

    def _of_container(self, value: Value, name: str, file: File) -> Values:
        """What is known of a method of what holds others, or will give one."""
        held = self.summaries.property(value, name, file)
        return held or singleton(BuiltinMethod(value, name)) | self._item_as_member(
            value, name, file
        )

    def _kept(self, result: str, name: str, file: File) -> Values:
        """What calls that keep their keyword arguments for an object from outside were given under
        a name.
        """
        keeper = file.semantics.keyword_keepers.get(result.partition(".")[0], "")
        if not keeper:
            return BOTTOM
        return self.solve(("kept", keeper, name), self._kept_values, keeper, name, file)

    def _kept_values(self, keeper: str, name: str, file: File) -> Values:
        found: Values = BOTTOM
        files = self.mentioning(keeper, file)
        if len(files) > MAX_KEEPER_FILES:
            self.solver.bounds.add(KEEPER_LIMIT)
        for file_id in files[:MAX_KEEPER_FILES]:
            other = self.file(file_id)
            for scope, index in other.calls_by_name.get(keeper, ()):
                given = [
                    value for keyword, value in other.call(scope, index).keywords if keyword == name
                ]
                found |= self.union(other, scope, given)
        return found

    def _of_class_or_instance(self, value: ClassObject | Instance, name: str, file: File) -> Values:
        target = own_class(value)
        found = self.of_class(target, name, file, value)
        if isinstance(value, Instance):
            found = self.generics.in_instance(found, value, name)
        if (isinstance(value, Instance) and value.is_open) or (
            isinstance(value, ClassObject) and self.evaluator.traits.is_trait(value)
        ):
            found |= self.typed.below(found, target, name)
        if not has(found, FunctionObject):
            found |= self.typed.extension_functions(value, name, file)
        return self.read(found, value)

    def _item_as_member(self, value: Value, name: str, file: File) -> Values:
        """`table.name` of a table that is known by its elements alone."""
        semantics = file.semantics
        is_method = name in semantics.methods or name in semantics.common_members
        if is_method or not semantics.members_are_items or not isinstance(value, CollectionObject):
            return BOTTOM
        return value.items

    def of_itself(self, value: ClassObject | Instance, name: str, file: File) -> Values:
        """The values of what every class or object has: `Class.new`, which stands for calling the
        class, and `thing.class`.
        """
        semantics = file.semantics
        if isinstance(value, Instance) and (
            name in semantics.echoes
            or name in semantics.mappers
            or name in semantics.universal_methods
        ):
            return singleton(BuiltinMethod(value, name))
        if isinstance(value, ClassObject) and name == semantics.construct_method:
            return frozenset((value,))
        is_class = bool(semantics.class_member) and name == semantics.class_member
        return frozenset((own_class(value),)) if is_class else BOTTOM

    def _of_function(self, value: FunctionObject, name: str, file: File) -> Values:
        if file.semantics.functions_are_objects:
            return self.typed.of_function(value, name, file)
        if name and name == file.semantics.prototype:
            return singleton(instance_of(value))
        found = self.stores.into(FunctionObject(*value.place), name)
        return found or (
            singleton(BuiltinMethod(value, name)) if name in file.semantics.methods else BOTTOM
        )

    def read(self, members: Values, receiver: Value) -> Values:
        """Bind functions to the receiver; a property gives what it returns."""
        found: set[Value] = set()
        for member in members:
            if isinstance(member, FunctionObject) and member.receiver is None:
                flags = self.scope(member).flags
                if flags & SETTER:
                    continue
                if flags & CLASS_METHOD or isinstance(receiver, (Instance, ContainerLiteral)):
                    bound = FunctionObject(member.file, member.position, receiver)
                    if flags & PROPERTY:
                        found |= self.calls.returned(bound)
                        continue
                    member = member if flags & STATIC else bound
            if isinstance(member, Instance) and (described := self._described(member)):
                found |= described
                continue
            found.add(member)
        return frozenset(found)

    def _described(self, member: Instance) -> Values:
        """What reading a member gives that has a method for being read, nothing if that is not
        known.
        """
        home = self.home(member)
        method = home.semantics.descriptor_method
        return (
            self.calls.of_member(member, method, home) if method and self.named(method) else BOTTOM
        )

    def evaluated(self, values: Values) -> Values:
        """The values of functions that are called by naming them; other values as they are."""
        found: Values = BOTTOM
        for value in values:
            if isinstance(value, FunctionObject) and self.scope(value).flags & PROPERTY:
                found |= self.calls.returned(value)
            else:
                found |= singleton(value)
        return found

    # Classes

    def class_of(self, file: File, position: int) -> ClassObject | None:
        """The class that a class-like definition means; an extension means the class it extends."""
        scope = file.body(position)
        if scope is None or not scope.flags & EXTENSION:
            return self.open.whole(file, position)
        return self._received_by(file, position)

    def around(self, file: File, position: int) -> ClassObject | None:
        """The class that a definition stands in."""
        owner = file.owner_class(position)
        return self.class_of(file, owner) if owner >= 0 else None

    def of_class(
        self,
        target: ClassObject | None,
        name: str,
        file: File,
        receiver: ClassObject | Instance | None = None,
    ) -> Values:
        """A member by class, unbound; of a base outside the repository if no class of ours has it."""
        if target is None:
            return BOTTOM
        found = self.ours(target, name, file, receiver)
        if not found and receiver is not None:
            found = self.of_itself(receiver, name, file)
        if not found and receiver is not None and isinstance(receiver, ClassObject):
            found = self.evaluator.metaclasses.bound(receiver, name)
        return found or self.of_external_base(target, name)

    def ours(
        self,
        target: ClassObject,
        name: str,
        file: File,
        receiver: ClassObject | Instance | None = None,
    ) -> Values:
        """A member by class, unbound: the first class of the linearised hierarchy that has it.

        For an instance whose hierarchy lacks the member, subclasses are asked (the base class calls
        its child), then assignments from outside the class.
        """
        found = self.declared(target, name, type(receiver) if receiver is not None else Instance)
        if found:
            return found
        if receiver is not None and not file.semantics.virtual:
            if isinstance(receiver, Instance) and not self.of_external_base(target, name):
                found = self._of_subclasses(target, name)
            found = found or self.stores.into(receiver, name)
            if not found and isinstance(receiver, Instance):
                found = self.missing.of(receiver, name, file)
                if not found:
                    self.stores.say_unsearched(receiver, name, file)
        return found

    def declared(self, target: ClassObject, name: str, side: type[Value] = Instance) -> Values:
        """A member that a class or one above it has, unbound. `side`: ClassObject for what the class
        itself can do.
        """
        semantics = self.home(target).semantics
        if semantics.class_side:
            return self.solve(("side", target, name, side), self.open.declared, target, name, side)
        compute = self._typed if semantics.virtual else self._declared
        return self.solve(("member", target.file, target.position, name), compute, target, name)

    def implicit(self, file: File, position: int, name: str, scope: int) -> Values:
        """The values of a bare name in a class body: a member of the class, of one above or, if
        virtual, below.
        """
        if file.semantics.class_side:
            return self.open.implicit(file, position, name, scope)
        target = self.class_of(file, position)
        if target is None:
            return BOTTOM
        found = self.declared(target, name)
        if file.semantics.virtual and self.typed.is_virtual(found):
            found |= self.typed.overriding(target, name)
        return (
            self.read(found, Instance(target.file, target.position, True))
            if file.semantics.virtual
            else found
        )

    def _typed(self, target: ClassObject, name: str) -> Values:
        """`_declared` where fields hold what their types admit and functions are told apart by
        their parameters.
        """
        found: set[Value] = set()
        signatures: set[tuple[str, ...] | None] = set()
        for owner in self.order(target):
            own = self._written_outside(owner, name) | self._in_bases(owner, name)
            for file, position in self._having(owner, name):
                own |= self._typed_own(file, position, name, owner)
            own = own or self._computed(owner, name)
            for value in own:
                if not isinstance(value, FunctionObject):
                    if None not in signatures:
                        found.add(value)
                elif self.typed.signature(value) not in signatures:
                    found.add(value)
            signatures.update(
                self.typed.signature(v) if isinstance(v, FunctionObject) else None for v in own
            )
            if own and not self.home(owner).semantics.overloads:
                break
        return (
            frozenset(found)
            or self._of_companion(target, name)
            or self._passed_on(*self.place(target), name)
        )

    def _passed_on(self, file: File, namespace: int, name: str) -> Values:
        """What a namespace has of a name because it imports all names of others."""
        stars = file.scope(namespace).stars
        for target in (target for star in stars for target in self.program.modules(file, star)):
            if found := self.modules.of(self.file(target), name):
                return found
        return self.modules.from_class_stars(file, name, stars)

    def _computed(self, owner: ClassObject, name: str) -> Values:
        """Members of a class whose names are constants that have this value: `[SAVE]() {…}`,
        `this[SAVE] = …`.
        """
        file = self.home(owner)
        outer = file.definitions[owner.position].parent
        found: Values = BOTTOM
        for written, computed in file.computed_names.get(owner.position, {}).items():
            keys = self.containers.keys(file, outer, computed)
            if keys is not None and name in keys:
                found |= self.names.bound(file, owner.position, written)
        for store in file.computed_receiver_stores(owner.position):
            keys = self.containers.keys(file, store.scope, store.key)
            if keys is not None and name in keys:
                found |= self.values(file, store.scope, store.value)
        return found

    def computed_names(self, file: File, position: int) -> list[str]:
        """The constants that the name of a method is, if it is written in brackets; of a symbol of
        a package its last name.
        """
        name, outer = file.definitions[position].name, file.definitions[position].parent
        computed = file.computed_names.get(outer, {}).get(name)
        around = file.definitions[outer].parent
        keys = self.containers.keys(file, around, computed) or frozenset()
        texts = sorted(key for key in keys if type(key) is str)
        return [key.rpartition(".")[2] if key.startswith(UNIQUE_KEY) else key for key in texts]

    def _having(self, owner: ClassObject, name: str) -> list[Inside]:
        """The bodies of a class in which a member is looked for."""
        if self.home(owner).semantics.traits:
            return self.evaluator.traits.first_bodies(self._bodies(owner), name)
        return [
            (file, position)
            for file, position in self._bodies(owner)
            if name in file.names(position)
        ]

    def _of_companion(self, target: ClassObject, name: str) -> Values:
        companion = self.home(target).semantics.companion
        found: Values = BOTTOM
        for owner in self.linearised(target) if companion and name != companion else ():
            home = self.home(owner)
            for value in (
                self.names.bound(home, owner.position, companion)
                if companion in home.names(owner.position)
                else ()
            ):
                found |= self.declared(value, name) if isinstance(value, ClassObject) else BOTTOM
        return found

    def _in_bases(self, owner: ClassObject, name: str) -> Values:
        """A member of a base that is written out in place: `interface A extends Readonly<B & {c:
        C}>`.
        """
        found: Values = BOTTOM
        file, outer = (
            self.home(owner),
            self.definition(owner).parent,
        )
        for expression in written_types(file, file.scope(owner.position).bases):
            if isinstance(expression, MappingLiteral):
                members = [value for key, value in expression.entries if key == (CONST, name)]
                found |= self.union(file, outer, members)
        return found

    def _typed_own(self, file: File, position: int, name: str, owner: ClassObject) -> Values:
        entries = file.all_bindings(position, name)
        types = [
            (scope, entry.type) for scope, entry in entries if isinstance(entry, (Typed, Declared))
        ]
        if not types:
            found = self.names.bound(file, position, name)
            if not has(found, FunctionObject, ClassObject):
                found |= self.assigned(owner, name) | self.stores.into(instance_of(owner), name)
            return found or self._placeholder(file, position, name)
        values = self.assigned(owner, name) | self.stores.into(instance_of(owner), name)
        functions: Values = BOTTOM
        for scope, entry in entries:
            if isinstance(entry, (DefinedHere, CallableType)):
                functions |= self.values(file, scope, entry)
            elif not isinstance(entry, Typed):
                values |= self.values(file, scope, entry)
        declared: Values = BOTTOM
        for scope, annotation in types:
            declared |= self.annotations.instances(file, scope, annotation)
        known = self.typed.narrowed(values, declared, whole=True)
        return functions | (known or self._placeholder(file, position, name))

    def _declared(self, target: ClassObject, name: str) -> Values:
        assigned: Values = BOTTOM
        for owner in self.order(target):
            assigned |= self.assigned(owner, name)
            found = self.own(owner, name) or self._computed(owner, name)
            if found:
                return found | assigned
        return assigned

    def own(self, owner: ClassObject, name: str) -> Values:
        """Members that a class itself declares, its extensions included."""
        found: Values = BOTTOM
        for file, position in self._bodies(owner):
            if file.semantics.prototype:
                found |= self._mixed_in(owner, name, file)
            if file.definitions[position].kind in CALLABLE_KINDS:
                continue
            if name in file.names(position):
                found |= self.names.bound(file, position, name)
                found = found or self._placeholder(file, position, name)
        if self.home(owner).semantics.open_classes:
            found |= self.open.defined_elsewhere(owner, name)
        return found | self._written_outside(owner, name)

    def _written_outside(self, owner: ClassObject, name: str) -> Values:
        """Methods that name their class as the type of a receiver, outside of its body."""
        found: set[Value] = set()
        class_name = self.definition(owner).name
        for file_id, position in self.named(name, owner=class_name):
            file = self.file(file_id)
            scope = file.body(position)
            if scope is None or scope.receiver_type is None or scope.flags & EXTENSION:
                continue
            if owner in self.values(file, file.definitions[position].parent, scope.receiver_type):
                found.add(FunctionObject(file_id, position, None))
        return frozenset(found)

    def _mixed_in(self, owner: ClassObject, name: str, file: File) -> Values:
        """Members added to the instances of a class or function through its prototype."""
        found = self.stores.into(instance_of(owner), name)
        if name != file.semantics.prototype:
            for value in self._prototypes(owner, file):
                if isinstance(value, ContainerLiteral):
                    found |= self.containers.items(value, frozenset((name,)), file)
        return found

    def _prototypes(self, owner: ClassObject, file: File) -> Values:
        """What was assigned to be the prototype of a class or function."""
        made = self.definition(owner).kind in CALLABLE_KINDS
        thing = FunctionObject(owner.file, owner.position) if made else owner
        found = self.stores.into(thing, file.semantics.prototype)
        for value in found:
            if isinstance(value, ContainerLiteral):
                found |= self.containers.merged_into(value)
        return found

    def assigned(self, owner: ClassObject, name: str) -> Values:
        """The values that the methods of a class assign to a member of their receiver, and others
        from outside.
        """
        found: Values = BOTTOM
        for file, position in self._bodies(owner):
            stores = file.receiver_stores(position, name)
            for scope, expression in stores:
                found |= self.values(file, scope, expression)
            if stores:
                found |= self.stores.into(instance_of(owner), name)
        return found

    def _placeholder(self, file: File, position: int, name: str) -> Values:
        """A declared member of unknown value hides those of the bases all the same."""
        return singleton(ExternalResult(f"{file.path}:{file.qualnames()[position]}.{name}"))

    def _bodies(self, owner: ClassObject) -> Iterable[Inside]:
        """The bodies that hold the members of a class."""
        known = self._known_bodies.get(owner)
        if known is None:
            file = self.home(owner)
            known = [
                (self.file(at), position)
                for at, position in self.open.openings(file, owner.position)
            ]
            name = file.definitions[owner.position].name
            if self.named(name, kinds=EXTENSION_KINDS) or self.open.added_to(file, name):
                return [*known, *self.extensions(owner)]  # may be on the way to being solved
            self._known_bodies[owner] = known
        return known

    def extensions(self, owner: ClassObject) -> list[Inside]:
        """Blocks and receiver methods elsewhere that add members to a class."""
        key = ("extensions", owner)
        found = self.solve(key, self._extension_values, owner)
        return [(self.file(file_id), position) for file_id, position in sorted(found)]

    def _extension_values(self, owner: ClassObject) -> frozenset[Place]:
        home = self.home(owner)
        name = home.definitions[owner.position].name
        is_of_module = home.definitions[owner.position].parent == 0
        found = set(self.open.added_to(home, name)) if is_of_module else set()
        for file_id, position in self.named(name, kinds=EXTENSION_KINDS):
            file = self.file(file_id)
            scope = file.body(position)
            if (
                scope is not None
                and scope.flags & EXTENSION
                and self.class_of(file, position) == owner
            ):
                found.add((file_id, position))
        return frozenset(found)

    def linearised(self, target: ClassObject) -> tuple[ClassObject, ...]:
        """Method resolution order (C3; depth first where C3 has no answer), the class itself first."""
        found = self.solve(("linearised", target), self._linearised, target)
        return _sequence(found) or (target,)

    def _linearised(self, target: ClassObject) -> frozenset[tuple[ClassObject, ...]]:
        return frozenset((tuple(self.order(target)),))

    def order(self, target: ClassObject) -> Iterator[ClassObject]:
        """Method resolution order, found out only as far as it is read."""
        met = dict[ClassObject, None]()
        behind: tuple[ClassObject, ...] = (target,)
        while len(behind) == 1 and behind[0] not in met:
            met[behind[0]] = None
            self.program.bounds.spend(len(met) % CLASSES_A_WORK == 0)
            yield behind[0]
            bases = self.bases(behind[0])
            behind = tuple(base for base in bases if isinstance(base, ClassObject))
        if len(behind) > 1:
            merged = _sequence(self.solve(("merged", behind), self._merged, behind))
            self.program.bounds.spend(len(merged) // CLASSES_A_WORK)
            yield from (one for one in merged if one not in met)

    def _merged(self, bases: tuple[ClassObject, ...]) -> frozenset[tuple[ClassObject, ...]]:
        orders = [self.linearised(base) for base in bases]
        merged = _merge([*orders, bases])
        if merged is None:
            merged = list(dict.fromkeys(value for order in orders for value in order))
        return frozenset((tuple(merged),))

    def bases(self, target: ClassObject, kind: type[Value] = ClassObject) -> tuple[Value, ...]:
        """The base classes in order, external ones included; with `kind` Instance what the class
        itself is one of.
        """
        found = self.solve(("bases", target, kind), self._base_values, target, kind)
        return _sequence(found)

    def _base_values(self, target: ClassObject, kind: type[Value]) -> frozenset[tuple[Value, ...]]:
        found: list[Value] = []
        wanted = (ClassObject, ExternalObject) if kind is ClassObject else (kind,)
        for file, position in self._bodies(target):
            outer = file.definitions[position].parent
            if file.semantics.prototype:
                made = only(self._prototypes(target, file), Instance)
                found += map(own_class, sorted(made, key=repr))
            for expression in written_types(file, file.scope(position).bases):
                values = self.values(file, outer, expression)
                if file.semantics.prototype:
                    values = frozenset(
                        own_class(v) if isinstance(v, FunctionObject) else v for v in values
                    )
                if file.semantics.open_classes and has(values, ClassObject):
                    values = without(values, ExternalObject)
                found.extend(sorted(only(values, *wanted), key=repr))
        return frozenset((tuple(dict.fromkeys(found)),))

    def subclasses(self, target: ClassObject) -> list[ClassObject]:
        """All classes below a class, nearest first."""
        found, pending = {target}, [target]
        is_open = self.home(target).semantics.open_receivers
        # others see `CallGraph.callers`
        solve = self.solver.solve_whole if is_open else self.solve
        for current in pending:
            below = solve(("subclasses", current), self._direct_subclasses, current)
            pending += sorted(below - found)
            found |= below
        return pending[1:]

    def _direct_subclasses(self, target: ClassObject) -> frozenset[ClassObject]:
        home = self.home(target)
        name = home.definitions[target.position].name
        found = self._implementers(target) if self.is_structural(target) else frozenset()
        based = self.program.hierarchy.based_on(name, home.family)
        files = {one.file for one in based}
        if len(files) > MAX_SUBTYPE_FILES:
            self.solver.bounds.add(SUBTYPE_LIMIT)
            nearest = {*self.program.nearest(files, home)[:MAX_SUBTYPE_FILES]}
            based = {one for one in based if one.file in nearest}
        return found.union(self._based_on(target, based))

    def _based_on(self, target: ClassObject, names: Iterable[ClassName]) -> Iterator[ClassObject]:
        """The classes of some names that are based on one."""
        return (
            one
            for one in self.open.classes(sorted(names))
            if one != target and target in self.bases(one)
        )

    def is_structural(self, target: ClassObject) -> bool:
        """True if having every method of a type makes a class implement it."""
        home = self.home(target)
        if home.semantics.protocols:
            outside = (
                base.last_name for base in only(self.bases(target, ExternalObject), ExternalObject)
            )
            return not home.semantics.protocols.isdisjoint(outside)
        return home.definitions[target.position].kind in home.semantics.structural

    def _implementers(self, interface: ClassObject) -> frozenset[ClassObject]:
        """Classes that have every method of an interface."""
        wanted = self._asked_for(interface)
        if not wanted:
            return frozenset()
        rarest = min(sorted(wanted), key=lambda name: len(self.named(name)))
        candidates: set[ClassObject] = set()
        for file_id, position in self.named(rarest):
            owner = self.owner_of_method(self.file(file_id), position)
            if owner is not None:
                candidates.update((owner, *self._embedding(owner)))
        return frozenset(
            candidate
            for candidate in candidates
            if not self.is_structural(candidate) and self._provides_all(candidate, wanted)
        )

    def implemented(self, target: ClassObject, name: str) -> list[ClassObject]:
        """The interfaces with a method of that name that a class implements by having their
        methods.
        """
        found = []
        for file_id, position in self.named(name):
            file = self.file(file_id)
            interface = self.around(file, position)
            if interface is None or interface == target or not self.is_structural(interface):
                continue
            if self._provides_all(target, self._asked_for(interface)):
                found.append(interface)
        return found

    def _provides_all(self, candidate: ClassObject, wanted: Mapping[str, Called]) -> bool:
        """True if a class has all methods as an interface asks for them."""
        return all(self._provides(candidate, name, wanted[name]) for name in wanted)

    def _provides(self, candidate: ClassObject, name: str, method: Called) -> bool:
        """True if a class has something of a name that can be called as a method is."""
        found = self.declared(candidate, name)
        functions = list(only(found, FunctionObject))
        return bool(found) and (
            not functions or any(self._agrees(value, method) for value in functions)
        )

    def _agrees(self, function: FunctionObject, method: Called) -> bool:
        """True if a function can be called as a method of an interface is: with as many arguments,
        where types have no subtypes of types with the same names as far as both have a name.
        """
        typed, semantics = self.typed, self.home(method).semantics
        if semantics.nominal or isinstance(method, SignatureObject):
            return typed.accepts_as_many(function, method)
        own, wanted = typed.signature(function), typed.signature(method)
        return len(own) == len(wanted) and all(
            name == other or not name or not other or other in semantics.top_types
            for name, other in zip(own, wanted, strict=True)
        )

    def _embedding(self, owner: ClassObject) -> list[ClassObject]:
        is_interface = self.definition(owner).kind == Kind.INTERFACE
        return [] if is_interface else self.subclasses(owner)

    def _asked_for(self, interface: ClassObject) -> dict[str, Called]:
        """What an interface asks to be there and be called, by name."""
        found: dict[str, Called] = {}
        for owner in self.linearised(interface):
            file = self.home(owner)
            for child in file.children.get(owner.position, ()):
                for value in self._called_member(file, child):
                    found.setdefault(file.definitions[child].name, value)
        return found

    def _called_member(self, file: File, position: int) -> frozenset[Called]:
        """A method, or what a field has to be that is declared to be a function; nothing for what
        may be left out.
        """
        own, scope = file.definitions[position], file.body(position)
        if own.kind == Kind.METHOD and scope is not None and not scope.flags & OPTIONAL:
            return frozenset((FunctionObject(file.id, position),))
        found: Values = BOTTOM
        for at, entry in file.bindings(own.parent, own.name) if own.kind == Kind.FIELD else ():
            if isinstance(entry, Typed) and not isinstance(entry.type, Either):
                found |= self.annotations.instances(file, at, entry.type)
        return only(found, SignatureObject)

    def owner_of_method(self, file: File, position: int) -> ClassObject | None:
        """The class whose method a definition is, wherever it is written."""
        scope = file.body(position)
        if (
            scope is None
            or scope.flags & EXTENSION
            or file.definitions[position].kind != Kind.METHOD
        ):
            return None
        if file.owner_class(position) >= 0:
            return self.around(file, position)
        return self._received_by(file, position)

    def _received_by(self, file: File, position: int) -> ClassObject | None:
        """The class that an extension, or a method that is written outside, says it belongs to."""
        scope, parent = file.body(position), file.definitions[position].parent
        types = self.values(file, parent, scope.receiver_type) if scope else BOTTOM
        return next(iter(sorted(only(types, ClassObject), key=repr)), None)

    def _of_subclasses(self, target: ClassObject, name: str) -> Values:
        """What subclasses declare under a name that few classes declare."""
        places = self.named(name, kinds=CALLABLE_KINDS | VALUE_KINDS)
        home = self.home(target)
        found: Values = BOTTOM
        own = home.definitions[target.position].name
        is_stored = bool(home.member_stores(name))
        based = self.program.hierarchy.based_on(own, home.family) if is_stored else ()
        near = (class_ for class_ in based if class_.file == home.id)
        for below in self._based_on(target, near):
            # An equation: what is assigned may come from the same member of another instance of
            # `target`.
            found |= self.solve(("assigned below", below, name), self.assigned, below, name)
        for file_id, position in places if len(places) <= MAX_SUBCLASS_MEMBERS else ():
            file = self.file(file_id)
            child = self.around(file, position)
            if child is not None and child != target and target in self.linearised(child):
                found |= self.own(child, name)
        return found

    def _of_parent(self, value: SuperObject, name: str, file: File) -> Values:
        owner = self.open.whole(*self.place(value))
        receiver = instance_of(owner)
        for base in islice(self.order(owner), 1, None):
            virtual = file.semantics.virtual
            found = (
                self.declared(base, name)
                if virtual
                else self.own(base, name) or self.assigned(base, name)
            )
            if file.semantics.class_side:
                found = self.open.of_side(found, value.side)
            if found:
                return self.read(found, receiver)
        return self.of_external_base(owner, name)

    def of_external_base(self, target: ClassObject, name: str) -> Values:
        """A member that a class may have from a base outside the repository."""
        mark = self.home(target).semantics.variable_mark
        if mark and name.startswith(mark):
            return BOTTOM
        outside = self.outer_base(target)
        if not outside:
            return BOTTOM
        collections = self.home(target).semantics.instance_collections
        if f"{outside.rpartition('.')[2]}.{name}" in collections:
            return collection(singleton(instance_of(target)))
        return external(f"{outside}.{name}")

    def outer_base(self, target: ClassObject) -> str:
        """The dotted name of the first base of a class that is outside the repository and may have
        members, "" without one.
        """
        base = self.solve(("outer base", target), self._outer_base, target)
        return next(iter(base)).name if base else ""

    def _outer_base(self, target: ClassObject) -> frozenset[ExternalObject]:
        """The first base in a hierarchy that is outside the repository and may have members."""
        empty = self.home(target).semantics.empty_bases
        bases = (
            base
            for owner in self.order(target)
            for base in self.bases(owner)
            if isinstance(base, ExternalObject) and base.last_name not in empty
        )
        return frozenset(islice(bases, 1))


def _sequence(found: frozenset[tuple[SomeValue, ...]]) -> tuple[SomeValue, ...]:
    """The sequence that an unknown is: the longest, where it is not settled."""
    return max(sorted(found), key=len) if len(found) > 1 else next(iter(found), ())


def _merge(orders: Iterable[Sequence[ClassObject]]) -> list[ClassObject] | None:
    """The merge of C3 linearisation; None when the orders contradict each other."""
    merged: list[ClassObject] = []
    pending = [deque(order) for order in orders]
    behind = Counter(value for order in pending for value in islice(order, 1, None))
    while pending := list(filter(None, pending)):
        head = next((order[0] for order in pending if not behind[order[0]]), None)
        if head is None:
            return None
        merged.append(head)
        for order in pending:
            if order[0] == head:
                order.popleft()
                behind.subtract(islice(order, 1))
    return merged
