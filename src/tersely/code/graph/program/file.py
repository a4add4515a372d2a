"""A file as the graph reads it: its semantics, with tables of what each scope binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from tersely.code.expressions import (
    CONST,
    DECLARED,
    DEFINED,
    DETACHED,
    EITHER,
    EXTENSION,
    GENERATOR,
    IMPORTED,
    ITEM,
    MAPPING,
    MEMBER,
    OUTSIDE,
    OWN_RECEIVER,
    PARAMETER,
    SPREAD,
    STATIC,
    STUB,
    TYPED,
    VARIADIC,
    VERSION_MARK,
    Scope,
    dotted_name,
    is_tagged,
)
from tersely.code.languages.model import RECEIVER, Language, Resolution
from tersely.code.languages.registry import LANGUAGES, family_of
from tersely.code.nodes import (
    Expression,
    Expressions,
    Invocation,
    Known,
    ListLiteral,
    MappingLiteral,
    Member,
    decoded,
)
from tersely.code.places import directory_of
from tersely.code.symbols import CALLABLE_KINDS, MEMBER_OWNERS, Definition, Kind
from tersely.code.syntax.mentions import (
    HOLDERS,
    NAMELESS,
    callee_names,
    calling_names,
    collect_carried,
    constant_entries,
    displays_in,
    is_of_block,
    original_names,
    read_name,
    receiver_returning_methods,
    serials_in,
    written_names,
)

Entry = tuple[int, Expression]  # (scope in which to evaluate, expression)
Sites = dict[Any, list[tuple[int, int]]]  # by name: (scope, position among its calls or reads)
Stored = Any  # an expression as the index has it, in plain tuples
ANYWHERE = -1  # in place of a definition around: the name may be known in every file
Method = TypeVar("Method", bound=Callable[..., Any])


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    annotation: Expression
    default: Expression
    mode: int


class Body:
    """What `Scope` says, each part decoded when it is first asked for."""

    binds: tuple[tuple[Expression, Expression], ...]
    calls: tuple[Invocation, ...]
    reads: tuple[tuple[Expression, int], ...]
    returns: Expressions
    yields: Expressions
    outer: tuple[tuple[str, int], ...]
    stars: tuple[str, ...]
    bases: Expressions
    decorated: Expression
    returned_type: Expression
    receiver_type: Expression
    flags: int
    holder: Expression
    type_parameters: tuple[str, ...]

    def __init__(self, stored: Scope, known: Known) -> None:
        self._stored = stored
        self._known = known

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            found = decoded(getattr(self._stored, name), self._known)
            setattr(self, name, found)
            return found

    def parts(self) -> tuple[Any, ...]:
        """Everything that a scope says, in order."""
        return tuple(decoded(part, self._known) for part in self._stored)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, a receiver that is written down first."""
        return tuple(map(Parameter._make, decoded(self._stored.parameters, self._known)))


class IndexedFile(NamedTuple):
    """A file of the index, without its semantics."""

    id: int
    path: str
    language: str
    namespace: str


class Store(NamedTuple):
    """An assignment to a member or an item: `base.name = value`, `base[key] = value`."""

    scope: int
    base: Expression
    key: Any
    value: Expression


class _Stores(NamedTuple):
    """The assignments to items, and those to members by name, as they are stored."""

    items: list[Store]
    members: dict[str | int, list[Store]]


class Placement(NamedTuple):
    """A value that becomes a member of an object: `object.name = value`, `{name: value}`."""

    scope: int
    value: Expression
    object: Expression


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


def kept(compute: Method) -> Method:
    """A method whose answers are kept in its object, each by its arguments."""
    name = f"_kept_{compute.__name__}"

    @wraps(compute)
    def answer(owner: Any, *key: Any) -> Any:
        known = vars(owner).setdefault(name, {})
        if key not in known:
            known[key] = compute(owner, *key)
        return known[key]

    return cast("Method", answer)


