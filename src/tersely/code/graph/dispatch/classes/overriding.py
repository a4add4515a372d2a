"""The overrides in classes below that a call on the receiver may reach: the class of `self` is that
of the code around it or another.

`self.m()` in a class reaches the methods that classes below it have for `m`: their own, or those of
the other bases of such a class where these come first. `super().m()` reaches what comes next in the
order of a class below.
"""

from __future__ import annotations

from collections.abc import Iterator

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    FunctionObject,
    Instance,
    SuperObject,
    Values,
    instance_of,
    only,
    own_class,
)
from tersely.code.graph.program.file import File, kept
from tersely.code.graph.program.program import ClassName
from tersely.code.nodes import (
    Call,
    Member,
)
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS

NAMED_KINDS = CALLABLE_KINDS | VALUE_KINDS
MAX_SUBTYPE_FILES = 200  # files searched for subclasses of one class
SUBTYPE_LIMIT = f"classes below one class were looked for in the nearest {MAX_SUBTYPE_FILES} files"
MAX_OVERRIDES = 1_000  # classes below one that are looked at for one name
OVERRIDES_LIMIT = f"overrides of one method were looked for in the nearest {MAX_OVERRIDES:,} classes below its own"


class Overriding(Component):
    """Members of the classes below the one that a receiver is of, over the values of an
    `Evaluator`.
    """

    def reached(self, file: File, scope: int, member: Expression) -> Values:
        """The values that `self.name` and `super().name` may have in a class below, bound; nothing
        for other expressions.
        """
        found: Values = BOTTOM
        for receiver, members in self.unbound(file, scope, member):
            found |= self.evaluator.members.read(members, receiver)
        return found

    def unbound(
        self, file: File, scope: int, member: Expression
    ) -> list[tuple[ClassObject | Instance, Values]]:
        """Each receiver that `self.name` or `super().name` may have, with its members in classes
        below.
        """
        if not file.semantics.open_receivers or not isinstance(member, Member):
            return []
        name = member.name
        if name in file.semantics.constructors or not self.program.named(name, kinds=NAMED_KINDS):
            return []
        return [
            self._in_place_of(value, name)
            for value in sorted(self._receivers(file, scope, member.object))
        ]

    def _in_place_of(
        self, receiver: ClassObject | Instance | SuperObject, name: str
    ) -> tuple[ClassObject | Instance, Values]:
        target = own_class(receiver)
        if not isinstance(receiver, SuperObject):
            return receiver, self.below(target, name)
        members = self.solver.solve_whole(("next", target, name), self._next, target, name)
        return instance_of(receiver), members

    def classes(self, file: File, scope: int, callee: Expression) -> list[ClassObject]:
        """The classes below the receiver's that a call constructs: `cls()`, `self.__class__()`,
        `type(self)()`.
        """
        if not file.semantics.open_receivers:
            return []
        own = only(self._receivers(file, scope, callee), ClassObject)
        return [
            child for value in sorted(own) for child in self.evaluator.members.subclasses(value)
        ]

    def _receivers(
        self, file: File, scope: int, expression: Expression
    ) -> frozenset[ClassObject | Instance | SuperObject]:
        """The receiver of the method around a scope, its class or its parent, if an expression
        means one of them.
        """
        method = file.enclosing_method(scope)
        own = file.receiver_name(method) if method >= 0 else ""
        if (
            not own
            or not file.is_parameter(method, own)
            or not self._is_of_receiver(file, expression, own)
        ):
            return frozenset()
        values = self.evaluator.values(file, scope, expression)
        return only(values, Instance, ClassObject, SuperObject)

    def _is_of_receiver(self, file: File, expression: Expression, own: str) -> bool:
        """True if an expression is written as the receiver, its class, or its parent."""
        match expression:
            case Member(object, name):
                return object == own and name == file.semantics.class_member
            case Call(callee, arguments):
                return callee in file.semantics.super_names or arguments == (own,)
        return bool(expression == own)

    def below(self, target: ClassObject, name: str) -> Values:
        """The members of a name that classes below one have in place of its own."""
        return self.solver.solve_whole(("below", target, name), self._below, target, name)

    def _below(self, target: ClassObject, name: str) -> Values:
        members = self.evaluator.members
        found: Values = BOTTOM
        for child in self._differing(target, name):
            found |= self.solver.apart(members.declared, child, name)
        return found - members.declared(target, name)

    def _next(self, target: ClassObject, name: str) -> Values:
        members = self.evaluator.members
        found: Values = BOTTOM
        for child in self._differing(target, name):
            order = members.linearised(child)
            later = order[order.index(target) + 1 :]
            found |= next((own for base in later if (own := members.own(base, name))), BOTTOM)
        return only(found, FunctionObject)

    def _differing(self, target: ClassObject, name: str) -> Iterator[ClassObject]:
        """The classes below one whose order has a class with a member of a name that its own order
        has not.
        """
        members = self.evaluator.members
        having = self._having(name).difference(map(self._named, members.linearised(target)))
        below = self._nearest_differing(target, name, having) if having else ()
        for child in members.open.named(below):
            order = self.solver.apart(members.linearised, child)
            if target in order[1:] and not having.isdisjoint(map(self._named, order)):
                yield child

    def _nearest_differing(
        self, target: ClassObject, name: str, having: set[ClassName]
    ) -> list[ClassName]:
        """Of the classes that may be below one and differ from it those in the nearest files."""
        home, by_file = self.program.home(target), dict[int, list[ClassName]]()
        for one in sorted(self._may_differ(target, name, home, having)):
            by_file.setdefault(one.file, []).append(one)
        found = [one for at in self.program.nearest(by_file, home) for one in by_file[at]]
        if len(found) > MAX_OVERRIDES:
            self.solver.bounds.add(OVERRIDES_LIMIT)
        return found[:MAX_OVERRIDES]

    def _may_differ(
        self, target: ClassObject, name: str, home: File, having: set[ClassName]
    ) -> set[ClassName]:
        """The classes that may be below one and differ from it, by names alone."""
        hierarchy = self.program.hierarchy
        below = hierarchy.below(self._named(target).name, home.family)
        if not below:
            return below
        names = {one.name for one in below}
        mentioning = {*self.program.mentioning(name, home)}
        found, covered = below & having, set[str]()
        for lender in {one.name for one in having}:
            if lender in covered:  # what is below it was looked at with a class above it
                continue
            lent = below & hierarchy.below(lender, home.family)
            covered |= {one.name for one in lent}
            # of classes below it those that assign the member
            found |= {one for one in lent if lender not in names or one.file in mentioning}
        return found

    @kept
    def _having(self, name: str) -> set[ClassName]:
        """The classes that define something of a name."""
        places = self.program.places_named(name)
        return {ClassName(owner, at) for at, _, kind, owner in places if kind in NAMED_KINDS}

    def _named(self, class_: ClassObject) -> ClassName:
        file = self.program.home(class_)
        return ClassName(file.definitions[class_.position].name, class_.file)
