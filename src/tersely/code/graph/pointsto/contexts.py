"""The types that functions and objects are expected to have where they are written.

A function without types of its own takes them from its place: `app.get("/", (c) => …)` is given
what `get` declares to give to it. An object that is written where a type is declared passes the
types of the members on to its values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple, TypeAlias

from tersely.code.expressions import (
    CONST,
    DECLARED,
    DEFINED,
    DETACHED,
    EITHER,
    MAPPING,
    MEMBER,
    PROPERTY,
    REST,
    SEQUENCE,
    TYPED,
    Scope,
    is_spread,
    is_tagged,
)
from tersely.code.graph.dispatch.inference import CallPlace
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ContainerLiteral,
    FunctionObject,
    Instance,
    SignatureObject,
    Value,
    Values,
    itself,
    own_class,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import Stored, kept
from tersely.code.nodes import (
    Declared,
    Expression,
    Member,
    Typed,
)
from tersely.code.symbols import Kind

_WITH_PLACES = frozenset({DEFINED, EITHER, DECLARED, SEQUENCE, MAPPING})


class Unknown(NamedTuple):
    """A place of which nothing is expected; what is written there is read in `scope`."""

    scope: int


class Argument(NamedTuple):
    """A value that is passed at a position of one of the calls of a scope."""

    scope: int
    call: int
    at: int


class Annotated(NamedTuple):
    """A value that is declared to be of a type."""

    scope: int
    type: Stored


class Assigned(NamedTuple):
    """A value that is put into a member."""

    scope: int
    target: Stored


class Result(NamedTuple):
    """The result of the function `scope`."""

    scope: int


class UnderKey(NamedTuple):
    """The part of an object or list in another place that is under a key, None for an element of a
    list.
    """

    scope: int
    around: Expecting
    key: str | int | None


Expecting: TypeAlias = Unknown | Argument | Annotated | Assigned | Result | UnderKey


class Places(NamedTuple):
    """The places of functions, by their positions, and of lists and mappings, by their serials;
    none where nothing is expected.
    """

    functions: defaultdict[int, list[Expecting]]
    displays: defaultdict[int, list[Expecting]]
    by_key: defaultdict[str, list[int]]  # the serials of the mappings that are written with a key

    def add(self, value: Stored, place: Expecting) -> None:
        """Add what is written in a value that stands at a place."""
        if type(value) is not tuple or value[0] not in _WITH_PLACES:
            return
        tag, inner, *rest = value
        known = [place] * (type(place) is not Unknown)
        if tag == EITHER:
            types = [Annotated(place.scope, one[1]) for one in inner if is_tagged(one, TYPED)]
            for each in product(inner, types or (place,)):
                self.add(*each)
        elif tag == DECLARED:
            self.add(inner, Annotated(place.scope, *rest))
        elif tag == DEFINED:
            self.functions[inner] += known
        else:
            self.displays[rest[0]] += known
            for part in inner:
                key, value = part if tag == MAPPING else ((CONST, None), part)
                if is_tagged(key, CONST):
                    self.by_key[str(key[1])] += rest
                    self.add(value, UnderKey(place.scope, place, key[1]))
                else:
                    self.add(value, place if is_spread(key) else Unknown(place.scope))


class Contexts(Component):
    """Expected types over the values of an `Evaluator`."""

    def parameter(self, file: File, position: int, index: int) -> Values:
        """The values that a parameter without a type is declared to be given, by the place of its
        function.
        """
        if file.kind(position) != Kind.LAMBDA and not file.scope(position).flags & DETACHED:
            return BOTTOM
        if not self._places_of(file).functions.get(position):
            return BOTTOM
        key = ("expected parameter", file.id, position, index)
        return self.solve(key, self._parameter, file, position, index)

    def _parameter(self, file: File, position: int, index: int) -> Values:
        found: Values = BOTTOM
        for value in self._of_function(file, position):
            if itself(value) != FunctionObject(file.id, position):
                found |= self.parameter_type(value, index, file)
        return found

    def _of_function(self, file: File, position: int) -> Values:
        """The types that a function is expected to have."""
        return self._expected_at(file, self._places_of(file).functions.get(position, ()))

    def mapping(self, file: File, serial: int) -> Values:
        """The values that a list or mapping is expected to be one of, by its place."""
        key = ("expected mapping", file.id, serial)
        return self.solve(key, self._mapping, file, serial)

    def _mapping(self, file: File, serial: int) -> Values:
        found = self._expected_at(file, self._places_of(file).displays.get(serial, ()))
        return found - singleton(ContainerLiteral(file.id, serial))

    def with_key(self, file: File, key: str) -> Values:
        """The values that the mappings of a file which are written with a key are expected to be one
        of.
        """
        serials = self._places_of(file).by_key.get(key, ())
        return frozenset().union(*[self.mapping(file, serial) for serial in serials])

    def declared(self, file: File, scope: int, expression: Expression) -> Values:
        """The values that a variable or member is declared to have, nothing without a declaration."""
        if isinstance(expression, Member):
            owners = self.declared(file, scope, expression.object)
            owners = owners or self.values(file, scope, expression.object)
            annotated = [self._annotated(owner, expression.name) for owner in owners]
            return frozenset().union(*annotated) or self._members(owners, expression.name, file)
        bound = self.names.written(file, scope, expression)
        if bound is None or not isinstance(bound.expression, Declared):
            return BOTTOM
        return self.annotations.instances(bound.file, bound.scope, bound.expression.type)

    def _annotated(self, owner: Value, name: str) -> Values:
        """The values that a class declares of a field by its type, whatever is assigned to it."""
        if not isinstance(owner, Instance):
            return BOTTOM
        for class_ in self.inheritance.linearised(own_class(owner)):
            home = self.home(class_)
            for scope, entry in home.all_bindings(class_.position, name):
                if isinstance(entry, (Typed, Declared)):
                    return self.annotations.instances(home, scope, entry.type)
        return BOTTOM

    def parameter_type(
        self, callee: Value, index: int, file: File, call: CallPlace | None = None
    ) -> Values:
        """The values that are declared of a parameter of anything that can be called, as one call
        sees it.
        """
        if isinstance(callee, FunctionObject):
            return self._of_declaration(callee, index, call)
        if isinstance(callee, SignatureObject):
            return self._of_signature(callee, index)
        types = [
            self.parameter_type(value, index, file, call)
            for value in self._calling(callee, file)
            if isinstance(value, (FunctionObject, SignatureObject))
        ]
        return frozenset().union(*types)

    def _calling(self, callee: Value, file: File) -> Values:
        """What calling a class or an object calls."""
        if isinstance(callee, ClassObject):
            home = self.home(callee)
            return frozenset().union(
                *[self.class_members.declared(callee, name) for name in home.semantics.constructors]
            )
        if isinstance(callee, Instance) and (method := file.semantics.call_method):
            declared = self.class_members.declared(own_class(callee), method)
            return self.generics.in_instance(declared, callee, method)
        return BOTTOM

    def _of_declaration(
        self, function: FunctionObject, index: int, call: CallPlace | None
    ) -> Values:
        home = self.home(function)
        parameters = home.scope(function.position).parameters
        index += int(function.receiver is not None and bool(home.receiver_name(function.position)))
        index = _reached(index, [mode == REST for _, _, _, mode in parameters])
        if index < 0:
            return BOTTOM
        _, annotation, _, mode = parameters[index]
        if annotation is None:
            return self.parameter(home, function.position, index)
        annotation = self.generics.seen_by(function, annotation)
        annotation = (
            annotation
            if call is None
            else self.evaluator.inference.seen(function, annotation, call)
        )
        declared = self.annotations.instances(home, home.parent(function.position), annotation)
        return self.containers.elements(declared) if mode == REST else declared

    def _of_signature(self, promised: SignatureObject, index: int) -> Values:
        _, file_id, scope, _, parameters = promised
        index = _reached(index, [is_spread(parameter) for parameter in parameters])
        if index < 0:
            return BOTTOM
        annotation, home = parameters[index], self.file(file_id)
        if not is_spread(annotation):
            return self.annotations.instances(home, scope, annotation)
        return self.containers.elements(
            self.annotations.instances(home, scope, annotation.collection)
        )

    # What is expected at a place

    def _expected_at(self, file: File, places: Iterable[Expecting]) -> Values:
        return frozenset().union(*[self._expected(file, place) for place in places])

    def _expected(self, file: File, place: Expecting) -> Values:
        evaluator = self.evaluator
        match place:
            case Argument(scope, index, at):
                call = file.call(scope, index)
                found, seen = BOTTOM, CallPlace(file, scope, call, at)
                for callee in evaluator.calls.called(file, scope, call):
                    found |= self.parameter_type(callee, at, file, seen)
                return found
            case Annotated(scope, type_):
                return evaluator.annotations.instances(file, scope, file.decode(type_))
            case Assigned(scope, (_, owner, name)):
                owners = evaluator.values(file, scope, file.decode(owner))
                return self._members(owners, name, file)
            case Result(scope):
                return self._results(file, scope)
            case UnderKey(_, around, key):
                held = self._expected(file, around)
                return (
                    evaluator.containers.elements(held)
                    if key is None
                    else self._members(held, key, file)
                )
        return BOTTOM

    def _members(self, owners: Values, name: str | int, file: File) -> Values:
        """What is declared of a member: the functions that implement it tell nothing."""
        found: Values = BOTTOM
        for owner in owners:
            if isinstance(owner, Instance) and type(name) is str:
                declared = self.class_members.declared(own_class(owner), name)
                members = self.generics.in_instance(declared, owner, name)
                found |= frozenset().union(*[self._as_read(member) for member in members])
            elif not isinstance(owner, Instance):
                found |= self.containers.items(owner, frozenset((name,)), file)
        return found

    def _as_read(self, member: Value) -> Values:
        """What reading a member gives: of a property what its function is declared to return."""
        if not isinstance(member, FunctionObject):
            return singleton(member)
        is_property = self.scope(member).flags & PROPERTY
        return self._promised(member) if is_property else singleton(member)

    def _promised(self, function: FunctionObject) -> Values:
        """What a function is declared to return."""
        type_ = self.scope(function).returned_type
        return self.annotations.instances(*self.place(function), type_)

    def _results(self, file: File, position: int) -> Values:
        declared = file.scope(position).returned_type
        if declared is not None:
            return self.annotations.instances(file, position, declared)
        found: Values = BOTTOM
        for value in self._of_function(file, position):
            if isinstance(value, SignatureObject):
                found |= self.calls.promised(value)
            elif isinstance(value, FunctionObject):
                found |= self._promised(value)
        return found

    # Places

    @kept
    def _places_of(self, file: File) -> Places:
        """The places of what a file writes as values."""
        found = Places(defaultdict(list), defaultdict(list), defaultdict(list))
        for position, scope in file.stored_scopes:
            for written in _values_with_places(file, position, scope):
                found.add(*written)
        return found


def _values_with_places(
    file: File, position: int, scope: Scope
) -> Iterator[tuple[Stored, Expecting]]:
    """The values that are written in a scope where something is expected of them."""
    for index, (_, _, arguments, *_) in enumerate(scope.calls):
        for at, argument in enumerate(arguments):
            if type(argument) is tuple:
                yield argument, Argument(position, index, at)
    for target, value in scope.binds:
        is_member = is_tagged(target, MEMBER)
        yield value, Assigned(position, target) if is_member else Unknown(position)
    for value in scope.returns:
        yield value, Result(position)
    for _, annotation, default, _ in scope.parameters:
        if annotation is not None:
            yield default, Annotated(file.parent(position), annotation)


def _reached(index: int, takes_rest: list[bool]) -> int:
    """The parameter at which an argument arrives, -1 for none; the last may take the rest."""
    if index < len(takes_rest):
        return index
    return len(takes_rest) - 1 if takes_rest and takes_rest[-1] else -1
