"""Members of values: class hierarchies, modules and what they pass on, names shared between files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from laconic.code.expressions import CLASS_METHOD, CONST, EXTENSION, PROPERTY, SEQUENCE, STATIC
from laconic.code.graph.program import File
from laconic.code.graph.sites import Sites
from laconic.code.graph.values import (
    BUILTIN, CLASS, COLLECTION, DISPLAY, EXTERNAL, FUNCTION, GENERATED, INSTANCE, KEY, MODULE, NOTHING, PARENT, REST,
    RESULT, TUPLE, Value, Values, external, one,
)  # fmt: skip
from laconic.code.symbols import CLASS_KINDS

if TYPE_CHECKING:
    from laconic.code.graph.evaluate import Evaluator

MAX_BASES = 400  # classes in one linearised hierarchy
MAX_STORE_FILES = 40  # files searched for assignments to a member from outside its class
MAX_SUBTYPE_FILES = 200  # files searched for subclasses of one class


class Members:
    """Member lookup over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.solver = evaluator.solver
        self.sites = Sites(evaluator)
        self._linearised: dict[Value, tuple[Value, ...]] = {}

    def of_all(self, values: Values, name: str, file: File) -> Values:
        """The member of that name of every value."""
        found: Values = NOTHING
        for value in values:
            found |= self.of(value, name, file)
        return found

    def of(self, value: Value, name: str, file: File) -> Values:
        """What `value.name` may be; properties are read."""
        tag = value[0]
        if tag in (INSTANCE, CLASS):
            return self._read(self.of_class((CLASS, value[1], value[2]), name, file, value), value)
        if tag == MODULE:
            return self.of_module(self.program.file(value[1]), name)
        if tag == EXTERNAL:
            return self._of_external(value, name, file)
        if tag == RESULT:
            return external(f"{value[1]}.{name}")
        if tag == PARENT:
            return self._of_parent(value, name, file)
        if tag in (DISPLAY, COLLECTION, TUPLE, GENERATED, REST, KEY):
            return one(BUILTIN, value, name) if tag != KEY else NOTHING
        if tag == FUNCTION:
            return self._stored_from_outside(value, name)
        return NOTHING

    def _read(self, members: Values, receiver: Value) -> Values:
        """Bind functions to the receiver; a property gives what it returns."""
        found = set()
        for member in members:
            if member[0] == FUNCTION and member[3] is None:
                scope = self.program.file(member[1]).scope(member[2])
                if scope.flags & PROPERTY and receiver[0] == INSTANCE:
                    found |= self.evaluator.returned((FUNCTION, member[1], member[2], receiver))
                    continue
                if not scope.flags & STATIC and (receiver[0] == INSTANCE or scope.flags & CLASS_METHOD):
                    member = (FUNCTION, member[1], member[2], receiver)
            found.add(member)
        return frozenset(found)

    # Classes

    def class_of(self, file: File, position: int) -> Value | None:
        """The class that a class-like definition means; an extension means the class it extends."""
        scope = file.scopes[position]
        if scope is None or not scope.flags & EXTENSION:
            return (CLASS, file.id, position)
        extended = self.evaluator.values(file, file.definitions[position][3], scope.receiver_type)
        return next((value for value in sorted(extended, key=repr) if value[0] == CLASS), None)

    def of_class(self, target: Value | None, name: str, file: File, receiver: Value | None = None) -> Values:
        """A member by class, unbound: the first class of the linearised hierarchy that has it.

        For an instance whose hierarchy lacks the member, subclasses are asked (the base class calls its child), then
        assignments from outside the class.
        """
        if target is None:
            return NOTHING
        key = ("member", target[1], target[2], name)
        found = self.solver.solve(key, self._declared, target, name)
        if found:
            return found
        if receiver is not None:
            if receiver[0] == INSTANCE:
                found = self._of_subclasses(target, name)
            found = found or self._stored_from_outside(receiver, name)
        return found or self._of_external_base(target, name)

    def _declared(self, target: Value, name: str) -> Values:
        assigned: Values = NOTHING
        for owner in self.linearised(target):
            assigned |= self._assigned(owner, name)
            found = self._own(owner, name)
            if found:
                return found | assigned
        return assigned

    def _own(self, owner: Value, name: str) -> Values:
        """Members that a class itself declares, its extensions included."""
        found: Values = NOTHING
        for file, position in self._bodies(owner):
            if name in file.names(position):
                found |= self.evaluator.bound(file, position, name)
                found = found or self._placeholder(file, position, name)
        return found

    def _assigned(self, owner: Value, name: str) -> Values:
        """What the methods of a class assign to a member of their receiver, and others from outside."""
        found: Values = NOTHING
        for file, position in self._bodies(owner):
            stores = file.receiver_stores(position).get(name, ())
            for scope, expression in stores:
                found |= self.evaluator.values(file, scope, expression)
            if stores:
                found |= self._stored_from_outside((INSTANCE, *owner[1:]), name)
        return found

    def _placeholder(self, file: File, position: int, name: str) -> Values:
        """A declared member of unknown value hides those of the bases all the same."""
        return one(RESULT, f"{file.path}:{file.qualnames()[position]}.{name}")

    def _bodies(self, owner: Value) -> Iterable[tuple[File, int]]:
        file = self.program.file(owner[1])
        yield file, owner[2]
        yield from self.extensions(owner)

    def extensions(self, owner: Value) -> list[tuple[File, int]]:
        """Blocks and receiver methods elsewhere that add members to a class."""
        key = ("extensions", owner)
        found = self.solver.solve(key, self._extension_values, owner)
        return [(self.program.file(file_id), position) for file_id, position in sorted(found)]

    def _extension_values(self, owner: Value) -> frozenset[Any]:
        home = self.program.file(owner[1])
        name = home.definitions[owner[2]][1]
        found = set()
        for file_id, position in self.program.named(name):
            file = self.program.file(file_id)
            scope = file.scopes[position]
            if scope is not None and scope.flags & EXTENSION and self.class_of(file, position) == owner:
                found.add((file_id, position))
        return frozenset(found)

    def linearised(self, target: Value) -> tuple[Value, ...]:
        """Method resolution order (C3; depth first where C3 has no answer), the class itself first."""
        known = self._linearised.get(target)
        if known is not None:
            return known
        self._linearised[target] = (target,)  # a cycle of bases ends here
        bases = [base for base in self.bases(target) if base[0] == CLASS and base != target]
        orders = [list(self.linearised(base)) for base in bases]
        merged = _merge([*orders, list(bases)])
        if merged is None:
            merged = list(dict.fromkeys(value for order in orders for value in order if value != target))
        result = (target, *merged[:MAX_BASES])
        self._linearised[target] = result
        return result

    def bases(self, target: Value) -> list[Value]:
        """The base classes in order, external ones included."""
        found: list[Value] = []
        for file, position in self._bodies(target):
            outer = file.definitions[position][3]
            for expression in file.scope(position).bases:
                values = self.evaluator.values(file, outer, expression)
                found.extend(sorted((v for v in values if v[0] in (CLASS, EXTERNAL)), key=repr))
        return list(dict.fromkeys(found))

    def subclasses(self, target: Value) -> list[Value]:
        """All classes below a class, nearest first."""
        found: dict[Value, None] = {}
        pending = [target]
        while pending:
            current = pending.pop(0)
            below = self.solver.solve(("subclasses", current), self._direct_subclasses, current)
            for child in sorted(below):
                if child not in found and child != target:
                    found[child] = None
                    pending.append(child)
        return list(found)

    def _direct_subclasses(self, target: Value) -> Values:
        name = self.program.file(target[1]).definitions[target[2]][1]
        found = set()
        candidates = {*self.program.mentioning(name), target[1]}
        for file_id in sorted(candidates)[:MAX_SUBTYPE_FILES]:
            file = self.program.file(file_id)
            for position, scope in enumerate(file.scopes):
                if scope is not None and scope.bases and file.definitions[position][0] in CLASS_KINDS:
                    candidate = (CLASS, file_id, position)
                    if candidate != target and target in self.bases(candidate):
                        found.add(candidate)
        return frozenset(found)

    def _of_subclasses(self, target: Value, name: str) -> Values:
        found: Values = NOTHING
        for child in self.subclasses(target):
            found |= self._own(child, name) | self._assigned(child, name)
        return found

    def _of_parent(self, value: Value, name: str, file: File) -> Values:
        owner = (CLASS, value[1], value[2])
        receiver = (INSTANCE, value[1], value[2])
        for base in self.linearised(owner)[1:]:
            found = self._own(base, name) or self._assigned(base, name)
            if found:
                return self._read(found, receiver)
        return self._of_external_base(owner, name)

    def _of_external_base(self, target: Value, name: str) -> Values:
        for owner in self.linearised(target):
            for base in self.bases(owner):
                if base[0] == EXTERNAL:
                    return external(f"{base[1]}.{name}")
        return NOTHING

    def _stored_from_outside(self, value: Value, name: str) -> Values:
        return self.solver.solve(("outside", value, name), self._outside_values, value, name)

    def _outside_values(self, value: Value, name: str) -> Values:
        """`thing.name = …` anywhere in files that mention the name, where `thing` may be the value."""
        found: Values = NOTHING
        home = self.program.file(value[1])
        stores_at_home = home.member_stores().get(name, ())
        files = self.program.mentioning(name) if not stores_at_home else (value[1],)
        if len(files) > MAX_STORE_FILES:
            return NOTHING
        as_class = (CLASS, value[1], value[2]) if value[0] == INSTANCE else value
        for file_id in files:
            file = self.program.file(file_id)
            for store in file.member_stores().get(name, ()):
                base = self.evaluator.values(file, store.scope, store.base)
                if value in base or as_class in base:
                    found |= self.evaluator.values(file, store.scope, store.value)
        return found

    # Modules

    def of_module(self, file: File, name: str) -> Values:
        """A top-level name of a module, what it passes on from star imports, or a submodule."""
        return self.solver.solve(("module", file.id, name), self._module_values, file, name)

    def _module_values(self, file: File, name: str) -> Values:
        if name in file.names(0):
            found = self.evaluator.bound(file, 0, name)
            if found:
                return found
        found = self._from_stars(file, name)
        if found:
            return found
        stem, _, base = file.path.rpartition("/")[2].partition(".")
        directory = file.path.rpartition("/")[0]
        if stem == "__init__":
            for form in (f"{directory}/{name}.{base}", f"{directory}/{name}/__init__.{base}"):
                if form in self.program.by_path:
                    return one(MODULE, self.program.by_path[form])
        return self._stored_from_outside((MODULE, file.id, 0), name) if file.member_stores() else NOTHING

    def top_level(self, file: File, name: str) -> Values:
        """A name that no scope of the file binds: star imports, then files that share its namespace."""
        return self.solver.solve(("top", file.id, name), self._top_level_values, file, name)

    def _top_level_values(self, file: File, name: str) -> Values:
        found = self._from_stars(file, name)
        if found or file.facts.namespace == "file":
            return found
        return self._from_neighbours(file, name)

    def _from_stars(self, file: File, name: str) -> Values:
        for module in reversed(file.stars):  # the last import wins
            for target in self.program.modules(file, module):
                other = self.program.file(target)
                if target != file.id and self._exports(other, name):
                    found = self.of_module(other, name)
                    if found:
                        return found
        return NOTHING

    def _exports(self, file: File, name: str) -> bool:
        """Whether `import *` takes a name."""
        listed = file.names(0).get(file.facts.star_exports, ()) if file.facts.star_exports else ()
        for _, expression in listed:
            if type(expression) is tuple and expression[0] == SEQUENCE:
                return (CONST, name) in expression[1]
        return not name.startswith("_")

    def _from_neighbours(self, file: File, name: str) -> Values:
        sharing = file.facts.namespace
        if sharing == "global":
            places: Iterable[tuple[int, int]] = self.program.named(name)
        else:
            near = frozenset(self.program.neighbours(file))
            places = [place for place in self.program.named(name) if place[0] in near]
        found: Values = NOTHING
        for file_id, position in places:
            other = self.program.file(file_id)
            kin = {file.language.name, file.language.family}
            if other.language.name not in kin and other.language.family not in kin - {""}:
                continue
            if other.definitions[position][3] == 0 and name in other.names(0):
                found |= self.evaluator.bound(other, 0, name)
        return found

    def _of_external(self, value: Value, name: str, file: File) -> Values:
        """A member of an external module may be a submodule that is ours after all."""
        dotted = f"{value[1]}.{name}"
        targets = self.program.modules(file, dotted)
        return one(MODULE, targets[0]) if targets else external(dotted)


def _merge(orders: list[list[Value]]) -> list[Value] | None:
    """The merge of C3 linearisation; None when the orders contradict each other."""
    merged: list[Value] = []
    orders = [order for order in orders if order]
    while orders:
        for order in orders:
            head = order[0]
            if not any(head in other[1:] for other in orders):
                break
        else:
            return None
        merged.append(head)
        orders = [rest for rest in ([part for part in order if part != head] for order in orders) if rest]
    return merged
