"""The meaning of type parameters, seen from an instance: `class OwnerRepository extends
Repository<Owner>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tersely.code.expressions import (
    Expression,
    last_name,
    named_parameters,
    substitute,
)
from tersely.code.graph.pointsto.annotations import written_arguments, written_types
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ExternalObject,
    FunctionObject,
    Instance,
    SignatureObject,
    Values,
    ValuesByPlace,
    has,
    instance_of,
    only,
    own_class,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.nodes import (
    Declared,
    Generic,
    GivenInstances,
    Item,
    Typed,
    decoded,
)

# classes between an instance and the base whose type parameters are asked for
MAX_GENERIC_BASES = 8


class OuterBase(NamedTuple):
    """A generic base outside the repository, `type` as seen from `scope`."""

    file: File
    scope: int
    type: Expression


class Generics(Component):
    """Type arguments over the values of an `Evaluator`."""

    def returned(self, function: FunctionObject, known: Values) -> Values:
        """The values that a method gives to its receiver: of what is `known` that which the type
        arguments admit.
        """
        file, position = self.place(function)
        written = file.scope(position).returned_type
        seen = self.seen_by(function, written) if self._is_generic(*function.place) else written
        if seen is written:
            return known
        # an equation: an operator between types may be a method that returns such a type
        key = ("returned type", file.id, position, seen)
        declared = self.solve(key, self.annotations.instances, file, position, seen)
        return self.typed.narrowed(known, declared)

    @kept
    def _is_generic(self, file_id: int, position: int) -> bool:
        """True if what a function returns names a type parameter."""
        return names_type_parameter(self.file(file_id).scope(position).returned_type)

    def seen_by(self, function: FunctionObject, annotation: Expression) -> Expression:
        """A type in a method as its receiver sees it: the very same where nothing is known of its
        type parameters.
        """
        receiver, file = function.receiver, self.home(function)
        owner = file.owner_class(function.position)
        if (
            not isinstance(receiver, (Instance, ClassObject))
            or owner < 0
            or not names_type_parameter(annotation)
        ):
            return annotation
        hidden = file.scope(function.position).type_parameters
        given = self._given(receiver, self.open_classes.whole(file, owner))
        if file.semantics.own_type:
            own = receiver if isinstance(receiver, Instance) else instance_of(receiver)
            given[file.semantics.own_type] = GivenInstances(singleton(own))
        return substitute(
            annotation, {name: type_ for name, type_ in given.items() if name not in hidden}
        )

    def in_instance(self, members: Values, instance: Instance, name: str) -> Values:
        """Members of a class as an instance has them: fields of its type arguments, methods of
        bases outside.
        """
        if members and all(isinstance(member, ExternalObject) for member in members):
            return self._inherited(instance, name) or self._indexed(instance) or members
        if has(members, FunctionObject):
            return members
        key = ("field", own_class(instance), instance.arguments, name)
        declared = self.solve(key, self._field, instance, name)
        return self.typed.narrowed(members, declared, whole=True) if declared else members

    def _field(self, instance: Instance, name: str) -> Values:
        """What a field is declared to be whose type names type parameters that are known."""
        declared: Values = BOTTOM
        for owner in self.inheritance.linearised(own_class(instance)):
            file = self.home(owner)
            if not file.scope(owner.position).type_parameters:
                continue
            stores = file.stores.receiver_stores(owner.position, name)
            for scope, entry in (*file.all_bindings(owner.position, name), *stores):
                annotation = _type_of(entry) or _type_of_parameter(file, scope, entry)
                seen = substitute(annotation, self._given(instance, owner))
                if seen is not annotation:
                    declared |= self.annotations.instances(file, scope, seen)
        return declared

    def elements(self, instance: Instance) -> Values:
        """The values that iterating over an instance gives by its bases outside: `implements
        Iterable<T>`.
        """
        found: Values = BOTTOM
        for base in self._outer_bases(instance):
            semantics = base.file.semantics
            if last_name(base.type) in semantics.containers | semantics.generators:
                found |= self.annotations.instances(base.file, base.scope, base.type)
        return found

    def _inherited(self, instance: Instance, name: str) -> Values:
        """A method of a base outside of which it is known what it gives."""
        for base in self._outer_bases(instance):
            known = base.file.semantics.inherited.get(last_name(base.type))
            if known is not None and name in known.members:
                given = dict(zip(known.type_parameters, written_arguments(base.type), strict=False))
                return singleton(
                    SignatureObject(
                        base.file.id,
                        base.scope,
                        substitute(decoded(known.members[name], {}), given),
                        (),
                    )
                )
        return BOTTOM

    def _indexed(self, instance: Instance) -> Values:
        """What every member of a type may be that says so of all of them: `{[name: string]: T}`."""
        is_object = self.home(instance).semantics.members_are_items
        return self.containers.elements(self.elements(instance)) if is_object else BOTTOM

    def _outer_bases(self, instance: Instance) -> Iterator[OuterBase]:
        for owner in self.inheritance.linearised(own_class(instance)):
            file = self.home(owner)
            outer = file.parent(owner.position)
            for base in written_types(file, file.scope(owner.position).bases):
                if isinstance(base, Generic):
                    values = self.values(file, outer, base.base)
                elif isinstance(base, Item):
                    values = self.values(file, outer, base.object)
                else:
                    continue
                if has(values, ExternalObject):
                    yield OuterBase(file, outer, substitute(base, self._given(instance, owner)))

    def above(self, instance: Instance, name: str) -> ValuesByPlace:
        """The type arguments of an instance as a class of that name above its own sees them."""
        target = own_class(instance)
        for owner in self.inheritance.linearised(target):
            if self.definition(owner).name == name:
                return self._arguments(target, instance.arguments, owner, MAX_GENERIC_BASES)
        return ()

    def _given(self, instance: ClassObject | Instance, owner: ClassObject) -> dict[str, Expression]:
        """The type parameters of a class by name, with what they stand for in an instance of one
        below it.
        """
        names = self.scope(owner).type_parameters
        if not names:
            return {}
        own = instance.arguments if isinstance(instance, Instance) else ()
        arguments = self._arguments(own_class(instance), own, owner, MAX_GENERIC_BASES)
        return {
            name: GivenInstances(values)
            for name, values in zip(names, arguments, strict=False)
            if values
        }

    def _arguments(
        self, target: ClassObject, own: ValuesByPlace, owner: ClassObject, left: int
    ) -> ValuesByPlace:
        """The type arguments of a class as those of one below it see them, nothing if they are not
        told.
        """
        if target == owner or not left:
            return own if left else ()
        file = self.home(target)
        outer, names = (
            file.parent(target.position),
            file.scope(target.position).type_parameters,
        )
        given: dict[str, Expression] = {
            name: GivenInstances(values) for name, values in zip(names, own, strict=False) if values
        }
        for base in written_types(file, file.scope(target.position).bases):
            types = self.annotations.instances(file, outer, substitute(base, given))
            for value in sorted(only(types, Instance), key=repr):
                above = own_class(value)
                if owner in self.inheritance.linearised(above) and (
                    found := self._arguments(above, value.arguments, owner, left - 1)
                ):
                    return found
        return ()


def _type_of(entry: Expression) -> Expression:
    """The type that a field is declared with, if it names a type parameter."""
    annotation = entry.type if isinstance(entry, (Typed, Declared)) else None
    return annotation if names_type_parameter(annotation) else None


def _type_of_parameter(file: File, scope: int, entry: Expression) -> Expression:
    """The type of the parameter that a field is given, if it names a type parameter."""
    parameters = file.scope(scope).parameters if type(entry) is str else ()
    types = [annotation for name, annotation, _, _ in parameters if name == entry]
    return next(filter(names_type_parameter, types), None)


def names_type_parameter(type_: Expression) -> bool:
    """True if a type parameter is part of a type."""
    return next(named_parameters(type_), None) is not None
