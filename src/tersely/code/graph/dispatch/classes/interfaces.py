"""Types that a class implements by having their methods."""

from __future__ import annotations

from collections.abc import Mapping

from tersely.code.expressions import (
    OPTIONAL,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ExternalObject,
    FunctionObject,
    SignatureObject,
    Values,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    Either,
    Typed,
)
from tersely.code.symbols import Kind

Called = FunctionObject | SignatureObject


class Interfaces(Component):
    """Interfaces without a word of those who implement them, and their implementers."""

    def is_structural(self, target: ClassObject) -> bool:
        """True if having every method of a type makes a class implement it."""
        home = self.home(target)
        if home.semantics.protocols:
            outside = (
                base.last_name
                for base in only(self.inheritance.bases(target, ExternalObject), ExternalObject)
            )
            return not home.semantics.protocols.isdisjoint(outside)
        return home.kind(target.position) in home.semantics.structural

    def implementers(self, interface: ClassObject) -> frozenset[ClassObject]:
        """Classes that have every method of an interface."""
        wanted = self._asked_for(interface)
        if not wanted:
            return frozenset()
        rarest = min(sorted(wanted), key=lambda name: len(self.named(name)))
        candidates: set[ClassObject] = set()
        for file_id, position in self.named(rarest):
            owner = self.bodies.owner_of_method(self.file(file_id), position)
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
            interface = self.bodies.around(file, position)
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
        found = self.class_members.declared(candidate, name)
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
        return [] if is_interface else self.inheritance.subclasses(owner)

    def _asked_for(self, interface: ClassObject) -> dict[str, Called]:
        """What an interface asks to be there and be called, by name."""
        found: dict[str, Called] = {}
        for owner in self.inheritance.linearised(interface):
            file = self.home(owner)
            for child in file.children.get(owner.position, ()):
                for value in self._called_member(file, child):
                    found.setdefault(file.name(child), value)
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
