"""Summaries of functions outside the repository."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cached_property, partial

from tersely.code.expressions import HOLE, is_spread, last_part
from tersely.code.graph.calls.passing import receiver_of
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    UNIQUE_KEY,
    BuiltinMethod,
    ClassObject,
    CollectionObject,
    ConstantObject,
    ContainerLiteral,
    Defined,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    InFile,
    Instance,
    MemberFamily,
    ModuleObject,
    RejectedPromise,
    TupleObject,
    Value,
    Values,
    collection,
    given_first,
    is_text,
    mapping_of,
    only,
    own_class,
    refused,
    singleton,
    tuple_of,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.languages.model import RECEIVER, Summary, Topic
from tersely.code.nodes import Enter, Invocation, Member
from tersely.code.syntax.mentions import PATTERN_MARK, TEXT_MARK

PAIRS = (TupleObject, ContainerLiteral)  # what may have parts with places


LEAST_PATTERN = 3  # known characters of a name, below which it may be any
MAX_FAMILY = 300  # members of one class whose names fit a pattern
FAMILY_LIMIT = f"of members by a part of their name the first {MAX_FAMILY} of a class are followed"


class Summaries(Component):
    """The effects of functions outside the repository on what they are given."""

    def of(self, callee: Value, file: File) -> Summary | None:
        """The summary of a function that is not ours, None if nothing is known of it."""
        if isinstance(callee, BuiltinMethod):
            return file.semantics.methods.get(callee.name)
        if isinstance(callee, ExternalResult):
            return file.semantics.summaries.get(callee.name)
        if isinstance(callee, ExternalObject):
            summaries, methods = file.semantics.summaries, file.semantics.methods
            owner, _, name = callee.name.rpartition(".")
            nearby = f"{last_part(owner)}.{name}"  # of a type whose package is not told
            return summaries.get(callee.name) or summaries.get(nearby) or methods.get(name)
        return None

    def of_base(self, target: ClassObject) -> Summary | None:
        """The summary of what a class of ours inherits from outside the repository."""
        outside = self.inheritance.outer_base(target)
        return self.of(ExternalObject(outside), self.home(target)) if outside else None

    def route_named(self, value: Value, file: File) -> Topic | None:
        """What the text of a value is the name of that a function gave a URL for; None for others."""
        if not is_text(value):
            return None
        summary = self.of(ExternalObject(value.name.removesuffix("()")), file)
        return summary.links if summary is not None else None

    def applied(self, file: File, scope: int, summary: Summary, call: Invocation) -> Values:
        """The values that a call gives by the summary of what it calls."""

        argument = partial(self._argument, file, scope, call)
        found = argument(summary.returns) | self._run(file, scope, summary, call)
        found |= self._gathered(file, scope, summary, call)
        if summary.returns_named:
            kept = (value for name, value in call.keywords if name == summary.returns_named)
            found |= self.union(file, scope, kept)
        if summary.binds >= 0:
            given = call.arguments[summary.binds + 1 :]
            known = 0 if any(map(is_spread, given)) else len(given)
            found |= given_first(argument(summary.binds), known)
        if summary.admitted_by >= 0:
            found = self._admitted(
                found, argument(summary.admitted_by), gives_list=summary.items_of != -1
            )
        if summary.member_of != -1:
            owners, names = argument(summary.member_of), argument(summary.named_by)
            found |= self._members_named(owners, names, file)
        if 0 <= summary.instance_of < len(call.arguments):
            named = self.annotations.instances(file, scope, call.arguments[summary.instance_of])
            says_enough = any(not isinstance(value, ExternalResult) for value in named)
            found = named if summary.returns >= 0 and says_enough else found | named
        if summary.fills is not None:
            texts = (value.constant for value in only(argument(RECEIVER), ConstantObject))
            filled = (summary.fills.sub(HOLE, text) for text in texts if type(text) is str)
            found |= frozenset(
                ExternalResult(f"{file.semantics.builtins}.str", text) for text in filled
            )
        if summary.makes_key:
            found |= singleton(
                ConstantObject(f"{UNIQUE_KEY}{file.path}:{call.line}:{call.arguments}")
            )
        found |= self._modules_named(argument(summary.module_named), file)
        return found | _classes_of(argument(summary.class_of))

    def _run(self, file: File, scope: int, summary: Summary, call: Invocation) -> Values:
        """What the functions give that a call has run behind the scenes."""

        argument = partial(self._argument, file, scope, call)
        found = self._results(argument(summary.result_of), file, scope, call)
        found |= self._first_yielded(argument(summary.yield_of), file, scope, call)
        if 0 <= summary.enters < len(call.arguments):
            entered = Enter(call.arguments[summary.enters], file.semantics.enter_method)
            found |= self.values(file, scope, entered)
        collected: Values = BOTTOM
        for position in summary.collects:
            collected |= self._results(argument(position), file, scope, call)
        if collected:
            found |= collection(collected)
        for function in argument(summary.settled_by):
            if isinstance(function, FunctionObject):
                found |= self._settled(function, 0) | refused(self._settled(function, 1))
        if summary.refused >= 0:
            found |= only(argument(RECEIVER), RejectedPromise)
        return found

    def _modules_named(self, names: Values, file: File) -> Values:
        """The modules that constants name where a file imports by a call."""
        found: Values = BOTTOM
        for name in names:
            if isinstance(name, ConstantObject) and isinstance(name.constant, str):
                found |= self.evaluator.imported.of(file, name.constant, "")
        return found

    def _settled(self, function: FunctionObject, place: int) -> Values:
        """What a function, or one in it, calls a parameter with: `(resolve) => resolve(value)`."""
        home, position = self.place(function)
        names = [parameter.name for parameter in home.scope(position).parameters[place:]][:1]
        found: Values = BOTTOM
        for scope, call in home.uses.calls(names[0]) if names else ():
            if call.callee == names[0] and call.arguments and home.is_inside(scope, position):
                found |= self.values(home, scope, call.arguments[0])
        return found

    def _admitted(self, values: Values, guards: Values, *, gives_list: bool) -> Values:
        """Of values and what collections hold that which type guards say yes to; all of it if there
        is none.
        """
        instances = frozenset().union(*[self.annotations.guarded(guard, 0) for guard in guards])
        if not instances:
            return values
        held = self.containers.elements(values) if gives_list else values
        admitted = self.typed.narrowed(held, instances)
        return collection(admitted) if gives_list else admitted

    def _members_named(self, owners: Values, names: Values, file: File) -> Values:
        """The members of some values that constants name: `getattr(thing, "name")`.

        Where functions are virtual, a member of a class is what any object of it may have.
        """
        found: Values = BOTTOM
        if file.semantics.virtual:
            owners = frozenset(
                Instance(*value.place, True) if isinstance(value, ClassObject) else value
                for value in owners
            )
        for name in names:
            if isinstance(name, ConstantObject) and isinstance(name.constant, str):
                found |= self.members.of_all(owners, name.constant, file)
            elif isinstance(name, ExternalResult) and name.pattern is not None:
                found |= self._families(owners, name.pattern)
        return found

    def may_be_text(self, name: str, file: File) -> bool:
        """True if what is computed may be a name: some text is it, or a pattern that it fits."""
        return bool(
            file.semantics.members_are_items  # whose names are texts as well
            or self.mentioning(TEXT_MARK + name, file)
            or any(fnmatchcase(name, pattern) for pattern in self._patterns)
        )

    @cached_property
    def _patterns(self) -> list[str]:
        """The texts with holes of which enough is known to name a member."""
        every = (pattern for pattern, _ in self.program.facts.mentions(PATTERN_MARK))
        return [one for one in every if len(one.replace(HOLE, "")) >= LEAST_PATTERN]

    @kept
    def names_given(self, file: File, getter: str, place: int) -> set[str]:
        """The names, and patterns of names, of the members that a function gives in a file which
        gives them by that argument, found out once: one level of flow tells them.
        """
        below = self.evaluator.below
        if below is not None and below.below is not None:
            return below.summaries.names_given(file, getter, place)
        found = set[str]()
        for scope, call in file.uses.calls(getter):
            if call.callee != getter and not isinstance(call.callee, Member):
                continue  # what it gave is called
            for value in self.union(file, scope, call.arguments[place : place + 1]):
                if isinstance(value, ConstantObject):
                    found.add(str(value.constant))
                elif is_text(value):
                    found.add(str(value.pattern))
        return found

    def _families(self, owners: Values, pattern: str) -> Values:
        """The members of some values whose names fit a pattern, of each as one value."""
        if len(pattern.replace(HOLE, "")) < LEAST_PATTERN:
            return BOTTOM
        return frozenset(
            MemberFamily(owner, pattern)
            for owner in only(owners, Instance, ClassObject, ModuleObject)
        )

    def family(self, value: MemberFamily) -> Values:
        """The functions of a class, of those below it, or of a module whose names fit a pattern."""
        solver = self.solver
        return solver.solve_whole(("family", value), self._fitting, value.owner, value.pattern)

    def _fitting(self, owner: InFile, pattern: str) -> Values:
        homes = [(owner.file, 0)]
        if isinstance(owner, Defined):
            target = own_class(owner)
            classes = (*self.inheritance.linearised(target), *self.inheritance.subclasses(target))
            homes = [class_.place for class_ in classes]
        found: Values = BOTTOM
        for file_id, position in homes:
            home = self.file(file_id)
            fitting = [name for name in home.names(position) if fnmatchcase(name, pattern)]
            if len(fitting) > MAX_FAMILY:
                self.bounds.add(FAMILY_LIMIT)
            for name in sorted(fitting)[:MAX_FAMILY]:
                found |= only(self.names.bound(home, position, name), FunctionObject)
        return self.members.read(found, owner) if isinstance(owner, Defined) else found

    def _argument(self, file: File, scope: int, call: Invocation, position: int) -> Values:
        """What a call passes at a position; of a method, `RECEIVER` is the object it is called on."""
        arguments = call.arguments
        if position == RECEIVER:
            return self.values(file, scope, receiver_of(call))
        inside = 0 <= position < len(arguments)
        return self.values(file, scope, arguments[position]) if inside else BOTTOM

    def _results(self, functions: Values, file: File, scope: int, call: Invocation) -> Values:
        """What functions of ours give that are called behind the scenes."""
        found: Values = BOTTOM
        for function in functions:
            if isinstance(function, FunctionObject):
                found |= self.calls.returned(function)
            elif isinstance(function, ClassObject):
                found |= self.calls.result(file, scope, function, call)
        return found

    def _first_yielded(self, functions: Values, file: File, scope: int, call: Invocation) -> Values:
        """What functions give that are run to what they yield, if they yield anything."""
        return BOTTOM.union(*map(self.calls.run, self._results(functions, file, scope, call)))

    def _gathered(self, file: File, scope: int, summary: Summary, call: Invocation) -> Values:
        """The collections that a call makes of what it is given."""

        argument = partial(self._argument, file, scope, call)
        containers = self.containers
        found = self.held(summary, argument, file)
        if summary.pairs:
            found |= collection(
                tuple_of(tuple(containers.elements(argument(part)) for part in summary.pairs))
            )
        if summary.gathers >= 0:
            gathered = [
                self.values(file, scope, part) for part in call.arguments[summary.gathers :]
            ]
            found |= collection(frozenset().union(*gathered))
        for part in call.arguments[summary.joins :] if summary.joins >= 0 else ():
            joined = self.values(file, scope, part)
            lists = only(joined, ContainerLiteral, CollectionObject)
            found |= collection((joined - lists) | containers.held(lists))
        if summary.tuple_from >= 0:
            parts = (
                self.values(file, scope, part) for part in call.arguments[summary.tuple_from :]
            )
            found |= tuple_of(tuple(parts))
        results = (
            self._results(argument(summary.flattens), file, scope, call)
            if summary.flattens >= 0
            else BOTTOM
        )
        if results:
            found |= collection(containers.elements(results))
        if summary.groups >= 0:
            keys = self._results(argument(summary.groups), file, scope, call)
            found |= mapping_of(keys, collection(containers.elements(argument(RECEIVER))))
        return found

    def held(self, summary: Summary, argument: Callable[[int], Values], file: File) -> Values:
        """The values that some values hold, by what is known of a function that is given them."""
        containers = self.containers
        found = containers.elements(argument(summary.elements))
        if held := argument(summary.items_of):
            found |= collection(
                frozenset().union(*[containers.items(value, None, file) for value in held])
            )
        if elements := containers.elements(argument(summary.iterates)):
            found |= collection(elements)
        if elements := containers.elements(argument(summary.numbers)):
            found |= collection(tuple_of((BOTTOM, elements)))
        if keys := containers.keys_of(argument(summary.keys_of)):
            found |= collection(keys)
        for value in argument(summary.item_pairs_of):
            keys = containers.keys_of(frozenset((value,)))
            found |= collection(tuple_of((keys, containers.items(value, None, file))))
        if summary.part >= 0:
            for value in argument(RECEIVER):
                found |= (
                    containers.items(value, frozenset((summary.part,)), file)
                    if isinstance(value, PAIRS)
                    else BOTTOM
                )
        return found

    def property(self, container: Value, name: str, file: File) -> Values:
        """The values that reading a member of a container gives, where that is known."""
        summary = file.semantics.properties.get(name)
        if summary is None:
            return BOTTOM
        return self.held(
            summary, lambda at: frozenset((container,)) if at == RECEIVER else BOTTOM, file
        )

    def of_builtin(self, file: File, scope: int, callee: BuiltinMethod, call: Invocation) -> Values:
        """The values that a method gives which no class of ours has."""
        _, container, name = callee
        semantics = file.semantics
        if name in semantics.mappers and call.arguments:
            mapped = self._results(self.values(file, scope, call.arguments[0]), file, scope, call)
            return mapped if isinstance(container, Instance) or not mapped else collection(mapped)
        if isinstance(container, Instance):
            return frozenset((container,))
        if (
            name in semantics.views
            and isinstance(container, CollectionObject)
            and container.keys is not None
        ):
            return frozenset((container,))
        if name in semantics.views:
            return collection(self.containers.items(container, None, file))
        if name in semantics.item_views:
            keys = self.containers.keys_of(frozenset((container,)))
            return collection(tuple_of((keys, self.containers.items(container, None, file))))
        if name in semantics.getters:
            arguments = call.arguments
            keys_wanted = self.containers.keys(file, scope, arguments[0]) if arguments else None
            found = self.containers.items(container, keys_wanted, file)
            # in place of what is not there
            given = self.union(file, scope, arguments[:2])
            return found | only(given, Instance)
        return BOTTOM


def _classes_of(values: Values) -> Values:
    """The classes of the instances among some values."""
    return frozenset(own_class(value) for value in only(values, Instance))
