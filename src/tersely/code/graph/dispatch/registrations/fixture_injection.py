"""Parameters that a framework fills by their names: a test takes `client` and gets what the
function `client` gives.

Which functions provide and which take is a value of the language (`Resolution.injection`). A
provider is looked for in the file of who takes it, then in the shared files of its directory and of
those around it, the nearest first.
"""

from __future__ import annotations

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ExternalObject,
    FunctionObject,
    Values,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.languages.registry import family_of
from tersely.code.nodes import Invocation
from tersely.code.places import directory_of
from tersely.code.symbols import CALLABLE_KINDS


class Providers(Component):
    """The functions that fill parameters by their names."""

    def provided(self, file: File, position: int, name: str) -> Values:
        """The values that a parameter of a function holds when a framework fills it."""
        found: Values = BOTTOM
        provider = self.of(file, position, name)
        if provider is not None:
            calls = self.calls
            for value in calls.returned(FunctionObject(*provider)):
                found |= calls.run(value, provider)
        return found

    def of(self, file: File, position: int, name: str) -> tuple[int, int] | None:
        """(file, position) of the function that fills a parameter of that name, None if none does."""
        if not self._takes(file, position):
            return None
        definitions = dict(self.named(name, kinds=CALLABLE_KINDS))
        for home in self._homes(file) if definitions else ():
            at = definitions.get(home)
            if (
                at is not None
                and (home, at) != (file.id, position)
                and self.is_provider(self.file(home), at)
            ):
                return home, at
        return None

    def users(self, file: File, position: int) -> list[tuple[File, int]]:
        """The functions of which a provider fills a parameter, and every test in reach of one that
        provides unasked.
        """
        if not self.is_provider(file, position):
            return []
        name = file.name(position)
        found = []
        for other in self._reached_files(file):
            for at, scope in other.bodies:
                asks = any(parameter.name == name for parameter in scope.parameters)
                is_served = asks and self.of(other, at, name) == (file.id, position)
                if is_served or (self._is_unasked(file, position) and self._is_test(other, at)):
                    found.append((other, at))
        return found

    def _is_unasked(self, file: File, position: int) -> bool:
        injection, decorated = file.semantics.injection, file.scope(position).decorated
        return injection is not None and any(
            injection.unasked == keyword
            for call in (decorated, *_callees(decorated))
            if isinstance(call, Invocation)
            for keyword, _ in call.keywords
        )

    def _is_test(self, file: File, position: int) -> bool:
        injection, own = file.semantics.injection, file.definitions[position]
        is_named_so = injection is not None and own.name.startswith(injection.prefix)
        return is_named_so and own.kind in CALLABLE_KINDS

    @kept
    def is_provider(self, file: File, position: int) -> bool:
        """True if a decorator has made a function a provider."""
        injection, scope = file.semantics.injection, file.body(position)
        if injection is None or scope is None or scope.decorated is None:
            return False
        outer = file.parent(position)
        return any(
            isinstance(value, ExternalObject) and value.name in injection.decorators
            for callee in _callees(scope.decorated)
            for value in self.values(file, outer, callee)
        )

    def _takes(self, file: File, position: int) -> bool:
        """True if a framework calls a function: it is a test by its name, or provides something
        itself.
        """
        return self._is_test(file, position) or self.is_provider(file, position)

    def _homes(self, file: File) -> list[int]:
        """The files that may hold a provider, nearest first."""
        assert file.semantics.injection is not None
        directory = directory_of(file.path)
        shared = []
        while True:
            path = (
                f"{directory}/{file.semantics.injection.shared}"
                if directory
                else file.semantics.injection.shared
            )
            if path in self.program.by_path:
                shared.append(self.program.by_path[path])
            if not directory:
                return [file.id, *shared]
            directory = directory_of(directory)

    def _reached_files(self, file: File) -> list[File]:
        """The files whose tests a provider of this one may serve."""
        assert file.semantics.injection is not None
        directory, _, name = file.path.rpartition("/")
        if name != file.semantics.injection.shared:
            return [file]
        below = [self.program.by_path[path] for path in self.program.under(directory)]
        return [
            self.file(at)
            for at in below
            if family_of(self.program.rows[at].language) == file.family
        ]


def _callees(expression: Expression) -> list[Expression]:
    """What is called, and what is called to get that: `a.b` and `a.b(…)` of `a.b(…)(f)`."""
    found = []
    while isinstance(expression, Invocation):
        expression = expression.callee
        found.append(expression)
    return found
