"""Classes that classes are instances of: `class A(metaclass=Meta)`."""

from __future__ import annotations

from tersely.code.expressions import METACLASS
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    FunctionObject,
    Values,
    only,
)


class Metaclasses(Component):
    """What the metaclass of a class has, over the values of an `Evaluator`."""

    def bound(self, target: ClassObject, name: str) -> frozenset[FunctionObject]:
        """The methods of a name that a class has from its metaclass, bound to the class."""
        found: Values = BOTTOM
        for metaclass in self._of(target):
            found |= self.evaluator.members.declared(metaclass, name)
        return frozenset(
            FunctionObject(one.file, one.position, target) for one in only(found, FunctionObject)
        )

    def called(self, target: ClassObject) -> list[FunctionObject]:
        """The methods that calling a class calls instead of constructing it."""
        semantics = self.program.home(target).semantics
        is_any = semantics.call_method and self.program.mentioning(
            METACLASS, self.program.home(target)
        )
        return sorted(self.bound(target, semantics.call_method), key=repr) if is_any else []

    def made_of(self, metaclass: ClassObject) -> list[ClassObject]:
        """The classes that are instances of a metaclass."""
        return sorted(self.solver.solve_whole(("made of", metaclass), self._made_of, metaclass))

    def _of(self, target: ClassObject) -> frozenset[ClassObject]:
        return self.solver.solve(("metaclass", target), self._written, target)

    def _written(self, target: ClassObject) -> frozenset[ClassObject]:
        found: Values = BOTTOM
        for owner in self.evaluator.members.linearised(target):
            file = self.program.home(owner)
            if METACLASS in file.names(owner.position):
                found |= self.evaluator.names.bound(file, owner.position, METACLASS)
        return only(found, ClassObject)

    def _made_of(self, metaclass: ClassObject) -> frozenset[ClassObject]:
        home = self.program.home(metaclass)
        name = home.definitions[metaclass.position].name
        members = self.evaluator.members
        found = set[ClassObject]()
        naming = {*self.program.mentioning(name, home)}
        both = naming.intersection(self.program.mentioning(METACLASS, home))
        for file in map(self.program.file, sorted(both)):
            for position in range(len(file.definitions)):
                is_told = file.body(position) is not None and METACLASS in file.names(position)
                target = members.class_of(file, position) if is_told else None
                if target is not None and metaclass in self._of(target):
                    found.update((target, *members.subclasses(target)))
        return frozenset(found)
