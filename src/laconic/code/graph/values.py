"""What an expression may be at run time: abstract values, as small tuples.

FUNCTION (tag, file, position, receiver | None): a function, bound to a receiver or not
CLASS, INSTANCE, GENERATED (tag, file, position): a class, its instances, what calling a generator function gives
MODULE (tag, file)
EXTERNAL (tag, dotted name): something outside the repository; RESULT (tag, dotted name): what calling it gives
DISPLAY (tag, file, serial): a list or mapping written in the source
COLLECTION (tag, frozenset of elements); TUPLE (tag, (frozenset, …)): known only by what they hold
KEY (tag, str | int): a constant, as a key
PARENT (tag, file, class, receiver): `super()`
BUILTIN (tag, value, name): a method of a display or collection
"""

from __future__ import annotations

from typing import Any

Value = tuple[Any, ...]
Values = frozenset[Value]

(FUNCTION, CLASS, INSTANCE, GENERATED, MODULE, EXTERNAL, RESULT, DISPLAY, COLLECTION, TUPLE, KEY, PARENT, BUILTIN) = range(
    13
)

OURS = frozenset({FUNCTION, CLASS, INSTANCE, GENERATED, MODULE})
NOTHING: Values = frozenset()


def one(*value: Any) -> Values:
    """The set of one value."""
    return frozenset((value,))
