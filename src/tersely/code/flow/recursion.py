"""The calls that may run the enclosing routine once more.

A call does if its callee is the routine, or calls it in turn, through any number of functions of
the file. Followed are functions of the module and enclosing functions by name, and methods of a
class on the object of the calling method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tersely.code.expressions import last_part
from tersely.code.routines import CfgCall, Routine, Routines


def with_recursion(routines: Routines) -> Routines:
    """The routines, with `comes_back` set in the calls that do."""
    calls = _Calls(routines.routines)
    return routines._replace(
        routines=tuple(calls.with_comes_back(at) for at in range(len(routines.routines)))
    )


class _Calls:
    """The calls between functions of one file."""

    def __init__(self, routines: tuple[Routine, ...]) -> None:
        self.routines = routines
        self.named: dict[str, list[int]] = defaultdict(list)
        for at, routine in enumerate(routines):
            if routine.kind == "function":
                self.named[routine.name].append(at)
        self.inside: dict[int, list[int]] = defaultdict(list)
        for at, routine in enumerate(routines):
            if last_part(routine.name).startswith("<"):
                self.inside[routine.parent].append(at)
        self.next = [self._called_in(at) for at in range(len(routines))]
        self.reached: dict[int, set[int]] = {}

    def with_comes_back(self, at: int) -> Routine:
        """A routine with `comes_back` set in the calls that may run it again."""
        routine = self.routines[at]
        if routine.kind != "function" or at not in self._reachable(at):
            return routine
        calls = (
            call._replace(comes_back=True) if self._comes_back(call, at) else call
            for call in routine.calls
        )
        return routine._replace(calls=tuple(calls))

    def _comes_back(self, call: CfgCall, at: int) -> bool:
        called = set(self._callees(call, at))
        return at in called or any(at in self._reachable(other) for other in called)

    def _reachable(self, at: int) -> set[int]:
        """The functions that run because this one does."""
        if at not in self.reached:
            found: set[int] = set()
            pending = list(self.next[at])
            while pending:
                other = pending.pop()
                if other not in found:
                    found.add(other)
                    pending += self.next[other]
            self.reached[at] = found
        return self.reached[at]

    def _called_in(self, at: int) -> set[int]:
        """The functions that a function calls, itself or in functions without a name that are
        written in it.
        """
        own = {other for call in self.routines[at].calls for other in self._callees(call, at)}
        return own | set(self.inside[at])

    def _callees(self, call: CfgCall, at: int) -> Iterator[int]:
        around = list(self._enclosing_routines(at))
        if call.on_own:
            owner = next(one for one in around if one.kind != "function")
            yield from self.named.get(f"{owner.name}.{call.callee}".removeprefix("."), ())
        for one in around if not call.receiver else ():
            if one.kind != "class":
                yield from self.named.get(f"{one.name}.{call.callee}".removeprefix("."), ())

    def _enclosing_routines(self, at: int) -> Iterator[Routine]:
        """A routine and its enclosing ones, innermost first."""
        while at >= 0:
            yield self.routines[at]
            at = self.routines[at].parent
