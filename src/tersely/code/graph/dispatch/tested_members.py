"""What the test of a member tells of an object: `'member' in x`, `x.kind === 'a'`."""

from __future__ import annotations

from typing import TypeGuard

from tersely.code.expressions import is_spread
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ConstantObject,
    ContainerLiteral,
    FunctionObject,
    Instance,
    Value,
    Values,
    has,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.nodes import (
    MappingLiteral,
    MemberTest,
)
from tersely.code.symbols import Kind

Known = ContainerLiteral | Instance  # whose members are known


class TestedMembers(Component):
    """Tests of members over the values of an `Evaluator`."""

    def admitted(self, file: File, scope: int, values: Values, test: MemberTest) -> Values:
        """Those of some values that a TESTED type admits; all of them if it would leave none, or
        what it compares with is not known.
        """
        _, member, written, holds = test
        if len(values) < 2:
            return values
        constants = self.union(file, scope, written)
        if any(not isinstance(value, ConstantObject) for value in constants) or (
            written and not constants
        ):
            return values
        if written:
            kept = [value for value in values if self._agrees(value, member, constants, holds)]
        else:
            kept = [value for value in values if self._may_have(value, member, holds)]
        return frozenset(kept) or values

    def _agrees(self, value: Value, member: str, constants: Values, holds: bool) -> bool:
        """True if the member of a value may be one of some constants, or something else if the test
        does not hold.
        """
        if not self._is_known(value):
            return True
        found = self._held(value, member)
        is_known = all(isinstance(one, ConstantObject) for one in found)
        if holds:
            return not is_known or not found.isdisjoint(constants)
        return not is_known or not found or not found <= constants

    def _may_have(self, value: Value, member: str, holds: bool) -> bool:
        """True if a value may have a member, or lack it if the test does not hold."""
        if not self._is_known(value):
            return True
        if holds:
            return self._has(value, member)
        return not self._has(value, member) or self._is_optional(value, member)

    def _is_known(self, value: Value) -> TypeGuard[Known]:
        """True if it is known which members a value has."""
        if isinstance(value, ContainerLiteral):
            _, display = self.home(value).display(value.serial)
            return isinstance(display, MappingLiteral) and not any(
                is_spread(key) for key, _ in display.entries
            )
        return isinstance(value, Instance)

    def _held(self, value: Known, member: str) -> Values:
        if isinstance(value, ContainerLiteral):
            names = frozenset((member,))
            return self.containers.items(value, names, self.home(value))
        return self.members.of(value, member, self.home(value))

    def _has(self, value: Known, member: str) -> bool:
        if isinstance(value, ContainerLiteral):
            keys = self.containers.display_keys(value)
            return bool(keys & singleton(ConstantObject(member)) or self._held(value, member))
        return bool(self._held(value, member))

    def _is_optional(self, value: Known, member: str) -> bool:
        """True if what has a member may do without it all the same: a field of an interface."""
        if isinstance(value, ContainerLiteral) or has(self._held(value, member), FunctionObject):
            return False
        return self.definition(value).kind != Kind.CLASS
