"""Abstract values: all that an expression may be at run time, as small tuples.

FUNCTION (tag, file, position, receiver | None): a function, bound to a receiver or not; where some
of its arguments are given already, a fifth part is their number INSTANCE
(tag, file, position, True): an instance of the class or of one below it, see `typed`; a fifth part
says what each type parameter of the class stands for, (frozenset, …), and the fourth is False for
the very class CLASS, INSTANCE, GENERATED (tag, file, position): a class, its instances, what
calling a generator function gives MODULE (tag, file) EXTERNAL (tag, dotted name): something outside
the repository; RESULT (tag, dotted name): what calling it gives; a text of which parts are known
has a third part, a pattern with `*` for the others, and a router a fourth, the file and line of the
call that made it DISPLAY (tag, file, serial): a list or mapping
written in the source REST (tag, file, position, parameter): what a variadic parameter collects, or
`parameters.EVERY`: all that is given COLLECTION (tag, frozenset of elements), of a mapping (tag,
frozenset of items, frozenset of keys); TUPLE (tag, (frozenset, …)): known only by what they hold
KEY (tag, str | int): a constant, as a key PARENT (tag, file, class, receiver): `super()` BUILTIN
(tag, value, name): a method of a display or collection ASPECT (tag, file, position, trait): a type
as what implements a trait WRAPPED (tag, file, position): a function behind what decorators of ours
put in its place, beside that PROMISED (tag, file, scope, type, types of parameters): known only by
how it is called, with types as seen from a scope FAMILY (tag, value, pattern): the members of a
value whose names fit a pattern REFUSED (tag, frozenset of reasons): a promise that is not kept
"""

from __future__ import annotations

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
    DISPLAY,
    COLLECTION,
    TUPLE,
    KEY,
    PARENT,
    BUILTIN,
    REST,
    ASPECT,
    PROMISED,
    WRAPPED,
    FAMILY,
    REFUSED,
) = range(19)

NOTHING: Values = frozenset()
OUTSIDE = (EXTERNAL, RESULT, KEY)  # values that have nothing of ours


def one(*value: Any) -> Values:
    """The set of one value."""
    return frozenset((value,))


# names in the dotted name of something external; longer ones come from loops
MAX_EXTERNAL_PARTS = 7
MAX_CONTAINER_DEPTH = 3  # containers in containers that are told apart
UNIQUE_KEY = "@@"  # before a key that is no text: no name begins so
INSTANCE_PARTS = ("tag", "file", "position", "is open")  # of an instance without type arguments


def external(name: str) -> Values:
    """Something outside the repository by its dotted name."""
    return frozenset(((EXTERNAL, name),)) if name.count(".") < MAX_EXTERNAL_PARTS else NOTHING


def router(name: str, file_id: int, line: int) -> Values:
    """A router of a framework, told apart from others by the call that made it."""
    return one(RESULT, name, "", (file_id, line))


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
    return one(REFUSED, plain) if plain else NOTHING


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
