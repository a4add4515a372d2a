"""The calls that pass something to the parameters of a function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tersely.code.graph.calls.passing import (
    binding_functions,
    is_constructor,
    may_be_function,
)
from tersely.code.graph.calls.targets import (
    FoundCall,
    Passing,
    Search,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.parameters import is_called, passed_expressions
from tersely.code.graph.pointsto.values import (
    FunctionObject,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Place
from tersely.code.nodes import (
    Call,
)
from tersely.code.syntax.mentions import callee_names

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

# files searched for what a parameter receives; a function used more widely takes anything
MAX_FLOW_FILES = 10
MAX_FLOW_SITES = 30  # candidate calls, likewise
WIDE_USE = f"functions that over {MAX_FLOW_FILES} files or {MAX_FLOW_SITES} calls name"
FLOW_LIMIT = f"calls on what is passed to {WIDE_USE} are not resolved"
MAX_CALLBACK_SITES = 200  # calls that may give a constructor a function, above which none counts
CALLBACKS_LIMIT = (
    f"functions given to constructors that over {MAX_CALLBACK_SITES} calls may give one"
    " are not followed"
)


class ArgumentFlow(Component):
    """Calls that reach a function, for what they pass."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self._known: dict[Place, tuple[list[Passing], frozenset[str]]] = {}

    def of(self, file: File, position: int) -> list[Passing]:
        """Calls that reach a function, for what they pass. Empty for widely used ones."""
        key = (file.id, position)
        return self.bounds.once(self._known, key, self._passed_to, file, position)

    def _passed_to(self, file: File, position: int) -> list[Passing]:
        search, place = Search(file, position, guess=False, near=True), (file.id, position)
        if self._is_wide(file, position):
            search.bounds.add(FLOW_LIMIT)
        else:
            self.bounds.collect(self.evaluator.searches.run, search)
        self.bounds.add(*search.bounds)
        calls = [self._passing(found, place) for found in sorted(search.found)]
        return [*calls, *self._bound(file, position)]

    def given_to_constructor(self, file: File, position: int, index: int) -> list[Passing]:
        """Calls that give a constructor a function for a parameter, however widely its class is
        used: for parameters that the class calls, or what it keeps of them.
        """
        if not is_constructor(file, position) or not is_called(file, position, index):
            return []
        scope = file.scope(position)
        shift = int(bool(file.receiver_name(position)))
        wanted, found, number = (
            self.evaluator.caller_names.wanted(file, position),
            list[Passing](),
            0,
        )
        for name in self.evaluator.caller_names.first_names(file, position)[1:]:
            for other in map(self.file, self.mentioning(name, file)):
                for at, call in other.uses.calls(name):
                    passed = passed_expressions(scope, index, call, shift)
                    if not any(may_be_function(expression) for expression in passed):
                        continue
                    number += 1
                    if number > MAX_CALLBACK_SITES:
                        self.bounds.add(CALLBACKS_LIMIT)
                        return []
                    if not wanted.isdisjoint(self.values(other, at, call.callee)):
                        found.append(Passing(other.id, at, call, shift))
        return found

    def _bound(self, file: File, position: int) -> Iterator[Passing]:
        """Calls that give a function arguments for the time when it is called: `partial(f, x)`."""
        name = file.name(position)
        naming = {*self.mentioning(name, file)}
        for binder in binding_functions(file.semantics):
            both = naming.intersection(self.mentioning(binder.name, file))
            for other in map(self.file, sorted(both)):
                for scope, call in other.uses.calls(binder.name):
                    given = call.arguments[binder.position : binder.position + 1]
                    if not any(name in callee_names(each) for each in given):
                        continue
                    for value in only(self.union(other, scope, given), FunctionObject):
                        if value.place == (file.id, position):
                            bound = Call(
                                call.callee, call.arguments[binder.position + 1 :], *call[3:]
                            )
                            yield Passing(other.id, scope, bound, self.sites.target(value).shift)

    def _passing(self, found: FoundCall, place: Place) -> Passing:
        site = self.file(found.file)
        call = site.call(found.scope, found.call)
        if found.shift < 0:
            given = self.callbacks.given(site, found.scope, call, place)
            return Passing(found.file, found.scope, given, -1 - found.shift)
        return Passing(found.file, found.scope, call, found.shift)

    def _is_wide(self, file: File, position: int) -> bool:
        """True if over so many files or calls name a function."""
        around = self.mentioning(file.origin(position), file)
        if len(around) > MAX_FLOW_FILES and is_constructor(file, position):
            return True
        names = self.evaluator.caller_names.first_names(file, position)
        words = (name for name in names if type(name) is str)
        files = {at for name in words for at in self.mentioning(name, file)}
        calls = (
            len(self.file(at).uses.calls_by_name.get(name, ())) for name in names for at in files
        )
        return len(files) > MAX_FLOW_FILES or sum(calls) > MAX_FLOW_SITES
