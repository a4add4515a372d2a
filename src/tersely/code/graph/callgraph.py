"""The call graph: who calls whom, at which lines, how surely; and what follows from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial
from itertools import islice

from tersely.code.bounds import Bounds
from tersely.code.expressions import (
    ABSTRACT,
    PROPERTY,
)
from tersely.code.graph.calls.call_resolution import CUTTING, Sites
from tersely.code.graph.calls.targets import Manner, Target
from tersely.code.graph.edges import CollectedEdges, weaker
from tersely.code.graph.imports import ImportGraph
from tersely.code.graph.pointsto.evaluate import Evaluator
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ExternalObject,
    FunctionObject,
    Instance,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Facts, Inside, Program
from tersely.code.graph.searches.searches import MAX_SEARCH_WORK, SEARCH_LIMIT, SEARCHED
from tersely.code.nodes import (
    Invocation,
    Member,
    MethodReference,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Edge, Grade, Kind
from tersely.foundation.types import Strings, frozen

# files that use a name, above which its callers are found with a level less of flow
MENTIONS_PER_LEVEL = (60, 300)

KEPT_SYMBOLS = 1_000  # whose callers stay known: packs, impact and maps come back to the same ones

KEPT_GRADES = 10_000  # of calls: each override of a method is called where the others are

MAX_WALK_WORK = 30_000  # equations that are solved along calls, or for the parts of an answer
WALK_LIMIT = f"calls were followed until {MAX_WALK_WORK:,} values had been found out"

MAX_IMPLEMENTATIONS = 50  # of a method without a body, whose callers are taken for its own

EXTERNAL_PREFIX = "external:"


@frozen
class Reached:
    """A symbol that a walk over edges comes to: `path` leads from it to where the walk began, both
    included.
    """

    path: Strings
    edge: Edge  # between the first two of the path
    grade: Grade  # of the weakest edge of the path

    @property
    def symbol(self) -> str:
        """Its id."""
        return self.path[0]

    @property
    def depth(self) -> int:
        """The number of edges of the path."""
        return len(self.path) - 1


class CallGraph:
    """Edges on demand over one index revision. Symbol ids in, symbol ids out."""

    def __init__(self, facts: Facts, notes: Bounds | None = None) -> None:
        self.program = Program(facts, notes)
        self.imports = ImportGraph(self.program)
        self._see_by(Evaluator(self.program), is_near=False)

    def _see_by(self, evaluator: Evaluator, *, is_near: bool) -> None:
        self._is_near = is_near
        self.evaluator = evaluator
        self.grade = lru_cache(KEPT_GRADES)(evaluator.grades.of_call)
        self._callers_of = lru_cache(KEPT_SYMBOLS)(
            partial(self.program.notes.collect, self._find_callers)
        )

    @cached_property
    def nearby(self) -> CallGraph:
        """The graph of the same program that knows nothing of what parameters are given, and looks
        less far for callers: for what need not be complete, at a fraction of the work.
        """
        found, evaluator = copy(self), self.evaluator
        while evaluator.below is not None:
            evaluator = evaluator.below
        found._see_by(evaluator, is_near=True)
        return found

    def place(self, symbol_id: str) -> Inside | None:
        """File and position of a symbol, None if there is none of that id."""
        path, _, qualname = symbol_id.partition(":")
        if symbol_id in self.program.by_path:
            return self.program.file(self.program.by_path[symbol_id]), 0
        if path not in self.program.by_path:
            return None
        file = self.program.file(self.program.by_path[path])
        position = file.by_qualname.get(qualname)
        return None if position is None else (file, position)

    def is_announced(self, symbol_id: str) -> bool:
        """True if a symbol is a function without its body, where the body may be written elsewhere."""
        place = self.place(symbol_id)
        if place is None:
            return False
        file, position = place
        scope = file.body(position) if file.semantics.announces else None
        return scope is not None and bool(scope.flags & ABSTRACT)

    def callees(self, symbol_id: str, *, guesses: bool = True) -> list[Edge]:
        """The edges to what a symbol calls; for a class to what its methods call too, anonymous
        functions belong to their owner.
        """
        place = self.place(symbol_id)
        if place is None:
            return []
        file, position = place
        bodies = [position] if position == 0 else file.inside(position)
        if position == 0:
            bodies += [
                child for child in file.children.get(0, ()) if file.kind(child) == Kind.LAMBDA
            ]
        found = CollectedEdges()
        for body in bodies:
            self._collect(file, body, symbol_id, found, guesses)
        return found.edges()

    def edges(
        self, *, guesses: bool = True, fold_anonymous: bool = True, behind_decorators: bool = True
    ) -> Iterator[Edge]:
        """Every edge of the program, file by file. Anonymous functions count as their owner unless
        told otherwise.

        `behind_decorators`: whether calling what a decorator made of a function is calling that
        function as well.
        """
        unwanted = () if behind_decorators else (Manner.BEHIND,)
        for file_id in sorted(self.program.rows, key=lambda known: self.program.rows[known].path):
            file = self.program.file(file_id)
            found = CollectedEdges()
            for position, _ in file.bodies:
                caller = file.named_owner(position) if fold_anonymous else position
                symbol_id = self.program.symbol_id(file_id, caller)
                self._collect(file, position, symbol_id, found, guesses, unwanted)
            yield from found.edges()

    def callers(self, symbol_id: str, *, guesses: bool = True) -> list[Edge]:
        """The edges from those who call a symbol.

        Who calls what implements a method without a body may mean that method. Who calls a method
        that so many classes override that the call reaches none of them by value may mean any of
        those.
        """
        has_less = SEARCHED * self.program.bounds.left < MAX_SEARCH_WORK
        edges, bounds = self._callers_of(symbol_id, guesses)
        if has_less and SEARCH_LIMIT in bounds:  # another question may have more work left
            self._callers_of.cache_clear()
        self.program.notes.add(*bounds)
        return list(edges)

    def _find_callers(self, symbol_id: str, guesses: bool) -> tuple[Edge, ...]:
        place = self.place(symbol_id)
        if place is None:
            return ()
        file, position = place
        found = CollectedEdges()
        self._collect_callers(file, position, symbol_id, found, guesses)
        others = [] if found else self._implementations(file, position)
        for other in (*others, *self._widely_overridden(file, position)):
            edges = CollectedEdges()
            self._collect_callers(*other, symbol_id, edges, guesses=False)
            found.add_all(edges, Grade.INFERRED)
        return tuple(found.edges())

    def _widely_overridden(self, file: File, position: int) -> list[Inside]:
        """The methods that a method overrides together with more others than a set of values holds."""
        target = (
            self.evaluator.bodies.owner_of_method(file, position)
            if file.semantics.virtual
            else None
        )
        if target is None:
            return []
        found, name = [], file.name(position)
        for above in (
            *self.evaluator.inheritance.linearised(target)[1:],
            *self.evaluator.interfaces.implemented(target, name),
        ):
            home = self.program.home(above)
            places = home.named_inside(above.position, name)
            if places and target not in self.evaluator.inheritance.subclasses(above):
                found += [(home, place) for place in places if home.body(place) is not None]
        return found

    def _implementations(self, file: File, position: int) -> list[Inside]:
        """The methods that a method without a body stands for."""
        scope, target = file.body(position), self.evaluator.bodies.around(file, position)
        if scope is None or target is None or not scope.flags & ABSTRACT:
            return []
        values = self.evaluator.typed.overriding(target, file.name(position))
        places = sorted(value.place for value in only(values, FunctionObject))
        return [(self.program.file(at), where) for at, where in places[:MAX_IMPLEMENTATIONS]]

    def _collect_callers(
        self, file: File, position: int, symbol_id: str, found: CollectedEdges, guesses: bool
    ) -> None:
        kind = file.kind(position)
        if kind in CALLABLE_KINDS or kind in CLASS_KINDS:
            evaluator = self._evaluator_for(file, position)
            for site in sorted(evaluator.searches.search(file, position, guesses, self._is_near)):
                other, scope = self.program.file(site.file), site.scope
                call = other.call(scope, site.call)
                rule = evaluator.callbacks.rule(other, scope, call) if site.shift < 0 else ""
                grade = self._site_grade(evaluator.sites, other, scope, site.call, (file, position))
                grade = weaker(grade, Grade.INFERRED) if rule else grade
                if (
                    grade is Grade.BY_NAME and evaluator is not self.evaluator
                ):  # which may know more
                    place = (file.id, position)
                    if not self.evaluator.namesakes.guessed_at(other, scope, site.call, place):
                        continue
                found.add(
                    self._owner_id(other, scope), symbol_id, grade, other.path, call.line, rule
                )
        body, name = file.body(position), file.name(position)
        is_property = kind == Kind.PROPERTY or (body is not None and body.flags & PROPERTY)
        read = [name] if is_property else []
        if name and name in (file.semantics.descriptor_method, file.semantics.descriptor_setter):
            read += sorted(self.evaluator.descriptors.read_names(file))
        self.evaluator.searches.within_work(
            self._collect_readers, file, position, read, symbol_id, found
        )

    def passings(self, symbol_id: str) -> Iterator[tuple[str, Invocation, int]]:
        """The calls that reach a symbol, or what it announces, by value: the path, the call, and how
        many parameters the receiver gives, below 0 where the call passes others than it is given.
        """
        places = self._written(symbol_id)
        sites = {site for one in places for site in self._evaluator_for(*one).searches.search(*one)}
        for file_id, scope, call, shift in sorted(sites):
            other = self.program.file(file_id)
            yield other.path, other.call(scope, call), shift

    def _written(self, symbol_id: str) -> list[Inside]:
        """The place of a symbol; of a function that is announced there, those of its bodies."""
        place = self.place(symbol_id)
        if place is None or not self.is_announced(symbol_id):
            return [place] if place else []
        file, position = place
        announced = FunctionObject(file.id, position)
        bodies = self.evaluator.typed.with_bodies(frozenset({announced}))
        places = [one.place for one in only(bodies, FunctionObject)]
        return [(self.program.file(home), at) for home, at in places]

    def members_of(self, path: str, class_id: str, name: str) -> Iterator[tuple[int, bool]]:
        """The lines of a file that take a member of something that is known, each with whether that
        is of a class, and has no such member but the class's own. Where a base outside may have it,
        what is not known counts as something else.
        """
        place = self.place(class_id)
        owner = self.evaluator.bodies.class_of(*place) if place is not None else None
        if owner is None or path not in self.program.by_path:
            return
        file = self.program.file(self.program.by_path[path])
        has_own = self.place(f"{class_id}.{name}") is not None
        is_open = bool(self.evaluator.inheritance.outer_base(owner))
        for scope, line, member in file.uses.members_named(name, ()):
            values = self.evaluator.calls.receivers(file, scope, member.object)
            classes = (own_class(one) for one in values if isinstance(one, (Instance, ClassObject)))
            is_of_class = any(
                owner in self.evaluator.inheritance.linearised(one) for one in classes
            )
            if values or is_open:
                yield (
                    line,
                    is_of_class
                    and (has_own or not self.evaluator.members.of_all(values, name, file)),
                )

    def _evaluator_for(self, file: File, position: int) -> Evaluator:
        """The evaluator that verifies calls of a definition: of a name that very many files use one
        with fewer levels of flow.
        """
        evaluator = self.evaluator
        files = len(self.program.mentioning(file.name(position), file))
        for bound in MENTIONS_PER_LEVEL:
            if files > bound and evaluator.below is not None:
                evaluator = evaluator.below
        return evaluator

    def walk(
        self,
        symbol_id: str,
        depth: int,
        *,
        limit: int,
        to_callees: bool = False,
        guesses: bool = True,
        first: Sequence[Edge] = (),
    ) -> tuple[list[Reached], bool]:
        """The transitive callers or callees of a symbol, nearest first; whether `limit` cut them
        off.

        `first`: the edges of the symbol itself, if others than its calls are meant.

        Breadth first: each is found once, by a shortest path, and the symbol itself only where it
        calls itself. The walk does not go on from what a decorator put in place of a function: that
        function has those callers itself which mean it.
        """
        found: list[Reached] = []
        reached = self._reached(symbol_id, depth, to_callees, guesses, first)
        with self.program.within(MAX_WALK_WORK, WALK_LIMIT):
            found.extend(islice(reached, limit + 1))
        return found[:limit], len(found) > limit

    def _reached(
        self, symbol_id: str, depth: int, to_callees: bool, guesses: bool, first: Sequence[Edge]
    ) -> Iterator[Reached]:
        """What a walk reaches, nearest first."""
        adjacent = self.callees if to_callees else self.callers
        seen = {symbol_id}
        pending: deque[tuple[Strings, Grade]] = deque([((symbol_id,), Grade.EXACT)])
        while pending:
            path, weakest = pending.popleft()
            if len(path) > depth:
                continue
            is_start = len(path) == 1
            for edge in first if is_start and first else adjacent(path[0], guesses=guesses):
                end = edge.callee if to_callees else edge.caller
                calls_itself = path == (end,)
                if end in seen and not calls_itself:
                    continue
                grade = weaker(weakest, edge.grade)
                yield Reached((end, *path), edge, grade)
                if calls_itself:
                    continue
                seen.add(end)
                if to_callees or not self._is_in_place_of(end, path[0]):
                    pending.append(((end, *path), grade))

    def _is_in_place_of(self, symbol_id: str, decorated_id: str) -> bool:
        """True if a function is what decorators put in the place of another, or is called where
        that is called.
        """
        place = self.place(decorated_id)
        scope = place[0].body(place[1]) if place is not None else None
        if place is None or scope is None or scope.decorated is None:
            return False
        file, position = place
        outer = file.parent(position)
        targets = self.evaluator.sites.made_by(file, outer, scope.decorated)
        return symbol_id in {self._target_id(target) for target in targets}

    # Inside

    def _collect(
        self,
        file: File,
        position: int,
        caller: str,
        found: CollectedEdges,
        guesses: bool,
        unwanted: tuple[Manner, ...] = (),
    ) -> None:
        scope = file.body(position)
        if scope is None:
            return
        for index, call in enumerate(scope.calls):
            line = call.line
            targets, bounds = self.program.bounds.collect(
                self.evaluator.sites.targets_at, file, position, index
            )
            self.program.notes.add(*CUTTING & bounds)
            is_called_back = any(target.shift < 0 for target in targets)
            rule = self.evaluator.callbacks.rule(file, position, call) if is_called_back else ""
            grade = Grade.INFERRED if rule else self.grade(file, position, call.callee)
            if (
                file.semantics.virtual and len(targets) > 1
            ):  # the declaration alone does not say which
                grade = weaker(grade, Grade.INFERRED)
            for target in targets:
                if target.manner in unwanted:
                    continue
                surely = grade if target.manner is Manner.DIRECT else weaker(grade, Grade.INFERRED)
                found.add(caller, self._target_id(target), surely, file.path, line, rule)
            if guesses and not targets:
                for target in self.evaluator.namesakes.guesses(file, position, call):
                    found.add(caller, self._target_id(target), Grade.BY_NAME, file.path, line)
            external = self._external_callees(file, position, call)
            for name in external:
                found.add(caller, EXTERNAL_PREFIX + name, grade, file.path, line)
            # a name that is found nowhere counts as built in
            if not targets and (type(call.callee) is str or not external):
                self.program.notes.add(*self.evaluator.missed.at(file, position, index))
        self._collect_properties(file, position, caller, found)

    def _external_callees(self, file: File, position: int, call: Invocation) -> list[str]:
        """What a call calls outside the repository; the receiver and what syntax calls not counted."""
        callee, facts = call.callee, file.semantics
        if type(callee) is str and callee in facts.super_names | facts.receiver_names:
            return []
        if isinstance(callee, (Member, MethodReference)) and callee.name in facts.implicit_methods:
            return []
        values = self.evaluator.calls.called(file, position, call)
        return [value.name for value in only(values, ExternalObject)]

    def _collect_properties(
        self, file: File, position: int, caller: str, found: CollectedEdges
    ) -> None:
        """Add the property functions that what a body reads, or calls, is given by."""
        scope = file.scope(position)
        called = (
            (call.callee, call.line) for call in scope.calls
        )  # a property may give what is called
        for expression, line in (*scope.reads, *called):
            for target in self.evaluator.properties.targets(file, position, expression):
                found.add(caller, self._target_id(target), Grade.INFERRED, file.path, line)

    def _collect_readers(
        self, file: File, position: int, names: Sequence[str], symbol_id: str, found: CollectedEdges
    ) -> None:
        """Add those who read a member of a name, or call what it gives, and so call a definition: in
        the nearest files first.
        """
        for name in names:
            files = {*self.program.mentioning(name, file), file.id}
            for other in map(self.program.file, self.program.nearest(files, file)):
                for scope, expression, line, _ in other.uses.readings(name):
                    targets = self.evaluator.properties.targets(other, scope, expression)
                    places = (target.place for target in targets)
                    if (file.id, position) in places:
                        caller = self._owner_id(other, scope)
                        found.add(caller, symbol_id, Grade.INFERRED, other.path, line)

    def _site_grade(
        self, sites: Sites, other: File, scope: int, index: int, place: Inside
    ) -> Grade:
        """The grade of a call that is known to reach a definition."""
        file, position = place
        grade = self.grade(other, scope, other.call(scope, index).callee)
        if file.kind(position) in CLASS_KINDS and not other.semantics.by_name:
            return grade
        every = sites.targets_at(other, scope, index)
        meant = [target for target in every if target.place == (file.id, position)]
        if not meant:
            is_cut = sites.may_reach(other, scope, index, (file.id, position))
            return Grade.INFERRED if is_cut else Grade.BY_NAME
        is_direct = any(target.manner is Manner.DIRECT for target in meant)
        is_certain = is_direct and not (other.semantics.virtual and len(every) > 1)
        return grade if is_certain else weaker(grade, Grade.INFERRED)

    def _target_id(self, target: Target) -> str:
        return self.program.symbol_id(*target.place)

    def _owner_id(self, file: File, scope: int) -> str:
        return self.program.symbol_id(file.id, file.named_owner(scope))


class SparingGraph(CallGraph):
    """A call graph for the parts of one answer: each takes at most half of the work that is left."""

    _left = MAX_WALK_WORK

    def __init__(self, graph: CallGraph) -> None:
        vars(self).update(vars(graph))

    def callers(self, symbol_id: str, *, guesses: bool = True) -> list[Edge]:
        """The edges from those who call a symbol."""
        return self._sparing(super().callers, symbol_id, guesses)

    def callees(self, symbol_id: str, *, guesses: bool = True) -> list[Edge]:
        """The edges to what a symbol calls."""
        return self._sparing(super().callees, symbol_id, guesses)

    def _sparing(
        self, find: Callable[..., list[Edge]], symbol_id: str, guesses: bool
    ) -> list[Edge]:
        work, half = self.program.bounds, self._left // 2
        found: list[Edge] = []
        with work.limited(half):
            with self.program.within(half, WALK_LIMIT):
                found = find(symbol_id, guesses=guesses)
            self._left -= int(half - work.left)
        return found
