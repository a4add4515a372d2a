"""The paths of routes: what they begin with, and how well one fits the path that a call asks for.

A route belongs to the router that it is registered at, to the class whose method handles it, to the
function that is given a router for its routes, or to the module that lists it. Each of them may be
registered for a path itself, at another router or in another module; together these are what the
path of the route begins with. A route that is a value, put into a list of routes, is itself a router.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.expressions import HOLE, Expression
from tersely.code.graph.calls.passing import called_arguments, receiver_of
from tersely.code.graph.calls.targets import Target
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    CollectionObject,
    ContainerLiteral,
    FunctionObject,
    ModuleObject,
    Value,
    is_router,
    itself,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.languages.model import Summary
from tersely.code.nodes import Call, Invocation, ListLiteral, Member
from tersely.code.symbols import CALLABLE_KINDS
from tersely.code.syntax.mentions import displays_in

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

MAX_ROUTERS = 6  # under each other
MAX_BEGINNINGS = 20  # paths that the routes of one router begin with
BEGINNINGS_LIMIT = (
    f"{MAX_BEGINNINGS} paths of a router were taken, and {MAX_ROUTERS} routers under each other"
)

PLACEHOLDER = "{}"
_GROUP = re.compile(r"\((?:[^()\\]|\\.|\([^()]*\))*\)[*+?]?|\[[^\]]*\][*+?]?|\\[dws][*+]?|\.[*+]")


class Registered(NamedTuple):
    """That a router is registered for some paths, among the routes of other routers."""

    paths: frozenset[str]
    at: frozenset[Value]
    moves: bool  # instead of the path that it was made with


class Routers(Component):
    """Routers, and what the paths of their routes begin with."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.connect()
        self._made: dict[Value, Registered] = {}
        self._registered: dict[Value, set[Registered]] = defaultdict(set)
        # by router and the number of routers above it that are still looked at
        self._beginnings: dict[tuple[Value, int], frozenset[str]] = {}

    def note(
        self,
        file: File,
        scope: int,
        summary: Summary,
        call: Invocation,
        paths: Iterable[str],
        handlers: Collection[Target],
    ) -> None:
        """Take in what a call does with routers: it makes one, or is given some, for paths. A class
        is no router where its methods are the handlers that the call registers.
        """
        at = self.around(file, scope, call)
        registered = Registered(frozenset(paths), at, summary.moves_router)
        if summary.makes_router:
            made = self.made(file, scope, call)
            self._made.update(dict.fromkeys(made, registered))
            registered = Registered(frozenset(), made, moves=False)
        for expression in called_arguments(summary, call):
            for value in self._given(file, scope, expression, gives_router(summary)):
                if not isinstance(value, ClassObject) or not handlers:
                    self._registered[value].add(registered)

    def made(self, file: File, scope: int, call: Invocation) -> frozenset[Value]:
        """The routers that a call makes."""
        return frozenset(filter(is_router, self.values(file, scope, call)))

    def around(self, file: File, scope: int, call: Invocation) -> frozenset[Value]:
        """The routers that a call registers something at, else the function or module it is in."""
        made_by = call.callee if isinstance(call.callee, Call) else call
        receiver = receiver_of(made_by)
        values = self.values(file, scope, receiver) if receiver is not None else ()
        routers = frozenset(filter(is_router, values))
        return routers or frozenset((self._lists(file).get(call) or _place(file, scope),))

    @kept
    def _lists(self, file: File) -> dict[Expression, ContainerLiteral]:
        """The lists of a file by the calls that are written in them, each with its line."""
        return {
            element: ContainerLiteral(file.id, display.serial)
            for _, scope in file.bodies
            for display in displays_in(scope.parts())
            if isinstance(display, ListLiteral)
            for element in display.elements
            if isinstance(element, Call)
        }

    def _given(
        self, file: File, scope: int, expression: Expression, takes_functions: bool
    ) -> Iterator[Value]:
        """The routers, classes and modules of routes that an argument is or a list of it holds;
        `router.routes()` and `include(router.urls)` stand for the router.
        """
        kinds = (
            ClassObject,
            ModuleObject,
            ContainerLiteral,
            *((FunctionObject,) if takes_functions else ()),
        )
        while expression is not None:
            values = self.values(file, scope, expression)
            lists = only(values, ContainerLiteral, CollectionObject)
            values |= self.containers.held(lists)
            found = [_unbound(one) for one in values if isinstance(one, kinds) or is_router(one)]
            if found:
                yield from found
                return
            expression = _inside(expression)

    def before(self, handler: Target, routers: Iterable[Value]) -> set[str]:
        """What the paths of a handler begin with that is registered at some routers: with those of
        its class if there are any, else with theirs. To be asked when all calls are taken in.
        """
        around = self.file(handler.file).parent(handler.position)
        owner = ClassObject(handler.file, around)
        found: set[str] = set()
        for one in (owner,) if owner in self._registered else routers:
            found |= self._before(one, MAX_ROUTERS)
        return found

    def _before(self, owner: Value, depth: int) -> frozenset[str]:
        if not depth:
            self.bounds.add(BEGINNINGS_LIMIT)
            return frozenset(("",))
        known = self._beginnings.get((owner, depth))
        if known is None:
            known = self._beginnings[owner, depth] = self._found_before(owner, depth)
        return known

    def _found_before(self, owner: Value, depth: int) -> frozenset[str]:
        if isinstance(owner, (FunctionObject, ContainerLiteral)) and owner not in self._registered:
            file = self.home(owner)
            if isinstance(owner, FunctionObject):
                around = file.parent(owner.position)
            else:
                around, _ = file.display(owner.serial)
            return self._before(_place(file, around), depth)
        made = self._made.get(owner)
        own = made.paths if made is not None else frozenset()
        found: set[str] = set()
        for one in sorted(self._registered.get(owner, ()), key=repr):
            ends = joined(one.paths or {""}, {""} if one.moves and one.paths else own or {""})
            found |= self._under(one.at, owner, ends, depth)
        if not found:
            found = self._under(made.at if made is not None else (), owner, own or {""}, depth)
        if len(found) > MAX_BEGINNINGS:
            self.bounds.add(BEGINNINGS_LIMIT)
        return frozenset(sorted(found)[:MAX_BEGINNINGS])

    def _under(
        self, above: Iterable[Value], owner: Value, ends: Iterable[str], depth: int
    ) -> set[str]:
        """Paths behind what those of the routers above begin with."""
        starts: set[str] = set()
        for router in above:
            starts |= self._before(router, depth - 1) if router != owner else frozenset()
        return joined(starts or {""}, ends)


