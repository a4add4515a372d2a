"""The values of names: bindings of the scopes around them, receivers, imports."""

from __future__ import annotations

from typing import NamedTuple

from tersely.code.expressions import (
    BLOCK_MARK,
    OUTSIDE,
    VERSION_MARK,
    last_name,
)
from tersely.code.graph.calls.passing import decorating
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.parameters import EVERY
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    ModuleObject,
    Outside,
    RestArguments,
    SignatureObject,
    Value,
    Values,
    WrappedFunction,
    external,
    only,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.model import shared_directories
from tersely.code.nodes import (
    Call,
    Declared,
    DefinedHere,
    Displayed,
    Either,
    Expression,
    ImportedValue,
    Invocation,
    Member,
    Node,
    Typed,
)
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, MEMBER_OWNERS, Kind
from tersely.code.syntax.mentions import callee_names, displays_in

MAX_IMPORTS_OF_NAME = 8  # modules by way of which a name of a type comes


class Written(NamedTuple):
    """What a name stands for as it is written, in a scope of the file that binds it."""

    file: File
    scope: int
    expression: Expression


class Names(Component):
    """The meanings of names in the scopes of a program."""

    def of(self, file: File, scope: int, name: str, *, called: bool = False) -> Values:
        """The values that a name may have, seen from a scope."""
        if VERSION_MARK in name:
            if BLOCK_MARK in name:
                scope = self._holding(file, scope, name)
            return self.bound(file, scope, name, inside=True)
        position = scope
        while position >= 0:
            found = self._in_scope(file, position, scope, name, called)
            if found is not None:
                return found
            position = file.parent(position)
        return self._free_name(file, scope, name, called)

    def _holding(self, file: File, scope: int, variable: str) -> int:
        """The scope around a scope that a variable of a block belongs to."""
        position = scope
        while position >= 0 and variable not in file.names(position):
            position = file.parent(position)
        return position if position >= 0 else scope

    def _in_scope(
        self, file: File, position: int, scope: int, name: str, called: bool
    ) -> Values | None:
        """What a name is in one of the scopes around it, None if the next one is to be asked."""
        if file.kind(position) in MEMBER_OWNERS:
            return self._in_class(file, position, scope, name, called)
        if name not in file.names(position):
            return self._beside_bound(file, position, name) or None
        if position == scope and not file.bindings(position, name):
            return None  # only later versions of the name are bound here
        found = self.bound(file, position, name, inside=position == scope)
        if not position and file.semantics.global_objects and _continues(file, name):
            found |= self.modules.top_level(file, name)
        if file.semantics.called_by_name:
            found = self.members.evaluated(found)
        may_be_extension = position == 0 and not found and file.semantics.extension_functions
        if called or may_be_extension:
            return self._only_methods(file, found) or None
        return found

    def _in_class(
        self, file: File, position: int, scope: int, name: str, called: bool
    ) -> Values | None:
        """What a name is in a class or namespace around a scope, None if it says nothing of it."""
        semantics = file.semantics
        own = file.definitions[position]
        if semantics.constructor_is_class_name and name == own.name and not called:
            return self.values(file, position, DefinedHere(position))
        if semantics.implicit_receiver:
            members = self.class_members.implicit(file, position, name, scope)
            return self._own_kind(file, members, called) or None
        is_inside = position == scope
        is_seen = is_inside or (own.kind == Kind.NAMESPACE)
        if not is_seen or name not in file.names(position) or _names_its_type(file, position, name):
            return None
        found = self.bound(file, position, name, inside=is_inside)
        return self._only_methods(file, found) or None if called else found

    def _beside_bound(self, file: File, position: int, name: str) -> Values:
        """What a name that a function does not bind is by its receiver, or by what it imports
        whole.
        """
        semantics = file.semantics
        if semantics.implicit_receiver and (
            found := self.evaluator.receivers.of_explicit_receiver(file, position, name)
        ):
            return found
        scope = file.body(position)
        is_outside = scope is not None and scope.flags & OUTSIDE
        if is_outside and (found := self._around_owner(file, position, name)):
            return found
        if not semantics.classes_are_modules or not position or scope is None or not scope.stars:
            return BOTTOM
        return self.modules.from_class_stars(file, name, scope.stars)

    def _around_owner(self, file: File, position: int, name: str) -> Values:
        """What a name is in the namespaces and classes around the class of a method that is written
        outside of it.
        """
        key = ("around owner", file.id, position)
        around = self.solve(key, self._places_around, file, position)
        for _, file_id, place in sorted(around):
            home = self.file(file_id)
            if found := self._in_class(home, place, place, name, called=False):
                return found
        return BOTTOM

    def _places_around(self, file: File, position: int) -> frozenset[tuple[int, int, int]]:
        """Namespaces and classes around the class of a method, the innermost first, but for those
        that are around the method as well.
        """
        outer = file.parent(position)
        owners = self.values(file, outer, file.scope(position).receiver_type)
        found: dict[tuple[int, int], None] = {}
        for owner in sorted(only(owners, ClassObject)):
            home = self.home(owner)
            place = home.parent(owner.position)
            while place > 0 and home.qualnames()[place] != file.qualnames()[outer]:
                found[home.id, place] = None
                place = home.parent(place)
        return frozenset((number, *place) for number, place in enumerate(found))

    def _free_name(self, file: File, scope: int, name: str, called: bool) -> Values:
        """The values of a name that no scope around it binds."""
        semantics = file.semantics
        if (
            called
            and semantics.implicit_receiver
            and (found := self._inherited_from_outside(file, scope, name))
        ):
            return found
        if semantics.extension_functions and (
            found := self.evaluator.receivers.extending_receiver(file, scope, name)
        ):
            return found
        if name in semantics.receiver_names and (
            found := self.evaluator.receivers.of_handed(file, scope)
        ):
            return found
        if name in semantics.receiver_names or name in semantics.class_names:
            return self.evaluator.receivers.of(file, scope, name in semantics.class_names)
        if name in semantics.super_names:
            return self.evaluator.receivers.parent(file, scope)
        if name and name == semantics.arguments_name:
            function = file.enclosing_method(scope)
            return singleton(RestArguments(file.id, function, EVERY)) if function >= 0 else BOTTOM
        if name and name == semantics.module_object:
            return singleton(ModuleObject(file.id))
        if semantics.class_side:
            return self._inherited_from_outside(file, scope, name) or self._builtin(file, name)
        return self.modules.top_level(file, name) or self._builtin(file, name)

    def _own_kind(self, file: File, values: Values, called: bool) -> Values:
        if not file.semantics.methods_apart:
            return values
        return self._only_methods(file, values) if called else self.without_methods(values)

    def without_methods(self, values: Values) -> Values:
        """Values that are no methods, where a bare name never means one."""
        return frozenset(value for value in values if not self._is_method(value))

    def _only_methods(self, file: File, values: Values) -> Values:
        """The methods among some values, or all values where there are none and objects of the
        language can be called.
        """
        methods = frozenset(
            value for value in values if isinstance(value, ExternalObject) or self._is_method(value)
        )
        return methods or (values if file.semantics.call_method else methods)

    def _is_method(self, value: Value) -> bool:
        if isinstance(value, SignatureObject):
            return True
        if not isinstance(value, FunctionObject) or (
            value.receiver is not None and not isinstance(value.receiver, Instance)
        ):
            return False
        return self.definition(value).kind in (
            Kind.METHOD,
            Kind.FUNCTION,
        )

    def _inherited_from_outside(self, file: File, scope: int, name: str) -> Values:
        """A method that no class of ours has may come from a base outside the repository."""
        found = self.modules.top_level(file, name)
        position = scope
        while position > 0 and not found:
            if file.kind(position) in CLASS_KINDS:
                found = self.class_members.of_external_base(ClassObject(file.id, position), name)
            position = file.parent(position)
        return found

    def bound(self, file: File, scope: int, name: str, *, inside: bool = False) -> Values:
        """The union of everything a scope binds a name to; `inside` the scope, of this version of
        the name alone.
        """
        return self.solve(
            ("name", file.id, scope, name, inside), self._bound_values, file, scope, name, inside
        )

    def _bound_values(self, file: File, scope: int, name: str, inside: bool) -> Values:
        found: Values = BOTTOM
        entries = file.bindings(scope, name) if inside else file.all_bindings(scope, name)
        for owner, expression in entries or file.all_bindings(
            scope, name.partition(VERSION_MARK)[0]
        ):
            values = self.values(file, owner, expression)
            if isinstance(expression, Invocation):
                values = self._decorated(file, expression, values)
            found |= values
        return found

    def _decorated(self, file: File, expression: Expression, values: Values) -> Values:
        """What decorators make of a definition: itself where they are unknown, else a way to it."""
        definition = expression
        while isinstance(definition, Call) and len(definition.arguments) == 1:
            definition = definition.arguments[0]
        if (
            isinstance(definition, DefinedHere)
            and file.scope(definition.definition).decorated is expression
        ):
            itself = self.values(file, 0, definition)
            values |= self.evaluator.registered.of(file, definition.definition)
            known = without(values, Outside)
            made = frozenset(value for value in values - known if _calls_what_it_is_of(value, file))
            if (
                not known
                or itself <= known
                or file.kind(definition.definition) not in CALLABLE_KINDS
            ):
                return (known or itself) | made
            return known | singleton(WrappedFunction(file.id, definition.definition)) | made
        return values

    def _builtin(self, file: File, name: str) -> Values:
        if file.semantics.modules_in_scope and (targets := self.program.modules(file, name)):
            return singleton(ModuleObject(targets[0]))
        if file.semantics.macros_in_scope and (macros := self._nearest_macros(file, name)):
            return macros
        is_told = bool(file.semantics.builtins) and (file.id, name) not in self.program.beyond_stars
        return external(f"{file.semantics.builtins}.{name}") if is_told else BOTTOM

    def _nearest_macros(self, file: File, name: str) -> Values:
        """The macros of that name that lie in most of the directories that a file lies in."""
        places = self.named(name, kinds=(Kind.MACRO,))
        shared = {at: shared_directories(self.program.rows[at].path, file.path) for at, _ in places}
        nearest = max(shared.values(), default=0)
        return frozenset(
            FunctionObject(at, position, None) for at, position in places if shared[at] == nearest
        )

    def written(self, file: File, scope: int, name: Expression) -> Written | None:
        """What the one binding of a name says, behind imports; None where there is no such."""
        for _ in range(MAX_IMPORTS_OF_NAME):
            while type(name) is str and scope > 0 and name not in file.names(scope):
                scope = file.parent(scope)
            entries = file.bindings(scope, name) if type(name) is str else ()
            if len(entries) != 1:
                return None
            bound = Written(file, *entries[0])
            if not isinstance(bound.expression, ImportedValue) or not bound.expression.name:
                return bound
            _, module, name = bound.expression
            targets = self.program.modules(file, module)
            if not targets:
                return None
            file, scope = self.file(targets[0]), 0
        return None

    def method_name(self, file: File, scope: int, callee: Expression) -> str:
        """The name of the method that a callee is written as: `x.m`, or `m` of a pattern `{m}`."""
        if isinstance(callee, Node):
            return callee.name if isinstance(callee, Member) else ""
        while type(callee) is str and scope >= 0:
            for _, entry in file.bindings(scope, callee):
                return str(entry.name) if isinstance(entry, Member) else ""
            scope = file.parent(scope)
        return ""

    def of_object(self, file: File, holder: Expression) -> list[str]:
        """The names that a mapping is bound to, by way of calls too: where it stands for a class,
        whoever constructs it writes one of them.
        """
        if not isinstance(holder, Displayed):
            return []
        found: dict[str, None] = {}
        for _, scope in file.bodies:
            for target, value in scope.binds:
                if any(display.serial == holder.serial for display in displays_in(value)):
                    found.update(dict.fromkeys(callee_names(target)))
        return list(found)


def _names_its_type(file: File, owner: int, name: str) -> bool:
    """True if a member has the name of its type, which is then one around: `Base *Base`."""
    return all(
        isinstance(entry, (Typed, Declared)) and last_name(entry.type) == name
        for _, entry in file.bindings(owner, name)
    )


def _calls_what_it_is_of(value: Value, file: File) -> bool:
    """True if a decorator outside the repository made an object that calls what was decorated."""
    names = (value.name, value.last_name) if isinstance(value, ExternalResult) else ()
    return not decorating(file.semantics).isdisjoint(names)


def _continues(file: File, name: str) -> bool:
    """True if a script gives a name of the global scope a value that may be the one which it has
    already: `var app = app || {}`.
    """
    entries = file.bindings(0, name) if file.namespace else ()
    return any(isinstance(entry, Either) and name in entry.alternatives for _, entry in entries)
