"""The values that a declared type allows a variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    ELLIPSIS,
    dotted_name,
    last_part,
    named_parameters,
    substitute,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    CollectionObject,
    ConstantObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    SignatureObject,
    Value,
    Values,
    ValuesByPlace,
    collection,
    instance_of,
    mapping_of,
    only,
    singleton,
    tuple_of,
    with_arguments,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    Call,
    ConstantValue,
    Declared,
    Either,
    Expression,
    Expressions,
    Generic,
    GivenInstances,
    Guarded,
    GuardType,
    Item,
    ListLiteral,
    Literal,
    Typed,
    TypeParameter,
    UnitType,
    decoded,
)

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.names import Written


WORD = re.compile(r"\w+")
MAX_QUOTED_PARTS = 8  # types of a union, or arguments of a type, in such a text
MAX_QUOTED_DEPTH = 4  # types in types in it
MAX_QUOTED_CHARACTERS = 400


class Annotations(Component):
    """Instances of the types that variables, parameters and results are declared with."""

    def instances(self, file: File, scope: int, expression: Expression) -> Values:
        """The values that a variable declared with this type may be."""
        found = self._instances(file, scope, expression)
        is_open = file.semantics.virtual or file.semantics.open_declarations
        return self.typed.opened(found) if is_open else found

    def _instances(self, file: File, scope: int, expression: Expression) -> Values:
        match expression:
            case None:
                return BOTTOM
            case Either(alternatives):
                return self._any_of(file, scope, alternatives)
            case ConstantValue(str(text)):
                return self.instances(file, scope, quoted_type(text))
            case Guarded(callee, ConstantValue(int(place))):
                return self._guarded(file, scope, callee, place)
            case UnitType(value):
                return singleton(ConstantObject(value))
            case GivenInstances(values):
                return values
            case TypeParameter(bound):
                return self.instances(file, scope, bound)
            case Generic(base, arguments):
                return self._instances_of_generic(file, scope, base, arguments)
            case Item(Typed()):
                return self.containers.item(file, scope, expression)
            case Item(base):
                arguments = written_arguments(expression)
                return self._instances_of_generic(file, scope, base, arguments)
        types = self.values(file, scope, expression)
        if any(self._takes_arguments(value) for value in types):
            written = self.names.written(file, scope, expression)
            if written is not None and isinstance(written.expression, Item):
                return self._instances(*written)
        units = list(only(types, ConstantObject)) if file.semantics.virtual else ()
        return instances_of(types).union(units)

    def _takes_arguments(self, value: Value) -> bool:
        return isinstance(value, ClassObject) and bool(self.scope(value).type_parameters)

    def _mapped_parameters(self, target: ClassObject) -> list[int]:
        """The places of type parameters of which a type has all members: `{[K in keyof T]?: T[K]}`."""
        home = self.home(target)
        scope = home.scope(target.position)
        bases = written_types(home, scope.bases)
        names = [base.name for base in bases if isinstance(base, TypeParameter)]
        return [
            scope.type_parameters.index(name) for name in names if name in scope.type_parameters
        ]

    def _results(self, file: File, scope: int, types: Iterable[Expression]) -> Values:
        """The results of calling things of some types."""
        found: Values = BOTTOM
        for value in self._any_of(file, scope, types):
            if isinstance(value, (ClassObject, FunctionObject, SignatureObject)):
                found |= self.calls.result(file, scope, value, Call(None, (), (), 0))
        return found

    def _guarded(self, file: File, scope: int, callee: Expression, place: int) -> Values:
        """What a call of a type guard tells of the argument at a place."""
        call = Call(callee, (), (), 0)
        functions = self.calls.called(file, scope, call)
        return frozenset().union(*[self.guarded(function, place) for function in functions])

    def guarded(self, function: Value, place: int) -> Values:
        """The instances that a type guard says yes to, nothing if a value is none."""
        if not isinstance(function, FunctionObject):
            return BOTTOM
        home = self.home(function)
        body = home.scope(function.position)
        told = body.returned_type
        if not isinstance(told, GuardType) or not 0 <= place < len(body.parameters):
            return BOTTOM
        return (
            self.instances(home, function.position, told.type)
            if body.parameters[place].name == told.parameter
            else BOTTOM
        )

    def _instances_of_generic(
        self, file: File, scope: int, base: Expression, arguments: Sequence[Expression]
    ) -> Values:
        """Instances of a type that is written with arguments."""
        alias = self._generic_alias(file, scope, base)
        if alias is not None:
            written = tuple(arguments)
            key = ("alias", file.id, scope, base, written)
            return self.solve(key, self._instances_of_alias, alias, file, scope, written)
        found: Values = BOTTOM
        for value in self.values(file, scope, base):
            if isinstance(value, ClassObject):
                found |= self._instances_of_class(file, scope, value, arguments)
            elif isinstance(value, ExternalObject):
                found |= self._instances_of_external(file, scope, value.name, arguments)
            else:  # another name of a type
                found |= instances_of(frozenset((value,)))
        return found

    def _named_by(self, file: File, scope: int, type_: Expression) -> Values:
        """The classes, or other types, that are written as a type: in a string, as a union too."""
        if isinstance(type_, ConstantValue) and type(type_.value) is str:
            return self._named_by(file, scope, quoted_type(type_.value))
        found: Values = BOTTOM
        for part in written_types(file, (type_,)):
            found |= self.values(file, scope, part)
        return found

    def _instances_of_class(
        self, file: File, scope: int, class_: ClassObject, arguments: Sequence[Expression]
    ) -> Values:
        """The instance of a class of the repository that knows its type arguments; of one that has
        all members of a parameter, the instances of that argument as well.
        """
        has_parameters = self._takes_arguments(class_)
        types = self._each(file, scope, arguments) if has_parameters else ()
        found: Values = frozenset((with_arguments(instance_of(class_), types),))
        for place in self._mapped_parameters(class_):
            found |= types[place] if place < len(types) else BOTTOM
        return found

    def _instances_of_external(
        self, file: File, scope: int, type_: str, arguments: Sequence[Expression]
    ) -> Values:
        """Instances of a type from outside, by what the language says of its name."""
        semantics = file.semantics
        name = last_part(type_).rpartition(semantics.separator)[2]
        if name in semantics.union_types:
            return self._any_of(file, scope, arguments)
        if name in semantics.transparent_types:
            return self._any_of(file, scope, arguments[:1])
        if name in semantics.class_types:
            return frozenset().union(*[self._named_by(file, scope, part) for part in arguments])
        if name in semantics.callable_types and len(arguments) == len(("takes", "gives")):
            return singleton(SignatureObject(file.id, scope, arguments[1], _listed(arguments[0])))
        if name in semantics.result_types:
            return self._results(file, scope, arguments)
        held = self._collections(file, scope, name, arguments)
        return singleton(ExternalResult(type_)) if held is None else held

    def _collections(
        self, file: File, scope: int, name: str, arguments: Sequence[Expression]
    ) -> Values | None:
        """The collections that a type from outside stands for, by what its arguments say of their
        elements; None where its name is that of no such type.
        """
        semantics = file.semantics
        if name in semantics.tuples:
            if arguments[-1:] == (Literal(ELLIPSIS),):
                return collection(self.instances(file, scope, arguments[0]))
            return tuple_of(self._each(file, scope, arguments))
        if name in semantics.mappings and len(arguments) == len(("key", "item")):
            return mapping_of(*self._each(file, scope, arguments))
        if name in semantics.generators and arguments:
            return collection(self.instances(file, scope, arguments[0]))
        if name in semantics.containers and arguments:
            return collection(self.instances(file, scope, arguments[-1]))
        return None

    def _each(self, file: File, scope: int, types: Iterable[Expression]) -> ValuesByPlace:
        """The instances of each type."""
        return tuple(self.instances(file, scope, type_) for type_ in types)

    def _any_of(self, file: File, scope: int, types: Iterable[Expression]) -> Values:
        """The instances of all types together."""
        return frozenset().union(*self._each(file, scope, types))

    def _generic_alias(self, file: File, scope: int, base: Expression) -> Written | None:
        """The type with type parameters of its own that a name is another name of, None for others."""
        alias = self.names.written(file, scope, base) if type(base) is str else None
        if alias is None or not isinstance(alias.expression, Typed):
            return None
        return alias if alias.expression.names is not None else None

    def _instances_of_alias(
        self, alias: Written, file: File, scope: int, arguments: Expressions
    ) -> Values:
        """What another name of a type means with some types in place of its type parameters."""
        assert isinstance(alias.expression, Typed)
        meant, names = alias.expression.type, alias.expression.names or ()
        wanted = set(named_parameters(meant))
        given: dict[str, Expression] = {}
        for name, argument in zip(names, arguments, strict=False):
            values = self.instances(file, scope, argument) if name in wanted else BOTTOM
            if values:
                given[name] = GivenInstances(values)
        return self.instances(alias.file, alias.scope, substitute(meant, given))


def _listed(types: Expression) -> Expressions:
    """The types of a list of types, none if it says that anything may be taken."""
    return types.elements if isinstance(types, ListLiteral) else ()


def instances_of(types: Values) -> Values:
    """Instances of the classes among some values."""
    found: set[Value] = set()
    for value in types:
        if isinstance(value, ClassObject):
            found.add(instance_of(value))
        elif isinstance(value, ExternalObject):
            found.add(ExternalResult(value.name))
        elif isinstance(value, (CollectionObject, Instance, ContainerLiteral, SignatureObject)):
            found.add(value)
    return frozenset(found)


def written_types(file: File, types: Iterable[Expression]) -> Iterator[Expression]:
    """Types without what only says how they are combined: `A` and `B` of `Readonly<A & B>`."""
    for expression in types:
        match expression:
            case Either(alternatives):
                yield from written_types(file, alternatives)
            case Generic(base, arguments) if base in file.semantics.union_types:
                yield from written_types(file, arguments)
            case _:
                yield expression


def written_arguments(type_: Expression) -> Expressions:
    """The arguments that a type is written with, none if it has none."""
    match type_:
        case Generic(_, arguments) | Item(_, ListLiteral(arguments)):
            return arguments
        case Item(_, argument):
            return (argument,)
    return ()


def type_words(expression: Expression) -> set[str]:
    """The words that a type is written with, those in a quoted one included."""
    if type(expression) is str:
        return set(WORD.findall(expression))
    parts = expression if isinstance(expression, tuple) else ()
    return {word for part in parts for word in type_words(part)}


def names_one(type_: Expression, names: set[str], marks: frozenset[str]) -> bool:
    """True if a type is written with one of the names, and with one of the marks if there are any."""
    words = type_words(type_)
    return not words.isdisjoint(names) and not (marks and words.isdisjoint(marks))


def is_declared_as_one(value: Expression, names: set[str], marks: frozenset[str]) -> bool:
    """True if what a member is given is declared with such a type."""
    if isinstance(value, Either):
        return any(is_declared_as_one(part, names, marks) for part in value.alternatives)
    return isinstance(value, (Typed, Declared)) and names_one(value.type, names, marks)


def quoted_type(text: str, depth: int = 0) -> Expression:
    """The expression of a type written in a string: dotted names, their arguments, and unions of
    them.
    """
    alternatives = _parts(text, "|")
    if depth > MAX_QUOTED_DEPTH or not alternatives:
        return None
    if len(alternatives) > 1:
        return Either(tuple(quoted_type(part, depth + 1) for part in alternatives))
    name, bracket, arguments = alternatives[0].partition("[")
    base: Expression = decoded(dotted_name(name), {})
    if not bracket or base is None:
        return base
    if not arguments.endswith("]"):
        return None
    given = tuple(quoted_type(part, depth + 1) for part in _parts(arguments[:-1], ","))
    return Generic(base, given)


def _parts(text: str, separator: str) -> list[str]:
    """What a separator outside of brackets separates, none if that is too much."""
    found, depth = [""], 0
    for character in text if len(text) <= MAX_QUOTED_CHARACTERS else "":
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found] if len(found) <= MAX_QUOTED_PARTS else []