def gives_router(summary: Summary) -> bool:
    """True if what is called is given the router, to register routes at it."""
    return "receiver" in summary.passes


def _place(file: File, scope: int) -> Value:
    """The innermost function around a scope, itself included, else the module."""
    while scope > 0:
        if file.kind(scope) in CALLABLE_KINDS:
            return FunctionObject(file.id, scope)
        scope = file.parent(scope)
    return ModuleObject(file.id)


def _unbound(value: Value) -> Value:
    """A function without the object that it belongs to, any other value as it is."""
    return itself(value) if isinstance(value, FunctionObject) else value


def _inside(expression: Expression) -> Expression:
    """What a member is of, or what a function is given, None for all else."""
    match expression:
        case Member(owner):
            return owner
        case Call(_, (first, *_)):
            return first
        case Call():
            return receiver_of(expression)
    return None


def joined(starts: Iterable[str], ends: Iterable[str]) -> set[str]:
    """Each end behind each start, with a slash between them alone."""
    return {f"{start.strip('/')}/{end.strip('/')}".strip("/") for start in starts for end in ends}


def of_pattern(text: str) -> str:
    """The path that a regular expression matches, with placeholders for what is not fixed."""
    ends = text.removeprefix("^").removesuffix("$").removesuffix("/?")
    return _GROUP.sub(PLACEHOLDER, ends)


def segments(path: str) -> list[str]:
    """The parts of the path of a URL, without host, query and fragment."""
    _, scheme, rest = path.partition("://")
    path = f"/{rest.partition('/')[2]}" if scheme else path
    return [part for part in path.partition("?")[0].partition("#")[0].split("/") if part]


class Fit(NamedTuple):
    """The fit of a route and a path: the parts that are equal, then all that were compared, then
    the placeholders that stand for what is not known.
    """

    told: int
    parts: int
    unknown: int = 0


NO_FIT = Fit(0, 0)


def fit(route: list[str], asked: list[str], *, from_root: bool) -> Fit:
    """The fit of a route and a path of which the beginning may be a prefix, `NO_FIT` where it is
    another or tells nothing apart. The root is told by having no parts, a route of placeholders by
    their number where the path is known from the root on; a hole at the beginning of a path stands
    for any number of parts.
    """
    is_open = asked[:1] == [HOLE]
    known = asked[1:] if is_open else asked
    if not route:
        return Fit(1, 0) if not known else NO_FIT
    if len(route) > len(known) and not is_open:
        return NO_FIT
    told = unknown = 0
    for own, other in zip(reversed(route), reversed(known), strict=False):
        if is_placeholder(own):
            unknown += HOLE in other
        elif own == other:
            told += 1
        elif HOLE not in other:
            return NO_FIT
    is_told = told or (from_root and len(route) == len(known))
    return Fit(told, min(len(route), len(known)), unknown) if is_told else NO_FIT


def is_placeholder(part: str) -> bool:
    """True if a part of a route stands for any text: `<int:id>`, `{id}`, `:id`, `*`."""
    return part[:1] in ("<", "{", ":", "*")
