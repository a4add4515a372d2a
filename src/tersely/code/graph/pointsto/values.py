"""Abstract values: all that an expression may be at run time. A points-to set is a set of them.

They are records like the nodes of expressions: equal if they say the same, fields by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TypeGuard, TypeVar

from tersely.code.expressions import last_part
from tersely.code.nodes import Expression, Expressions, Record

_tags = count()


class Value(Record):
    """An abstract value."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__(next(_tags))


Values = frozenset[Value]
ValuesByPlace = tuple[Values, ...]  # of arguments, or of the places of a tuple
SomeValue = TypeVar("SomeValue", bound=Value)


class InFile(Value):
    """A value that a file of the repository writes."""

    file: int


class ModuleObject(InFile):
    """A file."""


class Defined(InFile):
    """A value that a definition makes."""

    position: int

    @property
    def place(self) -> tuple[int, int]:
        """File and position of the definition."""
        return self.file, self.position


class FunctionObject(Defined):
    """A function, bound to a receiver or not."""

    receiver: Value | None = None
    given: int = 0  # of its arguments, how many it has already


class ClassObject(Defined):
    """A class."""


class Instance(Defined):
    """An instance of a class, of a class below it if it is open, see `type_filtering`."""

    is_open: bool = False
    arguments: ValuesByPlace = ()  # of each type parameter of the class, none if not known


class GeneratorObject(Defined):
    """A generator, by its function."""


class WrappedFunction(Defined):
    """A function behind its decorators, beside what these put in its place."""


class SuperObject(Defined):
    """`super()`, by the class behind which the search begins, on the side of instances or of the
    class itself.
    """

    side: type[Value]


class TraitView(Defined):
    """A type as an implementation of a trait."""

    trait: ClassObject


class RestArguments(Defined):
    """The arguments that a variadic parameter collects, or all of them for `parameters.EVERY`."""

    parameter: int


class ContainerLiteral(InFile):
    """A list or mapping by its allocation site: where it is written in the source."""

    serial: int


class SignatureObject(InFile):
    """What is known only by how it is called, with types as seen from a scope."""

    scope: int
    returned: Expression
    parameters: Expressions


class Outside(Value):
    """A value of which nothing but a dotted name is known."""

    name: str

    @property
    def last_name(self) -> str:
        """The name without what it is in."""
        return last_part(self.name)


class ExternalObject(Outside):
    """Something outside the repository."""


class ExternalResult(Outside):
    """The result of calling something outside the repository, or an instance of its type."""

    pattern: str | None = None  # of a text of which parts are known, with `*` for the others
    site: tuple[int, int] | None = None  # of a router, file and line of the call that made it


class CollectionObject(Value):
    """A collection known only by its contents; a mapping has keys."""

    items: Values
    keys: Values | None = None


class TupleObject(Value):
    """A tuple known only by what each place may hold."""

    parts: ValuesByPlace


class ConstantObject(Value):
    """A constant, as a key."""

    constant: str | int


class BuiltinMethod(Value):
    """A method of a container."""

    owner: Value
    name: str


class MemberFamily(Value):
    """The members of something whose names fit a pattern."""

    owner: InFile
    pattern: str


class RejectedPromise(Value):
    """A promise that fails for some reasons."""

    reasons: Values


BOTTOM: Values = frozenset()
NOT_OURS = (Outside, ConstantObject)  # values that have nothing of ours


def singleton(value: Value) -> Values:
    """The set of one value."""
    return frozenset((value,))


def only(values: Iterable[Value], *kinds: type[SomeValue]) -> frozenset[SomeValue]:
    """Those of some values that are of a kind."""
    return frozenset(value for value in values if isinstance(value, kinds))


def without(values: Iterable[Value], *kinds: type[Value]) -> Values:
    """Those of some values that are of none of the kinds."""
    return frozenset(value for value in values if not isinstance(value, kinds))


def has(values: Iterable[Value], *kinds: type[Value]) -> bool:
    """True if one of some values is of a kind."""
    return any(isinstance(value, kinds) for value in values)


