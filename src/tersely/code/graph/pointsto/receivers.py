"""The receivers of functions: of methods, extensions, and what is called with one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tersely.code.expressions import (
    CLASS_METHOD,
    EXTENSION,
    OUTSIDE,
    OWN_RECEIVER,
    last_name,
)
from tersely.code.graph.calls.passing import receiver_of
from tersely.code.graph.pointsto.annotations import instances_of
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    FunctionObject,
    Instance,
    Outside,
    SuperObject,
    Values,
    external,
    instance_of,
    itself,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.file_stores import Placement
from tersely.code.languages.model import Resolution
from tersely.code.nodes import Invocation
from tersely.code.symbols import MEMBER_OWNERS, Kind
from tersely.code.syntax.mentions import callee_names

# files searched for what a function is given as its receiver; with more, its own alone
MAX_RECEIVER_FILES = 10


@cache
def gives_receivers(semantics: Resolution) -> bool:
    """True if functions outside the repository give a receiver to functions that are written for
    them.
    """
    return any(
        summary.receives for summary in (*semantics.methods.values(), *semantics.summaries.values())
    )


class Receivers(Component):
    """The values of the receivers of scopes."""

    def around(self, file: File, position: int) -> Values:
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

    def extending_receiver(self, file: File, scope: int, name: str) -> Values:
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

    def of(self, file: File, scope: int, as_class: bool = False) -> Values:
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

    def of_handed(self, file: File, scope: int) -> Values:
        """The receiver of the innermost function without a name that is given one where it is
        written.
        """
        found: Values = BOTTOM
        while gives_receivers(file.semantics) and file.kind(scope) == Kind.LAMBDA and not found:
            found = self.evaluator.parameters.receivers(file, scope)
            scope = file.parent(scope)
        return found

    def of_explicit_receiver(self, file: File, position: int, name: str) -> Values:
        """A bare name in a function with a receiver type may be a member of the receiver."""
        scope, receivers = file.body(position), self.around(file, position)
        written = scope.receiver_type if scope is not None else None
        is_constructor = file.semantics.constructor_is_class_name and name == last_name(written)
        if receivers and is_constructor:
            return self.values(file, file.parent(position), written)
        return self._of_ours(receivers, name, file)

    def _of_ours(self, receivers: Values, name: str, file: File) -> Values:
        """A member that some values have, as far as it is ours."""
        found = self.members.of_all(receivers, name, file)
        return without(found, Outside, BuiltinMethod)


def _binding_calls(
    file: File, name: str, binders: frozenset[str]
) -> Iterator[tuple[int, Invocation]]:
    """(scope, call) of each `name.binder(receiver, …)` of a file."""
    for binder in sorted(binders):
        for scope, call in file.uses.calls(binder):
            if call.arguments and name in callee_names(receiver_of(call)):
                yield scope, call
