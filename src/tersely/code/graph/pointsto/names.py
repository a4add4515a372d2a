"""The values of names: bindings of the scopes around them, receivers, imports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tersely.code.expressions import (
    BLOCK_MARK,
    CLASS_METHOD,
    EXTENSION,
    OUTSIDE,
    OWN_RECEIVER,
    VERSION_MARK,
    last_name,
)
from tersely.code.graph.calls.passing import decorating, receiver_of
from tersely.code.graph.pointsto.annotations import instances_of
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.parameters import EVERY
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    ModuleObject,
    Outside,
    RestArguments,
    SignatureObject,
    SuperObject,
    Value,
    Values,
    WrappedFunction,
    external,
    instance_of,
    itself,
    only,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.file_stores import Placement
from tersely.code.languages.model import Resolution, shared_directories
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

# files searched for what a function is given as its receiver; with more, its own alone
MAX_RECEIVER_FILES = 10
MAX_IMPORTS_OF_NAME = 8  # modules by way of which a name of a type comes


@cache
def gives_receivers(semantics: Resolution) -> bool:
    """True if functions outside the repository give a receiver to functions that are written for
    them.
    """
    return any(
        summary.receives for summary in (*semantics.methods.values(), *semantics.summaries.values())
    )


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
            found := self._of_explicit_receiver(file, position, name)
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
        if semantics.extension_functions and (found := self._extending_receiver(file, scope, name)):
            return found
        if name in semantics.receiver_names and (found := self._of_handed(file, scope)):
            return found
        if name in semantics.receiver_names or name in semantics.class_names:
            return self.receiver(file, scope, name in semantics.class_names)
        if name in semantics.super_names:
            return self.parent(file, scope)
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

    def _of_handed(self, file: File, scope: int) -> Values:
        """The receiver of the innermost function without a name that is given one where it is
        written.
        """
        found: Values = BOTTOM
        while gives_receivers(file.semantics) and file.kind(scope) == Kind.LAMBDA and not found:
            found = self.evaluator.parameters.receivers(file, scope)
            scope = file.parent(scope)
        return found

    def _of_explicit_receiver(self, file: File, position: int, name: str) -> Values:
        """A bare name in a function with a receiver type may be a member of the receiver."""
        scope, receivers = file.body(position), self.receiver_of(file, position)
        written = scope.receiver_type if scope is not None else None
        is_constructor = file.semantics.constructor_is_class_name and name == last_name(written)
        if receivers and is_constructor:
            return self.values(file, file.parent(position), written)
        return self._of_ours(receivers, name, file)

    def _of_ours(self, receivers: Values, name: str, file: File) -> Values:
        """A member that some values have, as far as it is ours."""
        found = self.members.of_all(receivers, name, file)
        return without(found, Outside, BuiltinMethod)

    def receiver_of(self, file: File, position: int) -> Values:
        """The receiver whose members a definition brings into sight: of a class its instance, of a
        function its own.
        """
        scope, own = file.body(position), file.definitions[position]
        if own.kind in MEMBER_OWNERS:
            target = self.bodies.class_of(file, position)
            return singleton(Instance(*target.place, True)) if target is not None else BOTTOM
        if own.kind == Kind.LAMBDA and gives_receivers(file.semantics):
            return self.evaluator.parameters.receivers(file, position)
        if scope is None or scope.receiver_type is None or scope.flags & EXTENSION:
            return BOTTOM
        return self.annotations.instances(file, own.parent, scope.receiver_type)

    def _extending_receiver(self, file: File, scope: int, name: str) -> Values:
        """A bare name may be a function that extends the class around it, or the type of an
        explicit receiver.
        """
        position = scope
        while position > 0:
            inner, own = file.body(position), file.definitions[position]
            receivers: Values = BOTTOM
            if own.kind in MEMBER_OWNERS:
                target = self.bodies.class_of(file, position)
                receivers = singleton(instance_of(target)) if target is not None else BOTTOM
            elif inner is not None and inner.receiver_type is not None:
                receivers = self.annotations.instances(file, own.parent, inner.receiver_type)
            for receiver in receivers:
                if found := self.typed.extension_functions(receiver, name, file):
                    return found
            position = own.parent
        return BOTTOM

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

    def receiver(self, file: File, scope: int, as_class: bool = False) -> Values:
        """The object that `self` or `this` means in a scope."""
        if file.semantics.class_side:
            return self.open_classes.receivers(file, scope)
        method = file.enclosing_method(scope)
        owner = file.owner_class(method)
        if method >= 0 and owner < 0 and file.scope(method).flags & OWN_RECEIVER:
            made = singleton(Instance(file.id, method)) | self._given_receivers(file, method)
            return made | self.values(file, file.parent(method), file.scope(method).holder)
        if method >= 0 and file.scope(method).flags & OUTSIDE:
            outer = file.parent(method)
            owners = self.values(file, outer, file.scope(method).receiver_type)
            return owners if as_class else self.typed.opened(instances_of(owners))
        if method >= 0 and file.scope(method).flags & CLASS_METHOD:
            as_class = True
        if method < 0:
            owner = scope if file.kind(scope) in MEMBER_OWNERS else file.owner_class(scope)
        if owner < 0:
            return self._global_object(file) if method < 0 else BOTTOM
        target = self.bodies.class_of(file, owner)
        if target is None:
            return BOTTOM
        own = file.name(method) if method >= 0 else ""
        if own and own == file.semantics.subclass_method:
            return frozenset(self.inheritance.subclasses(target))
        found = singleton(target if as_class else instance_of(target))
        return self.typed.opened(found) if file.semantics.virtual else found

    def _global_object(self, file: File) -> Values:
        """The receiver outside of any function: in a script the global object."""
        semantics = file.semantics
        is_script = bool(semantics.global_objects and file.namespace)
        return (
            external(f"{semantics.builtins}.{semantics.global_objects[0]}") if is_script else BOTTOM
        )

    def _given_receivers(self, file: File, function: int) -> Values:
        """What a function is given as its receiver: `function.call(receiver, …)`, and the objects
        of which it is made a member.
        """
        if not file.semantics.receiver_binders:
            return BOTTOM
        return self.solve(
            ("given receivers", file.id, function), self._receivers_passed, file, function
        )

    def _receivers_passed(self, file: File, function: int) -> Values:
        below, name = self.evaluator.below, file.name(function)
        self.solver.mark_own()
        if below is None:
            return BOTTOM
        files = sorted({file.id, *self.mentioning(name, file)})
        found: Values = BOTTOM
        for other in map(self.file, files if len(files) <= MAX_RECEIVER_FILES else [file.id]):
            given = [
                Placement(scope, receiver_of(call), call.arguments[0])
                for scope, call in _binding_calls(other, name, file.semantics.receiver_binders)
            ]
            own = other.stores.placements(function) if other is file else ()
            for scope, value, receiver in (*given, *other.stores.placements(name), *own):
                functions = below.values(other, scope, value)
                if any(itself(each) == FunctionObject(file.id, function) for each in functions):
                    found |= below.values(other, scope, receiver)
        return found

    def parent(self, file: File, scope: int) -> Values:
        """`super` seen from a scope."""
        method = file.enclosing_method(scope)
        owner = file.owner_class(method)
        if owner < 0:
            return BOTTOM
        side = (
            ClassObject
            if file.semantics.class_side and file.scope(method).flags & CLASS_METHOD
            else Instance
        )
        return singleton(SuperObject(file.id, owner, side))

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

    def imported(self, file: File, module: str, name: str) -> Values:
        """The values that an import binds; outside the repository it is external."""
        key = ("import", file.import_base, module, name, file.language.name)
        return self.solve(key, self._imported_values, file, module, name)

    def _imported_values(self, file: File, module: str, name: str) -> Values:
        targets = self.program.modules(file, module)
        whole = file.semantics.module_object
        if not name or name == whole:
            declared = BOTTOM if targets else self._declared_module(file, module)
            return self._whole_module(file, targets[0]) if targets else declared or external(module)
        if len(targets) > 1 and file.semantics.namespace == "declared":
            places = {file_id for file_id, _ in self.named(name)}
            targets = [target for target in targets if target in places]
        for target in targets:
            if target == file.id and len(targets) > 1:
                continue
            found = self.modules.of(self.file(target), name)
            if found:
                return found
        if targets and name == file.semantics.default_export:
            return self._whole_module(file, targets[0])
        separator = "" if module.endswith(".") else file.semantics.separator
        submodule = self.program.modules(file, f"{module}{separator}{name}")
        if submodule:
            return singleton(ModuleObject(submodule[0]))
        found = (
            self._from_class_as_module(file, module, name)
            if file.semantics.classes_are_modules
            else BOTTOM
        )
        found = found or self._declared_in_module(file, module, name)
        written = f"{module}{separator}{name}"
        return found or (BOTTOM if targets else singleton(ExternalObject(written)))

    def _declared_module(self, file: File, module: str) -> Values:
        """The namespaces that stand for a module outside the repository, and what they declare to
        be its exports.
        """
        found: Values = BOTTOM
        for home, position in (
            self.open_classes.module_declarations(module) if file.semantics.declares_modules else ()
        ):
            found |= singleton(ClassObject(home.id, position))
            found |= self.bound(home, position, home.semantics.module_object)
        return found

    def _declared_in_module(self, file: File, module: str, name: str) -> Values:
        """What declarations of a module say of a name in it."""
        found: Values = BOTTOM
        for home, position in (
            self.open_classes.module_declarations(module) if file.semantics.declares_modules else ()
        ):
            is_whole = name == file.semantics.default_export and name not in home.names(position)
            found |= self.bound(home, position, home.semantics.module_object if is_whole else name)
        return found

    def _from_class_as_module(self, file: File, module: str, name: str) -> Values:
        """A member of a class, or of a module with another name, that an import names like a module:
        `import static a.Class.member`.
        """
        package, separator, owner = module.rpartition(file.semantics.separator)
        found = self.imported(file, package, owner) if separator else self.of(file, 0, owner)
        owners = list(only(found, ClassObject, ModuleObject))
        return self.members.of_all(frozenset(owners), name, file)

    def _whole_module(self, file: File, target: int) -> Values:
        """A module, and what it declares to be its exports."""
        name, home = file.semantics.module_object, self.file(target)
        exported = self.bound(home, 0, name) if name and name in home.names(0) else BOTTOM
        return singleton(ModuleObject(target)) | exported


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


def _binding_calls(
    file: File, name: str, binders: frozenset[str]
) -> Iterator[tuple[int, Invocation]]:
    """(scope, call) of each `name.binder(receiver, …)` of a file."""
    for binder in sorted(binders):
        for scope, call in file.uses.calls(binder):
            if call.arguments and name in callee_names(receiver_of(call)):
                yield scope, call


def _continues(file: File, name: str) -> bool:
    """True if a script gives a name of the global scope a value that may be the one which it has
    already: `var app = app || {}`.
    """
    entries = file.bindings(0, name) if file.namespace else ()
    return any(isinstance(entry, Either) and name in entry.alternatives for _, entry in entries)
