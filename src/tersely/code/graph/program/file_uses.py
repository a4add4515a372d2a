"""What a file calls, reads and hands on, by the names that it writes for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import (
    CONST,
    DEFINED,
    IMPORTED,
    ITEM,
    MEMBER,
    SPREAD,
    VERSION_MARK,
    Scope,
    is_tagged,
)
from tersely.code.graph.program.scopes import ANYWHERE, Stored, kept
from tersely.code.languages.model import RECEIVER
from tersely.code.nodes import (
    Expression,
    Invocation,
    Member,
)
from tersely.code.symbols import CALLABLE_KINDS, Kind
from tersely.code.syntax.mentions import (
    HOLDERS,
    NAMELESS,
    callee_names,
    calling_names,
    collect_carried,
    constant_entries,
    is_of_block,
    read_name,
    receiver_returning_methods,
    written_names,
)

if TYPE_CHECKING:
    from tersely.code.graph.program.file import File

Sites = dict[Any, list[tuple[int, int]]]  # by name: (scope, position among its calls or reads)


class Flow(NamedTuple):
    """A value that goes somewhere: to the name `target`, or into argument `target` of `call`, or of
    what that calls with what its `RECEIVER` holds.
    """

    scope: int
    value: Expression
    target: Any
    call: Invocation | None
    within: int = ANYWHERE  # the definition inside which alone the name is known, 0 for the file
    is_return: bool = False  # of the function `target`
    of_result: bool = False  # the name is that of a call whose result goes there


class FileUses:
    """Calls, readings and flows of one file. Tables are made when first asked for."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.semantics = file.semantics
        self.decode = file.decode

    def calls(self, name: Any) -> Iterator[tuple[int, Invocation]]:
        """Every call that a name writes, with its scope."""
        for scope, index in self.calls_by_name.get(name, ()):
            yield scope, self._file.call(scope, index)

    def calls_inside(self, name: Any, outer: int) -> list[tuple[int, int]]:
        """(scope, position among its calls) of the calls inside a definition that a name writes, and
        of those that may call what they are given by that.
        """
        places = (*self.calls_by_name.get(name, ()), *self.handed_by_name.get(name, ()))
        return [
            (at, index) for at, index in dict.fromkeys(places) if self._file.is_inside(at, outer)
        ]

    @cached_property
    def calls_by_name(self) -> Sites:
        """(scope, position among its calls) of every call, by each name its callee is written with."""
        found: Sites = defaultdict(list)
        is_any, marked = (
            self.semantics.functions_are_objects,
            {self.semantics.construct_method, *self.semantics.stand_ins},
        )
        for position, scope in self._file.stored_scopes:
            for index, call in enumerate(scope.calls):
                callee = call[1]
                names, tag = callee_names(callee), callee[0] if type(callee) is tuple else None
                if tag == MEMBER and (is_any or callee[2] in marked):
                    names = self._other_names(callee, names)
                elif tag in HOLDERS:
                    held = set(names)
                    collect_carried(callee, held, held, self._readers)
                    names = tuple(held)
                for name in names:
                    found[name].append((position, index))
        return found

    def _other_names(self, callee: Stored, names: tuple[Any, ...]) -> tuple[Any, ...]:
        """The names of a member that is called, with those of other things that the call may mean."""
        semantics = self.semantics
        _, owner, name, *_ = callee
        every = dict.fromkeys((*names, *semantics.in_place_of(name)))
        if semantics.functions_are_objects or name == semantics.construct_method:
            owners = set(callee_names(owner)) - semantics.receiver_names
            every.update(dict.fromkeys(owners - semantics.super_names))
        return tuple(every)

    def handed(self, function: int) -> tuple[int, Invocation] | None:
        """The place where a function without a name is written as an argument: the scope, and the
        call that takes it; None for any other.
        """
        own = self._file.definitions[function]
        call = self._handed(own.parent).get(function) if own.kind == Kind.LAMBDA else None
        return None if call is None else (own.parent, self.decode(call))

    @kept
    def _handed(self, position: int) -> dict[int, Stored]:
        """The calls of a scope by the functions that are written as their arguments."""
        scope = self._file.scopes[position]
        return {
            argument[1]: call
            for call in (scope.calls if scope is not None else ())
            for argument in _passed(call)
            if is_tagged(argument, DEFINED)
        }

    @cached_property
    def handed_by_name(self) -> Sites:
        """(scope, position among its calls) of every call that may call what it is given, by the
        names of that.
        """
        found: Sites = defaultdict(list)
        for position, index in self._calling:
            scope = self._file.scopes[position]
            assert scope is not None
            call = scope.calls[index]
            _, callee, *_ = call
            _, receiver, *_ = callee if is_tagged(callee, MEMBER) else (None, None)
            names = set[Any]()
            for part in (receiver, *_passed(call)):
                collect_carried(part, names, names, self._readers)
            for name in names - self.semantics.receiver_names:
                found[name].append((position, index))
        return found

    @property
    def _calling(self) -> Iterator[tuple[int, int]]:
        """(scope, position among its calls) of every call that may call what it is given."""
        if self.semantics.calls_back:
            return (
                (at, index)
                for at, scope in self._file.stored_scopes
                for index in range(len(scope.calls))
            )
        named = map(self.calls_by_name.get, calling_names(self.semantics))
        return iter(sorted({place for places in named for place in places or ()}))

    @cached_property
    def _readers(self) -> frozenset[str]:
        """Methods that give what they are called on, or what it holds."""
        return (
            self.semantics.getters
            | self.semantics.views
            | self.semantics.item_views
            | receiver_returning_methods(self.semantics)
        )

    def scopes_writing(self, name: str, *, as_member: bool = False) -> Sequence[int]:
        """The scopes that write a name in any expression, or a member of that name."""
        return self._scopes_by_written.get((name, as_member), ())

    @cached_property
    def _scopes_by_written(self) -> dict[tuple[str, int], list[int]]:
        """The scopes by the names, and by the names of members, that they write."""
        found = defaultdict[tuple[str, int], list[int]](list)
        for position, scope in self._file.stored_scopes:
            for as_member, names in enumerate(written_names(scope)):
                for name in names:
                    found[name, as_member].append(position)
        return found

    def readings(self, name: str) -> Iterator[tuple[int, Expression, int, bool]]:
        """What a name writes that is called or read, each with its scope, its line, and whether it is
        called.
        """
        for position, call in self.calls(name):
            yield position, call.callee, call.line, True
        for position, expression, line in self._reads.get(name, ()):
            yield position, self.decode(expression), line, False

    @cached_property
    def _reads(self) -> dict[str, list[tuple[int, Stored, int]]]:
        """Every member or bare name that is read, with its scope and its line, by name."""
        found = defaultdict[str, list[tuple[int, Stored, int]]](list)
        for position, scope in self._file.stored_scopes:
            for expression, line in scope.reads:
                found[read_name(expression)].append((position, expression, line))
        return found

    def members_named(self, name: str, lines: Container[int]) -> Iterator[tuple[int, int, Member]]:
        """The members of a name that are called, read or assigned, each with its scope and its line,
        0 for one that is assigned; of what syntax may call without writing it, only the calls on
        lines that write it.
        """
        is_implicit = name in self.semantics.implicit_methods
        for position, expression, line, is_called in self.readings(name):
            is_written = not (is_called and is_implicit) or line in lines
            if isinstance(expression, Member) and expression.name == name and is_written:
                yield position, line, expression
        for store in self._file.stores.member_stores(name):
            yield store.scope, 0, Member(store.base, name)

    @cached_property
    def modules_giving(self) -> dict[str, list[str]]:
        """The modules that the file imports each name from, under which name ever, in any scope."""
        found: dict[str, list[str]] = defaultdict(list)
        for _, scope in self._file.stored_scopes:
            for _, value in scope.binds:
                if is_tagged(value, IMPORTED):
                    _, module, name = value
                    found[name].append(module)
        return found

    @kept
    def flows(self, name: Any) -> list[Flow]:
        """The ways that values go which a name (or an anonymous definition) carries."""
        return [
            Flow(scope, self.decode(value), target, self.decode(call), *rest)
            for scope, value, target, call, *rest in self._flows.get(name, ())
        ]

    @cached_property
    def _flows(self) -> dict[Any, list[tuple[Any, ...]]]:
        """What flows are made of, by the names that carry them: there are many more than are asked
        for.
        """
        found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
        for position, scope in self._file.stored_scopes:
            for flow in self._scope_flows(position, scope):
                value = flow[1]
                tag = value[0] if type(value) is tuple else None
                if type(value) is str:
                    found[value.partition(VERSION_MARK)[0]].append(flow)
                elif tag == MEMBER:
                    found[value[2]].append(flow)
                elif tag is not None and tag not in NAMELESS:
                    names, called = set[Any](), set[Any]()
                    collect_carried(value, names, called, self._readers)
                    for name in names:
                        found[name].append(flow)
                    for name in called - names:
                        found[name].append((*flow, True))
        return found

    def _scope_flows(self, position: int, scope: Scope) -> Iterator[tuple[Any, ...]]:
        """What the flows of a scope are made of, but for whether they are of results."""
        own, outer = self._file.definitions[position], self._file.parent(position)
        for target, value in scope.binds:
            names, given = callee_names(target), value
            _, _, key, *_ = target if is_tagged(target, ITEM) else (None,) * 3
            if is_tagged(key, SPREAD):  # `base += value` adds what it holds
                _, given = key
            elif is_tagged(key, CONST) and self.semantics.members_are_items:
                names += key[1:]
            for name in names:
                within = self._known_within(position, name, target)
                yield position, given, name, None, within, False
        returned_by = own.name if own.kind != Kind.LAMBDA else position
        for value in (*scope.returns, *scope.yields):
            yield position, value, returned_by, None, ANYWHERE, True
        for name, _, default, _ in scope.parameters:
            yield outer, default, name, None, position, False
        if scope.decorated is not None:
            is_local = self._file.kind(outer) in CALLABLE_KINDS
            yield outer, scope.decorated, own.name, None, outer if is_local else ANYWHERE, False
        if self.semantics.members_are_items:
            for expression in (*(value for _, value in scope.binds), *scope.returns, *scope.calls):
                for key, value in constant_entries(expression):
                    yield position, value, key, None, ANYWHERE, False
        calling = calling_names(self.semantics)
        for call in scope.calls:
            _, callee, arguments, keywords, *_ = call
            if is_tagged(callee, MEMBER) and callee[2] in calling:
                yield position, callee[1], RECEIVER, call, ANYWHERE, False
            for place, value in (*enumerate(arguments), *keywords):
                yield position, value, place, call, ANYWHERE, False

    def _known_within(self, position: int, name: Any, target: Stored) -> int:
        """The definition inside which alone a name is known that a scope binds: the file for a member
        of the name of a local, and for a name of a block, which may be one around the scope.
        """
        is_own = name in self._file.bound_names[position]
        if self._file.kind(position) not in CALLABLE_KINDS:
            return ANYWHERE
        if is_own and type(target) is str:
            return position
        return 0 if is_own or is_of_block(target) else ANYWHERE


def _passed(call: Stored) -> tuple[Stored, ...]:
    """What a call passes, as it is stored."""
    _, _, arguments, keywords, *_ = call
    return (*arguments, *(value for _, value in keywords))
