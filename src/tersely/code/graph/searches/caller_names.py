"""The names with which a search for the callers of a definition begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tersely.code.expressions import (
    CLASS_METHOD,
    DETACHED,
    last_part,
)
from tersely.code.graph.calls.passing import (
    calling_methods,
    is_constructor,
    template_methods,
)
from tersely.code.graph.calls.targets import (
    MAX_CARRIER_FILES,
    Carrier,
    Search,
)
from tersely.code.graph.pointsto.annotations import is_declared_as_one, names_one
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    FunctionObject,
    Value,
    WrappedFunction,
    instance_of,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import ANYWHERE
from tersely.code.graph.searches.searches import CARRIER_FILES_LIMIT
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind


class CallerNames(Component):
    """What those who call a definition write."""

    def first_names(self, file: File, position: int) -> list[Any]:
        """The names that a caller must write: that of the definition, or for constructors and
        callable objects their class's.
        """
        kind, name = file.kind(position), file.name(position)
        if kind == Kind.LAMBDA:
            return [position]
        semantics = file.semantics
        scope = file.body(position)
        if scope is not None and name in semantics.object_constructors:
            return [name, position, *self.names.of_object(file, scope.holder)]
        if scope is not None and scope.flags & DETACHED:
            return [name, position]
        owner = file.owner_class(position)
        if (name != semantics.call_method and not is_constructor(file, position)) or owner < 0:
            made_by = self._callers_outside(file, owner, name) if owner >= 0 else ()
            computed = self.class_members.computed_names(file, position)
            return [name, *made_by, *computed, *self._class_names(file, position)]
        target = self.bodies.around(file, position)
        if target is None:
            return [name]
        classes = self._classes_of(file, name, target)
        made = [one for value in classes for one in self.evaluator.metaclasses.made_of(value)]
        return [
            name,
            *(self.definition(one).name for one in (*classes, *made)),
        ]

    def _callers_outside(self, file: File, owner: int, name: str) -> Iterable[str]:
        """Methods by which what is outside the repository calls a method of a class of ours."""
        found = dict.fromkeys(
            dispatcher
            for dispatcher, called in file.semantics.dispatchers.items()
            if name in called or self.program.given(dispatcher, ("", name), file)
        )
        target = self.bodies.class_of(file, owner)
        for calling, handlers in template_methods(file.semantics):
            if target is not None and handlers.match(name):
                outside = self.class_members.of_external_base(target, calling)
                is_meant = any(self.summaries.of(value, file) for value in outside)
                found |= {calling: None} if is_meant else {}
        return found

    def _class_names(self, file: File, position: int) -> list[str]:
        """The names of the classes that have a method which nobody need name beside them: frameworks
        call it, or its name is computed.
        """
        owner, name = file.owner_class(position), file.name(position)
        is_handler = any(
            calling.handlers.match(name) and self.mentioning(calling.name, file)
            for calling in calling_methods(file.semantics)
        )
        is_called = is_handler or name in file.computed_names.get(owner, ())
        target = self.bodies.around(file, position)
        if target is None or not is_called:
            return []
        classes = (target, *self.inheritance.subclasses(target))
        return [self.definition(value).name for value in classes]

    def class_receivers(self, file: File, position: int) -> list[Carrier]:
        """Names for the class itself in methods that construct it: `cls(…)`, `self.__class__(…)`; for
        its objects in those that call them: `self(…)`.
        """
        is_class = file.kind(position) in CLASS_KINDS
        owner = position if is_class else file.owner_class(position)
        target = self.bodies.class_of(file, owner) if owner >= 0 else None
        constructs = is_class or is_constructor(file, position)
        is_called = not is_class and file.name(position) == file.semantics.call_method
        if target is None or not file.semantics.receiver_parameter or not (constructs or is_called):
            return []
        found: dict[Carrier, None] = {}
        for value in (*self.inheritance.linearised(target), *self.inheritance.subclasses(target)):
            home = self.home(value)
            for child in home.children.get(value.position, ()):
                scope = home.body(child)
                if scope is not None and bool(scope.flags & CLASS_METHOD) == constructs:
                    found[Carrier(home.receiver_name(child), home.id, value.position)] = None
            for name in self._class_words(home) if constructs else ():
                found[Carrier(name, home.id, value.position)] = None
        return list(found)

    def declared_names(self, search: Search) -> list[Carrier]:
        """Parameters and functions that are declared to be, or to give, what calling calls a method:
        objects with a method for that, classes by their constructors. No name leads from the class
        to them. The functions become `makers`.
        """
        file, position = search.file, search.position
        semantics, own = file.semantics, file.name(position)
        target = self.bodies.around(file, position)
        if target is None or own not in {*semantics.constructors, semantics.call_method}:
            return []
        marks = frozenset() if own == semantics.call_method else semantics.class_types
        classes = self._classes_of(file, own, target)
        names = {self.definition(value).name for value in classes}
        files = {one for name in names for one in self.mentioning(name, file)}
        if len(files) > MAX_CARRIER_FILES:
            search.bounds.add(CARRIER_FILES_LIMIT)
            return []
        found: dict[Carrier, None] = {}
        for other in map(self.file, sorted(files)):
            for place, scope in other.bodies:
                for name, annotation, _, _ in scope.parameters:
                    if names_one(annotation, names, marks):
                        found[Carrier(name, other.id, place)] = None
                if names_one(scope.returned_type, names, marks):
                    search.makers.add(FunctionObject(other.id, place))
                    found[Carrier(other.name(place), other.id, ANYWHERE)] = None
                for member, value in other.stores.declared_members(place):
                    if is_declared_as_one(value, names, marks):
                        found[Carrier(member, other.id, ANYWHERE)] = None
        return list(found)

    def _class_words(self, file: File) -> list[str]:
        """Names by which code speaks of the class of an object: `self.__class__`, `type(self)`."""
        summaries = file.semantics.summaries.items() if file.semantics.open_receivers else ()
        functions = [last_part(name) for name, summary in summaries if summary.class_of >= 0]
        return (
            [*functions, file.semantics.class_member] if file.semantics.class_member else functions
        )

    def wanted(self, file: File, position: int) -> frozenset[Value]:
        """Values whose journey is followed."""
        kind = file.kind(position)
        if kind in CLASS_KINDS:
            return frozenset((self.open_classes.whole(file, position),))
        function = FunctionObject(file.id, position)
        wanted: set[Value] = {function, WrappedFunction(*function.place)}
        name, calling = file.name(position), file.semantics.call_method
        target = self.bodies.around(file, position) if kind in CALLABLE_KINDS else None
        if target is not None and name in (calling, *file.semantics.constructors):
            for value in self._classes_of(file, name, target):
                wanted.add(instance_of(value) if name == calling else value)
                wanted.update(self.evaluator.metaclasses.made_of(value))
        return frozenset(wanted)

    def _classes_of(self, file: File, name: str, target: ClassObject) -> list[ClassObject]:
        """The classes of whose name a method is called: its own and those below; calling an object
        of one above may call it too.
        """
        above = (
            self.inheritance.linearised(target)[1:] if name == file.semantics.call_method else ()
        )
        return [target, *self.inheritance.subclasses(target), *above]
