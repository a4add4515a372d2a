"""Members that an object lacks, where a method of it is asked for them by their names, and those of
things outside the repository to which code gives any: `threading.local()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Value,
    Values,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.model import member_getters
from tersely.code.nodes import Call

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator


MAX_GIVING_FILES = 10  # that mention a member, above which its own file alone is searched
GIVING_LIMIT = (
    f"what is given to a member of a thing outside that over {MAX_GIVING_FILES} files"
    " mention was looked for in the file that reads it alone"
)


class MissingMembers:
    """The results of `__getattr__` and its like, over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def of(self, receiver: Value, name: str, file: File) -> Values:
        """What an object gives for a member that it lacks, nothing if it is asked by no method."""
        method = file.semantics.missing_method
        is_asked = method and not name.startswith("__") and self.evaluator.program.named(method)
        if not is_asked:
            return BOTTOM
        key = ("missing", receiver, name)
        return self.evaluator.solver.solve(key, self._given, receiver, name, file)

    def assigned(self, value: ExternalObject | ExternalResult, name: str, file: File) -> Values:
        """What code assigns to a member of a thing outside, nothing of one that takes none."""
        if value.name not in file.semantics.open_objects:
            return BOTTOM
        key = ("open", value, name)
        return self.evaluator.solver.solve(key, self._assigned, value, name, file)

    def _assigned(self, value: Value, name: str, file: File) -> Values:
        program, found = self.evaluator.program, BOTTOM
        files = program.mentioning(name, file)
        if len(files) > MAX_GIVING_FILES:
            self.evaluator.solver.bounds.met(GIVING_LIMIT)
            files = (file.id,)
        for other in map(program.file, files):
            for store in other.member_stores(name):
                if value in self.evaluator.values(other, store.scope, store.base):
                    found |= self.evaluator.values(other, store.scope, store.value)
        return found

    def _given(self, receiver: Value, name: str, file: File) -> Values:
        found: Values = BOTTOM
        for value in self.evaluator.members.of(receiver, file.semantics.missing_method, file):
            if isinstance(value, FunctionObject):
                found |= self._returned(value, name)
        return found

    def _returned(self, function: FunctionObject, name: str) -> Values:
        """What the method returns for a name: where it asks another object for it, the member of
        that.
        """
        home, position = self.evaluator.program.home(function), function.position
        asked = [
            other
            for expression in home.scope(position).returns
            if (other := _asked(home, position, expression)) is not None
        ]
        if not asked:
            return self.evaluator.calls.returned(function)
        others = self.evaluator.union(home, position, asked)
        return self.evaluator.members.of_all(others, name, home)


def _asked(file: File, position: int, returned: Expression) -> Expression:
    """The object that a function asks for the member of the name that it is given, None if it
    returns something else.
    """
    named = [name for name, *_ in file.scope(position).parameters[1:2]]
    is_getter = isinstance(returned, Call) and returned.callee in member_getters(file.semantics)
    return returned.arguments[0] if is_getter and list(returned.arguments[1:2]) == named else None
