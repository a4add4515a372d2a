"""The overrides in classes below that a call on the receiver may reach: the class of `self` is that
of the code around it or another.

`self.m()` in a class reaches the methods that classes below it have for `m`: their own, or those of
the other bases of such a class where these come first. `super().m()` reaches what comes next in the
order of a class below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tersely.code.expressions import Expression
from tersely.code.graph.pointsto.component import Component
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
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import ClassName
from tersely.code.graph.program.scopes import kept
from tersely.code.nodes import (
    Call,
    Member,
)
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS

NAMED_KINDS = CALLABLE_KINDS | VALUE_KINDS
MAX_SUBTYPE_FILES = 200  # files searched for subclasses of one class
SUBTYPE_LIMIT = f"classes below one class were looked for in the nearest {MAX_SUBTYPE_FILES} files"
MAX_OVERRIDES = 1_000  # classes below one that are looked at for one name
OVERRIDES_A_WORK = 4  # looked at, of them as many count for one equation
OVERRIDES_LIMIT = f"overrides of one method were looked for in the nearest {MAX_OVERRIDES:,} classes below its own"


class Overriding(Component):
    """Members of the classes below the one that a receiver is of, over the values of an
    `Evaluator`.
    """

    def reached(self, file: File, scope: int, member: Expression) -> Values:
        """The values that `self.name` and `super().name` may have in a class below, bound; nothing
        for other expressions.
        """
        unbound = self.unbound(file, scope, member)
        return BOTTOM.union(*(self.members.read(found, receiver) for receiver, found in unbound))

    def unbound(
        self, file: File, scope: int, member: Expression
    ) -> list[tuple[ClassObject | Instance, Values]]:
        """Each receiver that `self.name` or `super().name` may have, with its members in classes
        below.
        """
        if not file.semantics.open_receivers or not isinstance(member, Member):
            return []
        name = member.name
        if name in file.semantics.constructors or not self.named(name, kinds=NAMED_KINDS):
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
        return [child for value in sorted(own) for child in self.inheritance.subclasses(value)]

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
        values = self.values(file, scope, expression)
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
        found: Values = BOTTOM
        for child in self._nearest(target, self._differing(target, name)):
            found |= self.solver.apart(self._declared_below, child, target, name)
        return found - self.class_members.declared(target, name)

    def _declared_below(self, child: ClassObject, target: ClassObject, name: str) -> Values:
        """The member of a class, nothing if that is not below another."""
        return (
            self.class_members.declared(child, name)
            if target in self.inheritance.order(child)
            else BOTTOM
        )

    def _next(self, target: ClassObject, name: str) -> Values:
        found = self.behind(target, target, name)
        for child in self._nearest(target, self._joining(target, name)):
            found |= self.solver.apart(self.behind, child, target, name)
        return only(found, FunctionObject)

    def behind(self, child: ClassObject, target: ClassObject, name: str) -> Values:
        """The member that comes after those of a class in the order of another below it."""
        order = self.inheritance.order(child)
        later = order if target in order else ()
        return next((own for base in later if (own := self.class_members.own(base, name))), BOTTOM)

    def may_follow(self, owner: ClassObject, target: ClassObject, name: str) -> bool:
        """True if in the order of a class below both the member that comes after those of one is
        that of its owner.
        """
        own = self.class_members.own(owner, name)
        both = self._names_below(target) & self._names_below(owner)
        if len(both) > MAX_OVERRIDES:
            self.program.notes.add(OVERRIDES_LIMIT)
        behind = (self.behind(child, target, name) for child in self._nearest(owner, both))
        return not all(map(own.isdisjoint, behind))

    def _nearest(self, target: ClassObject, below: set[ClassName]) -> Iterator[ClassObject]:
        """Of some classes that may be below one those in the nearest files."""
        home, by_file = self.home(target), defaultdict[int, list[ClassName]](list)
        for one in sorted(below):
            by_file[one.file].append(one)
        found = [one for at in self.program.nearest(by_file, home) for one in by_file[at]]
        if len(found) > MAX_OVERRIDES:
            self.bounds.add(OVERRIDES_LIMIT)
        self.bounds.spend(len(found[:MAX_OVERRIDES]) // OVERRIDES_A_WORK)
        return self.open_classes.classes(found[:MAX_OVERRIDES])

    def _differing(self, target: ClassObject, name: str) -> set[ClassName]:
        """The classes that may be below one and have another member of a name, by names alone."""
        below, home = self._names_below(target), self.home(target)
        having = self._lenders(target, name) if below else below
        assigning = {*self.mentioning(name, home)}
        # of classes below one that is below as well those that assign the member
        inside = self._lent(below, having & below, home)
        own = {one for one in inside if one in having or one.file in assigning}
        return own | self._lent(below, having - below, home)

    def _joining(self, target: ClassObject, name: str) -> set[ClassName]:
        """The classes that may be below one and have another order of members of a name behind it,
        likewise: only a class that has several bases does.
        """
        if self._class_name(target).name not in self.program.hierarchy.above_joining():
            return set()
        below = self._names_below(target)
        return self._lent(below, self._lenders(target, name) - below, self.home(target))

    def _names_below(self, target: ClassObject) -> set[ClassName]:
        names = frozenset((self._class_name(target).name,))
        return self.program.hierarchy.below(names, self.home(target).family)

    def _lent(self, below: set[ClassName], lenders: set[ClassName], like: File) -> set[ClassName]:
        """Of some classes those that may be below some others, and those others among them."""
        names = frozenset(one.name for one in lenders)
        return below & (lenders | self.program.hierarchy.below(names, like.family))

    def _lenders(self, target: ClassObject, name: str) -> set[ClassName]:
        """The classes that define something of a name, without those in the order of one."""
        return self._having(name).difference(map(self._class_name, self.inheritance.order(target)))

    @kept
    def _having(self, name: str) -> set[ClassName]:
        """The classes that define something of a name."""
        places = self.program.places_named(name)
        return {ClassName(owner, at) for at, _, kind, owner in places if kind in NAMED_KINDS}

    def _class_name(self, class_: ClassObject) -> ClassName:
        file = self.home(class_)
        return ClassName(file.name(class_.position), class_.file)
