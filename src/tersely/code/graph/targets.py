"""What calls reach and pass, and the names by which what reaches a definition is looked for."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from tersely.code.nodes import Invocation


class Manner(IntEnum):
    """The ways in which a call comes to a target."""

    DIRECT = 0
    BELOW = 1  # if the receiver is of a class below the one around the call
    BEHIND = 2  # if what decorates the target calls it


class Target(NamedTuple):
    """A definition that a call reaches. `shift`: 1 when the receiver takes the first parameter.

    For a function that the called one calls back it is -1 - shift: what it is given is not what the
    call passes.
    """

    file: int
    position: int
    shift: int
    manner: Manner = Manner.DIRECT


class Passing(NamedTuple):
    """A call that passes something to a function, whose parameters it fills from `shift` on."""

    file: int
    scope: int
    call: Invocation
    shift: int


class FoundCall(NamedTuple):
    """A call that reaches what was searched for; `shift` is that of the `Target`."""

    file: int
    scope: int
    call: int  # its position among the calls of the scope
    shift: int


class Carrier(NamedTuple):
    """A name that holds what is searched for; `is_local` names are known in their file alone."""

    name: Any  # a str, or the position of an anonymous definition
    file: int
    is_local: bool = False
    is_first: bool = True
