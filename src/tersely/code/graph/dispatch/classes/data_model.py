"""Methods of a class that the language calls where its objects, or itself, are read, assigned or
called: `__get__`, the methods of a metaclass, `__getattr__`.
"""

from __future__ import annotations

from tersely.code.expressions import CLASS_METHOD, METACLASS, PROPERTY, Expression
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    Value,
    Values,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import kept
from tersely.code.languages.model import member_getters
from tersely.code.nodes import Call
from tersely.code.symbols import MEMBER_OWNERS
from tersely.code.syntax.mentions import MADE_MARK

MAX_GIVING_FILES = 10  # that mention a member, above which its own file alone is searched
GIVING_LIMIT = (
    f"what is given to a member of a thing outside that over {MAX_GIVING_FILES} files"
    " mention was looked for in the file that reads it alone"
)


class Descriptors(Component):
    """The methods that reading and assigning a member calls, over the values of an `Evaluator`."""

    def methods(
        self, file: File, scope: int, owner: Expression, name: str, *, stored: bool
    ) -> list[FunctionObject]:
        """The methods that `owner.name` calls, or assigning it does."""
        semantics = file.semantics
        method = semantics.descriptor_setter if stored else semantics.descriptor_method
        if not method or name not in self.read_names(file):
            return []
        members: Values = frozenset()
        for value in self.values(file, scope, owner):
            if isinstance(value, (Instance, ClassObject)):
                class_ = own_class(value)
                members |= self.class_members.of_class(class_, name, file, value)
        objects = only(members, Instance)
        asked = self.members.of_all(objects, method, file)
        return sorted(only(asked, FunctionObject), key=repr)

    @kept
    def read_names(self, like: File) -> set[str]:
        """The names of members that a class makes by calling a class with such a method."""
        method = like.semantics.descriptor_method
        places = self.program.places_named(method) if method else ()
        owners = {owner for _, _, _, owner in places}
        below = self.program.hierarchy.below(frozenset(owners), like.family)
        owners.update(one.name for one in below)
        marks = (f"{MADE_MARK}{owner}{MADE_MARK}" for owner in owners)
        return {member for mark in marks for member, _ in self.program.facts.mentions(mark)}

    def properties_of(self, value: Value, name: str, file: File) -> frozenset[FunctionObject]:
        """The property functions of that name that a value has."""
        if isinstance(value, ContainerLiteral) and file.semantics.members_are_items:
            written = self.containers.items(value, frozenset((name,)), file)
            return self.property_functions(written, of_instance=True)
        if not isinstance(value, (Instance, ClassObject)):
            return frozenset()
        members = self.class_members.of_class(own_class(value), name, file, value)
        if isinstance(value, Instance) and value.is_open:
            members |= self.typed.below(members, own_class(value), name)
        return self.property_functions(
            members, file.semantics.virtual or isinstance(value, Instance)
        )

    def implied_properties(self, file: File, scope: int, name: str) -> frozenset[FunctionObject]:
        """The property functions that a bare name calls: of a receiver around it, or outside any
        class.
        """
        position = scope
        while position > 0:
            for value in sorted(self.evaluator.receivers.around(file, position)):
                if found := self.properties_of(value, name, file):
                    return found
            if file.kind(position) not in MEMBER_OWNERS and name in file.names(position):
                return self.property_functions(
                    self.names.bound(file, position, name), of_instance=True
                )
            position = file.parent(position)
        names = self.names
        top = names.bound(file, 0, name) if name in file.names(0) else names.of(file, 0, name)
        return self.property_functions(top, of_instance=True)

    def property_functions(self, members: Values, of_instance: bool) -> frozenset[FunctionObject]:
        """The property functions among some members; of a class as a value only those that are its
        own.
        """
        wanted = PROPERTY if of_instance else PROPERTY | CLASS_METHOD
        functions = only(members, FunctionObject)
        return frozenset(one for one in functions if self.scope(one).flags & wanted == wanted)


