"""Classes that are written in several places, and classes that are objects with methods of their
own.

Where `Resolution.open_classes` holds, all definitions of one qualified name anywhere are one class:
the first of them stands for it. Where `Resolution.class_side` holds, what a class can do and what
its instances can do are apart, and a base that is an instance, `(TYPED, m)`, says that the class
itself is an instance of `m`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tersely.code.expressions import CLASS_METHOD, EXTENSION, PARTIAL, STATIC, last_part
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    Defined,
    FunctionObject,
    Instance,
    Value,
    Values,
    instance_of,
    only,
    own_class,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import ClassName, Inside, Place
from tersely.code.graph.program.scopes import kept
from tersely.code.nodes import DefinedHere
from tersely.code.symbols import MEMBER_OWNERS, Kind

QUOTES = ('"', "'")  # around the name of a namespace that is a text
MAX_OPENINGS = 200  # definitions of one qualified name that are looked through


class OpenClasses(Component):
    """The part of `Members` for languages whose classes are open or have a side of their own."""

    # Places of one class

    def whole(self, file: File, position: int) -> ClassObject:
        """The class that a body is a part of."""
        return ClassObject(*self.openings(file, position)[0])

    def openings(self, file: File, position: int) -> list[Place]:
        """Every body of a class, in the order of files."""
        if not file.semantics.open_classes and not self._is_partial(file, position):
            return [(file.id, position)]
        places = self.qualified(file, file.definitions[position].qualname, file.name(position))
        bodies = [place for place in places if self._is_body(*place)]
        if not file.semantics.open_classes:
            bodies = [
                place
                for place in bodies
                if self._is_partial(self.file(place[0]), place[1], file.namespace)
            ]
        return bodies if (file.id, position) in bodies else [(file.id, position)]

    def classes(self, names: Iterable[ClassName]) -> Iterator[ClassObject]:
        """The classes of some names."""
        for name, file_id in names:
            for position in self._classes_named(name)[file_id]:
                file = self.file(file_id)
                is_class = file.body(position) is not None
                value = self.bodies.class_of(file, position) if is_class else None
                if value is not None:
                    yield value

    @kept
    def _classes_named(self, name: str) -> dict[int, list[int]]:
        """The positions of the classes of a name, by file."""
        found = defaultdict[int, list[int]](list)
        for file_id, position in self.named(name, kinds=MEMBER_OWNERS):
            found[file_id].append(position)
        return found

    # Modules that files declare

    def module_declarations(self, module: str) -> list[Inside]:
        """The namespaces that declare what is in a module: `declare module "x" {…}`."""
        places = [place for quote in QUOTES for place in self.named(f"{quote}{module}{quote}")]
        return [(self.file(file_id), position) for file_id, position in places]

    def added_to(self, file: File, name: str) -> list[Place]:
        """(file, position) of the definitions of a name by which declarations of the module that a
        file is say more of what it has under that name.
        """
        if not file.semantics.declares_modules:
            return []
        rows = self.program.places_named(name)
        inside = [
            (file_id, position) for file_id, position, _, outer in rows if outer[-1:] in QUOTES
        ]
        return [place for place in inside if file.id in self._declared_modules(*place)]

    def _declared_modules(self, file_id: int, position: int) -> list[int]:
        """The files that a definition says more of by the namespace it stands in."""
        home = self.file(file_id)
        namespace = home.definitions[home.parent(position)]
        is_module = namespace.kind == Kind.NAMESPACE and namespace.name[:1] in QUOTES
        return self.program.modules(home, namespace.name[1:-1]) if is_module else []

    def _is_partial(self, file: File, position: int, namespace: str | None = None) -> bool:
        """True if a definition is one of the parts that its class is declared in."""
        scope = file.body(position)
        partial = scope is not None and bool(scope.flags & PARTIAL)
        return partial and (namespace is None or file.namespace == namespace)

    def _is_body(self, file_id: int, position: int) -> bool:
        is_class = self.file(file_id).kind(position) in MEMBER_OWNERS
        return is_class and self._defines(file_id, position)

    def _defines(self, file_id: int, position: int) -> bool:
        scope = self.file(file_id).body(position)
        return scope is not None and not scope.flags & EXTENSION

    def qualified(self, file: File, qualname: str, name: str) -> list[Place]:
        """Definitions of a qualified name in the file's language."""
        found: list[Place] = []
        around = last_part(qualname.rpartition(".")[0])
        for file_id, position in self.named(name, owner=around):
            other = self.file(file_id)
            is_same = other.definitions[position].qualname == qualname
            if other.language is file.language and is_same:
                found.append((file_id, position))
        return found[:MAX_OPENINGS]

    def defined_elsewhere(self, owner: ClassObject, name: str) -> Values:
        """Members whose definition names its owner instead of standing in it: `class A::B`, `def
        A.m`.
        """
        home = self.home(owner)
        found: Values = BOTTOM
        for file_id, position in self.qualified(
            home, f"{home.definitions[owner.position].qualname}.{name}", name
        ):
            file = self.file(file_id)
            if file.is_prefixed(position) and self._defines(file_id, position):
                found |= self.values(file, file.parent(position), DefinedHere(position))
        return found

    def by_qualified_name(self, file: File, dotted: str) -> Values:
        """The values of a whole qualified name, which means the same from anywhere."""
        found: Values = BOTTOM
        for file_id, position in self.qualified(file, dotted, last_part(dotted)):
            other = self.file(file_id)
            if self._defines(file_id, position):
                found |= self.values(other, other.parent(position), DefinedHere(position))
        return found

    def from_stars(self, file: File, name: str) -> Values:
        """A member of a class or namespace that the file imports whole, or that such a one imports
        whole itself.
        """
        return self.solve(("stars", file.id, name), self._star_values, file, name)

    def _star_values(self, file: File, name: str) -> Values:
        for star in reversed(file.stars):
            for value in sorted(self.by_qualified_name(file, star)):
                if isinstance(value, ClassObject):
                    found = self.class_members.declared(value, name) or self.from_stars(
                        self.home(value), name
                    )
                    if found:
                        return found
        return BOTTOM

    # Sides

    def receivers(self, file: File, scope: int) -> frozenset[ClassObject | Instance]:
        """The values of `self` in a scope: an instance in a method, the class in its body, both in
        a block of the body.
        """
        method = file.enclosing_method(scope)
        owner = file.owner_class(method) if method >= 0 else scope
        if owner < 0 or file.kind(owner) not in MEMBER_OWNERS:
            return frozenset()
        target = self.bodies.class_of(file, owner)
        if target is None:
            return frozenset()
        instance, itself = frozenset((instance_of(target),)), frozenset((target,))
        if method < 0 or file.scope(method).flags & CLASS_METHOD:
            return itself
        return instance | itself if file.kind(method) == Kind.LAMBDA else instance

    def implicit(self, file: File, position: int, name: str, scope: int) -> Values:
        """The values of a bare name in a class around a scope: any member of the receiver, else a
        constant.
        """
        target = self.bodies.class_of(file, position)
        if target is None:
            return BOTTOM
        receivers = self.receivers(file, scope)
        if any(value.place == target.place for value in receivers):
            found: Values = BOTTOM
            for receiver in receivers:
                member = self.class_members.ours(
                    target, name, file, receiver
                ) or self.members.of_itself(receiver, name, file)
                found |= self.members.read(member, receiver)
            return found
        constants = self.class_members.declared(target, name, ClassObject)
        return without(constants, FunctionObject)

    def declared(self, target: ClassObject, name: str, side: type[Value]) -> Values:
        """The member that a class (`side` ClassObject) or its instances have, from the class or one
        above.
        """
        assigned: Values = BOTTOM
        for owner in self.inheritance.order(target):
            if side is Instance:
                assigned |= self.class_members.assigned(owner, name)
            found = self.of_side(self.class_members.own(owner, name), side)
            if not found and side is ClassObject:
                for mixed_in in self._mixed_into_class(owner):
                    found |= self.class_members.declared(mixed_in, name, Instance)
            if found:
                return found | assigned
        return assigned

    def of_side(self, values: Values, side: type[Value]) -> Values:
        """The values that belong to one side; what is no function belongs to both."""
        return frozenset(
            value
            for value in values
            if not isinstance(value, FunctionObject) or self._is_on(value, side)
        )

    def _is_on(self, function: FunctionObject, side: type[Value]) -> bool:
        flags = self.scope(function).flags
        return bool(flags & STATIC) or bool(flags & CLASS_METHOD) == (side is ClassObject)

    def _mixed_into_class(self, owner: ClassObject) -> list[ClassObject]:
        """The classes whose instance a class is itself."""
        found: list[Defined] = [*only(self.inheritance.bases(owner, Instance), Instance)]
        mixin = self.home(owner).semantics.class_mixin
        if mixin:
            found += sorted(only(self.class_members.own(owner, mixin), ClassObject))
        return list(map(own_class, found))
