"""What an answer about calls may lack because of the bounds that were met for it.

A bound counts where a call reaches nothing for which it was met, and may reach a definition of the
repository: most bounds are met on the way to values that are known all the same, or are nothing of
ours.
"""

from __future__ import annotations

from collections.abc import Collection

from tersely.code.bounds import NONE
from tersely.code.expressions import Expression
from tersely.code.graph.calls.passing import is_constructor
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.fixpoint import SOLVING_LIMITS
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import STAR_LIMIT
from tersely.code.graph.searches.argument_flow import FLOW_LIMIT
from tersely.code.nodes import Invocation, Member
from tersely.code.syntax.mentions import callee_names

Place = tuple[File, int]  # a definition
MAX_PASSING_FILES = 20  # searched for whether a function may be given what a call in it is on
UNKNOWN_LIMITS = SOLVING_LIMITS | {STAR_LIMIT}  # for which nothing is known of a value


class Missed(Component):
    """The bounds that calls met which reach nothing."""

    def at(self, file: File, scope: int, index: int, wanted: Place | None = None) -> frozenset[str]:
        """The bounds for which it is not known what a call reaches, if it reaches nothing, not even
        by its name, and may be one of a definition of the repository, or of what is `wanted`.
        """
        reach, bounds = self.bounds.collect(self.sites.direct_at, file, scope, index)
        call = file.call(scope, index)
        is_unknown = bounds and not reach.targets and not reach.leading
        if not is_unknown or not self._may_be_ours(file, scope, call):
            return NONE
        callee = call.callee
        if isinstance(callee, Member) and self.values(file, scope, callee.object):
            # a member that what it is called on does not have, and no other class lends
            is_of_class = wanted is not None and wanted[0].owner_class(wanted[1]) >= 0
            return NONE if is_of_class else bounds - {FLOW_LIMIT}
        is_given = FLOW_LIMIT in bounds and self._may_be_given(file, scope, callee, wanted)
        # of a receiver that comes a longer way, what is missing may be anything
        near = bounds & UNKNOWN_LIMITS if isinstance(callee, Member) else bounds
        return near | {FLOW_LIMIT} if is_given else near - {FLOW_LIMIT}

    def _may_be_ours(self, file: File, scope: int, call: Invocation) -> bool:
        """True if a call of which it is not known what it reaches may be one of a definition of the
        repository.
        """
        name = _member_name(call.callee)
        if not name:
            return True
        if name in file.semantics.common_members or name in file.semantics.implicit_methods:
            return False
        if not any(self.program.is_kin(at, file) for at, _ in self.named(name)):
            return False
        return not self.evaluator.namesakes.guesses(file, scope, call)

    def _may_be_given(
        self, file: File, scope: int, callee: Expression, wanted: Place | None
    ) -> bool:
        """True if what a call is on may be passed to the function around it, or was to the
        constructor of its class, where what is called, or its class, is named beside a call of that.
        """
        name, receiver = _member_name(callee), callee
        if isinstance(callee, Member):
            receiver = callee.object
        taking = self._taking(file, scope, receiver)
        if not taking:
            return False
        if wanted is None:
            origins = {place[3] or name for place in self.program.places_named(name)}
        else:
            home, position = wanted
            origins = {home.origin(position)}
        naming = {at for origin in origins for at in self.mentioning(origin, file)}
        both = sorted(naming.intersection(self.mentioning(taking, file)))
        return any(_passes(self.file(at), taking, origins) for at in both[:MAX_PASSING_FILES])

    def _taking(self, file: File, scope: int, expression: Expression) -> str:
        """The name by which a function is called that takes what an expression is as a parameter:
        one around, or the class around of a member of the receiver. "" if there is none.
        """
        owner = file.owner_class(scope)
        if isinstance(expression, Member) and owner >= 0:
            is_own = expression.object == file.receiver_name(scope)
            return file.name(owner) if is_own else ""
        position = scope
        while position > 0 and type(expression) is str:
            if file.is_parameter(position, expression):
                name = file.name(position)
                return file.origin(position) if is_constructor(file, position) else name
            position = file.parent(position)
        return ""


def _member_name(callee: Expression) -> str:
    """The name of the member that is called, or of what is called by its name alone, else ""."""
    name = callee.name if isinstance(callee, Member) else callee
    return name if type(name) is str else ""


def _passes(file: File, taking: str, origins: Collection[str]) -> bool:
    """True if some call of a name is given one of the others, or stands in a body that calls one."""
    making = {scope for origin in origins for scope, _ in file.uses.calls(origin)}
    for scope, call in file.uses.calls(taking):
        given = (name for argument in call.arguments for name in callee_names(argument))
        if scope in making or any(name in origins for name in given):
            return True
    return False
