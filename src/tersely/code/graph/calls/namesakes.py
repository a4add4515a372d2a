"""Methods that a call may reach by its name alone, where nothing is known of its receiver."""

from __future__ import annotations

from tersely.code.graph.calls.targets import Target, Targets
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ExternalResult,
    Value,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import MAX_NAMESAKES, Place
from tersely.code.graph.program.scopes import kept
from tersely.code.nodes import (
    ConstantValue,
    Invocation,
    Member,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind

GUESSED_KINDS = (Kind.METHOD,)
CALLED_KINDS = CALLABLE_KINDS | CLASS_KINDS
HELD_KINDS = (Kind.FUNCTION,)  # guessed as well where they are members of objects


class Namesakes(Component):
    """Guesses for calls that reach nothing by value."""

    def guesses(self, file: File, scope: int, call: Invocation) -> Targets:
        """Methods of that name when nothing is known of the receiver and few have the name."""
        callee = call.callee
        if not isinstance(callee, Member):
            return []
        if (
            callee.name in file.semantics.common_members
            or callee.name in file.semantics.implicit_methods
        ):
            return []
        if file.semantics.by_name:
            assert isinstance(callee.object, ConstantValue)
            before = str(callee.object.value)
            meant = self.program.meant_by(callee.name, file, CALLED_KINDS, before)
            return [Target(*place, 0) for place in meant]
        found = self._namesakes(callee.name, file)
        if not found:
            return []
        receivers = self.values(file, scope, callee.object)
        if any(not self._is_anything(value, file) for value in receivers):
            return []
        return found if receivers or not self.values(file, scope, callee) else []

    def _is_anything(self, value: Value, file: File) -> bool:
        """True if a value is known to be of a type alone that everything fits: Any."""
        return isinstance(value, ExternalResult) and value.last_name in file.semantics.top_types

    @kept
    def _namesakes(self, name: str, file: File) -> Targets:
        """The methods of a name that a file may mean, nothing if they are many."""
        methods = self.named(name, kinds=GUESSED_KINDS)
        functions = self.named(name, kinds=HELD_KINDS)
        held = functions if len(functions) <= MAX_NAMESAKES else ()
        found = [
            Target(at, position, 1)
            for at, position in (*methods, *filter(self._is_held, held))
            if self.program.is_kin(at, file)
        ]
        return found if len(found) <= MAX_NAMESAKES else []

    def _is_held(self, place: Place) -> bool:
        """True if a function is written as the member of an object: `api.load = function …`."""
        scope = self.file(place[0]).body(place[1])
        return scope is not None and scope.holder is not None

    def guessed_at(self, other: File, scope: int, index: int, place: Place) -> Targets:
        """The guesses for a call that reaches nothing by value, if the definition at `place` is
        among them. One that leads to handlers means those.
        """
        found = self.guesses(other, scope, other.call(scope, index))
        is_meant = any(target.place == place for target in found)
        return found if is_meant and not self.sites.targets_at(other, scope, index) else []
