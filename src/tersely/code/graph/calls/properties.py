"""The functions that reading or storing a member calls: properties and descriptors."""

from __future__ import annotations

from tersely.code.expressions import (
    REMOVER,
    SETTER,
    Expression,
)
from tersely.code.graph.calls.targets import Target, Targets
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    FunctionObject,
    Instance,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    Member,
    StoredMember,
)
from tersely.code.symbols import Kind

READ_KINDS = (Kind.PROPERTY,)


class Properties(Component):
    """Property functions behind expressions that look like no calls."""

    def targets(self, file: File, scope: int, expression: Expression) -> Targets:
        """The property functions that reading or storing a member, or reading a bare name, calls."""
        descriptors = self.evaluator.descriptors
        if type(expression) is str:
            kinds = file.semantics.called_by_name
            if not kinds or not self.named(expression, kinds=kinds):
                return []
            implied = descriptors.implied_properties(file, scope, expression)
            return sorted({Target(*one.place, 1) for one in implied})
        if not isinstance(expression, (Member, StoredMember)):
            return []
        owner, name = expression.object, expression.name
        is_stored = isinstance(expression, StoredMember)
        asked = descriptors.methods(file, scope, owner, name, stored=is_stored)
        described = list(map(self.sites.target, asked))
        if not self.named(name, kinds=READ_KINDS):
            return described
        found = frozenset[FunctionObject]()
        for value in self.values(file, scope, owner):
            found |= descriptors.properties_of(value, name, file)
        member = Member(owner, name)
        for receiver, members in self.evaluator.overriding.unbound(file, scope, member):
            found |= descriptors.property_functions(members, isinstance(receiver, Instance))
        wanted = 0
        if isinstance(expression, StoredMember):
            wanted = SETTER | (REMOVER if expression.removed else 0)
        properties = {Target(*one.place, 1) for one in found if self._use(one) == wanted}
        return sorted(properties.union(described))

    def _use(self, function: FunctionObject) -> int:
        """What calls a property function: assigning the property, removing it or, for 0, reading."""
        return self.scope(function).flags & (SETTER | REMOVER)
