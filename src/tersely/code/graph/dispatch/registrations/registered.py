"""Functions that may be called in place of another, to which they are given:
`@show.register` of a function that `functools.singledispatch` decorates.
"""

from __future__ import annotations

from functools import cache

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    FunctionObject,
    Values,
    itself,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.model import Resolution
from tersely.code.nodes import Call, Invocation, Member

MAX_REGISTERING_FILES = 40  # that name the function, above which its own alone registers others
REGISTERING_LIMIT = (
    "functions that are registered with one that over"
    f" {MAX_REGISTERING_FILES} files name were looked for in its own file alone"
)


class Registered(Component):
    """The functions that are given to a method of another one, over the values of an `Evaluator`."""

    def of(self, file: File, position: int) -> Values:
        """The functions that may be called in place of a decorated one."""
        method = self._method(file, position)
        if not method:
            return BOTTOM
        return self.solve(("registered", file.id, position), self._given, file, position, method)

    def _method(self, file: File, position: int) -> str:
        """The method of a decorated function that registers others, "" if it has none."""
        if not registering_methods(file.semantics):
            return ""
        outer, decorated = file.parent(position), file.scope(position).decorated
        while isinstance(decorated, Invocation):
            for value in self.values(file, outer, decorated.callee):
                summary = self.summaries.of(value, file)
                if summary is not None and summary.registered_by:
                    return summary.registered_by
            decorated = decorated.arguments[0] if decorated.arguments else None
        return ""

    def _given(self, file: File, position: int, method: str) -> Values:
        files = self.mentioning(file.name(position), file)
        if len(files) > MAX_REGISTERING_FILES:
            self.bounds.add(REGISTERING_LIMIT)
            files = (file.id,)
        found: Values = BOTTOM
        for other in map(self.file, sorted({*files, file.id})):
            for scope, call in other.uses.calls(method):
                owners = self.values(other, scope, registering(call))
                if FunctionObject(file.id, position) in map(itself, owners):
                    found |= self.union(other, scope, call.arguments[-1:])
        return only(found, FunctionObject)


@cache
def registering_methods(semantics: Resolution) -> frozenset[str]:
    """Names of methods by which a function is given others that may be called in its place."""
    return frozenset(summary.registered_by for summary in semantics.summaries.values()) - {""}


def registering(call: Invocation) -> Expression:
    """What a call gives something to: `show` of `show.register(f)` and `show.register(int)(f)`."""
    callee = call.callee
    while isinstance(callee, Call):
        callee = callee.callee
    return callee.object if isinstance(callee, Member) else None
