"""How surely it is known what an expression that is called means."""

from __future__ import annotations

from tersely.code.expressions import (
    Expression,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ExternalObject,
    Instance,
    ModuleObject,
    TraitView,
    has,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    AsTrait,
    Call,
    DefinedHere,
    ImportedValue,
    Member,
    Node,
    Received,
)
from tersely.code.symbols import Grade, Kind

# whose members are the same wherever they come from
FIXED = (ModuleObject, ClassObject, ExternalObject, TraitView)


class Grades(Component):
    """Grades of calls and members, over the values of an `Evaluator`."""

    def of_call(self, file: File, scope: int, callee: Expression) -> Grade:
        """The grade with which a callee expression was resolved."""
        is_exact = self._is_exact(file, scope, callee) and not self._is_given(file, scope, callee)
        return Grade.EXACT if is_exact else Grade.INFERRED

    def of_member(self, file: File, scope: int, member: Expression) -> Grade:
        """The grade with which the owner of a member is known, whatever the member holds."""
        return Grade.EXACT if self._is_exact(file, scope, member) else Grade.INFERRED

    def _is_exact(self, file: File, scope: int, expression: Expression) -> bool:
        if type(expression) is str:
            return self._is_exact_name(file, scope, expression)
        match expression:
            case Member(owner):
                if not self._is_exact(file, scope, owner):
                    return False
                values = self.values(file, scope, owner)
                return all(isinstance(value, FIXED) for value in values) or self._is_receiver(
                    file, scope, owner
                )
            case AsTrait(type_):
                return self._is_exact(file, scope, type_)
            case Call(str(callee)):
                return callee in file.semantics.super_names
        return isinstance(expression, (DefinedHere, ImportedValue))

    def _is_exact_name(self, file: File, scope: int, name: str) -> bool:
        position = scope
        while position >= 0:
            if file.kind(position) == Kind.LAMBDA and self.evaluator.receivers.around(
                file, position
            ):
                return False
            if name in file.names(position):
                entries = (
                    file.bindings(position, name)
                    if position == scope
                    else file.all_bindings(position, name)
                )
                return all(
                    _is_fixed(entry, file, self._is_receiver(file, scope, name))
                    for _, entry in entries
                )
            position = file.parent(position)
        return file.semantics.namespace != "shared" or not self.modules.top_level(file, name)

    def _is_given(self, file: File, scope: int, member: Expression) -> bool:
        """True if a member of the receiver is an object, or what a property gives: which one, the
        class around does not say.
        """
        if not isinstance(member, Member):
            return False
        if not self._is_receiver(file, scope, member.object):
            return False
        values = self.values(file, scope, member)
        is_object = has(values, Instance)
        return is_object or bool(self.evaluator.properties.targets(file, scope, member))

    def _is_receiver(self, file: File, scope: int, expression: Expression) -> bool:
        method = file.enclosing_method(scope)
        own = file.receiver_name(method) if method >= 0 else ""
        if isinstance(expression, Node):
            return isinstance(expression, Call)
        if not expression:
            return False
        return (
            expression == own
            or expression in file.semantics.receiver_names
            or expression in file.semantics.super_names
        )


def _is_fixed(entry: Expression, file: File, is_receiver: bool) -> bool:
    if isinstance(entry, Received):
        return is_receiver
    return isinstance(entry, (DefinedHere, ImportedValue)) or (
        isinstance(entry, Call) and any(scope.decorated is entry for _, scope in file.bodies)
    )
