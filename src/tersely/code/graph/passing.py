"""What a call passes on to a function that is given to it."""

from __future__ import annotations

from tersely.code.expressions import EITHER, ELEMENT, HELD, MEMBER, SPREAD, Expression

_IN_PASSED = {"element": ELEMENT, "elements": SPREAD, "item": HELD}  # words of `Summary.passes`


def receiver_of(call: Expression) -> Expression:
    """What a method is called on."""
    return call[1][1] if type(call[1]) is tuple and call[1][0] == MEMBER else None


def passed_on(words: str, receiver: Expression, call: Expression) -> Expression:
    """What one of the words of `Summary.passes` says that a call passes on."""
    what, _, number = words.partition(" ")
    source = (
        receiver if not number else call[2][int(number)] if int(number) < len(call[2]) else None
    )
    if source is None or what in ("receiver", "argument"):
        return source
    if what == "held":
        return (EITHER, ((ELEMENT, source), source))
    return (_IN_PASSED[what], source) if what in _IN_PASSED else None
