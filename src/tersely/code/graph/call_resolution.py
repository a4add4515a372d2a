"""The definitions that a call reaches, and the calls that reach a definition.

The reverse needs no stored edges. Every caller mentions the callee's name, or an alias to which its
value has flowed; the index knows which files use a name. So candidates are collected name by name
and each is verified by evaluating it: the answer is the exact inverse of `targets`, at the price of
the candidates only.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain, filterfalse, product
from math import inf
from typing import TYPE_CHECKING, Any

from tersely.code.expressions import (
    CLASS_METHOD,
    DETACHED,
    HOLE,
    REMOVER,
    SETTER,
    Expression,
    is_spread,
)
from tersely.code.graph.dispatch.classes.overriding import OVERRIDES_LIMIT, SUBTYPE_LIMIT
from tersely.code.graph.missed import Missed
from tersely.code.graph.passing import (
    all_passed_on,
    binding_functions,
    called_arguments,
    calling_methods,
    innermost,
    into_parameters_of,
    is_given_itself,
    kept_under,
    may_be_function,
    passed_on,
    receiver_of,
    template_methods,
)
from tersely.code.graph.pointsto.annotations import is_declared_as_one, names_one
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.parameters import is_called, passed_expressions
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    CollectionObject,
    ConstantObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    GeneratorObject,
    Instance,
    MemberFamily,
    RejectedPromise,
    RestArguments,
    SuperObject,
    TupleObject,
    Value,
    Values,
    WrappedFunction,
    instance_of,
    itself,
    only,
    own_class,
)
from tersely.code.graph.program.file import ANYWHERE, File, Flow, kept
from tersely.code.graph.program.program import MAX_NAMESAKES, Place
from tersely.code.graph.program.work import WorkSpentError
from tersely.code.graph.targets import (
    MAX_CARRIER_FILES,
    MAX_CARRIER_FILES_NEAR,
    CallsNamed,
    Carrier,
    FoundCall,
    KnownReach,
    Manner,
    Passing,
    Reach,
    Search,
    Target,
    given_nothing,
    with_others,
)
from tersely.code.languages.model import Summary, member_getters
from tersely.code.nodes import (
    Call,
    ConstantValue,
    Invocation,
    Member,
    New,
    StoredMember,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, MEMBER_OWNERS, Kind
from tersely.code.syntax.mentions import callee_names

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

# files searched for what a parameter receives; a function used more widely takes anything
MAX_FLOW_FILES = 10
MAX_FLOW_SITES = 30  # candidate calls, likewise
WIDE_USE = f"functions that over {MAX_FLOW_FILES} files or {MAX_FLOW_SITES} calls name"
FLOW_LIMIT = f"calls on what is passed to {WIDE_USE} are not resolved"
MAX_CALLBACK_SITES = 200  # calls that may give a constructor a function, above which none counts
CALLBACKS_LIMIT = (
    f"functions given to constructors that over {MAX_CALLBACK_SITES} calls may give one"
    " are not followed"
)
MAX_CARRIERS = 16  # names that one value is followed through, those that are local not counted
CARRIERS_LIMIT = f"functions were followed through at most {MAX_CARRIERS} other names each"
CARRIER_FILES_LIMIT = (
    f"other names of a function were looked for where at most {MAX_CARRIER_FILES} use them"
)
MAX_SEARCH_WORK = 20_000  # equations that are solved to find the callers, or names, of one symbol
SEARCHED = 0.75  # of what is left for an answer; what was found is to be graded
SEARCH_LIMIT = "uses were looked for, the nearest first, until the work of one answer was spent"
MAX_GETTER_WORK = 8_000  # equations of these, for what is called by a name that is computed
GETTERS_LIMIT = (
    f"computed names of members were followed through at most {MAX_GETTER_WORK:,} values"
)
HOLDING = (
    ContainerLiteral,
    CollectionObject,
    TupleObject,
    GeneratorObject,
    RestArguments,
    RejectedPromise,
)  # values that hold others
MAX_NESTING = 3  # containers in containers searched for a value
READ_KINDS = (Kind.PROPERTY,)
GUESSED_KINDS = (Kind.METHOD,)
CALLED_KINDS = CALLABLE_KINDS | CLASS_KINDS
# for which a call that reaches something may reach more
CUTTING = frozenset((OVERRIDES_LIMIT, SUBTYPE_LIMIT))
HELD_KINDS = (Kind.FUNCTION,)  # guessed as well where they are members of objects


class Sites(Component):
    """Calls and their targets over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.missed = Missed(self, FLOW_LIMIT)
        self._known: dict[Place, tuple[list[Passing], frozenset[str]]] = {}
        # by file, scope and position of the call: what it reaches by value, and with handlers
        self._direct: dict[tuple[int, int, int], KnownReach] = {}
        self._with_handlers: dict[tuple[int, int, int], KnownReach] = {}
        # by file, name and definition
        self._by_name: dict[tuple[int, Any, int], CallsNamed] = {}
        # by name, files where a search finds nothing by it but calls that reach a function by value,
        # and these, by the function too
        self._settled = defaultdict[Any, set[int]](set)
        self._settled_calls = defaultdict[tuple[Any, Place], set[FoundCall]](set)

    # Forward

    def targets_at(self, file: File, scope: int, index: int) -> Sequence[Target]:
        """The definitions that a call may reach, by its position among those of its scope."""
        direct = self.direct_at(file, scope, index)
        if not direct.leading:
            return direct.targets
        key, call = (file.id, scope, index), file.call(scope, index)
        return self._once(
            self._with_handlers, key, self._through_handlers, direct, file, scope, call
        ).targets

    def direct_at(self, file: File, scope: int, index: int) -> Reach:
        """`direct` of a call by its position among those of its scope."""
        key, call = (file.id, scope, index), file.call(scope, index)
        return self._once(self._direct, key, self.direct, file, scope, call)

    def _once(
        self,
        known: dict[tuple[int, int, int], KnownReach],
        key: tuple[int, int, int],
        find: Callable[..., Reach],
        *arguments: Any,
    ) -> Reach:
        """What a call reaches, found out once; of bounds is heard where it reaches nothing, or not
        all.
        """
        answer = known.get(key)
        if answer is None:
            reach, bounds = self.program.bounds.collect(find, *arguments)
            answer = KnownReach(reach, bounds & CUTTING if reach.targets else bounds)
            # in the middle of a question values are not final
            if not self.evaluator.solver.is_solving:
                known[key] = answer
        self.program.bounds.add(*answer.bounds)
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
        if isinstance(callee, Member) and callee.name in file.semantics.implicit_methods:
            implied = self._implicit(file, scope, callee.object, callee.name)
            return Reach(with_others(implied, below))
        found: dict[Target, None] = {}
        known: list[Summary | None] = []
        for value in sorted(self.evaluator.calls.called(file, scope, call), key=repr):
            found.update(dict.fromkeys(self._targets_of(value, file, scope, call)))
            known.append(self.evaluator.summaries.of(value, file))
        method = file.semantics.methods.get(self.evaluator.names.method_name(file, scope, callee))
        known.append(method)
        if method is not None and not found and not self.evaluator.values(file, scope, callee):
            found.update(dict.fromkeys(self.called_back(method, file, scope, call)))
        leading = tuple(one for one in known if one is not None and one.reaches is not None)
        return Reach(with_others(list(found), below), leading)

    def _below(self, file: File, scope: int, call: Invocation) -> list[Target]:
        """What a call of the receiver, or of a member of it, reaches where that is of a class below
        the one around.
        """
        overriding = self.evaluator.overriding
        reached = overriding.reached(file, scope, call.callee)
        found = [*map(self._function, sorted(only(reached, FunctionObject), key=repr))]
        for value in overriding.classes(file, scope, call.callee):
            found += self.constructors(value, file, scope, call)
        return found

    def _implicit(self, file: File, scope: int, receiver: Expression, name: str) -> list[Target]:
        """The methods of classes of ours that syntax calls."""
        found: set[Target] = set()
        names = [one for one in file.semantics.in_place_of(name) if self.program.named(one)]
        for value in self.evaluator.calls.receivers(file, scope, receiver) if names else ():
            is_base = isinstance(value, ClassObject) and name == file.semantics.subclass_method
            if is_base or isinstance(value, (Instance, SuperObject)):
                methods = (self.members.of(value, one, file) for one in names)
                found.update(next(filter(None, map(self._among, methods)), []))
        return sorted(found)

    def _targets_of(self, value: Value, file: File, scope: int, call: Invocation) -> list[Target]:
        if isinstance(value, FunctionObject):
            return [self._function(value)]
        if isinstance(value, WrappedFunction):
            return [self._wrapped(value)]
        if isinstance(value, ClassObject):
            return self._constructed(value, file, scope, call)
        if isinstance(value, ContainerLiteral) and isinstance(call, New):
            names = file.semantics.object_constructors
            members = self.evaluator.containers.items(value, names, file) if names else BOTTOM
            return self._among(members)
        if isinstance(value, Instance) and file.semantics.call_method and isinstance(call, Call):
            return self._among(self.members.of(value, file.semantics.call_method, file))
        if isinstance(value, MemberFamily):
            return self._among(self.evaluator.summaries.family(value))
        if isinstance(value, (ExternalObject, BuiltinMethod, ExternalResult)):
            summary = self.evaluator.summaries.of(value, file)
            is_unknown = isinstance(value, ExternalResult) and summary is None
            return [] if is_unknown else self.called_back(summary, file, scope, call)
        return []

    def _constructed(
        self, value: ClassObject, file: File, scope: int, call: Invocation
    ) -> list[Target]:
        """The constructors of a class and the methods of its metaclasses that calling it calls, with
        the class itself where none of them is given what the call passes.
        """
        is_namespace = self.program.definition(value).kind == Kind.NAMESPACE
        itself = [] if is_namespace else [Target(*value.place, 0)]
        targets = self.constructors(value, file, scope, call)
        targets += map(self._function, self.evaluator.metaclasses.called(value))
        is_given_all = any(target.shift >= 0 for target in targets)
        return targets if is_given_all else [*itself, *targets]

    def _among(self, values: Values) -> list[Target]:
        """The functions among some values."""
        return [*map(self._function, only(values, FunctionObject))]

    def _function(self, value: FunctionObject) -> Target:
        home = self.program.home(value)
        is_bound = value.receiver is not None and bool(home.receiver_name(value.position))
        is_given = is_bound or is_given_itself(home, value.position)
        return Target(*value.place, int(is_given) + value.given)

    def made_by(self, file: File, scope: int, decorated: Expression) -> list[Target]:
        """The functions that calling what decorators made of a definition calls."""
        call = Call(decorated, (), (), 0)
        values = sorted(self.evaluator.values(file, scope, decorated), key=repr)
        return [target for value in values for target in self._targets_of(value, file, scope, call)]

    def _wrapped(self, value: WrappedFunction) -> Target:
        """The function that what decorates it may call."""
        home = self.program.home(value)
        takes_receiver = home.owner_class(value.position) >= 0 and bool(
            home.receiver_name(value.position)
        )
        return Target(*value.place, int(takes_receiver), Manner.BEHIND)

    def _chained(self, file: File, scope: int, call: Invocation) -> list[Target]:
        """Constructors that a constructor calls: its class's or a base's."""
        target = self.members.around(file, scope)
        if target is None:
            return []
        if call.callee in file.semantics.receiver_names:
            return self.constructors(target, file, scope, call)
        bases = (base for base in self.members.linearised(target)[1:])
        return next(
            (found for base in bases if (found := self.constructors(base, file, scope, call))), []
        )

    def constructors(
        self, target: ClassObject, file: File, scope: int, call: Invocation
    ) -> list[Target]:
        """The methods that constructing a class calls: the first that its hierarchy has, or all."""
        home = self.program.home(target)
        names = home.semantics.constructors
        if home.semantics.constructor_is_class_name:
            names = (home.definitions[target.position].name,)
        found: list[Target] = []
        for name in names:
            is_of_fields = name == home.semantics.fields_constructor
            if found and (is_of_fields or not home.semantics.constructs_by_all):
                break
            members = self.members.of_class(target, name, home)
            functions = list(only(members, FunctionObject))
            if functions and home.semantics.overloads:
                chosen = self.evaluator.typed.chosen(frozenset(functions), file, scope, call)
                functions = list(only(chosen, FunctionObject))
            targets = sorted(self._constructor(value) for value in functions)
            found += [given_nothing(one) for one in targets] if is_of_fields else targets
        return found

    def _constructor(self, value: FunctionObject) -> Target:
        """A constructor, which is given the new object before what the call passes."""
        takes_receiver = bool(self.program.home(value).receiver_name(value.position))
        return Target(*value.place, int(takes_receiver))

    def called_back(
        self, summary: Summary | None, file: File, scope: int, call: Invocation
    ) -> list[Target]:
        """Functions that a function outside the repository is known to call."""
        found: list[Target] = []
        given = call.passed if file.semantics.calls_back else ()
        for index, argument in enumerate(given):
            if summary is not None and summary.returns == index:
                continue
            targets = map(self._function, self._functions(file, scope, argument))
            # what they are given: unknown
            found.extend(map(given_nothing, targets))
        if summary is None:
            return sorted(found)
        for expression in called_arguments(summary, call):
            functions = self._functions(file, scope, expression, summary.methods)
            if summary.rule:
                functions += self._held_functions(file, scope, expression)
                if (decorated := innermost(expression)) is not None:
                    functions += self._functions(file, scope, decorated)
            found.extend(map(given_nothing, map(self._function, functions)))
        return sorted(set(found))

    def _functions(
        self,
        file: File,
        scope: int,
        expression: Expression,
        methods: frozenset[str] = frozenset(),
    ) -> list[FunctionObject]:
        """The functions that an argument is, or has: methods of a class that are handlers."""
        made_by = expression.callee if isinstance(expression, Call) else None
        if isinstance(made_by, Member) and made_by.name in file.semantics.dispatchers:
            given = self.evaluator.union(file, scope, filterfalse(is_spread, expression.arguments))
            named = self.evaluator.containers.held(given)
            constants = (value.constant for value in only(named, ConstantObject))
            texts = (one for one in constants if isinstance(one, str))
            names = dict.fromkeys([*file.semantics.dispatchers[made_by.name], *sorted(texts)])
            return self._methods(self.evaluator.values(file, scope, made_by.object), names)
        values = self.evaluator.values(file, scope, expression)
        functions = list(only(values, FunctionObject))
        for family in map(self.evaluator.summaries.family, only(values, MemberFamily)):
            functions += only(family, FunctionObject)
        return functions + self._methods(values, sorted(methods))

    def _held_functions(
        self, file: File, scope: int, expression: Expression
    ) -> list[FunctionObject]:
        """The functions that the lists and objects hold which an argument is."""
        values = self.evaluator.values(file, scope, expression)
        held = self.evaluator.containers.held(values)
        return list(only(held, FunctionObject))

    def _methods(self, values: Values, names: Iterable[str]) -> list[FunctionObject]:
        """The methods of some names, or that fit such patterns, which the classes and the classes of
        the objects among some values declare.
        """
        found: list[Value] = []
        owners = sorted(only(values, ClassObject, Instance))
        for owner, name in product(owners, names):
            if HOLE in name:
                found += sorted(
                    self.evaluator.summaries.family(MemberFamily(owner, name)), key=repr
                )
            else:
                found += self.members.declared(own_class(owner), name)
        return list(only(found, FunctionObject))

    def summary(self, file: File, scope: int, call: Invocation) -> Summary | None:
        """The summary of the function outside the repository that a call calls, None if there is
        none.
        """
        callee = call.callee
        for value in sorted(self.evaluator.calls.called(file, scope, call), key=repr):
            summary = self.evaluator.summaries.of(value, file)
            if summary is not None:
                return summary
        return file.semantics.methods.get(self.evaluator.names.method_name(file, scope, callee))

    def given(self, file: File, scope: int, call: Invocation, place: Place | None = None) -> Call:
        """The call that a function outside the repository makes to a function it was given, to that
        at `place` if that matters.
        """
        summary = self.summary(file, scope, call)
        given: list[Expression] = []
        passes = summary.passes if summary is not None else ()
        if place is not None and summary is not None and summary.refused >= 0:
            handlers = self.evaluator.union(file, scope, call.arguments[summary.refused :])
            if any(itself(value) == FunctionObject(*place) for value in handlers):
                passes = ("reason",)
        for words in passes:
            given.extend(all_passed_on(words, call))
        keywords = call.keywords if any(words.startswith("rest") for words in passes) else ()
        return Call(call.callee, tuple(given), keywords, call.line)

    def given_receiver(self, file: File, scope: int, call: Invocation) -> Expression:
        """The receiver in a function that a function outside the repository is given."""
        summary = self.summary(file, scope, call)
        return (
            passed_on(summary.receives, receiver_of(call), call)
            if summary is not None and summary.receives
            else None
        )

    def guesses(self, file: File, scope: int, call: Invocation) -> list[Target]:
        """Methods of that name when nothing is known of the receiver and few have the name."""
        callee = call.callee
        if not isinstance(callee, Member):
            return []
        if (
            callee.name in file.semantics.common_members
            or callee.name in file.semantics.implicit_methods
        ):
            return []
        if file.semantics.by_name:
            assert isinstance(callee.object, ConstantValue)
            before = str(callee.object.value)
            meant = self.program.meant_by(callee.name, file, CALLED_KINDS, before)
            return [Target(*place, 0) for place in meant]
        found = self._namesakes(callee.name, file)
        if not found:
            return []
        receivers = self.evaluator.values(file, scope, callee.object)
        if any(not self._is_anything(value, file) for value in receivers):
            return []
        return found if receivers or not self.evaluator.values(file, scope, callee) else []

    def _is_anything(self, value: Value, file: File) -> bool:
        """True if a value is known to be of a type alone that everything fits: Any."""
        return (
            isinstance(value, ExternalResult)
            and value[1].rpartition(".")[2] in file.semantics.top_types
        )

    @kept
    def _namesakes(self, name: str, file: File) -> list[Target]:
        """The methods of a name that a file may mean, nothing if they are many."""
        methods = self.program.named(name, kinds=GUESSED_KINDS)
        functions = self.program.named(name, kinds=HELD_KINDS)
        held = functions if len(functions) <= MAX_NAMESAKES else ()
        found = [
            Target(at, position, 1)
            for at, position in (*methods, *filter(self._is_held, held))
            if self.program.is_kin(at, file)
        ]
        return found if len(found) <= MAX_NAMESAKES else []

    def _is_held(self, place: Place) -> bool:
        """True if a function is written as the member of an object: `api.load = function …`."""
        scope = self.program.file(place[0]).body(place[1])
        return scope is not None and scope.holder is not None

    def properties(self, file: File, scope: int, expression: Expression) -> list[Target]:
        """The property functions that reading or storing a member, or reading a bare name, calls."""
        descriptors = self.evaluator.descriptors
        if type(expression) is str:
            kinds = file.semantics.called_by_name
            found = (
                descriptors.implied_properties(file, scope, expression)
                if self._named(expression, kinds)
                else set()
            )
            return sorted(found)
        if not isinstance(expression, (Member, StoredMember)):
            return []
        owner, name = expression.object, expression.name
        is_stored = isinstance(expression, StoredMember)
        asked = descriptors.methods(file, scope, owner, name, stored=is_stored)
        described = list(map(self._function, asked))
        if not self._named(name, READ_KINDS):
            return described
        found = set()
        for value in self.values(file, scope, owner):
            found |= descriptors.properties_of(value, name, file)
        member = Member(owner, name)
        for receiver, members in self.evaluator.overriding.unbound(file, scope, member):
            found |= descriptors.property_functions(members, isinstance(receiver, Instance))
        wanted = 0
        if isinstance(expression, StoredMember):
            wanted = SETTER | (REMOVER if expression.removed else 0)
        properties = {target for target in found if self._use(target) == wanted}
        return sorted(properties.union(described))

    def _use(self, target: Target) -> int:
        """What calls a property function: assigning the property, removing it or, for 0, reading."""
        return self.program.file(target.file).scope(target.position).flags & (SETTER | REMOVER)

    def _named(self, name: str, kinds: tuple[str, ...]) -> bool:
        return bool(kinds and self.program.named(name, kinds=kinds))

    # Backward

    def of(self, file: File, position: int) -> list[Passing]:
        """Calls that reach a function, for what they pass. Empty for widely used ones."""
        key = (file.id, position)
        return self.program.bounds.once(self._known, key, self._passed_to, file, position)

    def _passed_to(self, file: File, position: int) -> list[Passing]:
        search, place = Search(file, position, guess=False, near=True), (file.id, position)
        if self._is_wide(file, position):
            search.bounds.add(FLOW_LIMIT)
        else:
            self.program.bounds.collect(self._search, search)
        self.program.bounds.add(*search.bounds)
        calls = [self._passing(found, place) for found in sorted(search.found)]
        return [*calls, *self._bound(file, position)]

    def _bound(self, file: File, position: int) -> Iterator[Passing]:
        """Calls that give a function arguments for the time when it is called: `partial(f, x)`."""
        name = file.definitions[position].name
        naming = {*self.program.mentioning(name, file)}
        for binder in binding_functions(file.semantics):
            both = naming.intersection(self.program.mentioning(binder.name, file))
            for other in map(self.program.file, sorted(both)):
                for scope, call in other.calls(binder.name):
                    given = call.arguments[binder.position : binder.position + 1]
                    if not any(name in callee_names(each) for each in given):
                        continue
                    for value in only(self.evaluator.union(other, scope, given), FunctionObject):
                        if value.place == (file.id, position):
                            bound = Call(
                                call.callee, call.arguments[binder.position + 1 :], *call[3:]
                            )
                            yield Passing(other.id, scope, bound, self._function(value).shift)

    def callbacks(self, file: File, position: int, index: int) -> list[Passing]:
        """Calls that give a constructor a function for a parameter, however widely its class is
        used: for parameters that the class calls, or what it keeps of them.
        """
        if not self.is_constructor(file, position) or not is_called(file, position, index):
            return []
        scope = file.scope(position)
        shift = int(bool(file.receiver_name(position)))
        wanted, found, number = self._wanted(file, position), list[Passing](), 0
        for name in self._first_names(file, position)[1:]:
            for other in map(self.program.file, self.program.mentioning(name, file)):
                for at, call in other.calls(name):
                    passed = passed_expressions(scope, index, call, shift)
                    if not any(may_be_function(expression) for expression in passed):
                        continue
                    number += 1
                    if number > MAX_CALLBACK_SITES:
                        self.program.bounds.add(CALLBACKS_LIMIT)
                        return []
                    if not wanted.isdisjoint(self.evaluator.values(other, at, call.callee)):
                        found.append(Passing(other.id, at, call, shift))
        return found

    def _passing(self, found: FoundCall, place: Place) -> Passing:
        site = self.program.file(found.file)
        call = site.call(found.scope, found.call)
        if found.shift < 0:
            given = self.given(site, found.scope, call, place)
            return Passing(found.file, found.scope, given, -1 - found.shift)
        return Passing(found.file, found.scope, call, found.shift)

    def _is_wide(self, file: File, position: int) -> bool:
        """True if over so many files or calls name a function."""
        around = self.program.mentioning(file.origin(position), file)
        if len(around) > MAX_FLOW_FILES and self.is_constructor(file, position):
            return True
        names = self._first_names(file, position)
        words = (name for name in names if type(name) is str)
        files = {at for name in words for at in self.program.mentioning(name, file)}
        calls = (
            len(self.program.file(at).calls_by_name.get(name, ())) for name in names for at in files
        )
        return len(files) > MAX_FLOW_FILES or sum(calls) > MAX_FLOW_SITES

    def search(
        self, file: File, position: int, guess: bool = False, near: bool = False
    ) -> frozenset[FoundCall]:
        """All calls that reach a definition; `near` looks less far, for a value."""
        search = Search(file, position, guess, near)
        self.within_work(self._search, search)
        (self.program.bounds if near else self.program.notes).add(*search.bounds)
        return frozenset(search.found)

    def within_work(
        self, find: Callable[..., object], *arguments: object, most: float = inf
    ) -> None:
        """Look for what uses a symbol until the work for that is spent."""
        bounds = self.program.bounds
        try:
            with bounds.limited(min(most, MAX_SEARCH_WORK, SEARCHED * bounds.left)):
                bounds.collect(find, *arguments)
        except WorkSpentError:
            self.program.notes.add(SEARCH_LIMIT)

    def _search(self, search: Search) -> None:
        """Find the calls; those by names that are computed at the end, and all only if there is work left."""
        self._begin_search(search)
        searched = deque[Carrier]()
        while search.pending or search.results or searched:
            if not search.pending and search.results:
                self._add_carriers(search, self._of_results(search))
                continue
            if not search.pending:
                self._add_getters(search, searched)
                continue
            carrier = search.pending.popleft()
            searched.append(carrier)
            for file_id in self.program.nearest(self._files_of(search, carrier), search.file):
                look = carrier._replace(file=file_id)
                if look not in search.seen:
                    search.seen.add(look)
                    self._search_file(search, carrier, self.program.file(file_id))
        search.found |= self._by_topic(search)

    def _begin_search(self, search: Search) -> None:
        """Note what a search begins with."""
        file, position, pending = search.file, search.position, search.pending
        search.wanted = self._wanted(file, position)
        within, names = file.known_within(position), self._first_names(file, position)
        pending.extend(Carrier(name, file.id, within) for name in names)
        pending.append(Carrier(position, file.id, 0, False))  # what decorators are applied to
        classes = sorted(only(search.wanted, ClassObject))
        pending.extend(Carrier(value.position, value.file, 0, False) for value in classes)
        pending.extend(self._class_receivers(file, position))
        if not search.near:
            pending.extend(self._declared_names(search))
        search.found |= self._chaining(file, position)

    def _files_of(self, search: Search, carrier: Carrier) -> set[int]:
        """The files in which a name may hold what is searched for."""
        home, name = carrier.file, carrier.name
        if whole := self._whole_module(home, name):
            others = {Carrier(other, home, ANYWHERE, False) for other in whole}
            search.pending.extend(sorted(others - search.seen))
            return {home} | self.importers(home)
        if type(name) is not str or carrier.is_local:
            return {home}
        mentioning = self.program.mentioning(name, search.file)
        place = search.file.id, search.position
        if carrier.is_first and search.file.definitions[search.position].kind not in CLASS_KINDS:
            search.found |= self._settled_calls[name, place]
            return {home, *mentioning} - self._settled[name]
        most = MAX_CARRIER_FILES_NEAR if search.near else MAX_CARRIER_FILES
        if carrier.is_first or len(mentioning) <= most:
            return {home, *mentioning}
        if not search.near:
            search.bounds.add(CARRIER_FILES_LIMIT)
        return {home}

    def _search_file(self, search: Search, carrier: Carrier, other: File) -> None:
        """Find the calls by a name in a file, and the names that what it holds goes to from there."""
        name, within = carrier.name, carrier.within
        search.found |= self._verified(
            other, name, search.file, search.position, search.guess, within
        )
        named = self._calls_named(other, name, within)
        for scope, index in named.unknown if carrier.is_first else ():
            search.bounds |= self.missed.at(other, scope, index, (search.file, search.position))
        is_everywhere = carrier.is_first and not carrier.is_local
        if is_everywhere and self._is_settled(other, name, named):
            self._settled[name].add(other.id)
            for place, calls in named.reaching.items():
                self._settled_calls[name, place] |= calls
        self._add_carriers(search, self._carriers(search, carrier, other))

    def _add_carriers(self, search: Search, found: Iterable[Carrier]) -> None:
        """Go on with names to which what is searched for goes, those not local as far as allowed."""
        for further in found:
            if not further.is_local:
                search.names.add(further.name)
            if further.is_local or len(search.names) <= MAX_CARRIERS:
                search.pending.append(further)
            else:
                search.bounds.add(CARRIERS_LIMIT)

    def _is_settled(self, other: File, name: Any, named: CallsNamed) -> bool:
        """True if in a file a search by a name finds for no function more than the calls that reach
        it by value.
        """
        is_open = named.unknown or named.cut or self._whole_module(other.id, name)
        return not (is_open or self.evaluator.solver.is_solving) and all(
            flow.call is None and flow.target == name and (flow.of_result or not flow.is_return)
            for flow in other.flows(name)
        )

    def _add_getters(self, search: Search, searched: deque[Carrier]) -> None:
        """Go on with what gives the first of some carriers by its name, if there is work left for that."""
        try:
            with self.program.bounds.limited(MAX_GETTER_WORK):
                search.pending.extend(self._getters(search, searched.popleft()))
        except WorkSpentError:
            search.bounds.add(GETTERS_LIMIT)
            searched.clear()

    def _getters(self, search: Search, carrier: Carrier) -> Iterator[Carrier]:
        """Functions that give a member by its name, in the files where they may give the one that a
        carrier names.
        """
        file, name = search.file, carrier.name
        is_known = carrier.is_local or name in search.gotten or name in file.semantics.dispatchers
        if search.near or is_known or type(name) is not str:
            return
        search.gotten.add(name)
        names = (name, "") if self.evaluator.summaries.may_be_text(name, file) else (name,)
        for getter, place in member_getters(file.semantics).items():
            files = self.program.given(getter, names, file)
            # with more that write the function those that write both names, and its own
            if len(self.program.mentioning(getter, file)) > MAX_CARRIER_FILES:
                own = file.definitions[search.position].name
                files = (files & {*self.program.mentioning(own, file)}) | {file.id}
            for other in self.program.nearest(files, file):
                given = self.evaluator.summaries.names_given(
                    self.program.file(other), getter, place
                )
                if any(fnmatchcase(name, pattern) for pattern in given):
                    yield Carrier(getter, other, 0, False)

    def _by_topic(self, search: Search) -> set[FoundCall]:
        """Calls that reach a handler by what it is registered for."""
        topics, place = self.evaluator.topics, (search.file.id, search.position)
        if not topics.is_in_registry(*place) and not any(map(self._registers, search.found)):
            return set()
        for table in (topics.reaching, topics.registered):
            search.bounds |= self.program.bounds.collect(table)[1]
        reached = set()
        for file_id, scope, index in topics.reaching():
            for target in self.targets_at(self.program.file(file_id), scope, index):
                if target.place == place:
                    reached.add(FoundCall(file_id, scope, index, target.shift))
        return reached

    def _registers(self, found: FoundCall) -> bool:
        """True if a call registers for a topic what it is given."""
        if found.shift >= 0:
            return False
        file = self.program.file(found.file)
        summary = self.summary(file, found.scope, file.call(found.scope, found.call))
        return summary is not None and bool(summary.registers)

    def rule(self, file: File, scope: int, call: Invocation) -> str:
        """The rule of a framework by which a call reaches what it does not call."""
        summary = self.summary(file, scope, call)
        return summary.rule if summary is not None else ""

    def _whole_module(self, home: int, name: Any) -> tuple[str, ...]:
        """The other names under which importers of a file get what a name stands for, if it stands
        for the module.
        """
        semantics = self.program.file(home).semantics
        names = (semantics.module_object, semantics.default_export)
        return names if name and name in names else ()

    def importers(self, home: int) -> set[int]:
        """Files that may import a file as a whole."""
        file = self.program.file(home)
        own = (
            file.semantics.module_keys(file.path) if file.semantics.module_keys is not None else ()
        )
        keys = {*own, *file.semantics.entry_words(self.program, file.path)}
        return {
            file_id
            for key in keys
            for file_id in self.program.mentioning(key, self.program.file(home))
        }

    def _chaining(self, file: File, position: int) -> set[FoundCall]:
        """`this(…)`, `super(…)`, `new(…)` that reach a constructor: they stand in its class and in
        those below.
        """
        semantics, target = file.semantics, self.members.around(file, position)
        found: set[FoundCall] = set()
        names = (
            semantics.super_names | semantics.receiver_names
            if semantics.chains_constructors
            else frozenset()
        )
        names |= {semantics.construct_method} - {""}
        if not names or target is None or not self._first_names(file, position)[1:]:
            return found
        for value in (target, *self.members.subclasses(target)):
            for name in sorted(names):
                found |= self._verified(self.program.home(value), name, file, position, guess=False)
        return found

    def _first_names(self, file: File, position: int) -> list[Any]:
        """The names that a caller must write: that of the definition, or for constructors and
        callable objects their class's.
        """
        kind, name = file.definitions[position].kind, file.definitions[position].name
        if kind == Kind.LAMBDA:
            return [position]
        semantics = file.semantics
        scope = file.body(position)
        if scope is not None and name in semantics.object_constructors:
            return [name, position, *self.evaluator.names.of_object(file, scope.holder)]
        if scope is not None and scope.flags & DETACHED:
            return [name, position]
        owner = file.owner_class(position)
        if (name != semantics.call_method and not self.is_constructor(file, position)) or owner < 0:
            made_by = self._callers_outside(file, owner, name) if owner >= 0 else ()
            computed = self.members.computed_names(file, position)
            return [name, *made_by, *computed, *self._class_names(file, position)]
        target = self.members.around(file, position)
        if target is None:
            return [name]
        classes = self._classes_of(file, name, target)
        made = [one for value in classes for one in self.evaluator.metaclasses.made_of(value)]
        return [
            name,
            *(self.program.definition(one).name for one in (*classes, *made)),
        ]

    def _callers_outside(self, file: File, owner: int, name: str) -> Iterable[str]:
        """Methods by which what is outside the repository calls a method of a class of ours."""
        found = dict.fromkeys(
            dispatcher
            for dispatcher, called in file.semantics.dispatchers.items()
            if name in called or self.program.given(dispatcher, ("", name), file)
        )
        target = self.members.class_of(file, owner)
        for calling, handlers in template_methods(file.semantics):
            if target is not None and handlers.match(name):
                outside = self.members.of_external_base(target, calling)
                is_meant = any(self.evaluator.summaries.of(value, file) for value in outside)
                found |= {calling: None} if is_meant else {}
        return found

    def _class_names(self, file: File, position: int) -> list[str]:
        """The names of the classes that have a method which nobody need name beside them: frameworks
        call it, or its name is computed.
        """
        owner, name = file.owner_class(position), file.definitions[position].name
        is_handler = any(
            calling.handlers.match(name) and self.program.mentioning(calling.name, file)
            for calling in calling_methods(file.semantics)
        )
        is_called = is_handler or name in file.computed_names.get(owner, ())
        target = self.members.around(file, position)
        if target is None or not is_called:
            return []
        classes = (target, *self.members.subclasses(target))
        return [self.program.definition(value).name for value in classes]

    def _class_receivers(self, file: File, position: int) -> list[Carrier]:
        """Names for the class itself in methods that construct it: `cls(…)`, `self.__class__(…)`; for
        its objects in those that call them: `self(…)`.
        """
        is_class = file.definitions[position].kind in CLASS_KINDS
        owner = position if is_class else file.owner_class(position)
        target = self.members.class_of(file, owner) if owner >= 0 else None
        constructs = is_class or self.is_constructor(file, position)
        is_called = not is_class and file.definitions[position].name == file.semantics.call_method
        if target is None or not file.semantics.receiver_parameter or not (constructs or is_called):
            return []
        members = self.members
        found: dict[Carrier, None] = {}
        for value in (*members.linearised(target), *members.subclasses(target)):
            home = self.program.home(value)
            for child in home.children.get(value.position, ()):
                scope = home.body(child)
                if scope is not None and bool(scope.flags & CLASS_METHOD) == constructs:
                    found[Carrier(home.receiver_name(child), home.id, value.position, False)] = None
            for name in self._class_words(home) if constructs else ():
                found[Carrier(name, home.id, value.position, False)] = None
        return list(found)

    def _declared_names(self, search: Search) -> list[Carrier]:
        """Parameters and functions that are declared to be, or to give, what calling calls a method:
        objects with a method for that, classes by their constructors. No name leads from the class
        to them. The functions become `makers`.
        """
        file, position = search.file, search.position
        semantics, own = file.semantics, file.definitions[position].name
        target = self.members.around(file, position)
        if target is None or own not in {*semantics.constructors, semantics.call_method}:
            return []
        marks = frozenset() if own == semantics.call_method else semantics.class_types
        classes = self._classes_of(file, own, target)
        names = {self.program.definition(value).name for value in classes}
        files = {one for name in names for one in self.program.mentioning(name, file)}
        if len(files) > MAX_CARRIER_FILES:
            search.bounds.add(CARRIER_FILES_LIMIT)
            return []
        found: dict[Carrier, None] = {}
        for other in map(self.program.file, sorted(files)):
            for place, scope in other.bodies:
                for name, annotation, _, _ in scope.parameters:
                    if names_one(annotation, names, marks):
                        found[Carrier(name, other.id, place, False)] = None
                if names_one(scope.returned_type, names, marks):
                    search.makers.add(FunctionObject(other.id, place))
                    found[Carrier(other.definitions[place].name, other.id, ANYWHERE, False)] = None
                for member, value in other.declared_members(place):
                    if is_declared_as_one(value, names, marks):
                        found[Carrier(member, other.id, ANYWHERE, False)] = None
        return list(found)

    def _class_words(self, file: File) -> list[str]:
        """Names by which code speaks of the class of an object: `self.__class__`, `type(self)`."""
        summaries = file.semantics.summaries.items() if file.semantics.open_receivers else ()
        functions = [
            name.rpartition(".")[2] for name, summary in summaries if summary.class_of >= 0
        ]
        return (
            [*functions, file.semantics.class_member] if file.semantics.class_member else functions
        )

    def is_constructor(self, file: File, position: int) -> bool:
        """True if a definition is called by constructing its class."""
        semantics, owner = file.semantics, file.owner_class(position)
        name, around = file.definitions[position].name, file.definitions[owner].name
        is_named = semantics.constructor_is_class_name and name == around
        return owner >= 0 and (is_named or name in semantics.constructors)

    def _wanted(self, file: File, position: int) -> frozenset[Value]:
        """Values whose journey is followed."""
        kind = file.definitions[position].kind
        if kind in CLASS_KINDS:
            return frozenset((self.members.open.whole(file, position),))
        function = FunctionObject(file.id, position)
        wanted: set[Value] = {function, WrappedFunction(*function.place)}
        name, calling = file.definitions[position].name, file.semantics.call_method
        target = self.members.around(file, position) if kind in CALLABLE_KINDS else None
        if target is not None and name in (calling, *file.semantics.constructors):
            for value in self._classes_of(file, name, target):
                wanted.add(instance_of(value) if name == calling else value)
                wanted.update(self.evaluator.metaclasses.made_of(value))
        return frozenset(wanted)

    def _classes_of(self, file: File, name: str, target: ClassObject) -> list[ClassObject]:
        """The classes of whose name a method is called: its own and those below; calling an object
        of one above may call it too.
        """
        members = self.members
        above = members.linearised(target)[1:] if name == file.semantics.call_method else ()
        return [target, *members.subclasses(target), *above]

    def _verified(
        self, other: File, name: Any, file: File, position: int, guess: bool, within: int = ANYWHERE
    ) -> set[FoundCall]:
        if file.definitions[position].kind in CLASS_KINDS and not other.semantics.by_name:
            whole = self.members.open.whole(file, position)
            return {
                FoundCall(other.id, scope, index, 0)
                for scope, index in other.calls_inside(name, within)
                if whole in self.evaluator.values(other, scope, other.call(scope, index).callee)
            }
        place, named = (file.id, position), self._calls_named(other, name, within)
        found = {*named.reaching.get(place, ())}
        for scope, index in named.unknown if guess else ():
            found.update(
                FoundCall(other.id, scope, index, target.shift)
                for target in self.guessed_at(other, scope, index, place)
                if target.place == place
            )
        for scope, index in named.cut:
            if self.may_reach(other, scope, index, place):
                shift = self._function(FunctionObject(*place)).shift
                found.add(FoundCall(other.id, scope, index, shift))
        return found

    def may_reach(self, other: File, scope: int, index: int, place: Place) -> bool:
        """True if a call that reaches more overrides than were looked at may reach the one at a
        place.
        """
        known, callee = self._direct.get((other.id, scope, index)), other.call(scope, index).callee
        if known is None or CUTTING.isdisjoint(known.bounds) or not isinstance(callee, Member):
            return False
        (home, position), members = place, self.members
        file = self.program.file(home)
        owner = members.owner_of_method(file, position)
        if owner is None or callee.name != file.definitions[position].name:
            return False
        receivers = self.evaluator.values(other, scope, callee.object)
        above, follows = members.linearised(owner)[1:], self.evaluator.overriding.may_follow
        return any(
            own_class(one) in above for one in only(receivers, Instance, ClassObject)
        ) or any(
            follows(owner, own_class(one), callee.name) for one in only(receivers, SuperObject)
        )

    def _calls_named(self, other: File, name: Any, within: int) -> CallsNamed:
        """The calls inside a definition of a file that write a name, evaluated once for all that may
        be searched for.
        """
        known = self._by_name.get((other.id, name, within))
        if known is not None:
            return known
        found = CallsNamed({}, [], [])
        for scope, index in other.calls_inside(name, within):
            reach, bounds = self.program.bounds.collect(self.direct_at, other, scope, index)
            for target in reach.targets:
                calls = found.reaching.setdefault(target.place, set())
                calls.add(FoundCall(other.id, scope, index, target.shift))
            if CUTTING & bounds:
                found.cut.append((scope, index))
            if not reach.targets:
                found.unknown.append((scope, index))
        if not self.evaluator.solver.is_solving:
            self._by_name[other.id, name, within] = found
        return found

    def guessed_at(self, other: File, scope: int, index: int, place: Place) -> list[Target]:
        """The guesses for a call that reaches nothing by value, if the definition at `place` is
        among them. One that leads to handlers means those.
        """
        found = self.guesses(other, scope, other.call(scope, index))
        is_meant = any(target.place == place for target in found)
        return found if is_meant and not self.targets_at(other, scope, index) else []

    def _gives_itself(self, search: Search) -> bool:
        """True if calling what is searched for may give it: mostly not, and never if nothing takes
        it for a value.
        """
        body, wanted = search.file.body(search.position), search.wanted
        if body is not None and body.decorated is not None:
            return True
        return any(
            isinstance(value, Instance)
            or (
                search.is_taken
                and isinstance(value, FunctionObject)
                and self.holds(self.evaluator.calls.returned(value), wanted)
            )
            for value in wanted
        )

    def _carriers(self, search: Search, carrier: Carrier, other: File) -> list[Carrier]:
        """Names to which a wanted value goes from that of a carrier in a file. What depends on
        whether calling what is searched for may give it waits until all was seen that takes it.
        """
        found: list[Carrier] = []
        name, is_first = carrier.name, carrier.is_first
        is_of_module = bool(self._whole_module(other.id, name))
        for flow in other.flows(name):
            if not other.is_inside(flow.scope, carrier.within):
                continue
            is_same = flow.call is None and flow.target == name and not is_of_module
            is_same = is_same and other.is_inside(flow.within, carrier.within)
            if is_same and not (is_first and flow.is_return):
                continue
            search.is_taken |= not flow.of_result
            if not is_first or not (is_same or flow.of_result):
                found += self._led_on(search, other, flow, is_first)
            elif is_same != flow.of_result:
                search.results.append((other, flow))
        return found

    def _of_results(self, search: Search) -> Iterator[Carrier]:
        """Names to which a wanted value goes by what waited, of results if they may be one, else of
        functions of the name that return something of the name.
        """
        gives, waiting, search.results = self._gives_itself(search), search.results, []
        for other, flow in waiting:
            if flow.of_result == gives:
                yield from self._led_on(search, other, flow, is_first=True)

    def _led_on(self, search: Search, other: File, flow: Flow, is_first: bool) -> Iterator[Carrier]:
        """Names to which a wanted value goes in one way, if it does.

        What returns it goes to the `makers`: their names are carriers as well.
        """
        makers = search.makers
        values = self.evaluator.values(other, flow.scope, flow.value)
        if not self.holds(values, search.wanted):
            is_made = self.holds(values, makers)
            if not is_made or (is_first and not self._gives_itself(search)):
                return
        own = other.definitions[flow.scope]
        if flow.is_return and own.kind in CALLABLE_KINDS:
            makers.add(FunctionObject(other.id, flow.scope))
            for user, _ in self.evaluator.providers.users(other, flow.scope):
                yield Carrier(own.name, user.id, 0, False)
        if flow.call is not None:
            yield from self._into_parameters(other, flow.scope, flow.call, flow.target)
            return
        # a member of the name of a local function may be used anywhere
        within = ANYWHERE if is_first and flow.within == 0 else flow.within
        yield Carrier(flow.target, other.id, within, False)
        if flow.target in other.semantics.constructors and own.kind in MEMBER_OWNERS:
            yield Carrier(own.name, other.id, ANYWHERE, False)

    def _into_parameters(
        self, other: File, scope: int, call: Invocation, argument: Any
    ) -> list[Carrier]:
        found = self._into_mixed(other, call, argument)
        found.extend(self._settled_by(other, scope, call))
        found.extend(
            Carrier(name, other.id, ANYWHERE, False) for name in kept_under(other, call, argument)
        )
        for target in self.direct(other, scope, call).targets:
            home = self.program.file(target.file)
            if home.definitions[target.position].kind in CLASS_KINDS:
                called = ClassObject(*target.place)
                for field in self.evaluator.header_fields.given(called, argument):
                    found.append(Carrier(field.name, field.owner.file, ANYWHERE, False))
            # else it is called by a function of which it is not known what it passes
            elif target.shift >= 0 or self.given(other, scope, call).arguments:
                found.extend(into_parameters_of(home, target, argument))
        return found

    def _settled_by(self, other: File, scope: int, call: Invocation) -> Iterator[Carrier]:
        """The function around a call of its own parameter: `new Promise((resolve) => resolve(x))`."""
        while scope > 0 and type(call.callee) is str:
            if other.is_parameter(scope, call.callee):
                own = other.definitions[scope]
                yield Carrier(scope if own.kind == Kind.LAMBDA else own.name, other.id, 0, False)
            scope = other.definitions[scope].parent

    def _into_mixed(self, other: File, call: Invocation, argument: Any) -> list[Carrier]:
        """Names of the object to which a call adds what another one holds: `Object.assign(to, from)`."""
        is_mixed = type(argument) is int and argument > 0
        if not is_mixed or other.semantics.mixing_functions.isdisjoint(callee_names(call.callee)):
            return []
        return [
            Carrier(name, other.id, ANYWHERE, False) for name in callee_names(call.arguments[0])
        ]

    def holds(self, values: Values, wanted: Collection[Value], depth: int = 0) -> bool:
        """True if wanted values are among some values, or in containers among them."""
        for value in values:
            if itself(value) in wanted:
                return True
            if isinstance(value, MemberFamily) and self.holds(
                self.evaluator.summaries.family(value), wanted
            ):
                return True
            if isinstance(value, HOLDING) and depth < MAX_NESTING:
                inner = (
                    self.evaluator.containers.items(value, None, None)
                    if not isinstance(value, GeneratorObject)
                    else BOTTOM
                )
                inner |= value.reasons if isinstance(value, RejectedPromise) else BOTTOM
                inner = inner or self.evaluator.containers.elements(frozenset((value,)))
                if self.holds(inner, wanted, depth + 1):
                    return True
        return False