class File:
    """One file with what is known of it statically. Tables are made when first asked for."""

    def __init__(
        self, row: IndexedFile, definitions: Sequence[Definition], scopes: Sequence[Any]
    ) -> None:
        self.id = row.id
        self.path = row.path
        self.namespace = row.namespace
        self.language: Language = LANGUAGES[row.language]
        self.family = family_of(row.language)
        self.semantics: Resolution = self.language.resolution
        self.definitions = definitions
        self._scopes = [
            tuple.__new__(Scope, scope) if type(scope) is tuple else None for scope in scopes
        ]
        self._bodies: list[Body | None] = [None] * len(definitions)
        self._known: Known = {}
        self._entries: dict[tuple[int, str], list[Entry]] = {}
        # by position of what is another name of a definition
        self._meant = {
            position: scope for position, scope in enumerate(scopes) if type(scope) is int
        }
        self.children: dict[int, list[int]] = defaultdict(list)
        for position, definition in enumerate(definitions):
            if position:
                self.children[definition[3]].append(position)
        self._versions: dict[tuple[int, str], int] = {}
        # serial -> where a list or mapping is written
        self.displays: dict[int, tuple[int, ListLiteral | MappingLiteral]] = {}

    @cached_property
    def _stored(self) -> list[tuple[int, Scope]]:
        """Every scope as it is stored, with the position of its definition."""
        return [
            (position, scope) for position, scope in enumerate(self._scopes) if scope is not None
        ]

    @property
    def bodies(self) -> Iterator[tuple[int, Body]]:
        """Every scope, with the position of its definition."""
        return ((position, self.scope(position)) for position, _ in self._stored)

    def kind(self, position: int) -> str:
        """The kind of a definition, one of `Kind`."""
        return self.definitions[position].kind

    def name(self, position: int) -> str:
        """The name of a definition, "" of an anonymous one."""
        return self.definitions[position].name

    def parent(self, position: int) -> int:
        """The position of the definition around one, below 0 for the file itself."""
        return self.definitions[position].parent

    def _decoded(self, stored: Stored) -> Any:
        """What is stored in this file, as nodes."""
        if type(stored) is not tuple:
            return stored
        return self._known.get(id(stored)) or decoded(stored, self._known)

    @cached_property
    def import_base(self) -> str:
        """The path that the meaning of an import in this file depends on."""
        return self.path if self.semantics.relative_to_file else directory_of(self.path)

    def display(self, serial: int) -> tuple[int, ListLiteral | MappingLiteral]:
        """Scope and expression of a list or mapping by its serial."""
        known = self.displays.get(serial)
        if known is None:
            position, display = self._written_displays.get(serial, (0, (MAPPING, (), serial)))
            known = self.displays[serial] = position, decoded(display, {})
        return known

    @cached_property
    def _written_displays(self) -> dict[int, tuple[int, Stored]]:
        """The scope and expression of each list and mapping, by serial."""
        found: dict[int, tuple[int, Stored]] = {}
        for position, scope in self._stored:
            parts = (scope.binds, scope.calls, scope.reads, scope.returns, scope.yields)
            for display in displays_in(parts):
                found.setdefault(display[2], (position, display))
        return found

    def scope(self, position: int) -> Body:
        """The scope of a definition that has one."""
        body = self.body(position)
        assert body is not None
        return body

    def call(self, position: int, index: int) -> Invocation:
        """One of the calls of a scope."""
        scope = self._scopes[position]
        assert scope is not None
        called: Invocation = self._decoded(scope.calls[index])
        return called

    def body(self, position: int) -> Body | None:
        """The scope of a definition, None if it has none of its own."""
        known = self._bodies[position]
        if known is None and (stored := self._scopes[position]) is not None:
            known = self._bodies[position] = Body(stored, self._known)
        return known

    @kept
    def qualnames(self) -> list[str]:
        """Qualified names by position, numbered where a name is defined again."""
        return [definition.numbered_qualname for definition in self.definitions]

    def all_bindings(self, position: int, name: str) -> list[Entry]:
        """The entries that a name of a scope is bound to at any time, as seen from outside the
        scope.
        """
        entries = self.bindings(position, name)
        for version in range(2, self._versions.get((position, name), 1) + 1):
            entries = entries + self.bindings(position, f"{name}{VERSION_MARK}{version}")
        return entries

    def bindings(self, position: int, name: str) -> list[Entry]:
        """The entries that a name of a scope is bound to in this version."""
        known = self._entries.get((position, name))
        if known is None:
            entries = self._bound[position].get(name, ())
            known = [(owner, self._decoded(value)) for owner, value in entries]
            self._entries[position, name] = known
        return known

    def names(self, position: int) -> Mapping[str, object]:
        """The names that a scope binds, by version."""
        return self._bound[position]

    @cached_property
    def by_qualname(self) -> dict[str, int]:
        """Positions by numbered qualified name: for another name of a definition its position."""
        return {
            name: self._meant.get(position, position)
            for position, name in enumerate(self.qualnames())
        }

    def named_owner(self, position: int) -> int:
        """The innermost definition with a name of its own at or around a scope."""
        while self.kind(position) == Kind.LAMBDA or self.name(position)[:1] == "<":
            position = self.parent(position)
        return position

    def inside(self, position: int) -> list[int]:
        """A definition and, for a class, everything in it; for a function what is anonymous in it."""
        is_class = self.kind(position) in MEMBER_OWNERS
        found = [position]
        for child in self.children.get(position, ()):
            if is_class or self.named_owner(child) != child:
                found.extend(self.inside(child))
        return found

    @cached_property
    def stars(self) -> list[str]:
        """Modules whose names the file imports wholesale, in any scope."""
        return [module for _, scope in self._stored for module in scope.stars]

    def original_names(self, name: Any) -> list[str]:
        """The names that something has where it is defined; "" when only evaluating it would tell."""
        return original_names(name, (entry for _, entry in self._bound[0].get(name, ())))

    @cached_property
    def calls_by_name(self) -> Sites:
        """(scope, position among its calls) of every call, by each name its callee is written with."""
        found: Sites = defaultdict(list)
        is_any, marked = (
            self.semantics.functions_are_objects,
            {self.semantics.construct_method, *self.semantics.stand_ins},
        )
        for position, scope in self._stored:
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

    @cached_property
    def _readers(self) -> frozenset[str]:
        """Methods that give what they are called on, or what it holds."""
        return (
            self.semantics.getters
            | self.semantics.views
            | self.semantics.item_views
            | receiver_returning_methods(self.semantics)
        )

    def _other_names(self, callee: Stored, names: tuple[Any, ...]) -> tuple[Any, ...]:
        """The names of a member that is called, with those of other things that the call may mean."""
        semantics = self.semantics
        every = dict.fromkeys((*names, *semantics.in_place_of(callee[2])))
        if semantics.functions_are_objects or callee[2] == semantics.construct_method:
            owners = set(callee_names(callee[1])) - semantics.receiver_names
            every.update(dict.fromkeys(owners - semantics.super_names))
        return tuple(every)

    def calls(self, name: Any) -> Iterator[tuple[int, Invocation]]:
        """Every call that a name writes, with its scope."""
        for scope, index in self.calls_by_name.get(name, ()):
            yield scope, self.call(scope, index)

    def calls_inside(self, name: Any, outer: int) -> list[tuple[int, int]]:
        """(scope, position among its calls) of the calls inside a definition that a name writes, and
        of those that may call what they are given by that.
        """
        places = (*self.calls_by_name.get(name, ()), *self.handed_by_name.get(name, ()))
        return [(at, index) for at, index in dict.fromkeys(places) if self.is_inside(at, outer)]

    def handed(self, function: int) -> tuple[int, Invocation] | None:
        """The place where a function without a name is written as an argument: the scope, and the
        call that takes it; None for any other.
        """
        own = self.definitions[function]
        call = self._handed(own.parent).get(function) if own.kind == Kind.LAMBDA else None
        return None if call is None else (own.parent, self._decoded(call))

    @kept
    def _handed(self, position: int) -> dict[int, Stored]:
        """The calls of a scope by the functions that are written as their arguments."""
        scope = self._scopes[position]
        return {
            argument[1]: call
            for call in (scope.calls if scope is not None else ())
            for argument in (*call[2], *(value for _, value in call[3]))
            if is_tagged(argument, DEFINED)
        }

    @cached_property
    def handed_by_name(self) -> Sites:
        """(scope, position among its calls) of every call that may call what it is given, by the
        names of that.
        """
        found: Sites = defaultdict(list)
        for position, index in self._calling:
            scope = self._scopes[position]
            assert scope is not None
            call = scope.calls[index]
            receiver = call[1][1] if is_tagged(call[1], MEMBER) else None
            names = set[Any]()
            for part in (receiver, *call[2], *(value for _, value in call[3])):
                collect_carried(part, names, names, self._readers)
            for name in names - self.semantics.receiver_names:
                found[name].append((position, index))
        return found

    @property
    def _calling(self) -> Iterator[tuple[int, int]]:
        """(scope, position among its calls) of every call that may call what it is given."""
        if self.semantics.calls_back:
            return ((at, index) for at, scope in self._stored for index in range(len(scope.calls)))
        named = map(self.calls_by_name.get, calling_names(self.semantics))
        return iter(sorted({place for places in named for place in places or ()}))

    def scopes_writing(self, name: str, *, as_member: bool = False) -> Sequence[int]:
        """The scopes that write a name in any expression, or a member of that name."""
        return self._scopes_by_written.get((name, as_member), ())

    @cached_property
    def _scopes_by_written(self) -> dict[tuple[str, int], list[int]]:
        """The scopes by the names, and by the names of members, that they write."""
        found = defaultdict[tuple[str, int], list[int]](list)
        for position, scope in self._stored:
            for as_member, names in enumerate(written_names(scope)):
                for name in names:
                    found[name, as_member].append(position)
        return found

    @cached_property
    def _reads(self) -> dict[str, list[tuple[int, Stored, int]]]:
        """Every member or bare name that is read, with its scope and its line, by name."""
        found = defaultdict[str, list[tuple[int, Stored, int]]](list)
        for position, scope in self._stored:
            for expression, line in scope.reads:
                found[read_name(expression)].append((position, expression, line))
        return found

    def readings(self, name: str) -> Iterator[tuple[int, Expression, int, bool]]:
        """What a name writes that is called or read, each with its scope, its line, and whether it is
        called.
        """
        for position, call in self.calls(name):
            yield position, call.callee, call.line, True
        for position, expression, line in self._reads.get(name, ()):
            yield position, self._decoded(expression), line, False

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
        for store in self.member_stores(name):
            yield store.scope, 0, Member(store.base, name)

    @cached_property
    def modules_giving(self) -> dict[str, list[str]]:
        """The modules that the file imports each name from, under which name ever, in any scope."""
        found: dict[str, list[str]] = defaultdict(list)
        for _, scope in self._stored:
            for _, value in scope.binds:
                if is_tagged(value, IMPORTED):
                    found[value[2]].append(value[1])
        return found

    @kept
    def flows(self, name: Any) -> list[Flow]:
        """The ways that values go which a name (or an anonymous definition) carries."""
        return [
            Flow(scope, self._decoded(value), target, self._decoded(call), *rest)
            for scope, value, target, call, *rest in self._flows.get(name, ())
        ]

    @cached_property
    def _flows(self) -> dict[Any, list[tuple[Any, ...]]]:
        """What flows are made of, by the names that carry them: there are many more than are asked
        for.
        """
        found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
        for position, scope in self._stored:
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
        own, outer = self.definitions[position], self.parent(position)
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
            is_local = self.kind(outer) in CALLABLE_KINDS
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
        is_own = name in self._bound[position]
        if self.kind(position) not in CALLABLE_KINDS:
            return ANYWHERE
        if is_own and type(target) is str:
            return position
        return 0 if is_own or is_of_block(target) else ANYWHERE

    def is_inside(self, position: int, outer: int) -> bool:
        """True if a definition is another, or in it, or in any place."""
        while position > outer:
            position = self.parent(position)
        return position == outer

    def named_inside(self, position: int, *names: str) -> list[int]:
        """The definitions of some names that stand in another, not deeper."""
        around = self.children.get(position, ())
        return [child for child in around if self.name(child) in names]

    def owner_class(self, position: int) -> int:
        """The class whose member a definition is, -1 for none, or where there is no definition."""
        parent = self.parent(position) if position >= 0 else -1
        return parent if parent >= 0 and self.kind(parent) in MEMBER_OWNERS else -1

    def origin(self, position: int) -> str:
        """The name of the class around a definition, else its own."""
        owner = self.owner_class(position)
        return self.name(position if owner < 0 else owner)

    def is_prefixed(self, position: int) -> bool:
        """True if a definition names its owner instead of standing in it."""
        own = self.definitions[position]
        around = self.definitions[own.parent].qualname
        return own.qualname != (f"{around}.{own.name}" if around else own.name)

    def enclosing_method(self, position: int) -> int:
        """The innermost method around a scope (itself included), -1 for none."""
        while position > 0:
            if self.kind(position) in CALLABLE_KINDS:
                scope = self._scopes[position]
                if self.owner_class(position) >= 0 or (
                    scope is not None and scope.receiver_type is not None
                ):
                    return position
                if scope is not None and scope.flags & OWN_RECEIVER:
                    return position
            position = self.parent(position)
        return -1

    def receiver_name(self, method: int) -> str:
        """The name of the receiver parameter of a method, empty when it has none."""
        scope = self._scopes[method]
        if scope is None or scope.flags & (STATIC | OUTSIDE) or not scope.parameters:
            return ""
        if self.kind(method) in MEMBER_OWNERS:
            return ""
        if scope.receiver_type is not None or self.semantics.receiver_parameter:
            return scope.parameters[0][0]
        return ""

    def is_parameter(self, position: int, name: str) -> bool:
        """True if a name is a parameter of a function and nothing else."""
        if self.kind(position) not in CALLABLE_KINDS:
            return False
        entries = self._bound[position].get(name, ())
        return len(entries) == 1 and is_tagged(entries[0][1], PARAMETER)

    @kept
    def given_back(self, position: int) -> tuple[int, ...]:
        """The parameters that a function returns just as they came, its receiver aside."""
        scope = self.scope(position)
        returns = () if scope.flags & GENERATOR else scope.returns
        names = {each for each in returns if type(each) is str}
        own = {self.receiver_name(position)} if self.owner_class(position) >= 0 else set()
        return tuple(
            index
            for index, (name, _, _, mode) in enumerate(scope.parameters)
            if name in names - own
            and mode not in VARIADIC
            and len(self.all_bindings(position, name)) == 1
        )

    def receiver_stores(self, owner: int, member: str) -> list[Entry]:
        """The entries that methods of a class assign to a member of their receiver."""
        entries = self._receiver_stores(owner).get(member, ())
        return [(at, self._decoded(value)) for at, value in entries]

    @kept
    def _receiver_stores(self, owner: int) -> dict[str, list[tuple[int, Stored]]]:
        found: dict[str, list[tuple[int, Stored]]] = defaultdict(list)
        if self.kind(owner) in CALLABLE_KINDS:  # a function that makes objects
            self._collect_receiver_stores(owner, set(self.semantics.receiver_names), found)
            return found
        for child in self.children.get(owner, ()):
            if self._scopes[child] is not None and self.kind(child) not in MEMBER_OWNERS:
                names = {self.receiver_name(child), *self.semantics.receiver_names}
                self._collect_receiver_stores(child, names, found)
        return found

    def _collect_receiver_stores(
        self, position: int, names: set[str], found: dict[str, list[tuple[int, Stored]]]
    ) -> None:
        scope = self._scopes[position]
        for target, value in scope.binds if scope is not None else ():
            if is_tagged(target, MEMBER) and target[1] in names and target[1]:
                found[target[2]].append((position, value))
        for child in self.children.get(position, ()):
            scope = self._scopes[child]
            if (
                scope is not None
                and self.kind(child) not in MEMBER_OWNERS
                and not scope.flags & OWN_RECEIVER
            ):
                self._collect_receiver_stores(child, names, found)

    @cached_property
    def computed_stores(self) -> list[Store]:
        """Assignments to items whose key is not written down."""
        return [
            self._decoded_store(store)
            for store in self._stores.items
            if not is_tagged(store.key, CONST)
        ]

    def placements(self, name: Any) -> list[Placement]:
        """The places that make something a member of an object, by a name in it."""
        return [
            Placement(at, *map(self._decoded, given))
            for at, *given in self._placements.get(name, ())
        ]

    @cached_property
    def _placements(self) -> dict[Any, list[Placement]]:
        found: dict[Any, list[Placement]] = defaultdict(list)
        for stores in self._stores.members.values():
            for store in stores:
                for name in callee_names(store.value):
                    found[name].append(Placement(store.scope, store.value, store.base))
        for position, prototype, members in self._given_prototypes:
            for _, value in members:
                for name in callee_names(value):
                    found[name].append(Placement(position, value, prototype))
        for position, scope in self._stored:
            for display in displays_in((scope.binds, scope.calls, scope.returns, scope.yields)):
                for _, value in display[1] if display[0] == MAPPING else ():
                    for name in callee_names(value):
                        found[name].append(Placement(position, value, display))
        return found

    @property
    def _given_prototypes(self) -> Iterator[tuple[int, Stored, Any]]:
        """What a prototype is, or is given by another object, as far as it is written there: the
        scope, the prototype, and the members.
        """
        name = self.semantics.prototype
        for store in self._stores.members.get(name, ()) if name else ():
            if is_tagged(store.value, MAPPING):
                yield store.scope, (MEMBER, store.base, name), store.value[1]
        for store in self._stores.items:
            if (
                is_tagged(store.key, SPREAD)
                and is_tagged(store.key[1], MAPPING)
                and callee_names(store.base) == (name,)
            ):
                yield store.scope, store.base, store.key[1][1]

    def computed_receiver_stores(self, owner: int) -> list[Store]:
        """What a class, or a function that makes objects, assigns to items of its receiver under
        keys that are not written down.
        """
        return [store for store in self.computed_stores if self._stores_into(store) == owner]

    def _stores_into(self, store: Store) -> int:
        """The class, or function that makes objects, whose receiver an assignment changes; -1 for
        none.
        """
        if store.base not in self.semantics.receiver_names:
            return -1
        method = self.enclosing_method(store.scope)
        owner = self.owner_class(method)
        return owner if owner >= 0 else method

    @cached_property
    def merges(self) -> list[Store]:
        """Statements that add everything that one object holds to another."""
        stores = [store for store in self._stores.items if is_tagged(store.key, SPREAD)]
        return list(map(self._decoded_store, stores))

    @cached_property
    def display_names(self) -> dict[int, set[str]]:
        """Names by which other files may reach lists and mappings, by their serials: of members, and
        of what is not local to a function.
        """
        found: dict[int, set[str]] = defaultdict(set)
        for position, scope in self._stored:
            for target, value in scope.binds:
                is_member = is_tagged(target, MEMBER)
                if is_member or self.kind(position) not in CALLABLE_KINDS:
                    for serial in serials_in(value):
                        found[serial].update(callee_names(target))
        return found

    @cached_property
    def computed_names(self) -> dict[int, dict[str, Expression]]:
        """What stands in brackets in place of the names of methods, by name, by what is around."""
        found: dict[int, dict[str, Expression]] = defaultdict(dict)
        for _, name, _, parent, *_ in self.definitions:
            computed = decoded(dotted_name(name[1:-1]), {}) if name[:1] == "[" else None
            if computed is not None:
                found[parent][name] = computed
        return found

    @kept
    def item_stores_of(self, name: Any) -> list[Store]:
        """Every `base[key] = value` of the file whose base writes a name."""
        return list(map(self._decoded_store, self._items_by_base.get(name, ())))

    @cached_property
    def _items_by_base(self) -> dict[Any, list[Store]]:
        found: dict[Any, list[Store]] = defaultdict(list)
        for store in self._stores.items:
            for name in callee_names(store.base):
                found[name].append(store)
        return found

    @cached_property
    def item_stores(self) -> list[Store]:
        """Every `base[key] = value` of the file."""
        return list(map(self._decoded_store, self._stores.items))

    def _decoded_store(self, store: Store) -> Store:
        scope, *rest = store
        return Store(scope, *map(self._decoded, rest))

    def declared_members(self, position: int) -> list[tuple[str, Expression]]:
        """The members that a scope gives values with a type, with those."""
        scope = self._scopes[position]
        return [
            (target[2], self._decoded(value))
            for target, value in (scope.binds if scope is not None else ())
            if is_tagged(target, MEMBER) and is_tagged(value, TYPED, DECLARED, EITHER)
        ]

    @kept
    def member_stores(self, name: str | int) -> list[Store]:
        """Every `base.name = value` of the file."""
        return list(map(self._decoded_store, self._stores.members.get(name, ())))

    @property
    def stores_members(self) -> bool:
        """True if the file has any `base.name = value`."""
        return bool(self._stores.members)

    @cached_property
    def _stores(self) -> _Stores:
        items: list[Store] = []
        members: dict[str | int, list[Store]] = defaultdict(list)
        are_items = self.semantics.members_are_items
        for position, scope in self._stored:
            for target, value in scope.binds:
                if not is_tagged(target, ITEM, MEMBER):
                    continue
                tag, base, key, *_ = target
                is_constant = is_tagged(key, CONST)
                name = key[1] if is_constant else key
                if tag == MEMBER or (is_constant and are_items):
                    members[name].append(Store(position, base, name, value))
                if tag == ITEM or are_items:
                    given = key if tag == ITEM else (CONST, name)
                    items.append(Store(position, base, given, value))
        return _Stores(items, members)

    @cached_property
    def _bound(self) -> dict[int, dict[str, list[tuple[int, Stored]]]]:
        """What each name of each scope is bound to, by version."""
        tables: dict[int, dict[str, list[tuple[int, Stored]]]] = {
            position: defaultdict(list) for position, _ in self._stored
        }
        for position, scope in self._stored:
            own = self.definitions[position]
            if self._binds_its_name(position, scope):
                value = scope.decorated if scope.decorated is not None else (DEFINED, position)
                tables[own.parent][own.name].append((own.parent, value))
            table = tables[position]
            # those of its header are bound as its members
            is_class = self.kind(position) in MEMBER_OWNERS
            for index, parameter in enumerate(() if is_class else scope.parameters):
                table[parameter[0]].append((position, (PARAMETER, index)))
            outer = dict(scope.outer)
            for target, value in scope.binds:
                if type(target) is str:
                    owner = (
                        self._outer_owner(position, target, outer[target])
                        if target in outer
                        else position
                    )
                    tables[owner][target].append((position, value))
                    name, _, version = target.partition(VERSION_MARK)
                    if version.isdigit():
                        tables[owner].setdefault(name, [])
                        self._versions[owner, name] = max(
                            int(version), self._versions.get((owner, name), 1)
                        )
        return tables

    def known_within(self, position: int) -> int:
        """The function inside which alone a function is known by its name."""
        outer, scope = self.parent(position), self._scopes[position]
        if scope is None or scope.holder is not None or self.semantics.found_anywhere:
            return ANYWHERE
        is_bound = self.name(position) in self._bound.get(outer, ())
        is_local = is_bound and self.kind(outer) in CALLABLE_KINDS
        return outer if is_local else ANYWHERE

    def _binds_its_name(self, position: int, scope: Scope) -> bool:
        """True if a definition binds its name in the scope around it."""
        own = self.definitions[position]
        if position == 0 or own.kind == Kind.LAMBDA or scope.flags & (EXTENSION | DETACHED | STUB):
            return False
        is_method_outside = scope.receiver_type is not None and own.parent == 0
        return not is_method_outside and not self.is_prefixed(position)

    def _outer_owner(self, position: int, name: str, of_module: int) -> int:
        if of_module:
            return 0
        owner: int = self.parent(position)
        while owner > 0:
            if name in self._declared_in(owner):
                return owner
            owner = self.parent(owner)
        return 0

    @kept
    def _declared_in(self, position: int) -> set[str]:
        """Names that the scope of a definition binds as its own."""
        scope = self._scopes[position]
        found = {self.name(child) for child in self.children.get(position, ())}
        if scope is not None:
            found.update(parameter[0] for parameter in scope.parameters)
            found.update(target for target, _ in scope.binds if type(target) is str)
            found.difference_update(name for name, _ in scope.outer)
        return found
