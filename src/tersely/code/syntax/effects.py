"""The effects of calls beyond their result, known by the callee's name: fill containers, bind
receivers, name members.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CONST,
    DEFINED,
    ITEM,
    MEMBER,
    SPREAD,
    Expression,
    either,
    is_tagged,
)
from tersely.code.languages.model import member_getters
from tersely.code.syntax.mentions import GIVEN_MARK, texts_in

if TYPE_CHECKING:
    from tersely.code.syntax.lowering import Lowering

_WORD = re.compile(r"\w+")


def note_additions(walk: Lowering, callee: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
    """Record the values that a method call puts into its receiver."""
    adder = walk.resolution.adders.get(callee[2])
    if adder is not None and len(arguments) > adder[1]:
        key = arguments[adder[0]] if adder[0] >= 0 else None
        walk.store((ITEM, callee[1], key), arguments[adder[1]])
    merged = walk.resolution.mergers.get(callee[2])
    if merged is not None and len(arguments) > merged:
        walk.store((ITEM, callee[1], (SPREAD, arguments[merged])), None)


def note_receiver(walk: Lowering, callee: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
    """`function … .bind(receiver)`: the function is written in place and called on that receiver."""
    function = callee[1]
    if callee[2] in walk.resolution.receiver_binders and arguments and type(function) is tuple:
        draft = walk.drafts[function[1]] if function[0] == DEFINED else None
        if draft is not None:
            draft.holder = arguments[0]


def note_given_names(walk: Lowering, function: str, arguments: tuple[Any, ...]) -> None:
    """Record the member names in the text arguments of a function."""
    texts = texts_in(arguments[walk.taking_names[function]])
    walk.mentions.update([function + GIVEN_MARK + each for each in texts])


def note_named_member(
    walk: Lowering, callee: Expression, arguments: tuple[Any, ...], line: int
) -> None:
    """Record a read by a function that returns a member by its name in a text: `getattr(x,
    "name")`.
    """
    owner, name = arguments[:2]
    is_getter = callee in member_getters(walk.resolution) and callee not in walk.scope.bound
    if is_getter and is_tagged(name, CONST) and type(name[1]) is str:
        walk.mentions.add(name[1])
        walk.scope.reads.append(((MEMBER, owner, name[1]), line))


def with_named_callbacks(
    walk: Lowering, called: str, positional: tuple[Any, ...], keywords: tuple[Any, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments of a function that calls a function by its name in a text: `usort($a,
    "compare")`.

    The value of this text is the text itself, or the function that it names.
    """
    places = walk.resolution.named_callbacks[called]

    def with_callback(place: int | str, value: Expression) -> Expression:
        read = walk.resolution.meant_by_text
        is_text = place in places and is_tagged(value, CONST) and type(value[1]) is str
        named = read(value[1]) if read is not None and is_text else None
        if named is None:
            return value
        walk.mentions.update(_WORD.findall(value[1]))
        return either(value, named)

    return (
        tuple(with_callback(place, value) for place, value in enumerate(positional)),
        tuple((name, with_callback(name, value)) for name, value in keywords),
    )
