"""The users of a definition: those who may run it, by calls and by ways that no call shows.

Calls are the call graph's. Beside them a definition runs when

- it is passed to a function, which may call it (`passed`);
- a framework calls it to fill a parameter (`provided`);
- the function around it runs (`inside`);
- code outside the repository calls it through an object: the language itself does so with special
  methods, a base or an
  interface from outside with what nobody calls here. All these need an object, so whoever
  constructs the class may run
  the method (`constructed`). That is the assumption of rapid type analysis (Bacon and Sweeney,
  OOPSLA 1996), here for
  calls from outside alone;
- it overrides a method that runs (`overridden`).

What holds a value is used by those that read it (`reads`), and so is a function that a module binds
to another name (`held`), though who reads that name need not call it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from tersely.code.expressions import PROPERTY, VERSION_MARK
from tersely.code.graph.callgraph import CallGraph
from tersely.code.graph.dead import called_by_language, has_base_outside
from tersely.code.graph.dispatch.registrations.base_arguments import own_constructors
from tersely.code.graph.pointsto.evaluate import Evaluator
from tersely.code.graph.pointsto.values import (
    ClassObject,
    FunctionObject,
    Value,
    itself,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.registry import family_of
from tersely.code.nodes import ImportedValue, Invocation, Member
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Grade

# files that mention a name, above which it is not looked for among arguments
MAX_CARRIED_FILES = 300


class UseKind(StrEnum):
    """The kinds of use by which one definition may come to run another."""

    CALLS = "calls"
    PASSED = "passes on"
    PROVIDED = "is given"
    INSIDE = "holds"
    READS = "reads"
    HELD = "reads what holds"
    CONSTRUCTED = "constructs the class of"
    OVERRIDDEN = "is overridden by"
    SHOWS = "shows"


class User(NamedTuple):
    """A definition that may run another: its symbol id, the kind of use, how surely."""

    id: str
    kind: UseKind
    grade: Grade


class Users:
    """The definitions that may run a definition, one step away, over one call graph."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._program = graph.program
        self._evaluator = graph.evaluator

    @cached_property
    def nearby(self) -> Users:
        """The same over the graph that costs little to ask."""
        return Users(self._graph.nearby)

    def of(self, symbol_id: str) -> list[User]:
        """Everything that may run a symbol, calls first; a definition may come more than once."""
        place = self._graph.place(symbol_id)
        if place is None or place[1] == 0:
            return []
        file, position = place
        found = [
            User(edge.caller, UseKind.CALLS, edge.grade) for edge in self._graph.callers(symbol_id)
        ]
        kind = file.kind(position)
        if kind in CALLABLE_KINDS:
            found += self._unwritten(file, position, is_called=bool(found))
        elif kind in CLASS_KINDS and file.body(position) is not None:  # no mere name of a type
            found += self._below(file, position)
        elif kind in VALUE_KINDS:
            found += self._readers(file, file.name(position))
        return found

    def of_template(self, path: str) -> list[User]:
        """Those who show a template, itself or in another; of a class its methods too."""
        shown_by = self._evaluator.topics.showing(path)
        places = [place for place in map(self._graph.place, shown_by) if place is not None]
        inside = [
            self._id(file, child)
            for file, position in places
            for child in file.children.get(position, ())
            if position and file.kind(child) in CALLABLE_KINDS
        ]
        return [User(one, UseKind.SHOWS, Grade.INFERRED) for one in (*shown_by, *inside)]

    def linked_from(self, path: str) -> list[str]:
        """The ids of the handlers that a template links to."""
        linked = self._evaluator.topics.linked_from(path)
        return [self._program.symbol_id(*place) for place in linked]

    def of_gone(self, name: str, language: str) -> list[User]:
        """The definitions that still write a name which is not defined any more."""
        files = self._program.facts.files_mentioning(name)
        if len(files) > MAX_CARRIED_FILES:
            return []
        family = family_of(language)
        near = [
            self._program.file(at)
            for at in files
            if family_of(self._program.rows[at].language) == family
        ]
        return [
            User(self._id(file, position), UseKind.READS, Grade.BY_NAME)
            for file in near
            for position in file.uses.scopes_writing(name)
        ]

    def _unwritten(self, file: File, position: int, *, is_called: bool) -> Iterator[User]:
        for home, at in self._evaluator.providers.users(file, position):
            yield User(self._id(home, at), UseKind.PROVIDED, Grade.EXACT)
        yield from self._by_name(file, position)
        owner = file.owner_class(position)
        if owner >= 0:
            yield from self._through_objects(file, position, owner, is_called=is_called)
        around = file.parent(position)
        if around > 0 and file.kind(around) in CALLABLE_KINDS:
            yield User(self._id(file, around), UseKind.INSIDE, Grade.INFERRED)

    def _by_name(self, file: File, position: int) -> Iterator[User]:
        """Calls by its name of who knows what, and calls that the function is passed to."""
        name = file.name(position)
        files = {*self._program.mentioning(name, file), file.id}
        if len(files) > MAX_CARRIED_FILES:
            return
        wanted = self._stands_for(file, position)
        is_member = file.owner_class(position) >= 0 and name not in file.semantics.common_members
        for other in map(self._program.file, sorted(files)):
            for scope, call in other.uses.calls(name):
                called = self._evaluator.calls.called(other, scope, call)
                if is_member and not called and _is_of_unknown(self._evaluator, other, scope, call):
                    yield User(self._id(other, scope), UseKind.CALLS, Grade.BY_NAME)
            yield from self._flowing(other, name, wanted)

    def _flowing(self, other: File, name: str, wanted: frozenset[Value]) -> Iterator[User]:
        """The users of a function that is passed to calls, or bound in a module that others read."""
        for flow in other.uses.flows(name):
            is_bound = (
                flow.call is None
                and flow.scope == 0
                and type(flow.target) is str
                and flow.target != name
            )
            if not (is_bound or flow.call is not None):
                continue
            if self._graph.evaluator.aliases.holds(
                self._evaluator.values(other, flow.scope, flow.value), wanted
            ):
                yield User(self._id(other, flow.scope), UseKind.PASSED, Grade.INFERRED)
            if is_bound:
                yield from self._readers(
                    other, flow.target.partition(VERSION_MARK)[0], UseKind.HELD
                )

    def _readers(self, file: File, name: str, kind: UseKind = UseKind.READS) -> Iterator[User]:
        """The definitions that read a name which a file binds: in the file, and where it is
        imported or a member.
        """
        files = {*self._program.mentioning(name, file), file.id}
        if len(files) > MAX_CARRIED_FILES:
            return
        for other in map(self._program.file, sorted(files)):
            grade = (
                Grade.INFERRED
                if other.id == file.id or self._imports(other, name, file)
                else Grade.BY_NAME
            )
            for position in other.uses.scopes_writing(name, as_member=grade is Grade.BY_NAME):
                if position:
                    yield User(self._id(other, position), kind, grade)

    def _imports(self, other: File, name: str, file: File) -> bool:
        """True if a file imports a name from another."""
        return any(
            isinstance(expression, ImportedValue)
            and file.id in self._program.modules(other, expression.module)
            for _, expression in other.bindings(0, name)
        )

    def _stands_for(self, file: File, position: int) -> frozenset[Value]:
        """What the name of a function may hold: the function, and what decorators made of it."""
        scope = file.body(position)
        made = scope.decorated if scope is not None and not scope.flags & PROPERTY else None
        values = (
            self._evaluator.values(file, file.parent(position), made) if made is not None else ()
        )
        return frozenset([FunctionObject(file.id, position), *map(itself, values)])

    def _through_objects(
        self, file: File, position: int, owner: int, *, is_called: bool
    ) -> Iterator[User]:
        """Whoever makes an object whose method is called from outside, and what the method
        overrides.
        """
        target, name = (
            self._evaluator.bodies.class_of(file, owner),
            file.name(position),
        )
        if target is None or name in file.semantics.constructors:
            return
        for base in self._evaluator.inheritance.linearised(target)[1:]:
            home = self._program.home(base)
            for child in home.named_inside(base.position, name):
                if home.kind(child) in CALLABLE_KINDS:
                    yield User(self._id(home, child), UseKind.OVERRIDDEN, Grade.INFERRED)
        is_special = name in called_by_language(file) or name[:2] == "__"
        from_outside = is_special or (
            not is_called and has_base_outside(file, owner, self._evaluator)
        )
        if from_outside:
            for found in (target, *self._evaluator.inheritance.subclasses(target)):
                for maker in self._makers(found):
                    yield User(maker, UseKind.CONSTRUCTED, Grade.BY_NAME)

    def _makers(self, target: ClassObject) -> list[str]:
        """The callers of a class and of its own constructors."""
        home = self._program.home(target)
        positions = (target.position, *own_constructors(home, target.position))
        ids = [self._program.symbol_id(home.id, position) for position in positions]
        return [edge.caller for symbol_id in ids for edge in self._graph.callers(symbol_id)]

    def _below(self, file: File, position: int) -> Iterator[User]:
        """A class runs with those that inherit from it."""
        target = self._evaluator.bodies.class_of(file, position)
        for value in self._evaluator.inheritance.subclasses(target) if target is not None else ():
            yield User(
                self._id(self._program.file(value.file), value.position),
                UseKind.OVERRIDDEN,
                Grade.EXACT,
            )

    def _id(self, file: File, scope: int) -> str:
        return self._program.symbol_id(file.id, file.named_owner(scope))


def _is_of_unknown(evaluator: Evaluator, file: File, scope: int, call: Invocation) -> bool:
    """True if a member is called of something of which nothing is known."""
    callee = call.callee
    return isinstance(callee, Member) and not evaluator.values(file, scope, callee.object)
