"""Traits where a block of its own implements each for a type: `impl Trait for Type`.

A type may have several methods of one name then, one of its own and one a trait. Which one a call
means depends on how it is written: `x.m()` means the type's own method first, `Trait::m(x)` and
`<Type as Trait>::m(x)` that of the trait. What is called on anything that has the trait, `dyn
Trait` or `T: Trait`, reaches the methods of the blocks for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tersely.code.expressions import EXTENSION
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    CollectionObject,
    Defined,
    FunctionObject,
    Instance,
    TraitView,
    Values,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import Invocation, Member
from tersely.code.symbols import Kind

Body = tuple[File, int]


class Traits(Component):
    """The part of `Members` and `Calls` for languages whose traits are implemented in blocks of
    their own.
    """

    def is_trait(self, value: Defined) -> bool:
        """True if a class is such a trait."""
        home = self.home(value)
        return home.semantics.traits and home.kind(value.position) == Kind.TRAIT

    def bound(self, declared: Values) -> bool:
        """True if things are declared by a trait: then only what that has can be called on them."""
        things = {
            *declared,
            *(
                thing
                for value in declared
                if isinstance(value, CollectionObject)
                for thing in value.items
            ),
        }
        return any(isinstance(value, Instance) and self.is_trait(value) for value in things)

    def first_bodies(self, bodies: Iterable[Body], name: str) -> list[Body]:
        """Of the bodies of a type that have a member those where it is looked up first: outside of
        traits.
        """
        having = [(file, position) for file, position in bodies if name in file.names(position)]
        inherent = [
            (file, position) for file, position in having if not self._implements(file, position)
        ]
        return inherent or having

    def implementations(self, trait: ClassObject, name: str) -> Values:
        """The members of that name in every block that implements a trait, or one that it builds
        on.
        """
        traits = frozenset(self.inheritance.linearised(trait))
        # `impl Trait for &T` extends what bounds T, the trait itself
        children = (trait, *self.inheritance.subclasses(trait))
        return BOTTOM.union(*(self._implemented(child, traits, name) for child in children))

    def seen_as(self, types: Values, traits: Values) -> Values:
        """`Type as Trait`: types as what implements a trait; the trait itself where the type is not
        known.
        """
        ours = list(only(traits, ClassObject))
        known = [
            value for value in types if isinstance(value, ClassObject) and not self.is_trait(value)
        ]
        if not ours or not known:
            return frozenset(ours) or types
        return frozenset(
            TraitView(value.file, value.position, trait) for value in known for trait in ours
        )

    def of_aspect(self, value: TraitView, name: str, file: File) -> Values:
        """A member of a type as what implements a trait: of the block that does, else of the trait."""
        target, trait = own_class(value), value.trait
        return self._implemented(target, frozenset((trait,)), name) or self.class_members.declared(
            trait, name
        )

    def chosen(self, values: Values, file: File, scope: int, call: Invocation) -> Values:
        """Of several methods those that a call means: by its first argument, by which traits are in
        sight.
        """
        callee = call.callee
        functions = list(only(values, FunctionObject))
        if len(functions) < 2 or not isinstance(callee, Member):
            return values
        owners = list(only(self.values(file, scope, callee.object), ClassObject))
        if call.arguments and any(self.is_trait(owner) for owner in owners):
            given = list(only(self.values(file, scope, call.arguments[0]), Instance))
            meant: Values = BOTTOM
            for owner in owners:
                meant |= self._of_receivers(given, owner, callee.name, file)
            return meant or values
        seen = [value for value in functions if self._is_in_sight(value, file, scope)]
        return frozenset(seen) | (values - frozenset(functions)) if seen else values

    def _of_receivers(
        self, receivers: list[Instance], trait: ClassObject, name: str, file: File
    ) -> Values:
        found: Values = BOTTOM
        for value in receivers:
            target = own_class(value)
            if self.is_trait(target):
                found |= self.class_members.declared(target, name) | self.implementations(
                    target, name
                )
            elif trait in self.inheritance.linearised(target):
                found |= self.of_aspect(TraitView(value.file, value.position, trait), name, file)
        return found

    def _implemented(
        self, target: ClassObject, traits: frozenset[ClassObject], name: str
    ) -> Values:
        """A member that the blocks of a type have which implement one of some traits for it."""
        found: Values = BOTTOM
        for file, position in self.bodies.added(target):
            if name in file.names(position) and not traits.isdisjoint(
                self._traits_of(file, position)
            ):
                found |= self.names.bound(file, position, name)
        return found

    def _implements(self, file: File, position: int) -> bool:
        scope = file.scope(position)
        return bool(scope.flags & EXTENSION and scope.bases)

    def _traits_of(self, file: File, position: int) -> Values:
        return self.union(file, file.parent(position), file.scope(position).bases)

    def _is_in_sight(self, function: FunctionObject, file: File, scope: int) -> bool:
        """True if a method may be called for the traits that a scope has names for; a trait's own
        always may.
        """
        if isinstance(function.receiver, Defined) and self.is_trait(function.receiver):
            return True
        home = self.home(function)
        owner = home.owner_class(function.position)
        if owner < 0 or not self._implements(home, owner):
            return True
        traits = only(self._traits_of(home, owner), ClassObject)
        names = self.names
        return any(trait in names.of(file, scope, self.definition(trait).name) for trait in traits)