class Metaclasses(Component):
    """What the metaclass of a class has, over the values of an `Evaluator`."""

    def bound(self, target: ClassObject, name: str) -> frozenset[FunctionObject]:
        """The methods of a name that a class has from its metaclass, bound to the class."""
        found: Values = BOTTOM
        for metaclass in self._of(target):
            found |= self.class_members.declared(metaclass, name)
        return frozenset(
            FunctionObject(one.file, one.position, target) for one in only(found, FunctionObject)
        )

    def called(self, target: ClassObject) -> list[FunctionObject]:
        """The methods that calling a class calls instead of constructing it."""
        semantics = self.home(target).semantics
        is_any = semantics.call_method and self.mentioning(METACLASS, self.home(target))
        return sorted(self.bound(target, semantics.call_method), key=repr) if is_any else []

    def made_of(self, metaclass: ClassObject) -> list[ClassObject]:
        """The classes that are instances of a metaclass."""
        return sorted(self.solver.solve_whole(("made of", metaclass), self._made_of, metaclass))

    def _of(self, target: ClassObject) -> frozenset[ClassObject]:
        return self.solve(("metaclass", target), self._written, target)

    def _written(self, target: ClassObject) -> frozenset[ClassObject]:
        found: Values = BOTTOM
        for owner in self.inheritance.linearised(target):
            file = self.home(owner)
            if METACLASS in file.names(owner.position):
                found |= self.names.bound(file, owner.position, METACLASS)
        return only(found, ClassObject)

    def _made_of(self, metaclass: ClassObject) -> frozenset[ClassObject]:
        home = self.home(metaclass)
        name = home.name(metaclass.position)
        found = set[ClassObject]()
        naming = {*self.mentioning(name, home)}
        both = naming.intersection(self.mentioning(METACLASS, home))
        for file in map(self.file, sorted(both)):
            for position in range(len(file.definitions)):
                is_told = file.body(position) is not None and METACLASS in file.names(position)
                target = self.bodies.class_of(file, position) if is_told else None
                if target is not None and metaclass in self._of(target):
                    found.update((target, *self.inheritance.subclasses(target)))
        return frozenset(found)


class MissingMembers(Component):
    """The results of `__getattr__` and its like, over the values of an `Evaluator`."""

    def of(self, receiver: Value, name: str, file: File) -> Values:
        """What an object gives for a member that it lacks, nothing if it is asked by no method."""
        method = file.semantics.missing_method
        is_asked = method and not name.startswith("__") and self.named(method)
        if not is_asked:
            return BOTTOM
        key = ("missing", receiver, name)
        return self.solve(key, self._given, receiver, name, file)

    def assigned(self, value: ExternalObject | ExternalResult, name: str, file: File) -> Values:
        """What code assigns to a member of a thing outside, nothing of one that takes none."""
        if value.name not in file.semantics.open_objects:
            return BOTTOM
        key = ("open", value, name)
        return self.solve(key, self._assigned, value, name, file)

    def _assigned(self, value: Value, name: str, file: File) -> Values:
        program, found = self.program, BOTTOM
        files = program.mentioning(name, file)
        if len(files) > MAX_GIVING_FILES:
            self.bounds.add(GIVING_LIMIT)
            files = (file.id,)
        for other in map(program.file, files):
            for store in other.stores.member_stores(name):
                if value in self.values(other, store.scope, store.base):
                    found |= self.values(other, store.scope, store.value)
        return found

    def _given(self, receiver: Value, name: str, file: File) -> Values:
        found: Values = BOTTOM
        for value in self.members.of(receiver, file.semantics.missing_method, file):
            if isinstance(value, FunctionObject):
                found |= self._returned(value, name)
        return found

    def _returned(self, function: FunctionObject, name: str) -> Values:
        """What the method returns for a name: where it asks another object for it, the member of
        that.
        """
        home, position = self.home(function), function.position
        asked = [
            other
            for expression in home.scope(position).returns
            if (other := _asked(home, position, expression)) is not None
        ]
        if not asked:
            return self.calls.returned(function)
        others = self.union(home, position, asked)
        return self.members.of_all(others, name, home)


def _asked(file: File, position: int, returned: Expression) -> Expression:
    """The object that a function asks for the member of the name that it is given, None if it
    returns something else.
    """
    named = [name for name, *_ in file.scope(position).parameters[1:2]]
    is_getter = isinstance(returned, Call) and returned.callee in member_getters(file.semantics)
    return returned.arguments[0] if is_getter and list(returned.arguments[1:2]) == named else None
