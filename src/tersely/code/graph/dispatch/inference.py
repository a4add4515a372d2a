"""The meaning of a function's type parameters in one call: `first(owners)` of `first<T>(list:
T[]): T`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from tersely.code.expressions import (
    REST,
    Expression,
    last_name,
    substitute,
)
from tersely.code.graph.dispatch.generics import names_type_parameter
from tersely.code.graph.pointsto.annotations import instances_of
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.pointsto.values import (
    NOT_OURS,
    ClassObject,
    FunctionObject,
    Instance,
    SignatureObject,
    Value,
    Values,
    ValuesByPlace,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    CallableType,
    ConstantValue,
    Either,
    Entries,
    Generic,
    GivenInstances,
    Invocation,
    KeyOf,
    MappingLiteral,
    Typed,
    TypeParameter,
)

MAX_TYPE_DEPTH = 6  # types in the type of a parameter that are looked into


class CallPlace(NamedTuple):
    """A call in a scope of a file; `but` is the position of an argument that is left out of
    account.
    """

    file: File
    scope: int
    call: Invocation
    but: int = -1


class Inference(Component):
    """Type arguments of calls over the values of an `Evaluator`."""

    def seen(
        self, function: FunctionObject, annotation: Expression, place: CallPlace
    ) -> Expression:
        """A type in a function as one call sees it: the very same where that tells nothing of its
        type parameters.
        """
        names = self.scope(function).type_parameters
        if not names or not names_type_parameter(annotation):
            return annotation
        written = place.call.types
        if written:
            types = [self.annotations.instances(place.file, place.scope, each) for each in written]
            known: dict[str, Values] = dict(zip(names, types, strict=False))
        else:
            known = self._inferred(function, place)
        if not self.home(function).semantics.virtual:
            # a type does not say which function
            known = {name: without(values, FunctionObject) for name, values in known.items()}
        return substitute(
            annotation,
            {
                name: GivenInstances(values)
                for name, values in known.items()
                if name in names and values
            },
        )

    def _inferred(self, function: FunctionObject, place: CallPlace) -> dict[str, Values]:
        home, body = (
            self.home(function),
            self.scope(function),
        )
        shift = int(function.receiver is not None and bool(home.receiver_name(function.position)))
        found: dict[str, Values] = defaultdict(frozenset)
        for index, (_, annotation, _, mode) in enumerate(body.parameters):
            if index - shift == place.but or not names_type_parameter(annotation):
                continue
            if index < shift and function.receiver is not None:
                values: Values = frozenset((function.receiver,))
            else:
                passed = passed_expressions(body, index, place.call, shift)
                values = self.union(place.file, place.scope, passed)
            type_ = _element_type(annotation) if mode == REST else annotation
            self._match(type_, values, home, found, MAX_TYPE_DEPTH)
        return found

    def _match(
        self, type_: Expression, values: Values, home: File, found: dict[str, Values], left: int
    ) -> None:
        """Add what type parameters in a type stand for if these are its values."""
        if not values or not left or not names_type_parameter(type_):
            return
        match type_:
            case TypeParameter(bound, name):
                found[name] |= values if isinstance(bound, KeyOf) else without(values, *NOT_OURS)
            case Either(parts):
                for part in parts:
                    self._match(part, values, home, found, left - 1)
            case CallableType(returned):
                self._match(returned, self._results(values), home, found, left - 1)
            case MappingLiteral(entries):
                self._match_members(entries, values, home, found, left - 1)
            case Generic():
                self._match_generic(type_, values, home, found, left - 1)

    def _match_members(
        self, pairs: Entries, values: Values, home: File, found: dict[str, Values], left: int
    ) -> None:
        """A type that is written out: each member has the type that stands there."""
        for key, part in pairs:
            if isinstance(part, Typed) and isinstance(key, ConstantValue):
                members = self.members.of_all(values, str(key.value), home)
                self._match(part.type, members, home, found, left)

    def _match_generic(
        self, type_: Generic, values: Values, home: File, found: dict[str, Values], left: int
    ) -> None:
        """A generic type outside holds its argument or is it; one of ours has its own type
        arguments.
        """
        name, semantics, containers = (
            last_name(type_.base),
            home.semantics,
            self.containers,
        )
        types = type_.arguments
        if name in semantics.union_types or name in semantics.transparent_types:
            for part in types:
                self._match(part, values, home, found, left)
        elif name in semantics.mappings and len(types) == len(("key", "item")):
            key, item = types
            self._match(key, containers.keys_of(values), home, found, left)
            self._match(item, containers.held(values), home, found, left)
        elif name in semantics.class_types:
            for part in types:
                self._match(part, instances_of(values), home, found, left)
        elif name in semantics.callable_types:
            self._match(types[-1], self._results(values), home, found, left)
        elif name in semantics.generators:
            self._match(types[0], containers.held(values), home, found, left)
        elif name in semantics.containers:
            self._match(types[-1], containers.held(values), home, found, left)
        else:
            for value in values:
                for part, known in zip(types, self._arguments(value, name), strict=False):
                    self._match(part, known, home, found, left)

    def _arguments(self, value: Value, name: str) -> ValuesByPlace:
        """The type arguments of an instance as the class of that name sees them."""
        if not isinstance(value, Instance):
            return ()
        own = self.definition(value).name == name
        return value.arguments if own else self.generics.above(value, name)

    def _results(self, functions: Values) -> Values:
        """What calling some values gives."""
        found: set[Value] = set()
        for function in functions:
            if isinstance(function, FunctionObject):
                found |= self.calls.returned(function)
            elif isinstance(function, SignatureObject):
                found |= self.calls.promised(function)
            elif isinstance(function, ClassObject):
                found |= instances_of(frozenset((function,)))
        return frozenset(found)


def _element_type(annotation: Expression) -> Expression:
    """Of the type of a parameter that takes the rest that of one argument, where it is an array."""
    is_array = isinstance(annotation, Generic) and annotation.arguments
    return annotation.arguments[-1] if is_array else annotation
