"""The definitions that a call reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    Expression,
)
from tersely.code.graph.calls.passing import (
    is_given_itself,
)
from tersely.code.graph.calls.targets import (
    KnownReach,
    KnownReaches,
    Manner,
    Reach,
    Target,
    Targets,
    given_nothing,
    with_others,
)
from tersely.code.graph.dispatch.classes.overriding import OVERRIDES_LIMIT, SUBTYPE_LIMIT
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    MemberFamily,
    SuperObject,
    Value,
    Values,
    WrappedFunction,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Place
from tersely.code.languages.model import Summary
from tersely.code.nodes import (
    Call,
    Invocation,
    Member,
    New,
)
from tersely.code.symbols import Kind

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

# for which a call that reaches something may reach more
CUTTING = frozenset((OVERRIDES_LIMIT, SUBTYPE_LIMIT))


class Sites(Component):
    """Calls and their targets over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        # by file, scope and position of the call: what it reaches by value, and with handlers
        self._direct: KnownReaches = {}
        self._with_handlers: KnownReaches = {}

    def targets_at(self, file: File, scope: int, index: int) -> Sequence[Target]:
        """The definitions that a call may reach, by its position among those of its scope."""
        direct = self.direct_at(file, scope, index)
        if not direct.leading:
            return direct.targets
        find = partial(self._through_handlers, direct)
        return self._once(self._with_handlers, find, file, scope, index).targets

    def direct_at(self, file: File, scope: int, index: int) -> Reach:
        """`direct` of a call by its position among those of its scope."""
        return self._once(self._direct, self.direct, file, scope, index)

    def _once(
        self, known: KnownReaches, find: Callable[..., Reach], file: File, scope: int, index: int
    ) -> Reach:
        """What a call reaches, found out once; of bounds is heard where it reaches nothing, or not
        all.
        """
        key = file.id, scope, index
        answer = known.get(key)
        if answer is None:
            call = file.call(scope, index)
            reach, bounds = self.bounds.collect(find, file, scope, call)
            answer = KnownReach(reach, bounds & CUTTING if reach.targets else bounds)
            # in the middle of a question values are not final
            if not self.solver.is_solving:
                known[key] = answer
        self.bounds.add(*answer.bounds)
        return answer.reach

    def _through_handlers(self, direct: Reach, file: File, scope: int, call: Invocation) -> Reach:
        """What a call reaches by value, and the handlers of frameworks that it leads to."""
        handlers = (self.evaluator.topics.reached(file, scope, one, call) for one in direct.leading)
        return Reach(tuple(dict.fromkeys((*direct.targets, *chain.from_iterable(handlers)))))

    def direct(self, file: File, scope: int, call: Invocation) -> Reach:
        """The definitions that a call may reach by value."""
        callee, semantics = call.callee, file.semantics
        name = callee if type(callee) is str else ""
        is_own = semantics.chains_constructors and name in semantics.receiver_names
        if is_own or name in semantics.super_names:
            chained = self._chained(file, scope, call) if semantics.chains_constructors else ()
            return Reach(tuple(chained))
        below = self._below(file, scope, call)
        if isinstance(callee, Member) and callee.name in semantics.implicit_methods:
            implied = self._implicit(file, scope, callee.object, callee.name)
            return Reach(with_others(implied, below))
        found: dict[Target, None] = {}
        known: list[Summary | None] = []
        for value in sorted(self.calls.called(file, scope, call), key=repr):
            found.update(dict.fromkeys(self._targets_of(value, file, scope, call)))
            known.append(self.summaries.of(value, file))
        method = semantics.methods.get(self.names.method_name(file, scope, callee))
        known.append(method)
        if method is not None and not found and not self.values(file, scope, callee):
            found.update(dict.fromkeys(self.callbacks.called_back(method, file, scope, call)))
        leading = tuple(one for one in known if one is not None and one.reaches is not None)
        return Reach(with_others(list(found), below), leading)

    def _below(self, file: File, scope: int, call: Invocation) -> Targets:
        """What a call of the receiver, or of a member of it, reaches where that is of a class below
        the one around.
        """
        overriding = self.evaluator.overriding
        reached = overriding.reached(file, scope, call.callee)
        found = [*map(self.target, sorted(only(reached, FunctionObject), key=repr))]
        for value in overriding.classes(file, scope, call.callee):
            found += self.constructors(value, file, scope, call)
        return found

    def _implicit(self, file: File, scope: int, receiver: Expression, name: str) -> Targets:
        """The methods of classes of ours that syntax calls."""
        found: set[Target] = set()
        names = [one for one in file.semantics.in_place_of(name) if self.named(one)]
        for value in self.calls.receivers(file, scope, receiver) if names else ():
            is_base = isinstance(value, ClassObject) and name == file.semantics.subclass_method
            if is_base or isinstance(value, (Instance, SuperObject)):
                methods = (self.members.of(value, one, file) for one in names)
                found.update(next(filter(None, map(self._among, methods)), []))
        return sorted(found)

    def _targets_of(self, value: Value, file: File, scope: int, call: Invocation) -> Targets:
        if isinstance(value, FunctionObject):
            return [self.target(value)]
        if isinstance(value, WrappedFunction):
            return [self._wrapped(value)]
        if isinstance(value, ClassObject):
            return self._constructed(value, file, scope, call)
        if isinstance(value, ContainerLiteral) and isinstance(call, New):
            names = file.semantics.object_constructors
            members = self.containers.items(value, names, file) if names else BOTTOM
            return self._among(members)
        if isinstance(value, Instance) and file.semantics.call_method and isinstance(call, Call):
            return self._among(self.members.of(value, file.semantics.call_method, file))
        if isinstance(value, MemberFamily):
            return self._among(self.summaries.family(value))
        if isinstance(value, (ExternalObject, BuiltinMethod, ExternalResult)):
            summary = self.summaries.of(value, file)
            is_unknown = isinstance(value, ExternalResult) and summary is None
            return [] if is_unknown else self.callbacks.called_back(summary, file, scope, call)
        return []

    def _constructed(self, value: ClassObject, file: File, scope: int, call: Invocation) -> Targets:
        """The constructors of a class and the methods of its metaclasses that calling it calls, with
        the class itself where none of them is given what the call passes.
        """
        is_namespace = self.definition(value).kind == Kind.NAMESPACE
        itself = [] if is_namespace else [Target(*value.place, 0)]
        targets = self.constructors(value, file, scope, call)
        targets += map(self.target, self.evaluator.metaclasses.called(value))
        is_given_all = any(target.shift >= 0 for target in targets)
        return targets if is_given_all else [*itself, *targets]

    def _among(self, values: Values) -> Targets:
        """The functions among some values."""
        return [*map(self.target, only(values, FunctionObject))]

    def target(self, value: FunctionObject) -> Target:
        """A function as what a call of it reaches."""
        home = self.home(value)
        is_bound = value.receiver is not None and bool(home.receiver_name(value.position))
        is_given = is_bound or is_given_itself(home, value.position)
        return Target(*value.place, int(is_given) + value.given)

    def made_by(self, file: File, scope: int, decorated: Expression) -> Targets:
        """The functions that calling what decorators made of a definition calls."""
        call = Call(decorated, (), (), 0)
        values = sorted(self.values(file, scope, decorated), key=repr)
        return [target for value in values for target in self._targets_of(value, file, scope, call)]

    def _wrapped(self, value: WrappedFunction) -> Target:
        """The function that what decorates it may call."""
        home = self.home(value)
        takes_receiver = home.owner_class(value.position) >= 0 and bool(
            home.receiver_name(value.position)
        )
        return Target(*value.place, int(takes_receiver), Manner.BEHIND)

    def _chained(self, file: File, scope: int, call: Invocation) -> Targets:
        """Constructors that a constructor calls: its class's or a base's."""
        target = self.bodies.around(file, scope)
        if target is None:
            return []
        if call.callee in file.semantics.receiver_names:
            return self.constructors(target, file, scope, call)
        bases = (base for base in self.inheritance.linearised(target)[1:])
        return next(
            (found for base in bases if (found := self.constructors(base, file, scope, call))), []
        )

    def constructors(
        self, target: ClassObject, file: File, scope: int, call: Invocation
    ) -> Targets:
        """The methods that constructing a class calls: the first that its hierarchy has, or all."""
        home = self.home(target)
        names = home.semantics.constructors
        if home.semantics.constructor_is_class_name:
            names = (home.name(target.position),)
        found: Targets = []
        for name in names:
            is_of_fields = name == home.semantics.fields_constructor
            if found and (is_of_fields or not home.semantics.constructs_by_all):
                break
            members = self.class_members.of_class(target, name, home)
            functions = list(only(members, FunctionObject))
            if functions and home.semantics.overloads:
                chosen = self.typed.chosen(frozenset(functions), file, scope, call)
                functions = list(only(chosen, FunctionObject))
            targets = sorted(self._constructor(value) for value in functions)
            found += [given_nothing(one) for one in targets] if is_of_fields else targets
        return found

    def _constructor(self, value: FunctionObject) -> Target:
        """A constructor, which is given the new object before what the call passes."""
        takes_receiver = bool(self.home(value).receiver_name(value.position))
        return Target(*value.place, int(takes_receiver))

    def may_reach(self, other: File, scope: int, index: int, place: Place) -> bool:
        """True if a call that reaches more overrides than were looked at may reach the one at a
        place.
        """
        known, callee = self._direct.get((other.id, scope, index)), other.call(scope, index).callee
        if known is None or CUTTING.isdisjoint(known.bounds) or not isinstance(callee, Member):
            return False
        home, position = place
        file = self.file(home)
        owner = self.bodies.owner_of_method(file, position)
        if owner is None or callee.name != file.name(position):
            return False
        receivers = self.values(other, scope, callee.object)
        above, follows = (
            self.inheritance.linearised(owner)[1:],
            self.evaluator.overriding.may_follow,
        )
        return any(
            own_class(one) in above for one in only(receivers, Instance, ClassObject)
        ) or any(
            follows(owner, own_class(one), callee.name) for one in only(receivers, SuperObject)
        )
