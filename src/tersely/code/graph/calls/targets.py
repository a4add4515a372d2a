"""What calls reach and pass, and the names by which what reaches a definition is looked for."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.graph.program.scopes import ANYWHERE
from tersely.code.nodes import Invocation
from tersely.foundation.types import field, record

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.values import Value
    from tersely.code.graph.program.file import File
    from tersely.code.graph.program.file_uses import Flow
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

    @property
    def place(self) -> Place:
        """File and position of the definition."""
        return self.file, self.position


Targets = list[Target]


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
    """A name that holds what is searched for."""

    name: Any  # a str, or the position of an anonymous definition
    file: int
    within: int = ANYWHERE  # the definition inside which alone it is known, 0 for the file
    is_first: bool = False  # it is among those with which the search begins

    @property
    def is_local(self) -> bool:
        """True if the name is known in its file alone."""
        return self.within != ANYWHERE


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


KnownReaches = dict[tuple[int, int, int], KnownReach]  # by file, scope and position of the call


@record
class Search:
    """A search for the calls that reach a definition, while it goes on."""

    file: File
    position: int
    guess: bool  # whether calls that reach the definition by its name alone count
    near: bool  # whether it looks less far
    wanted: frozenset[Value] = frozenset()
    is_taken: bool = False  # whether anything was found that takes what is wanted for a value
    waiting: list[tuple[File, Flow]] = field(default_factory=list)  # that wait for knowing that
    makers: set[Value] = field(default_factory=set)  # functions that give what is wanted
    pending: deque[Carrier] = field(default_factory=deque)
    seen: set[Carrier] = field(default_factory=set)  # each by the files that were searched
    gotten: set[Any] = field(default_factory=set)  # names that members were looked for by
    names: set[Any] = field(default_factory=set)  # of the carriers that are not local
    found: set[FoundCall] = field(default_factory=set)
    is_done: bool = False  # nothing was left to search, and there was work for all
    bounds: set[str] = field(default_factory=set)  # for which some may not have been found


def given_nothing(target: Target) -> Target:
    """A target that is not given what the call passes."""
    return target._replace(shift=-1 - target.shift)


def with_others(targets: Targets, others: Targets) -> tuple[Target, ...]:
    """The targets of a call, with others that it may reach."""
    places = {target.place for target in targets}
    new = [target for target in others if target.place not in places]
    return (*targets, *(target._replace(manner=Manner.BELOW) for target in new))
