"""The names to which the value of a definition flows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tersely.code.graph.calls.passing import (
    into_parameters_of,
    kept_under,
)
from tersely.code.graph.calls.targets import (
    Carrier,
    Search,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    CollectionObject,
    ContainerLiteral,
    FunctionObject,
    GeneratorObject,
    Instance,
    MemberFamily,
    RejectedPromise,
    RestArguments,
    TupleObject,
    Value,
    Values,
    itself,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.file_uses import Flow
from tersely.code.graph.program.scopes import ANYWHERE
from tersely.code.nodes import (
    Invocation,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, MEMBER_OWNERS, Kind
from tersely.code.syntax.mentions import callee_names
from tersely.foundation.types import Strings

HOLDING = (
    ContainerLiteral,
    CollectionObject,
    TupleObject,
    GeneratorObject,
    RestArguments,
    RejectedPromise,
)  # values that hold others
MAX_NESTING = 3  # containers in containers searched for a value


class Aliases(Component):
    """Aliases of what is searched for."""

    def carriers(self, search: Search, carrier: Carrier, other: File) -> list[Carrier]:
        """Names to which a wanted value goes from that of a carrier in a file. What depends on
        whether calling what is searched for may give it waits until all was seen that takes it.
        """
        found: list[Carrier] = []
        name, is_first = carrier.name, carrier.is_first
        is_of_module = bool(self.whole_module(other.id, name))
        for flow in other.uses.flows(name):
            if not other.is_inside(flow.scope, carrier.within):
                continue
            is_same = flow.call is None and flow.target == name and not is_of_module
            is_same = is_same and other.is_inside(flow.within, carrier.within)
            if is_same and not (is_first and flow.is_return):
                continue
            search.is_taken |= not flow.of_result
            if not is_first or not (is_same or flow.of_result):
                found += self._led_on(search, other, flow, is_first)
            elif is_same != flow.of_result:
                search.waiting.append((other, flow))
        return found

    def of_waiting(self, search: Search) -> Iterator[Carrier]:
        """Names to which a wanted value goes by what waited, of results if they may be one, else of
        functions of the name that return something of the name.
        """
        gives, waiting, search.waiting = self._gives_itself(search), search.waiting, []
        for other, flow in waiting:
            if flow.of_result == gives:
                yield from self._led_on(search, other, flow, is_first=True)

    def _led_on(self, search: Search, other: File, flow: Flow, is_first: bool) -> Iterator[Carrier]:
        """Names to which a wanted value goes in one way, if it does.

        What returns it goes to the `makers`: their names are carriers as well.
        """
        makers = search.makers
        values = self.values(other, flow.scope, flow.value)
        if not self.holds(values, search.wanted):
            is_made = self.holds(values, makers)
            if not is_made or (is_first and not self._gives_itself(search)):
                return
        own = other.definitions[flow.scope]
        if flow.is_return and own.kind in CALLABLE_KINDS:
            makers.add(FunctionObject(other.id, flow.scope))
            for user, _ in self.evaluator.providers.users(other, flow.scope):
                yield Carrier(own.name, user.id, 0)
        if flow.call is not None:
            yield from self._into_parameters(other, flow.scope, flow.call, flow.target)
            return
        # a member of the name of a local function may be used anywhere
        within = ANYWHERE if is_first and flow.within == 0 else flow.within
        yield Carrier(flow.target, other.id, within)
        if flow.target in other.semantics.constructors and own.kind in MEMBER_OWNERS:
            yield Carrier(own.name, other.id, ANYWHERE)

    def _gives_itself(self, search: Search) -> bool:
        """True if calling what is searched for may give it: mostly not, and never if nothing takes
        it for a value.
        """
        body, wanted = search.file.body(search.position), search.wanted
        if body is not None and body.decorated is not None:
            return True
        return any(
            isinstance(value, Instance)
            or (
                search.is_taken
                and isinstance(value, FunctionObject)
                and self.holds(self.calls.returned(value), wanted)
            )
            for value in wanted
        )

    def _into_parameters(
        self, other: File, scope: int, call: Invocation, argument: Any
    ) -> list[Carrier]:
        found = self._into_mixed(other, call, argument)
        found.extend(self._called_around(other, scope, call))
        found.extend(
            Carrier(name, other.id, ANYWHERE) for name in kept_under(other, call, argument)
        )
        for target in self.sites.direct(other, scope, call).targets:
            home = self.file(target.file)
            if home.kind(target.position) in CLASS_KINDS:
                called = ClassObject(*target.place)
                for field in self.evaluator.header_fields.given(called, argument):
                    found.append(Carrier(field.name, field.owner.file, ANYWHERE))
            # else it is called by a function of which it is not known what it passes
            elif target.shift >= 0 or self.callbacks.given(other, scope, call).arguments:
                found.extend(into_parameters_of(home, target, argument))
        return found

    def _called_around(self, other: File, scope: int, call: Invocation) -> Iterator[Carrier]:
        """The function around a call of its own parameter: `new Promise((resolve) => resolve(x))`."""
        while scope > 0 and type(call.callee) is str:
            if other.is_parameter(scope, call.callee):
                own = other.definitions[scope]
                yield Carrier(scope if own.kind == Kind.LAMBDA else own.name, other.id, 0)
            scope = other.parent(scope)

    def _into_mixed(self, other: File, call: Invocation, argument: Any) -> list[Carrier]:
        """Names of the object to which a call adds what another one holds: `Object.assign(to, from)`."""
        is_mixed = type(argument) is int and argument > 0
        if not is_mixed or other.semantics.mixing_functions.isdisjoint(callee_names(call.callee)):
            return []
        return [Carrier(name, other.id, ANYWHERE) for name in callee_names(call.arguments[0])]

    def holds(self, values: Values, wanted: Collection[Value], depth: int = 0) -> bool:
        """True if wanted values are among some values, or in containers among them."""
        for value in values:
            if itself(value) in wanted:
                return True
            if isinstance(value, MemberFamily) and self.holds(self.summaries.family(value), wanted):
                return True
            if isinstance(value, HOLDING) and depth < MAX_NESTING:
                inner = (
                    self.containers.items(value, None, None)
                    if not isinstance(value, GeneratorObject)
                    else BOTTOM
                )
                inner |= value.reasons if isinstance(value, RejectedPromise) else BOTTOM
                inner = inner or self.containers.elements(frozenset((value,)))
                if self.holds(inner, wanted, depth + 1):
                    return True
        return False

    def whole_module(self, home: int, name: Any) -> Strings:
        """The other names under which importers of a file get what a name stands for, if it stands
        for the module.
        """
        semantics = self.file(home).semantics
        names = (semantics.module_object, semantics.default_export)
        return names if name and name in names else ()

    def importers(self, home: int) -> set[int]:
        """Files that may import a file as a whole."""
        file = self.file(home)
        own = (
            file.semantics.module_keys(file.path) if file.semantics.module_keys is not None else ()
        )
        keys = {*own, *file.semantics.entry_words(self.program, file.path)}
        return {file_id for key in keys for file_id in self.mentioning(key, self.file(home))}