def own_class(value: Defined) -> ClassObject:
    """The class of an instance, or of what else has the place of one."""
    return ClassObject(*value.place)


def instance_of(value: Defined) -> Instance:
    """An instance of this very class, or of what else has the place of one."""
    return Instance(*value.place)


def itself(value: Value) -> Value:
    """A function as nobody has bound it, an instance as one of its very class; others as they are."""
    if isinstance(value, FunctionObject):
        return FunctionObject(*value.place)
    return instance_of(value) if isinstance(value, Instance) else value


# names in the dotted name of something external; longer ones come from loops
MAX_EXTERNAL_PARTS = 7
MAX_CONTAINER_DEPTH = 3  # containers in containers that are told apart
UNIQUE_KEY = "@@"  # before a key that is no text: no name begins so


def external(name: str) -> Values:
    """Something outside the repository by its dotted name."""
    return singleton(ExternalObject(name)) if name.count(".") < MAX_EXTERNAL_PARTS else BOTTOM


def router(name: str, file_id: int, line: int) -> Values:
    """A router of a framework, told apart from others by the call that made it."""
    return singleton(ExternalResult(name, None, (file_id, line)))


def is_router(value: Value) -> bool:
    """True if a value is a router that is told apart from others."""
    return isinstance(value, ExternalResult) and value.site is not None


def is_text(value: Value) -> TypeGuard[ExternalResult]:
    """True if a value is a text of which parts are known."""
    return isinstance(value, ExternalResult) and value.pattern is not None


def collection(elements: Values) -> Values:
    """A collection of elements; what is nested too deeply in it is not told apart."""
    return singleton(CollectionObject(_shallow(elements, 1)))


def mapping_of(keys: Values, items: Values) -> Values:
    """A mapping known by its keys and by what it holds for them."""
    return singleton(CollectionObject(_shallow(items, 1), _shallow(keys, 1)))


def tuple_of(parts: ValuesByPlace) -> Values:
    """A tuple known by what each place may hold."""
    return singleton(TupleObject(tuple(_shallow(part, 1) for part in parts)))


def refused(reasons: Values) -> Values:
    """A promise that is not kept for some reasons, nothing without any."""
    plain = without(reasons, CollectionObject, TupleObject, RejectedPromise)
    return singleton(RejectedPromise(plain)) if plain else BOTTOM


def with_arguments(value: Instance, arguments: ValuesByPlace) -> Instance:
    """An instance of which it is known what the type parameters of its class stand for, as far as
    that is ours.
    """
    known = tuple(without(part, *NOT_OURS) for part in arguments)
    if not any(known):
        return value
    return Instance(
        value.file, value.position, value.is_open, tuple(_shallow(part, 1) for part in known)
    )


def _shallow(values: Values, depth: int) -> Values:
    if not has(values, CollectionObject, TupleObject, Instance):
        return values
    found = (_less_deep(value, depth) for value in values)
    return frozenset(value for value in found if value is not None)


def _less_deep(value: Value, depth: int) -> Value | None:
    """A value without what is nested too deeply in it, None if it is that itself."""
    is_deepest, below = depth >= MAX_CONTAINER_DEPTH, depth + 1
    match value:
        case CollectionObject() | TupleObject() if is_deepest:
            return None
        case CollectionObject(items, keys):
            return CollectionObject(
                _shallow(items, below), None if keys is None else _shallow(keys, below)
            )
        case TupleObject(parts):
            return TupleObject(tuple(_shallow(part, below) for part in parts))
        case Instance(file, position, is_open, arguments) if arguments:
            nested = () if is_deepest else tuple(_shallow(part, below) for part in arguments)
            return Instance(file, position, is_open, nested)
    return value


def given_first(values: Values, number: int) -> Values:
    """Functions of which the first arguments are given already; other values as they are."""
    return frozenset(
        FunctionObject(*value.place, value.receiver, value.given + number)
        if isinstance(value, FunctionObject)
        else value
        for value in values
    )
