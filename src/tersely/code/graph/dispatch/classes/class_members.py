"""Members of classes: what a class declares, is assigned, and has from those above and below it."""

from __future__ import annotations

from tersely.code.expressions import (
    CONST,
    EXTENSION,
    last_part,
)
from tersely.code.graph.pointsto.annotations import written_types
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    UNIQUE_KEY,
    ClassObject,
    ContainerLiteral,
    ExternalResult,
    FunctionObject,
    Instance,
    Value,
    Values,
    collection,
    external,
    has,
    instance_of,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Inside
from tersely.code.nodes import (
    CallableType,
    Declared,
    DefinedHere,
    MappingLiteral,
    Typed,
)
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS
from tersely.foundation.types import Strings

MAX_SUBCLASS_MEMBERS = 30  # definitions of a name among which those of subclasses are looked for


class ClassMembers(Component):
    """Member lookup along the classes of an `Evaluator`."""

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
            found = self.members.of_itself(receiver, name, file)
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
                found = self.evaluator.missing_members.of(receiver, name, file)
                if not found:
                    self.stores.say_unsearched(receiver, name, file)
        return found

    def declared(self, target: ClassObject, name: str, side: type[Value] = Instance) -> Values:
        """A member that a class or one above it has, unbound. `side`: ClassObject for what the class
        itself can do.
        """
        semantics = self.home(target).semantics
        if semantics.class_side:
            return self.solve(
                ("side", target, name, side), self.open_classes.declared, target, name, side
            )
        compute = self._typed if semantics.virtual else self._declared
        return self.solve(("member", target.file, target.position, name), compute, target, name)

    def implicit(self, file: File, position: int, name: str, scope: int) -> Values:
        """The values of a bare name in a class body: a member of the class, of one above or, if
        virtual, below.
        """
        if file.semantics.class_side:
            return self.open_classes.implicit(file, position, name, scope)
        target = self.bodies.class_of(file, position)
        if target is None:
            return BOTTOM
        found = self.declared(target, name)
        if file.semantics.virtual and self.typed.is_virtual(found):
            found |= self.typed.overriding(target, name)
        return (
            self.members.read(found, Instance(target.file, target.position, True))
            if file.semantics.virtual
            else found
        )

    def _typed(self, target: ClassObject, name: str) -> Values:
        """`_declared` where fields hold what their types admit and functions are told apart by
        their parameters.
        """
        found: set[Value] = set()
        signatures: set[Strings | None] = set()
        for owner in self.inheritance.order(target):
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
        outer = file.parent(owner.position)
        found: Values = BOTTOM
        for written, computed in file.computed_names.get(owner.position, {}).items():
            keys = self.containers.keys(file, outer, computed)
            if keys is not None and name in keys:
                found |= self.names.bound(file, owner.position, written)
        for store in file.stores.computed_receiver_stores(owner.position):
            keys = self.containers.keys(file, store.scope, store.key)
            if keys is not None and name in keys:
                found |= self.values(file, store.scope, store.value)
        return found

    def computed_names(self, file: File, position: int) -> list[str]:
        """The constants that the name of a method is, if it is written in brackets; of a symbol of
        a package its last name.
        """
        name, outer = file.name(position), file.parent(position)
        computed = file.computed_names.get(outer, {}).get(name)
        around = file.parent(outer)
        keys = self.containers.keys(file, around, computed) or frozenset()
        texts = sorted(key for key in keys if type(key) is str)
        return [last_part(key) if key.startswith(UNIQUE_KEY) else key for key in texts]

    def _having(self, owner: ClassObject, name: str) -> list[Inside]:
        """The bodies of a class in which a member is looked for."""
        if self.home(owner).semantics.traits:
            return self.evaluator.traits.first_bodies(self.bodies.of(owner), name)
        return [
            (file, position)
            for file, position in self.bodies.of(owner)
            if name in file.names(position)
        ]

    def _of_companion(self, target: ClassObject, name: str) -> Values:
        companion = self.home(target).semantics.companion
        found: Values = BOTTOM
        for owner in self.inheritance.linearised(target) if companion and name != companion else ():
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
        for owner in self.inheritance.order(target):
            assigned |= self.assigned(owner, name)
            found = self.own(owner, name) or self._computed(owner, name)
            if found:
                return found | assigned
        return assigned

    def own(self, owner: ClassObject, name: str) -> Values:
        """Members that a class itself declares, its extensions included."""
        found: Values = BOTTOM
        for file, position in self.bodies.of(owner):
            if file.semantics.prototype:
                found |= self._mixed_in(owner, name, file)
            if file.kind(position) in CALLABLE_KINDS:
                continue
            if name in file.names(position):
                found |= self.names.bound(file, position, name)
                found = found or self._placeholder(file, position, name)
        if self.home(owner).semantics.open_classes:
            found |= self.open_classes.defined_elsewhere(owner, name)
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
            if owner in self.values(file, file.parent(position), scope.receiver_type):
                found.add(FunctionObject(file_id, position, None))
        return frozenset(found)

    def _mixed_in(self, owner: ClassObject, name: str, file: File) -> Values:
        """Members added to the instances of a class or function through its prototype."""
        found = self.stores.into(instance_of(owner), name)
        if name != file.semantics.prototype:
            for value in self.prototypes(owner, file):
                if isinstance(value, ContainerLiteral):
                    found |= self.containers.items(value, frozenset((name,)), file)
        return found

    def prototypes(self, owner: ClassObject, file: File) -> Values:
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
        for file, position in self.bodies.of(owner):
            stores = file.stores.receiver_stores(position, name)
            for scope, expression in stores:
                found |= self.values(file, scope, expression)
            if stores:
                found |= self.stores.into(instance_of(owner), name)
        return found

    def _placeholder(self, file: File, position: int, name: str) -> Values:
        """A declared member of unknown value hides those of the bases all the same."""
        return singleton(ExternalResult(f"{file.path}:{file.qualnames()[position]}.{name}"))

    def _of_subclasses(self, target: ClassObject, name: str) -> Values:
        """What subclasses declare under a name that few classes declare."""
        places = self.named(name, kinds=CALLABLE_KINDS | VALUE_KINDS)
        home = self.home(target)
        found: Values = BOTTOM
        own = home.name(target.position)
        is_stored = bool(home.stores.member_stores(name))
        based = self.program.hierarchy.based_on(own, home.family) if is_stored else ()
        near = (class_ for class_ in based if class_.file == home.id)
        for below in self.inheritance.based_on(target, near):
            # An equation: what is assigned may come from the same member of another instance of
            # `target`.
            found |= self.solve(("assigned below", below, name), self.assigned, below, name)
        for file_id, position in places if len(places) <= MAX_SUBCLASS_MEMBERS else ():
            file = self.file(file_id)
            child = self.bodies.around(file, position)
            if (
                child is not None
                and child != target
                and target in self.inheritance.linearised(child)
            ):
                found |= self.own(child, name)
        return found

    def of_external_base(self, target: ClassObject, name: str) -> Values:
        """A member that a class may have from a base outside the repository."""
        mark = self.home(target).semantics.variable_mark
        if mark and name.startswith(mark):
            return BOTTOM
        outside = self.inheritance.outer_base(target)
        if not outside:
            return BOTTOM
        collections = self.home(target).semantics.instance_collections
        if f"{last_part(outside)}.{name}" in collections:
            return collection(singleton(instance_of(target)))
        return external(f"{outside}.{name}")
