"""Abstract values: all that an expression may be at run time, as small tuples that begin with a tag.

- FUNCTION (file, position, receiver | None): a function, bound to a receiver or not; where some of
  its arguments are given already, one part more is their number
- CLASS (file, position): a class
- INSTANCE (file, position, is open): an instance of the class, open: or of one below it, see
  `type_filtering`; one part more has the values of each type parameter of the class
- GENERATED (file, position): a generator, by its function
- MODULE (file): a file
- EXTERNAL (dotted name): something outside the repository
- RESULT (dotted name): the result of calling that; a text of which parts are known has one part
  more, a pattern with `*` for the others, and a router another, file and line of the call that made it
- CONTAINER_LITERAL (file, serial): a list or mapping written in the source
- COLLECTION (elements), of a mapping (items, keys): known only by its contents
- TUPLE ((values, …)): known only by its contents
- CONSTANT (str | int): a constant, as a key
- PARENT (file, class, receiver): `super()`
- BUILTIN (value, name): a method of a container
- REST (file, position, parameter): the arguments that a variadic parameter collects, or all of them
  for `parameters.EVERY`
- TRAIT_VIEW (file, position, trait): a type as an implementation of a trait
- WRAPPED (file, position): a function behind its decorators, beside what these put in its place
- RETURN_TYPE (file, scope, type, types of parameters): known only by its signature, with types as
  seen from a scope
- FAMILY (value, pattern): the members of a value whose names fit a pattern
- REFUSED (reasons): a promise that fails
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Value = tuple[Any, ...]
Values = frozenset[Value]

(
    FUNCTION,
    CLASS,
    INSTANCE,
    GENERATED,
    MODULE,
    EXTERNAL,
    RESULT,
    CONTAINER_LITERAL,
    COLLECTION,
    TUPLE,
    CONSTANT,
    PARENT,
    BUILTIN,
    REST,
    TRAIT_VIEW,
    RETURN_TYPE,
    WRAPPED,
    FAMILY,
    REFUSED,
) = range(19)

BOTTOM: Values = frozenset()
OUTSIDE = (EXTERNAL, RESULT, CONSTANT)  # values that have nothing of ours


def singleton(*value: Any) -> Values:
    """The set of one value."""
    return frozenset((value,))


def only(values: Iterable[Value], *tags: int) -> Values:
    """Those of some values that have one of the tags."""
    return frozenset(value for value in values if value[0] in tags)


def own_class(value: Value) -> Value:
    """The class of an instance, or of what else has the place of one."""
    return (CLASS, *value[1:3])


# names in the dotted name of something external; longer ones come from loops
MAX_EXTERNAL_PARTS = 7
MAX_CONTAINER_DEPTH = 3  # containers in containers that are told apart
UNIQUE_KEY = "@@"  # before a key that is no text: no name begins so
INSTANCE_PARTS = ("tag", "file", "position", "is open")  # of an instance without type arguments


def external(name: str) -> Values:
    """Something outside the repository by its dotted name."""
    return frozenset(((EXTERNAL, name),)) if name.count(".") < MAX_EXTERNAL_PARTS else BOTTOM


def router(name: str, file_id: int, line: int) -> Values:
    """A router of a framework, told apart from others by the call that made it."""
    return singleton(RESULT, name, "", (file_id, line))


def is_router(value: Value) -> bool:
    """True if a value is a router that is told apart from others."""
    return value[0] == RESULT and len(value) > len(("tag", "name", "pattern"))


def collection(elements: Values) -> Values:
    """A collection of elements; what is nested too deeply in it is not told apart."""
    return frozenset(((COLLECTION, _shallow(elements, 1)),))


def mapping_of(keys: Values, items: Values) -> Values:
    """A mapping known by its keys and by what it holds for them."""
    return frozenset(((COLLECTION, _shallow(items, 1), _shallow(keys, 1)),))


def tuple_of(parts: tuple[Values, ...]) -> Values:
    """A tuple known by what each place may hold."""
    return frozenset(((TUPLE, tuple(_shallow(part, 1) for part in parts)),))


def refused(reasons: Values) -> Values:
    """A promise that is not kept for some reasons, nothing without any."""
    plain = frozenset(value for value in reasons if value[0] not in (COLLECTION, TUPLE, REFUSED))
    return singleton(REFUSED, plain) if plain else BOTTOM


def is_open(value: Value) -> bool:
    """True if an instance may be of a class below its own."""
    return len(value) > len(("tag", "file", "position")) and bool(value[3])


def type_arguments(value: Value) -> tuple[Values, ...]:
    """The values that the type parameters of the class of an instance stand for, nothing if that is
    not known.
    """
    return value[4] if value[0] == INSTANCE and len(value) > len(INSTANCE_PARTS) else ()


def with_arguments(value: Value, arguments: tuple[Values, ...]) -> Value:
    """An instance of which it is known what the type parameters of its class stand for, as far as
    that is ours.
    """
    known = tuple(frozenset(one for one in part if one[0] not in OUTSIDE) for part in arguments)
    if not any(known):
        return value
    return (*value[:3], is_open(value), tuple(_shallow(part, 1) for part in known))


def _shallow(values: Values, depth: int) -> Values:
    if not any(value[0] in (COLLECTION, TUPLE) or type_arguments(value) for value in values):
        return values
    kept: set[Value] = set()
    for value in values:
        if value[0] == COLLECTION:
            if depth < MAX_CONTAINER_DEPTH:
                kept.add((COLLECTION, *(_shallow(part, depth + 1) for part in value[1:])))
        elif value[0] == TUPLE:
            if depth < MAX_CONTAINER_DEPTH:
                kept.add((TUPLE, tuple(_shallow(part, depth + 1) for part in value[1])))
        elif arguments := type_arguments(value):
            nested = (
                tuple(_shallow(part, depth + 1) for part in arguments)
                if depth < MAX_CONTAINER_DEPTH
                else ()
            )
            kept.add((*value[:4], nested) if nested else value[: 3 + value[3]])
        else:
            kept.add(value)
    return frozenset(kept)


def given_first(values: Values, number: int) -> Values:
    """Functions of which the first arguments are given already; other values as they are."""
    return frozenset(
        (*value[:4], given_arguments(value) + number) if value[0] == FUNCTION and number else value
        for value in values
    )


def given_arguments(function: Value) -> int:
    """How many arguments of a function are given already."""
    return function[4] if len(function) > len(("tag", "file", "position", "receiver")) else 0
