"""What an expression may be at run time: abstract values, as small tuples.

FUNCTION (tag, file, position, receiver | None): a function, bound to a receiver or not
INSTANCE (tag, file, position, True): an instance of the class or of one below it, see `typed`
CLASS, INSTANCE, GENERATED (tag, file, position): a class, its instances, what calling a generator function gives
MODULE (tag, file)
EXTERNAL (tag, dotted name): something outside the repository; RESULT (tag, dotted name): what calling it gives; a text
of which parts are known has a third part, a pattern with `*` for the others
DISPLAY (tag, file, serial): a list or mapping written in the source
REST (tag, file, position, parameter): what a variadic parameter collects, or `parameters.EVERY`: all that is given
COLLECTION (tag, frozenset of elements), of a mapping (tag, frozenset of items, frozenset of keys);
TUPLE (tag, (frozenset, …)): known only by what they hold
KEY (tag, str | int): a constant, as a key
PARENT (tag, file, class, receiver): `super()`
BUILTIN (tag, value, name): a method of a display or collection
ASPECT (tag, file, position, trait): a type as what implements a trait
WRAPPED (tag, file, position): a function behind what decorators of ours put in its place, beside that
PROMISED (tag, file, scope, type, types of parameters): known only by how it is called, with types as seen from a scope
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
) = range(17)

NOTHING: Values = frozenset()


def one(*value: Any) -> Values:
    """The set of one value."""
    return frozenset((value,))


MAX_EXTERNAL_PARTS = 7  # names in the dotted name of something external; longer ones come from loops
MAX_CONTAINER_DEPTH = 3  # containers in containers that are told apart


def external(name: str) -> Values:
    """Something outside the repository by its dotted name."""
    return frozenset(((EXTERNAL, name),)) if name.count(".") < MAX_EXTERNAL_PARTS else NOTHING


def collection(elements: Values) -> Values:
    """A collection of elements; what is nested too deeply in it is not told apart."""
    return frozenset(((COLLECTION, _shallow(elements, 1)),))


def mapping_of(keys: Values, items: Values) -> Values:
    """A mapping known by its keys and by what it holds for them."""
    return frozenset(((COLLECTION, _shallow(items, 1), _shallow(keys, 1)),))


def tuple_of(parts: tuple[Values, ...]) -> Values:
    """A tuple known by what each place may hold."""
    return frozenset(((TUPLE, tuple(_shallow(part, 1) for part in parts)),))


def _shallow(values: Values, depth: int) -> Values:
    if not any(value[0] in (COLLECTION, TUPLE) for value in values):
        return values
    kept: set[Value] = set()
    for value in values:
        if value[0] == COLLECTION:
            if depth < MAX_CONTAINER_DEPTH:
                kept.add((COLLECTION, *(_shallow(part, depth + 1) for part in value[1:])))
        elif value[0] == TUPLE:
            if depth < MAX_CONTAINER_DEPTH:
                kept.add((TUPLE, tuple(_shallow(part, depth + 1) for part in value[1])))
        else:
            kept.add(value)
    return frozenset(kept)
