"""A file as the graph reads it: its semantics, with tables of what each scope binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property, wraps
from itertools import starmap
from typing import Any, NamedTuple, TypeVar, cast

from tersely.code.expressions import (
    CONST,
    DEFINED,
    DETACHED,
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
    VARIADIC,
    VERSION_MARK,
    Expression,
    Scope,
    dotted_name,
    is_tagged,
)
from tersely.code.languages.model import RECEIVER, Language, Resolution
from tersely.code.languages.registry import LANGUAGES, family_of
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
Method = TypeVar("Method", bound=Callable[..., Any])


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
    call: Expression
    is_local: bool = False  # the name is known in this file alone
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
        self.scopes: list[Scope | None] = [
            Scope(*scope) if type(scope) is tuple else None for scope in scopes
        ]
        # by position of what is another name of a definition
        self._meant = {
            position: scope for position, scope in enumerate(scopes) if type(scope) is int
        }
        self.children: dict[int, list[int]] = defaultdict(list)
        for position, definition in enumerate(definitions):
            if position:
                self.children[definition[3]].append(position)
        self._names: dict[int, dict[str, list[Entry]]] = {}
        self._versions: dict[tuple[int, str], int] = {}
        # serial -> where a list or mapping is written
        self.displays: dict[int, tuple[int, Expression]] = {}

    @cached_property
    def bodies(self) -> list[tuple[int, Scope]]:
        """Every scope, with the position of its definition."""
        return [
            (position, scope) for position, scope in enumerate(self.scopes) if scope is not None
        ]

    @cached_property
    def import_base(self) -> str:
        """The path that the meaning of an import in this file depends on."""
        return self.path if self.semantics.relative_to_file else self.path.rpartition("/")[0]

    def display(self, serial: int) -> tuple[int, Expression]:
        """Scope and expression of a list or mapping by its serial."""
        known = self.displays.get(serial)
        if known is None:
            for position, scope in self.bodies:
                for found in displays_in(
                    (scope.binds, scope.calls, scope.reads, scope.returns, scope.yields)
                ):
                    self.displays.setdefault(found[2], (position, found))
            known = self.displays.setdefault(serial, (0, (MAPPING, (), serial)))
        return known

    def scope(self, position: int) -> Scope:
        """The scope of a definition that has one."""
        scope = self.scopes[position]
        assert scope is not None
        return scope

    @kept
    def qualnames(self) -> list[str]:
        """Qualified names by position, numbered where a name is defined again."""
        return [definition.numbered_qualname for definition in self.definitions]

    def all_bindings(self, position: int, name: str) -> list[Entry]:
        """The entries that a name of a scope is bound to at any time, as seen from outside the
        scope.
        """
        table = self.names(position)
        entries = table.get(name, [])
        for version in range(2, self._versions.get((position, name), 1) + 1):
            entries = entries + table[f"{name}{VERSION_MARK}{version}"]
        return entries

    def names(self, position: int) -> dict[str, list[Entry]]:
        """The entries that each name of a scope is bound to, by version."""
        known = self._names.get(position)
        if known is None:
            self._fill_names()
            known = self._names[position]
        return known

    @cached_property
    def by_qualname(self) -> dict[str, int]:
        """Positions by numbered qualified name: for another name of a definition its position."""
        return {
            name: self._meant.get(position, position)
            for position, name in enumerate(self.qualnames())
        }

    def named_owner(self, position: int) -> int:
        """The innermost definition with a name of its own at or around a scope."""
        while (
            self.definitions[position].kind == Kind.LAMBDA
            or self.definitions[position].name[:1] == "<"
        ):
            position = self.definitions[position].parent
        return position

    def inside(self, position: int) -> list[int]:
        """A definition and, for a class, everything in it; for a function what is anonymous in it."""
        is_class = self.definitions[position].kind in MEMBER_OWNERS
        found = [position]
        for child in self.children.get(position, ()):
            if is_class or self.named_owner(child) != child:
                found.extend(self.inside(child))
        return found

    @cached_property
    def stars(self) -> list[str]:
        """Modules whose names the file imports wholesale, in any scope."""
        return [module for _, scope in self.bodies for module in scope.stars]

    def original_names(self, name: Any) -> list[str]:
        """The names that something has where it is defined; "" when only evaluating it would tell."""
        return original_names(name, (entry for _, entry in self.names(0).get(name, ())))

    @cached_property
    def calls_by_name(self) -> dict[Any, list[tuple[int, int]]]:
        """(scope, position among its calls) of every call, by each name its callee is written with."""
        found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        is_any, marked = (
            self.semantics.functions_are_objects,
            {self.semantics.construct_method, *self.semantics.stand_ins},
        )
        for position, scope in self.bodies:
            for index, call in enumerate(scope.calls):
                callee = call[1]
                names: Iterable[Any] = callee_names(callee)
                if is_tagged(callee, MEMBER) and (is_any or callee[2] in marked):
                    names = self._other_names(callee, names)
                if is_tagged(callee, *HOLDERS):
                    held: set[Any] = set(names)
                    collect_carried(callee, held, held, self._readers)
                    names = held
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

    def _other_names(self, callee: Any, names: Iterable[Any]) -> Iterable[Any]:
        """The names of a member that is called, with those of other things that the call may mean."""
        semantics = self.semantics
        every = dict.fromkeys(names)
        every.update(dict.fromkeys(semantics.in_place_of(callee[2])))
        if semantics.functions_are_objects or callee[2] == semantics.construct_method:
            every.update(
                dict.fromkeys(
                    set(callee_names(callee[1])) - semantics.receiver_names - semantics.super_names
                )
            )
        return every

    @cached_property
    def handed(self) -> dict[int, tuple[int, Expression]]:
        """The places where a function without a name is written as an argument: the scope, and the
        call that takes it.
        """
        return {
            argument[1]: (position, call)
            for position, scope in self.bodies
            for call in scope.calls
            for argument in (*call[2], *(value for _, value in call[3]))
            if is_tagged(argument, DEFINED) and self.definitions[argument[1]].kind == Kind.LAMBDA
        }

    @cached_property
    def handed_by_name(self) -> dict[Any, list[tuple[int, int]]]:
        """(scope, position among its calls) of every call that may call what it is given, by the
        names of that.
        """
        found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        calls_back, calling = self.semantics.calls_back, calling_names(self.semantics)
        for position, scope in self.bodies:
            for index, call in enumerate(scope.calls):
                if calls_back or not calling.isdisjoint(callee_names(call[1])):
                    receiver = call[1][1] if is_tagged(call[1], MEMBER) else None
                    given = (receiver, *call[2], *(value for _, value in call[3]))
                    names = set[Any]()
                    for part in given:
                        collect_carried(part, names, names, self._readers)
                    for name in names - self.semantics.receiver_names:
                        found[name].append((position, index))
        return found

    def scopes_naming(self, name: str) -> Sequence[int]:
        """The scopes that write a name in any expression."""
        return self._scopes_by_written[0].get(name, ())

    def scopes_with_member(self, name: str) -> Sequence[int]:
        """The scopes that write a member of that name in any expression."""
        return self._scopes_by_written[1].get(name, ())

    @cached_property
    def _scopes_by_written(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The scopes by the names, and by the names of members, that they write."""
        naming: dict[str, list[int]] = defaultdict(list)
        with_member: dict[str, list[int]] = defaultdict(list)
        for position, scope in self.bodies:
            names, members = written_names(scope)
            for name in names:
                naming[name].append(position)
            for member in members:
                with_member[member].append(position)
        return naming, with_member

    @cached_property
    def reads_by_name(self) -> dict[str, list[tuple[int, int]]]:
        """(scope, position among its reads) of every member or bare name that is read, by name."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for position, scope in self.bodies:
            for index, (expression, _) in enumerate(scope.reads):
                found[read_name(expression)].append((position, index))
        return found

    def members_named(self, name: str, lines: Container[int]) -> Iterator[tuple[int, Expression]]:
        """The members of a name that are called, read or assigned, each with its scope; of what
        syntax may call without writing it, only the calls on lines that write it.
        """
        is_implicit = name in self.semantics.implicit_methods
        for position, index in self.calls_by_name.get(name, ()):
            call = self.scope(position).calls[index]
            callee, is_written = call[1], not is_implicit or call[4] in lines
            if type(callee) is tuple and callee[::2] == (MEMBER, name) and is_written:
                yield position, callee
        for position, index in self.reads_by_name.get(name, ()):
            expression = self.scope(position).reads[index][0]
            if is_tagged(expression, MEMBER):
                yield position, expression
        for store in self.member_stores().get(name, ()):
            yield store.scope, (MEMBER, store.base, name)

    @cached_property
    def modules_giving(self) -> dict[str, list[str]]:
        """The modules that the file imports each name from, under which name ever, in any scope."""
        found: dict[str, list[str]] = defaultdict(list)
        for _, scope in self.bodies:
            for _, value in scope.binds:
                if is_tagged(value, IMPORTED):
                    found[value[2]].append(value[1])
        return found

    def flows(self, name: Any) -> Iterator[Flow]:
        """The ways that values go which a name (or an anonymous definition) carries."""
        return starmap(Flow, self._flows.get(name, ()))

    @cached_property
    def _flows(self) -> dict[Any, list[tuple[Any, ...]]]:
        """What flows are made of, by the names that carry them: there are many more than are asked
        for.
        """
        found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
        for position, scope in self.bodies:
            for flow in self._scope_flows(position, scope):
                value = flow[1]
                if type(value) is str:
                    found[value.partition(VERSION_MARK)[0]].append(flow)
                elif is_tagged(value, MEMBER):
                    found[value[2]].append(flow)
                elif type(value) is tuple and value[0] not in NAMELESS:
                    names, called = set[Any](), set[Any]()
                    collect_carried(value, names, called, self._readers)
                    for name in names:
                        found[name].append(flow)
                    for name in called - names:
                        found[name].append((*flow, True))
        return found

    def _scope_flows(self, position: int, scope: Scope) -> Iterator[tuple[Any, ...]]:
        own, outer = self.definitions[position], self.definitions[position].parent
        is_function = own.kind in CALLABLE_KINDS
        for target, value in scope.binds:
            for bound in callee_names(target):
                is_local = is_function and (bound in self.names(position) or is_of_block(target))
                yield position, value, bound, None, is_local, False
        returned_by = own.name if own.kind != Kind.LAMBDA else position
        for value in (*scope.returns, *scope.yields):
            yield position, value, returned_by, None, False, True
        for parameter in scope.parameters:
            yield outer, parameter[2], parameter[0], None, True, False
        if scope.decorated is not None:
            is_local = self.definitions[outer].kind in CALLABLE_KINDS
            yield outer, scope.decorated, own.name, None, is_local, False
        if self.semantics.members_are_items:
            for expression in (*(value for _, value in scope.binds), *scope.returns, *scope.calls):
                for key, value in constant_entries(expression):
                    yield position, value, key, None, False, False
        yield from self._flows_into_calls(position, scope)

    def _flows_into_calls(self, position: int, scope: Scope) -> Iterator[tuple[Any, ...]]:
        """What a scope passes to calls: receivers of what calls a function by a method, arguments."""
        calling = calling_names(self.semantics)
        for call in scope.calls:
            callee = call[1]
            if is_tagged(callee, MEMBER) and callee[2] in calling:
                yield position, callee[1], RECEIVER, call, False, False
            for index, value in enumerate(call[2]):
                yield position, value, index, call, False, False
            for keyword, value in call[3]:
                yield position, value, keyword, call, False, False

    def is_inside(self, position: int, outer: int) -> bool:
        """True if a definition is another, or in it."""
        while position > outer:
            position = self.definitions[position].parent
        return position == outer

    def owner_class(self, position: int) -> int:
        """The class whose member a definition is, -1 for none."""
        parent = self.definitions[position].parent
        return parent if parent >= 0 and self.definitions[parent].kind in MEMBER_OWNERS else -1

    def is_prefixed(self, position: int) -> bool:
        """True if a definition names its owner instead of standing in it."""
        own = self.definitions[position]
        around = self.definitions[own.parent].qualname
        return own.qualname != (f"{around}.{own.name}" if around else own.name)

    def enclosing_method(self, position: int) -> int:
        """The innermost method around a scope (itself included), -1 for none."""
        while position > 0:
            if self.definitions[position].kind in CALLABLE_KINDS:
                scope = self.scopes[position]
                if self.owner_class(position) >= 0 or (
                    scope is not None and scope.receiver_type is not None
                ):
                    return position
                if scope is not None and scope.flags & OWN_RECEIVER:
                    return position
            position = self.definitions[position].parent
        return -1

    def receiver_name(self, method: int) -> str:
        """The name of the receiver parameter of a method, empty when it has none."""
        scope = self.scopes[method]
        if scope is None or scope.flags & (STATIC | OUTSIDE) or not scope.parameters:
            return ""
        if self.definitions[method].kind in MEMBER_OWNERS:
            return ""
        if scope.receiver_type is not None or self.semantics.receiver_parameter:
            return scope.parameters[0][0]
        return ""

    def is_parameter(self, position: int, name: str) -> bool:
        """True if a name is a parameter of a function and nothing else."""
        if self.definitions[position].kind not in CALLABLE_KINDS:
            return False
        entries = self.names(position).get(name, ())
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

    @kept
    def receiver_stores(self, owner: int) -> dict[str, list[Entry]]:
        """The entries that methods of a class assign to members of their receiver, by member."""
        found: dict[str, list[Entry]] = defaultdict(list)
        if self.definitions[owner].kind in CALLABLE_KINDS:  # a function that makes objects
            self._collect_receiver_stores(owner, set(self.semantics.receiver_names), found)
            return found
        for child in self.children.get(owner, ()):
            if self.scopes[child] is not None and self.definitions[child].kind not in MEMBER_OWNERS:
                names = {self.receiver_name(child), *self.semantics.receiver_names}
                self._collect_receiver_stores(child, names, found)
        return found

    def _collect_receiver_stores(
        self, position: int, names: set[str], found: dict[str, list[Entry]]
    ) -> None:
        for target, value in self.scope(position).binds:
            if is_tagged(target, MEMBER) and target[1] in names and target[1]:
                found[target[2]].append((position, value))
        for child in self.children.get(position, ()):
            scope = self.scopes[child]
            if (
                scope is not None
                and self.definitions[child].kind not in MEMBER_OWNERS
                and not scope.flags & OWN_RECEIVER
            ):
                self._collect_receiver_stores(child, names, found)

    @cached_property
    def computed_stores(self) -> list[Store]:
        """Assignments to items whose key is not written down."""
        return [store for store in self.item_stores() if not is_tagged(store.key, CONST)]

    @cached_property
    def placements(self) -> dict[Any, list[Placement]]:
        """The places that make something a member of an object, by the names in them."""
        found: dict[Any, list[Placement]] = defaultdict(list)
        for stores in self.member_stores().values():
            for store in stores:
                for name in callee_names(store.value):
                    found[name].append(Placement(store.scope, store.value, store.base))
        for position, prototype, members in self._given_prototypes:
            for _, value in members:
                for name in callee_names(value):
                    found[name].append(Placement(position, value, prototype))
        for position, scope in self.bodies:
            for display in displays_in((scope.binds, scope.calls, scope.returns, scope.yields)):
                for _, value in display[1] if display[0] == MAPPING else ():
                    for name in callee_names(value):
                        found[name].append(Placement(position, value, display))
        return found

    @property
    def _given_prototypes(self) -> Iterator[tuple[int, Expression, Any]]:
        """What a prototype is, or is given by another object, as far as it is written there: the
        scope, the prototype, and the members.
        """
        name = self.semantics.prototype
        for store in self.member_stores().get(name, ()) if name else ():
            if is_tagged(store.value, MAPPING):
                yield store.scope, (MEMBER, store.base, name), store.value[1]
        for store in self.merges:
            if is_tagged(store.key[1], MAPPING) and callee_names(store.base) == (name,):
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
        owner = self.owner_class(method) if method >= 0 else -1
        return owner if owner >= 0 else method

    @cached_property
    def merges(self) -> list[Store]:
        """Statements that add everything that one object holds to another."""
        return [store for store in self.item_stores() if is_tagged(store.key, SPREAD)]

    @cached_property
    def display_names(self) -> dict[int, set[str]]:
        """Names by which other files may reach lists and mappings, by their serials: of members, and
        of what is not local to a function.
        """
        found: dict[int, set[str]] = defaultdict(set)
        for position, scope in self.bodies:
            for target, value in scope.binds:
                is_member = is_tagged(target, MEMBER)
                if is_member or self.definitions[position].kind not in CALLABLE_KINDS:
                    for serial in serials_in(value):
                        found[serial].update(callee_names(target))
        return found

    @cached_property
    def item_stores_by_base(self) -> dict[str, list[Store]]:
        """Every `base[key] = value` of the file, by the last name of the base."""
        found: dict[str, list[Store]] = defaultdict(list)
        for store in self.item_stores():
            for name in callee_names(store.base):
                found[name].append(store)
        return found

    @cached_property
    def computed_names(self) -> dict[int, dict[str, Expression]]:
        """What stands in brackets in place of the names of methods, by name, by what is around."""
        found: dict[int, dict[str, Expression]] = defaultdict(dict)
        for _, name, _, parent, *_ in self.definitions:
            computed = dotted_name(name[1:-1]) if name[:1] == "[" else None
            if computed is not None:
                found[parent][name] = computed
        return found

    def item_stores(self) -> list[Store]:
        """Every `base[key] = value` of the file."""
        return self._stores()[0]

    def member_stores(self) -> dict[str, list[Store]]:
        """Every `base.name = value` of the file, by name."""
        return self._stores()[1]

    @kept
    def _stores(self) -> tuple[list[Store], dict[str, list[Store]]]:
        items: list[Store] = []
        members: dict[str, list[Store]] = defaultdict(list)
        for position, scope in self.bodies:
            for target, value in scope.binds:
                if type(target) is tuple:
                    if target[0] == ITEM:
                        items.append(Store(position, target[1], target[2], value))
                        key = target[2]
                        if self.semantics.members_are_items and is_tagged(key, CONST):
                            members[key[1]].append(Store(position, target[1], key[1], value))
                    elif target[0] == MEMBER:
                        members[target[2]].append(Store(position, target[1], target[2], value))
                        if self.semantics.members_are_items:
                            items.append(Store(position, target[1], (CONST, target[2]), value))
        return items, members

    def _fill_names(self) -> None:
        tables = self._names
        for position, _ in self.bodies:
            tables[position] = defaultdict(list)
        for position, scope in self.bodies:
            self._bind_definition(position, scope)
            table = tables[position]
            # those of its header are bound as its members
            is_class = self.definitions[position].kind in MEMBER_OWNERS
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

    def _bind_definition(self, position: int, scope: Scope) -> None:
        definition = self.definitions[position]
        kind, name, parent = definition[0], definition[1], definition[3]
        if position == 0 or kind == Kind.LAMBDA or scope.flags & (EXTENSION | DETACHED | STUB):
            return
        if scope.receiver_type is not None and parent == 0:
            return
        if self.is_prefixed(position):
            return
        expression = scope.decorated if scope.decorated is not None else (DEFINED, position)
        self._names[parent][name].append((parent, expression))

    def _outer_owner(self, position: int, name: str, of_module: int) -> int:
        if of_module:
            return 0
        owner: int = self.definitions[position].parent
        while owner > 0:
            if name in self._declared_in(owner):
                return owner
            owner = self.definitions[owner].parent
        return 0

    @kept
    def _declared_in(self, position: int) -> set[str]:
        """Names that the scope of a definition binds as its own."""
        scope = self.scopes[position]
        found = {self.definitions[child].name for child in self.children.get(position, ())}
        if scope is not None:
            found.update(parameter[0] for parameter in scope.parameters)
            found.update(target for target, _ in scope.binds if type(target) is str)
            found.difference_update(name for name, _ in scope.outer)
        return found
