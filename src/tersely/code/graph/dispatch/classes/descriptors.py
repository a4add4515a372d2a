"""Members of classes that are objects which are asked when they are read or assigned: `__get__`."""

from __future__ import annotations

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    FunctionObject,
    Instance,
    Values,
    only,
    own_class,
)
from tersely.code.graph.program.file import File, kept
from tersely.code.syntax.mentions import MADE_MARK


class Descriptors(Component):
    """The methods that reading and assigning a member calls, over the values of an `Evaluator`."""

    def methods(
        self, file: File, scope: int, owner: Expression, name: str, *, stored: bool
    ) -> list[FunctionObject]:
        """The methods that `owner.name` calls, or assigning it does."""
        semantics = file.semantics
        method = semantics.descriptor_setter if stored else semantics.descriptor_method
        if not method or name not in self.names(file):
            return []
        members: Values = frozenset()
        for value in self.evaluator.values(file, scope, owner):
            if isinstance(value, (Instance, ClassObject)):
                class_ = own_class(value)
                members |= self.evaluator.members.of_class(class_, name, file, value)
        objects = only(members, Instance)
        asked = self.evaluator.members.of_all(objects, method, file)
        return sorted((value for value in asked if isinstance(value, FunctionObject)), key=repr)

    @kept
    def names(self, like: File) -> set[str]:
        """The names of members that a class makes by calling a class with such a method."""
        method = like.semantics.descriptor_method
        places = self.program.places_named(method) if method else ()
        owners = {owner for _, _, _, owner in places}
        below = [
            one for owner in owners for one in self.program.hierarchy.below(owner, like.family)
        ]
        owners.update(one.name for one in below)
        marks = (f"{MADE_MARK}{owner}{MADE_MARK}" for owner in owners)
        return {member for mark in marks for member, _ in self.program.facts.mentions(mark)}
