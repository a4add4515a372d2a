"""Objects that are written down where a type is declared: what stands there implements the type.

`const log: Logger = {warn() {…}}` declares no class, but a call of `warn` on any `Logger` may reach
that function as it may reach a method of a class below `Logger`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tersely.code.expressions import (
    CONST,
    Expression,
    is_spread,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    CollectionObject,
    ContainerLiteral,
    FunctionObject,
    Instance,
    Values,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.nodes import ConstantValue, Declared, MappingLiteral, Member, Typed
from tersely.code.symbols import CALLABLE_KINDS, Kind

MAX_OBJECT_FILES = 200  # files searched for objects of one type
OBJECTS_LIMIT = f"objects of one type were looked for in {MAX_OBJECT_FILES} files"
MAX_HELD = 200  # elements of a declared list that are looked at for objects


class Declaration(NamedTuple):
    """A value that is declared to be of a type: both are read in `scope`."""

    scope: int
    value: Expression
    type: Expression


class Objects(Component):
    """Objects of declared types over the values of an `Evaluator`."""

    def functions(self, target: ClassObject, name: str) -> Values:
        """The values that objects of an interface or a type, or of one below it, have under a name."""
        home = self.home(target)
        if not home.semantics.members_are_items or home.kind(target.position) not in (
            Kind.INTERFACE,
            Kind.TYPE,
        ):
            return BOTTOM
        return self.solve(("object members", target, name), self._functions, target, name)

    def _functions(self, target: ClassObject, name: str) -> Values:
        found: Values = BOTTOM
        for owner in (target, *self.inheritance.subclasses(target)):
            for display in self._of_type(owner):
                if self._may_hold(display, name):
                    found |= self.containers.items(display, frozenset((name,)), None)
        return only(found, FunctionObject)

    def _may_hold(self, display: ContainerLiteral, name: str) -> bool:
        """True if a mapping is written with a key, or takes over what another one holds."""
        _, written = self.home(display).display(display.serial)
        pairs = written.entries if isinstance(written, MappingLiteral) else ()
        return any(is_spread(key) or key == ConstantValue(name) for key, _ in pairs)

    def _of_type(self, target: ClassObject) -> Iterator[ContainerLiteral]:
        home = self.home(target)
        name = home.name(target.position)
        candidates = {*self.mentioning(name, home), home.id}
        if len(candidates) > MAX_OBJECT_FILES:
            self.bounds.add(OBJECTS_LIMIT)
        for file_id in sorted(candidates)[:MAX_OBJECT_FILES]:
            if self.declarations(self.file(file_id)).get(name):
                yield from sorted(
                    self.solve(("objects", target, file_id), self._in_file, target, file_id)
                )

    def _in_file(self, target: ClassObject, file_id: int) -> frozenset[ContainerLiteral]:
        file = self.file(file_id)
        name = self.definition(target).name
        found = frozenset[ContainerLiteral]()
        for scope, value, declared in self.declarations(file)[name]:
            held = _held(self.annotations.instances(file, scope, declared))
            if any(isinstance(one, Instance) and own_class(one) == target for one in held):
                found |= self._displays(self.values(file, scope, value))
        return found

    def _displays(self, values: Values) -> frozenset[ContainerLiteral]:
        """The mappings among some values, and those that lists among them hold."""
        found: set[ContainerLiteral] = set()
        for value in values:
            if isinstance(value, ContainerLiteral) and self.containers.is_mapping(value):
                found.add(value)
            elif isinstance(value, ContainerLiteral):
                inner = self.containers.items(value, None, None)
                found |= only(sorted(inner, key=repr)[:MAX_HELD], ContainerLiteral)
        return frozenset(filter(self.containers.is_mapping, found))

    # Declarations

    @kept
    def declarations(self, file: File) -> dict[str, list[Declaration]]:
        """Values with a declared type by each name that is written in the type."""
        found: dict[str, list[Declaration]] = defaultdict(list)
        for position, _ in file.bodies:
            for declaration in _declared(file, position):
                parts = _names_in(declaration.type)
                for name in {one for part in parts for one in file.original_names(part)}:
                    found[name].append(declaration)
        return found


def _declared(file: File, position: int) -> Iterator[Declaration]:
    """Variables with types, results of functions with types, and what methods put into fields with
    types.
    """
    scope = file.scope(position)
    if scope.returned_type is not None and file.kind(position) in CALLABLE_KINDS:
        for value in scope.returns:
            yield Declaration(position, value, scope.returned_type)
    for target, value in scope.binds:
        if isinstance(value, Declared):
            yield Declaration(position, value.value, value.type)
        elif isinstance(value, MappingLiteral) and isinstance(target, Member):
            yield from _of_field(file, position, target, value)


def _of_field(
    file: File, position: int, target: Member, value: Expression
) -> Iterator[Declaration]:
    method = (
        file.enclosing_method(position) if target.object in file.semantics.receiver_names else -1
    )
    owner = file.owner_class(method)
    for _, entry in file.bindings(owner, target.name) if owner >= 0 else ():
        if isinstance(entry, Typed):
            yield Declaration(position, value, entry.type)


def _names_in(expression: Expression) -> Iterator[str]:
    """Every name that a type is written with."""
    if type(expression) is str:
        yield expression
    elif isinstance(expression, tuple) and expression[:1] != (CONST,):
        for part in expression:
            yield from _names_in(part)


def _held(values: Values) -> Values:
    """Values and, of collections, the elements."""
    return values.union(*(value.items for value in only(values, CollectionObject)))
