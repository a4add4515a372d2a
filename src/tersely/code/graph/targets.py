"""What calls reach and pass, and the names by which what reaches a definition is looked for."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.nodes import Invocation
from tersely.foundation.types import field, record

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.values import Value
    from tersely.code.graph.program.file import File
    from tersely.code.graph.program.program import Place
    from tersely.code.languages.model import Summary

MAX_CARRIER_FILES = 200  # files that mention such a name, above which only its own is searched
MAX_CARRIER_FILES_NEAR = 8  # likewise, when only what a parameter receives is asked for


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


class Reach(NamedTuple):
    """What a call reaches, and what is known of the functions it calls that lead to handlers of
    frameworks.
    """

    targets: tuple[Target, ...]
    leading: tuple[Summary, ...] = ()


class CallsNamed(NamedTuple):
    """The calls in a file that write a name, by what they reach by value."""

    reaching: dict[Place, set[FoundCall]]  # by each definition
    unknown: list[tuple[int, int]]  # scope and position of those that reach nothing
    cut: list[tuple[int, int]]  # likewise, of those that may reach more overrides


class KnownReach(NamedTuple):
    """What a call was found to reach, and the bounds that were met for it."""

    reach: Reach
    bounds: frozenset[str]


@record
class Search:
    """A search for the calls that reach a definition, while it goes on."""

    file: File
    position: int
    guess: bool  # whether calls that reach the definition by its name alone count
    near: bool  # whether it looks less far
    wanted: frozenset[Value] = frozenset()
    gives_itself: bool | None = None  # whether calling what is wanted may give it again, if asked
    makers: set[Value] = field(default_factory=set)  # functions that give what is wanted
    pending: deque[Carrier] = field(default_factory=deque)
    # the files that were searched, by which name, and whether it is one that the search begins with
    seen: set[tuple[int, Any, bool]] = field(default_factory=set)
    gotten: set[Any] = field(default_factory=set)  # names that members were looked for by
    names: set[Any] = field(default_factory=set)  # of the carriers that are not local
    found: set[FoundCall] = field(default_factory=set)
    bounds: set[str] = field(default_factory=set)  # for which some may not have been found

    @property
    def reach(self) -> int:
        """The most files that may mention a carrier's name."""
        return MAX_CARRIER_FILES_NEAR if self.near else MAX_CARRIER_FILES


def given_nothing(target: Target) -> Target:
    """A target that is not given what the call passes."""
    return target._replace(shift=-1 - target.shift)


def with_others(targets: list[Target], others: list[Target]) -> tuple[Target, ...]:
    """The targets of a call, with others that it may reach."""
    places = {(target.file, target.position) for target in targets}
    new = [target for target in others if (target.file, target.position) not in places]
    return (*targets, *(target._replace(manner=Manner.BELOW) for target in new))
