"""The calls that reach a definition.

That needs no stored edges. Every caller mentions the callee's name, or an alias to which its
value has flowed; the index knows which files use a name. So candidates are collected name by name
and each is verified by evaluating it: the answer is the exact inverse of `Sites.targets_at`, at the
price of the candidates only.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from math import inf
from typing import TYPE_CHECKING, Any

from tersely.code.graph.calls.call_resolution import CUTTING
from tersely.code.graph.calls.targets import (
    MAX_CARRIER_FILES,
    MAX_CARRIER_FILES_NEAR,
    CallsNamed,
    Carrier,
    FoundCall,
    Search,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    FunctionObject,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Place
from tersely.code.graph.program.scopes import ANYWHERE
from tersely.code.graph.program.work import WorkSpentError
from tersely.code.languages.model import member_getters
from tersely.code.symbols import CLASS_KINDS

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

MAX_CARRIERS = 16  # names that one value is followed through, those that are local not counted
CARRIERS_LIMIT = f"functions were followed through at most {MAX_CARRIERS} other names each"
CARRIER_FILES_LIMIT = (
    f"other names of a function were looked for where at most {MAX_CARRIER_FILES} use them"
)
MAX_SEARCH_WORK = 20_000  # equations that are solved to find the callers, or names, of one symbol
SEARCHED = 0.75  # of what is left for an answer; what was found is to be graded
SEARCH_LIMIT = "uses were looked for, the nearest first, until the work of one answer was spent"
CHEAP_CALL_WORK = 50  # equations for what one call reaches, where others took all of these
MAX_CHEAP_WORK = 8_000  # for all such calls
MAX_GETTER_WORK = 8_000  # equations of these, for what is called by a name that is computed
GETTERS_LIMIT = (
    f"computed names of members were followed through at most {MAX_GETTER_WORK:,} values"
)


class Searches(Component):
    """Searches for the calls that reach a definition, over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        # by file, name and definition
        self._by_name: dict[tuple[int, Any, int], CallsNamed] = {}
        # by name, files where a search finds nothing by it but calls that reach a function by value,
        # and these, by the function too
        self._searched = defaultdict[Any, set[int]](set)
        self._calls_by_value = defaultdict[tuple[Any, Place], set[FoundCall]](set)

    def search(
        self, file: File, position: int, guess: bool = False, near: bool = False
    ) -> frozenset[FoundCall]:
        """All calls that reach a definition; `near` looks less far, for a value."""
        search = Search(file, position, guess, near)
        self.within_work(self.run, search)
        if not (search.is_done or near):
            self.within_work(self._run_cheaply, search, most=MAX_CHEAP_WORK)
        (self.bounds if near else self.program.notes).add(*search.bounds)
        return frozenset(search.found)

    def within_work(
        self, find: Callable[..., object], *arguments: object, most: float = inf
    ) -> None:
        """Look for what uses a symbol until the work for that is spent."""
        bounds = self.bounds
        with self.program.within(min(most, MAX_SEARCH_WORK, SEARCHED * bounds.left), SEARCH_LIMIT):
            bounds.collect(find, *arguments)

    def run(self, search: Search) -> None:
        """Find the calls; those by names that are computed at the end, and all only if there is work left."""
        self._begin_search(search)
        searched = deque[Carrier]()
        while search.pending or search.waiting or searched:
            if not search.pending and search.waiting:
                self._add_carriers(search, self.evaluator.aliases.of_waiting(search))
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
                    self._search_file(search, carrier, self.file(file_id))
        search.found |= self._by_topic(search)
        search.is_done = True

    def _run_cheaply(self, search: Search) -> None:
        """Find the calls by the names of a definition that are evaluated at little cost: a few others
        may have taken all the work.
        """
        file, position = search.file, search.position
        for name in self.evaluator.caller_names.first_names(file, position):
            for other in self.program.nearest(
                self._files_of(search, Carrier(name, file.id, is_first=True)), file
            ):
                named = self._calls_named(self.file(other), name, ANYWHERE, CHEAP_CALL_WORK)
                search.found.update(named.reaching.get((file.id, position), ()))

    def _begin_search(self, search: Search) -> None:
        """Note what a search begins with."""
        file, position, pending = search.file, search.position, search.pending
        search.wanted = self.evaluator.caller_names.wanted(file, position)
        within = file.known_within(position)
        pending.extend(
            Carrier(name, file.id, within, is_first=True)
            for name in self.evaluator.caller_names.first_names(file, position)
        )
        pending.append(Carrier(position, file.id, 0))  # what decorators are applied to
        classes = sorted(only(search.wanted, ClassObject))
        pending.extend(Carrier(value.position, value.file, 0) for value in classes)
        pending.extend(self.evaluator.caller_names.class_receivers(file, position))
        if not search.near:
            pending.extend(self.evaluator.caller_names.declared_names(search))
        search.found |= self._chaining(file, position)

    def _files_of(self, search: Search, carrier: Carrier) -> set[int]:
        """The files in which a name may hold what is searched for."""
        home, name = carrier.file, carrier.name
        if whole := self.evaluator.aliases.whole_module(home, name):
            others = {Carrier(other, home, ANYWHERE) for other in whole}
            search.pending.extend(sorted(others - search.seen))
            return {home} | self.evaluator.aliases.importers(home)
        if type(name) is not str or carrier.is_local:
            return {home}
        mentioning = self.mentioning(name, search.file)
        place = search.file.id, search.position
        if carrier.is_first and search.file.kind(search.position) not in CLASS_KINDS:
            search.found |= self._calls_by_value[name, place]
            return {home, *mentioning} - self._searched[name]
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
            search.bounds |= self.evaluator.missed.at(
                other, scope, index, (search.file, search.position)
            )
        is_everywhere = carrier.is_first and not carrier.is_local
        if is_everywhere and self._finds_by_value_alone(other, name, named):
            self._searched[name].add(other.id)
            for place, calls in named.reaching.items():
                self._calls_by_value[name, place] |= calls
        self._add_carriers(search, self.evaluator.aliases.carriers(search, carrier, other))

    def _add_carriers(self, search: Search, found: Iterable[Carrier]) -> None:
        """Go on with names to which what is searched for goes, those not local as far as allowed."""
        for further in found:
            if not further.is_local:
                search.names.add(further.name)
            if further.is_local or len(search.names) <= MAX_CARRIERS:
                search.pending.append(further)
            else:
                search.bounds.add(CARRIERS_LIMIT)

    def _finds_by_value_alone(self, other: File, name: Any, named: CallsNamed) -> bool:
        """True if in a file a search by a name finds for no function more than the calls that reach
        it by value.
        """
        is_open = named.unknown or named.cut or self.evaluator.aliases.whole_module(other.id, name)
        return not (is_open or self.solver.is_solving) and all(
            flow.call is None and flow.target == name and (flow.of_result or not flow.is_return)
            for flow in other.uses.flows(name)
        )

    def _add_getters(self, search: Search, searched: deque[Carrier]) -> None:
        """Go on with what gives the first of some carriers by its name, if there is work left for that."""
        try:
            with self.bounds.limited(MAX_GETTER_WORK):
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
        names = (name, "") if self.summaries.may_be_text(name, file) else (name,)
        for getter, place in member_getters(file.semantics).items():
            files = self.program.given(getter, names, file)
            # with more that write the function those that write both names, and its own
            if len(self.mentioning(getter, file)) > MAX_CARRIER_FILES:
                own = file.name(search.position)
                files = (files & {*self.mentioning(own, file)}) | {file.id}
            for other in self.program.nearest(files, file):
                given = self.summaries.names_given(self.file(other), getter, place)
                if any(fnmatchcase(name, pattern) for pattern in given):
                    yield Carrier(getter, other, 0)

    def _by_topic(self, search: Search) -> set[FoundCall]:
        """Calls that reach a handler by what it is registered for."""
        topics, place = self.evaluator.topics, (search.file.id, search.position)
        if not topics.is_in_registry(*place) and not any(map(self._registers, search.found)):
            return set()
        for table in (topics.reaching, topics.registered):
            search.bounds |= self.bounds.collect(table)[1]
        return {
            FoundCall(file_id, scope, index, target.shift)
            for file_id, scope, index in topics.reaching()
            for target in self.sites.targets_at(self.file(file_id), scope, index)
            if target.place == place
        }

    def _registers(self, found: FoundCall) -> bool:
        """True if a call registers for a topic what it is given."""
        if found.shift >= 0:
            return False
        file = self.file(found.file)
        summary = self.callbacks.summary(file, found.scope, file.call(found.scope, found.call))
        return summary is not None and bool(summary.registers)

    def _chaining(self, file: File, position: int) -> set[FoundCall]:
        """`this(…)`, `super(…)`, `new(…)` that reach a constructor: they stand in its class and in
        those below.
        """
        semantics, target = file.semantics, self.bodies.around(file, position)
        found: set[FoundCall] = set()
        names = (
            semantics.super_names | semantics.receiver_names
            if semantics.chains_constructors
            else frozenset()
        )
        names |= {semantics.construct_method} - {""}
        if (
            not names
            or target is None
            or not self.evaluator.caller_names.first_names(file, position)[1:]
        ):
            return found
        for value in (target, *self.inheritance.subclasses(target)):
            for name in sorted(names):
                found |= self._verified(self.home(value), name, file, position, guess=False)
        return found

    def _verified(
        self, other: File, name: Any, file: File, position: int, guess: bool, within: int = ANYWHERE
    ) -> set[FoundCall]:
        if file.kind(position) in CLASS_KINDS and not other.semantics.by_name:
            whole = self.open_classes.whole(file, position)
            return {
                FoundCall(other.id, scope, index, 0)
                for scope, index in other.uses.calls_inside(name, within)
                if whole in self.values(other, scope, other.call(scope, index).callee)
            }
        place, named = (file.id, position), self._calls_named(other, name, within)
        found = {*named.reaching.get(place, ())}
        for scope, index in named.unknown if guess else ():
            found.update(
                FoundCall(other.id, scope, index, target.shift)
                for target in self.evaluator.namesakes.guessed_at(other, scope, index, place)
                if target.place == place
            )
        for scope, index in named.cut:
            if self.sites.may_reach(other, scope, index, place):
                shift = self.sites.target(FunctionObject(*place)).shift
                found.add(FoundCall(other.id, scope, index, shift))
        return found

    def _calls_named(self, other: File, name: Any, within: int, most: float = inf) -> CallsNamed:
        """The calls inside a definition of a file that write a name, evaluated once for all that may
        be searched for; without those that cost more than is allowed.
        """
        known = self._by_name.get((other.id, name, within))
        if known is not None:
            return known
        found, work = CallsNamed({}, [], []), self.bounds
        for scope, index in other.uses.calls_inside(name, within):
            try:
                with work.limited(most):
                    reach, bounds = work.collect(self.sites.direct_at, other, scope, index)
            except WorkSpentError:
                if work.left < 0:
                    raise
                continue
            for target in reach.targets:
                calls = found.reaching.setdefault(target.place, set())
                calls.add(FoundCall(other.id, scope, index, target.shift))
            if CUTTING & bounds:
                found.cut.append((scope, index))
            if not reach.targets:
                found.unknown.append((scope, index))
        if most == inf and not self.solver.is_solving:
            self._by_name[other.id, name, within] = found
        return found
