"""The classes above and below a class."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tersely.code.graph.dispatch.classes.overriding import MAX_SUBTYPE_FILES, SUBTYPE_LIMIT
from tersely.code.graph.pointsto.annotations import written_types
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ExternalObject,
    FunctionObject,
    Instance,
    SomeValue,
    Value,
    has,
    only,
    own_class,
    without,
)
from tersely.code.graph.program.program import CLASSES_A_WORK, ClassName


class Inheritance(Component):
    """Bases, orders of bases and subclasses of classes."""

    def linearised(self, target: ClassObject) -> tuple[ClassObject, ...]:
        """Method resolution order (C3; depth first where C3 has no answer), the class itself first."""
        found = self.solve(("linearised", target), self._linearised, target)
        return _sequence(found) or (target,)

    def _linearised(self, target: ClassObject) -> frozenset[tuple[ClassObject, ...]]:
        return frozenset((tuple(self.order(target)),))

    def order(self, target: ClassObject) -> Iterator[ClassObject]:
        """Method resolution order, found out only as far as it is read."""
        met = dict[ClassObject, None]()
        behind: tuple[ClassObject, ...] = (target,)
        while len(behind) == 1 and behind[0] not in met:
            met[behind[0]] = None
            self.bounds.spend(len(met) % CLASSES_A_WORK == 0)
            yield behind[0]
            bases = self.bases(behind[0])
            behind = tuple(base for base in bases if isinstance(base, ClassObject))
        if len(behind) > 1:
            merged = _sequence(self.solve(("merged", behind), self._merged, behind))
            self.bounds.spend(len(merged) // CLASSES_A_WORK)
            yield from (one for one in merged if one not in met)

    def _merged(self, bases: tuple[ClassObject, ...]) -> frozenset[tuple[ClassObject, ...]]:
        orders = [self.linearised(base) for base in bases]
        merged = _merge([*orders, bases])
        if merged is None:
            merged = list(dict.fromkeys(value for order in orders for value in order))
        return frozenset((tuple(merged),))

    def bases(self, target: ClassObject, kind: type[Value] = ClassObject) -> tuple[Value, ...]:
        """The base classes in order, external ones included; with `kind` Instance what the class
        itself is one of.
        """
        found = self.solve(("bases", target, kind), self._base_values, target, kind)
        return _sequence(found)

    def _base_values(self, target: ClassObject, kind: type[Value]) -> frozenset[tuple[Value, ...]]:
        found: list[Value] = []
        wanted = (ClassObject, ExternalObject) if kind is ClassObject else (kind,)
        for file, position in self.bodies.of(target):
            outer = file.parent(position)
            if file.semantics.prototype:
                made = only(self.class_members.prototypes(target, file), Instance)
                found += map(own_class, sorted(made, key=repr))
            for expression in written_types(file, file.scope(position).bases):
                values = self.values(file, outer, expression)
                if file.semantics.prototype:
                    values = frozenset(
                        own_class(v) if isinstance(v, FunctionObject) else v for v in values
                    )
                if file.semantics.open_classes and has(values, ClassObject):
                    values = without(values, ExternalObject)
                found.extend(sorted(only(values, *wanted), key=repr))
        return frozenset((tuple(dict.fromkeys(found)),))

    def subclasses(self, target: ClassObject) -> list[ClassObject]:
        """All classes below a class, nearest first."""
        found, pending = {target}, [target]
        is_open = self.home(target).semantics.open_receivers
        # others see `CallGraph.callers`
        solve = self.solver.solve_whole if is_open else self.solve
        for current in pending:
            below = solve(("subclasses", current), self._direct_subclasses, current)
            pending += sorted(below - found)
            found |= below
        return pending[1:]

    def _direct_subclasses(self, target: ClassObject) -> frozenset[ClassObject]:
        home = self.home(target)
        name = home.name(target.position)
        found = (
            self.evaluator.interfaces.implementers(target)
            if self.evaluator.interfaces.is_structural(target)
            else frozenset()
        )
        based = self.program.hierarchy.based_on(name, home.family)
        files = {one.file for one in based}
        if len(files) > MAX_SUBTYPE_FILES:
            self.bounds.add(SUBTYPE_LIMIT)
            nearest = {*self.program.nearest(files, home)[:MAX_SUBTYPE_FILES]}
            based = {one for one in based if one.file in nearest}
        return found.union(self.based_on(target, based))

    def based_on(self, target: ClassObject, names: Iterable[ClassName]) -> Iterator[ClassObject]:
        """The classes of some names that are based on one."""
        return (
            one
            for one in self.open_classes.classes(sorted(names))
            if one != target and target in self.bases(one)
        )

    def outer_base(self, target: ClassObject) -> str:
        """The dotted name of the first base of a class that is outside the repository and may have
        members, "" without one.
        """
        base = self.solve(("outer base", target), self._outer_base, target)
        return next(iter(base)).name if base else ""

    def _outer_base(self, target: ClassObject) -> frozenset[ExternalObject]:
        """The first base in a hierarchy that is outside the repository and may have members."""
        empty = self.home(target).semantics.empty_bases
        bases = (
            base
            for owner in self.order(target)
            for base in self.bases(owner)
            if isinstance(base, ExternalObject) and base.last_name not in empty
        )
        return frozenset(islice(bases, 1))


def _sequence(found: frozenset[tuple[SomeValue, ...]]) -> tuple[SomeValue, ...]:
    """The sequence that an unknown is: the longest, where it is not settled."""
    return max(sorted(found), key=len) if len(found) > 1 else next(iter(found), ())


def _merge(orders: Iterable[Sequence[ClassObject]]) -> list[ClassObject] | None:
    """The merge of C3 linearisation; None when the orders contradict each other."""
    merged: list[ClassObject] = []
    pending = [deque(order) for order in orders]
    behind = Counter(value for order in pending for value in islice(order, 1, None))
    while pending := list(filter(None, pending)):
        head = next((order[0] for order in pending if not behind[order[0]]), None)
        if head is None:
            return None
        merged.append(head)
        for order in pending:
            if order[0] == head:
                order.popleft()
                behind.subtract(islice(order, 1))
    return merged
