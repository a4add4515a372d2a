"""Fields that calling a class is given, where neither it nor one above it has a constructor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    FunctionObject,
    has,
)
from tersely.code.graph.program.file import File
from tersely.code.symbols import CLASS_KINDS

if TYPE_CHECKING:
    from tersely.code.graph.calls.targets import Passing


class HeaderField(NamedTuple):
    """A field by its name, and the class that declares it."""

    owner: ClassObject
    name: str


class HeaderFields(Component):
    """Fields in the order of calls, over the values of an `Evaluator`."""

    def of(self, target: ClassObject) -> list[HeaderField]:
        """The fields that calling a class is given, in order; none if it has a constructor."""
        semantics = self.home(target).semantics
        names = (name for name in semantics.constructors if name != semantics.fields_constructor)
        made = (value for name in names for value in self.class_members.declared(target, name))
        if has(made, FunctionObject):
            return []
        return [
            HeaderField(owner, name)
            for owner in reversed(self.inheritance.linearised(target))
            for name, _, _, _ in self.scope(owner).parameters
        ]

    def given(self, target: ClassObject, argument: int | str) -> Iterator[HeaderField]:
        """The field that an argument of a call of a class becomes, by its place or its keyword."""
        for place, field in enumerate(self.of(target)):
            if argument in (place, field.name):
                yield field

    def passings(self, file: File, position: int) -> list[Passing]:
        """Calls that fill the parameters of a function, or the fields of a class: calls of it and of
        those below it.
        """
        if file.kind(position) not in CLASS_KINDS:
            return self.evaluator.argument_flow.of(file, position)
        target = self.open_classes.whole(file, position)
        found: list[Passing] = []
        for value in (target, *self.inheritance.subclasses(target)):
            fields = self.of(value)
            before = next((at for at, one in enumerate(fields) if one.owner == target), None)
            if before is not None:
                passings = self.evaluator.argument_flow.of(*self.place(value))
                found += [passing._replace(shift=-before) for passing in passings]
        return found
