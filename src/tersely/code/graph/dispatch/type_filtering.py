"""Values narrowed by declarations, in languages where a variable holds only what its type
admits.

A declared type bounds what is known of a value and stands in for it when nothing is known: then the
value is an instance of the type *or of anything below it*. Such an instance carries a fourth part,
`Instance(file, class, True)`; calling a member of it reaches the member of the class and those
that override it.
"""

from __future__ import annotations

from itertools import groupby

from tersely.code.expressions import (
    ABSTRACT,
    CONSTRUCTOR,
    EXTENSION,
    PRIVATE,
    STATIC,
    VARIADIC,
    Expression,
    is_spread,
    last_name,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    BuiltinMethod,
    ClassObject,
    CollectionObject,
    ConstantObject,
    ContainerLiteral,
    ExternalObject,
    ExternalResult,
    FunctionObject,
    Instance,
    Outside,
    SignatureObject,
    Value,
    Values,
    has,
    only,
    own_class,
    with_arguments,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import DeclaredParameter, kept
from tersely.code.nodes import ConstantValue, Invocation, Literal, Spread
from tersely.code.symbols import Kind
from tersely.foundation.types import Strings

UNBOUNDED = (Outside, ConstantObject, BuiltinMethod)
TEXT = "str"  # the type of text literals, in every language


class TypeFilter(Component):
    """Narrowing, overriding and overloading over the values of an `Evaluator`."""

    def opened(self, values: Values) -> Values:
        """Instances of these very classes made into instances of them or of anything below."""
        closed = [
            value
            for value in values
            if isinstance(value, Instance) and not value.is_open and self._may_be_below(value)
        ]
        if not closed:  # mostly they have been opened before
            return values
        return values.difference(closed).union(
            Instance(*one.place, True, one.arguments) for one in closed
        )

    def _may_be_below(self, value: Instance) -> bool:
        """Where implementing is a matter of having the methods, other classes have no subtypes."""
        home = self.home(value)
        return home.semantics.nominal or home.kind(value.position) == Kind.INTERFACE

    def narrowed(self, values: Values, declared: Values, *, whole: bool = False) -> Values:
        """Those of `values` that a declaration admits; what it declares where values are unknown.

        Of a type outside the repository there may be other values, unless things of ours are the
        `whole` of them.
        """
        ours = list(only(declared, Instance))
        if self.evaluator.traits.bound(declared):
            return declared
        if not ours:
            known = frozenset(value for value in values if not isinstance(value, Outside))
            if whole and values and all(isinstance(value, Instance) for value in values):
                return values
            if declared and not self.containers.elements(known):
                # empty when it is declared, filled later
                known |= declared
            return known or declared or values
        kept: set[Value] = set()
        unknown = not values
        for value in values:
            if isinstance(value, Instance):
                fitting = [one for one in ours if self._is_below(value, one)]
                kept.update([self._as_declared(value, fitting)] if fitting else [])
                if not fitting and value.is_open:
                    kept.update(one for one in ours if self._is_below(one, value))
            elif isinstance(value, FunctionObject):
                kept.add(FunctionObject(*value.place, own_class(ours[0])))
            elif isinstance(value, UNBOUNDED):
                unknown = True
            else:
                kept.add(value)
        return frozenset(kept) | declared if unknown or not kept else frozenset(kept)

    def _as_declared(self, value: Instance, fitting: list[Instance]) -> Instance:
        """An instance with the type arguments that a declaration of its very class gives it."""
        if value.arguments:
            return value
        declared = (one.arguments for one in fitting if one.place == value.place)
        return with_arguments(value, next(declared, ()))

    def says_enough(self, declared: Values, file: File) -> bool:
        """True if a declaration alone tells what a value can do: not so where functions, or objects
        of types that say nothing of it, may stand for an object.
        """
        if not declared:
            return False
        if all(
            isinstance(value, ExternalResult) and not value.name.endswith(file.semantics.open_types)
            for value in declared
        ):
            return True
        known = list(only(declared, Instance, CollectionObject, ClassObject, ContainerLiteral))
        return bool(known) and not any(map(self._may_stand_for_others, known))

    def _may_stand_for_others(self, value: Value) -> bool:
        """True if a value of a declared type may be a function, or of a type that does not name it."""
        if not isinstance(value, Instance):
            return isinstance(value, ContainerLiteral)
        is_structural = self.evaluator.interfaces.is_structural(own_class(value))
        return is_structural or self.is_functional(value)

    def is_functional(self, value: Instance) -> bool:
        """True if a function may stand for an instance: an interface with one method to write, a
        protocol that says how it is called.
        """
        home = self.home(value)
        if home.semantics.protocols:
            return self._is_called(value, home)
        if not home.semantics.functions_are_objects or home.kind(value.position) not in (
            Kind.INTERFACE,
            Kind.TYPE,
        ):
            return False
        bodiless = [
            child
            for child in home.children.get(value.position, ())
            if (scope := home.body(child)) is not None and scope.flags & ABSTRACT
        ]
        return len(bodiless) < 2

    def _is_called(self, value: Instance, home: File) -> bool:
        """True if an instance is told by a protocol that can be called."""
        target = own_class(value)
        if not self.class_members.declared(target, home.semantics.call_method):
            return False
        return any(
            isinstance(base, ExternalObject) and base.last_name in home.semantics.protocols
            for base in self.inheritance.bases(target)
        )

    def _is_below(self, value: Instance, bound: Instance) -> bool:
        target, above = own_class(value), own_class(bound)
        if above in self.inheritance.linearised(target):
            return True
        return self.evaluator.interfaces.is_structural(
            above
        ) and target in self.inheritance.subclasses(above)

    def below(self, declared: Values, target: ClassObject, name: str) -> Values:
        """The values that a member which a class declares may have in what is below it: only
        functions are overridden.
        """
        if self.is_virtual(declared) or has(declared, SignatureObject):
            return self.overriding(target, name)
        if any(not isinstance(value, ExternalResult) for value in declared):
            return BOTTOM
        return self.evaluator.objects.functions(target, name)

    def overriding(self, target: ClassObject, name: str) -> Values:
        """The members of that name of the classes below one, where they differ from its own, and in
        objects that stand for an interface.
        """
        if self.evaluator.traits.is_trait(target):
            return self.evaluator.traits.implementations(target, name)
        is_named = self.home(target).semantics.open_receivers
        if is_named and not self.evaluator.interfaces.is_structural(target):
            return self.evaluator.overriding.below(target, name)
        key = ("overriding", target, name)
        found = self.solver.solve_whole(key, self._overriding, target, name)
        return found | self.evaluator.objects.functions(target, name)

    def _overriding(self, target: ClassObject, name: str) -> Values:
        return BOTTOM.union(
            *(self.class_members.declared(one, name) for one in self.inheritance.subclasses(target))
        )

    def is_virtual(self, members: Values) -> bool:
        """True if subclasses may override any of these."""
        return any(
            isinstance(member, FunctionObject)
            and not self.scope(member).flags & (STATIC | PRIVATE | CONSTRUCTOR)
            for member in members
        )

    def extension_functions(self, value: Value, name: str, file: File) -> Values:
        """Functions of that name, written outside any class, whose receiver type fits a value."""
        names: set[str] | None = None
        found = set()
        for file_id, position in self.named(name) if file.semantics.extension_functions else ():
            other = self.file(file_id)
            scope = other.body(position)
            if scope is None or scope.receiver_type is None or scope.flags & EXTENSION:
                continue
            if other.language.name != file.language.name:
                continue
            names = self._names_of(value, file) if names is None else names
            wanted = last_name(scope.receiver_type)
            if wanted in names or not wanted or wanted in file.semantics.top_types:
                found.add(FunctionObject(file_id, position, value))
        return frozenset(found)

    def _names_of(self, value: Value, file: File) -> set[str]:
        if isinstance(value, Instance):
            linear = self.inheritance.linearised(own_class(value))
            return {self.definition(above).name for above in linear}
        if isinstance(value, ConstantObject):
            return set(self.key_types(value, file))
        return {value.last_name} if isinstance(value, ExternalResult) else set()

    def key_types(self, key: ConstantObject, file: File) -> frozenset[str]:
        """Names of the types that a constant has."""
        return (
            file.semantics.text_types if type(key.constant) is str else file.semantics.number_types
        )

    def of_function(self, value: FunctionObject, name: str, file: File) -> Values:
        """A member of a function that stands for an object with one method: the function, or a
        method with a body.
        """
        interface = value.receiver
        if interface is not None and isinstance(interface, ClassObject):
            own = self.class_members.declared(interface, name)
            bodies = frozenset(
                member
                for member in own
                if isinstance(member, FunctionObject) and not self._is_abstract(member)
            )
            if bodies:
                return bodies
        return BOTTOM if name in file.semantics.function_combinators else frozenset((value,))

    def _is_abstract(self, function: FunctionObject) -> bool:
        return bool(self.scope(function).flags & ABSTRACT)

    # Overloads

    def chosen(self, values: Values, file: File, scope: int, call: Invocation) -> Values:
        """The functions among overloads that a call fits best; a declaration without a body only if
        none has one.
        """
        if file.semantics.announces:
            values = self.with_bodies(values)
        functions = list(only(values, FunctionObject))
        if len(functions) < 2:
            return values
        others = without(values, FunctionObject)
        if file.semantics.overloads:
            # others stand for an object
            by_name = groupby(sorted(functions, key=self._name_of), self._name_of)
            functions = [
                value
                for _, same in by_name
                for value in self.fitting(list(same), file, scope, call)
            ]
        bodies = [value for value in functions if not self._is_abstract(value)]
        announced = (
            value
            for value in functions
            if self._is_abstract(value) and not self._is_implemented(value, bodies)
        )
        return others.union(bodies, announced)

    def _is_implemented(self, method: FunctionObject, bodies: list[FunctionObject]) -> bool:
        """True if functions are there for a method without a body: of a type that is implemented by
        having its methods, those of classes that name it.
        """
        home = self.home(method)
        target = self.bodies.owner_of_method(home, method.position)
        if (
            target is None
            or not home.semantics.nominal
            or not self.evaluator.interfaces.is_structural(target)
        ):
            return bool(bodies)
        owners = (self.bodies.owner_of_method(*self.place(one)) for one in bodies)
        return any(one is not None and target in self.inheritance.linearised(one) for one in owners)

    def with_bodies(self, values: Values) -> Values:
        """Prototypes replaced by the functions of the same qualified name that they announce."""
        found: set[Value] = set()
        for value in values:
            bodies = (
                self._bodies_of(value)
                if isinstance(value, FunctionObject) and self._is_abstract(value)
                else ()
            )
            found.update(bodies or (value,))
        return frozenset(found)

    def _name_of(self, function: FunctionObject) -> str:
        return self.definition(function).name

    def _bodies_of(self, prototype: FunctionObject) -> list[FunctionObject]:
        home = self.home(prototype)
        definition = home.definitions[prototype.position]
        found = []
        for file_id, position in self.named(definition.name):
            other = self.file(file_id)
            scope = other.body(position)
            if (
                other.family != home.family
                or scope is None
                or other.definitions[position].qualname != definition[2]
            ):
                continue
            if not scope.flags & ABSTRACT and (file_id == home.id or not scope.flags & PRIVATE):
                found.append(FunctionObject(file_id, position, prototype.receiver))
        return found

    def fitting(
        self, functions: list[FunctionObject], file: File, scope: int, call: Invocation
    ) -> list[FunctionObject]:
        """Those of several functions that a call fits best."""
        fitting = [value for value in functions if self._accepts(value, call)] or functions
        if len({self.signature(value) for value in fitting}) < 2:
            return fitting
        arguments = [self._type_names(file, scope, argument) for argument in call.arguments]
        scores = {value: self._score(value, arguments) for value in fitting}
        best = max(scores.values())
        return [value for value in fitting if scores[value] == best]

    def _parameters(self, value: FunctionObject) -> tuple[DeclaredParameter, ...]:
        file = self.home(value)
        parameters = file.scope(value.position).parameters
        return parameters[1:] if file.receiver_name(value.position) else parameters

    def _accepts(self, value: FunctionObject, call: Invocation) -> bool:
        needed, most = self._arity(value)
        given = len(call.arguments) + len(call.keywords)
        if any(isinstance(argument, Spread) for argument in call.arguments):
            return True
        return needed <= given and (most is None or given <= most)

    def accepts_as_many(
        self, value: FunctionObject, other: FunctionObject | SignatureObject
    ) -> bool:
        """True if some call of another function has as many arguments as a function takes."""
        (needed, most), (given, limit) = self._arity(value), self._arity(other)
        if limit is not None and needed > limit:
            return False
        return most is None or given <= most or bool(self.home(value).semantics.arguments_name)

    @kept
    def _arity(self, value: FunctionObject | SignatureObject) -> tuple[int, int | None]:
        """The number of arguments that a function needs, and the most that it takes; None for any
        number.
        """
        if isinstance(value, SignatureObject):
            types = value.parameters
            return len(types), None if any(map(is_spread, types)) else len(types)
        parameters = self._parameters(value)
        needed = sum(default is None and mode not in VARIADIC for _, _, default, mode in parameters)
        variadic = any(mode in VARIADIC for _, _, _, mode in parameters)
        return needed, None if variadic else len(parameters)

    @kept
    def signature(self, value: FunctionObject) -> Strings:
        """The names of the parameter types of a function."""
        return tuple(last_name(annotation) for _, annotation, _, _ in self._parameters(value))

    def _type_names(self, file: File, scope: int, argument: Expression) -> frozenset[str]:
        """Names of the types that an argument has, empty if unknown."""
        if isinstance(argument, ConstantValue):
            return self.key_types(ConstantObject(argument.value), file)
        if isinstance(argument, Literal):
            return (
                file.semantics.text_types if argument.type == TEXT else frozenset((argument.type,))
            )
        names: set[str] = set()
        for value in self.values(file, scope, argument):
            if isinstance(value, Instance):
                for above in self.inheritance.linearised(own_class(value)):
                    names.add(self.definition(above).name)
                    outside = only(self.inheritance.bases(above), ExternalObject)
                    names.update(base.last_name for base in outside)
            elif isinstance(value, ExternalResult):
                names.add(value.last_name)
            elif isinstance(value, ClassObject) or (
                isinstance(value, ExternalObject) and self._is_type_name(argument)
            ):
                names.update(file.semantics.class_objects)
            elif isinstance(value, ConstantObject):
                names |= self.key_types(value, file)
            elif isinstance(value, CollectionObject):
                is_list = value.keys is None
                names |= file.semantics.containers if is_list else file.semantics.mappings
        return frozenset(names)

    def _is_type_name(self, argument: Expression) -> bool:
        """True if something outside the repository is named as types are: not a constant, not a
        variable.
        """
        name = last_name(argument)
        return name[:1].isupper() and not name.isupper()

    def _score(self, value: FunctionObject, arguments: list[frozenset[str]]) -> int:
        score = 0
        for names, wanted in zip(arguments, self.signature(value), strict=False):
            if names and wanted:
                semantics = self.home(value).semantics
                widened = (
                    wanted in semantics.number_types
                    and not semantics.number_types.isdisjoint(names)
                )
                told = wanted in semantics.final_types or self._is_told(wanted)
                score += 2 if wanted in names else 1 if widened else -1 if told else 0
        return score

    def _is_told(self, type_name: str) -> bool:
        """True if a type name can be told apart from others: a class of ours."""
        return any(
            self.file(file_id).kind(position) not in (Kind.METHOD, Kind.FUNCTION)
            for file_id, position in self.named(type_name)
        )
