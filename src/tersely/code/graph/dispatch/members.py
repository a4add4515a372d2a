"""Members of values, by kind of value."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import islice

from tersely.code.expressions import (
    CLASS_METHOD,
    PROPERTY,
    SETTER,
    STATIC,
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
    GeneratorObject,
    Instance,
    ModuleObject,
    RestArguments,
    SignatureObject,
    SuperObject,
    TraitView,
    TupleObject,
    Value,
    Values,
    external,
    has,
    instance_of,
    own_class,
    singleton,
)
from tersely.code.graph.program.file import File

MAX_KEEPER_FILES = 40  # files whose calls keep keyword arguments for one kind of object
KEEPER_LIMIT = (
    f"keyword arguments that are kept for later were looked for in {MAX_KEEPER_FILES} files"
)


class Members(Component):
    """Member lookup over the values of an `Evaluator`."""

    def of_all(self, values: Values, name: str, file: File) -> Values:
        """The member of that name of every value."""
        return BOTTOM.union(*(self.of(value, name, file) for value in values))

    def of(self, value: Value, name: str, file: File) -> Values:
        """The values that `value.name` may have; properties are read."""
        transfer = self._transfers.get(type(value))
        return BOTTOM if transfer is None else transfer(value, name, file)

    @cached_property
    def _transfers(self) -> dict[type[Value], Callable[..., Values]]:
        """What a member of each kind of value may be; the others have none."""
        return {
            ClassObject: self._of_class,
            Instance: self._of_class_or_instance,
            SuperObject: self._of_parent,
            FunctionObject: self._of_function,
            ModuleObject: self._of_module,
            TraitView: self.evaluator.traits.of_aspect,
            ExternalObject: self._of_external,
            ExternalResult: self._of_result,
            ConstantObject: self.typed.extension_functions,
            ContainerLiteral: self._of_literal,
            TupleObject: self._of_tuple,
            CollectionObject: self._of_container,
            GeneratorObject: self._of_container,
            RestArguments: self._of_container,
            SignatureObject: self._of_container,
        }

    def _of_class(self, value: ClassObject, name: str, file: File) -> Values:
        if name and name == file.semantics.prototype:
            return singleton(instance_of(value))
        return self._of_class_or_instance(value, name, file)

    def _of_module(self, value: ModuleObject, name: str, file: File) -> Values:
        return self.modules.of(self.home(value), name)

    def _of_external(self, value: ExternalObject, name: str, file: File) -> Values:
        assigned = self.evaluator.missing_members.assigned(value, name, file)
        return assigned or self.modules.of_external(value, name, file)

    def _of_result(self, value: ExternalResult, name: str, file: File) -> Values:
        return (
            self.typed.extension_functions(value, name, file)
            or self._kept(value.name, name, file)
            or self.evaluator.missing_members.assigned(value, name, file)
            or external(f"{value.name}.{name}")
        )

    def _of_literal(self, value: ContainerLiteral, name: str, file: File) -> Values:
        if not file.semantics.members_are_items:
            return self._of_tuple(value, name, file)
        items = self.containers.items(value, frozenset((name,)), file)
        return self.read(items, value) or singleton(BuiltinMethod(value, name))

    def _of_tuple(self, value: ContainerLiteral | TupleObject, name: str, file: File) -> Values:
        """An element by its place, else what is known of a method."""
        if name.isdecimal():
            return self.containers.items(value, frozenset((int(name),)), file)
        return self._of_container(value, name, file)

    def _of_container(self, value: Value, name: str, file: File) -> Values:
        """What is known of a method of what holds others, or will give one."""
        held = self.summaries.property(value, name, file)
        return held or singleton(BuiltinMethod(value, name)) | self._item_as_member(
            value, name, file
        )

    def _kept(self, result: str, name: str, file: File) -> Values:
        """What calls that keep their keyword arguments for an object from outside were given under
        a name.
        """
        keeper = file.semantics.keyword_keepers.get(result.partition(".")[0], "")
        if not keeper:
            return BOTTOM
        return self.solve(("kept", keeper, name), self._kept_values, keeper, name, file)

    def _kept_values(self, keeper: str, name: str, file: File) -> Values:
        found: Values = BOTTOM
        files = self.mentioning(keeper, file)
        if len(files) > MAX_KEEPER_FILES:
            self.bounds.add(KEEPER_LIMIT)
        for file_id in files[:MAX_KEEPER_FILES]:
            other = self.file(file_id)
            for scope, index in other.uses.calls_by_name.get(keeper, ()):
                given = [
                    value for keyword, value in other.call(scope, index).keywords if keyword == name
                ]
                found |= self.union(other, scope, given)
        return found

    def _of_class_or_instance(self, value: ClassObject | Instance, name: str, file: File) -> Values:
        target = own_class(value)
        found = self.class_members.of_class(target, name, file, value)
        if isinstance(value, Instance):
            found = self.generics.in_instance(found, value, name)
        if (isinstance(value, Instance) and value.is_open) or (
            isinstance(value, ClassObject) and self.evaluator.traits.is_trait(value)
        ):
            found |= self.typed.below(found, target, name)
        if not has(found, FunctionObject):
            found |= self.typed.extension_functions(value, name, file)
        return self.read(found, value)

    def _item_as_member(self, value: Value, name: str, file: File) -> Values:
        """`table.name` of a table that is known by its elements alone."""
        semantics = file.semantics
        is_method = name in semantics.methods or name in semantics.common_members
        if is_method or not semantics.members_are_items or not isinstance(value, CollectionObject):
            return BOTTOM
        return value.items

    def of_itself(self, value: ClassObject | Instance, name: str, file: File) -> Values:
        """The values of what every class or object has: `Class.new`, which stands for calling the
        class, and `thing.class`.
        """
        semantics = file.semantics
        if isinstance(value, Instance) and (
            name in semantics.echoes
            or name in semantics.mappers
            or name in semantics.universal_methods
        ):
            return singleton(BuiltinMethod(value, name))
        if isinstance(value, ClassObject) and name == semantics.construct_method:
            return frozenset((value,))
        is_class = bool(semantics.class_member) and name == semantics.class_member
        return frozenset((own_class(value),)) if is_class else BOTTOM

    def _of_function(self, value: FunctionObject, name: str, file: File) -> Values:
        if file.semantics.functions_are_objects:
            return self.typed.of_function(value, name, file)
        if name and name == file.semantics.prototype:
            return singleton(instance_of(value))
        found = self.stores.into(FunctionObject(*value.place), name)
        return found or (
            singleton(BuiltinMethod(value, name)) if name in file.semantics.methods else BOTTOM
        )

    def _of_parent(self, value: SuperObject, name: str, file: File) -> Values:
        owner = self.open_classes.whole(*self.place(value))
        receiver = instance_of(owner)
        for base in islice(self.inheritance.order(owner), 1, None):
            virtual = file.semantics.virtual
            found = (
                self.class_members.declared(base, name)
                if virtual
                else self.class_members.own(base, name) or self.class_members.assigned(base, name)
            )
            if file.semantics.class_side:
                found = self.open_classes.of_side(found, value.side)
            if found:
                return self.read(found, receiver)
        return self.class_members.of_external_base(owner, name)

    def read(self, members: Values, receiver: Value) -> Values:
        """Bind functions to the receiver; a property gives what it returns."""
        found: set[Value] = set()
        for member in members:
            if isinstance(member, FunctionObject) and member.receiver is None:
                flags = self.scope(member).flags
                if flags & SETTER:
                    continue
                if flags & CLASS_METHOD or isinstance(receiver, (Instance, ContainerLiteral)):
                    bound = FunctionObject(member.file, member.position, receiver)
                    if flags & PROPERTY:
                        found |= self.calls.returned(bound)
                        continue
                    member = member if flags & STATIC else bound
            if isinstance(member, Instance) and (described := self._described(member)):
                found |= described
                continue
            found.add(member)
        return frozenset(found)

    def _described(self, member: Instance) -> Values:
        """What reading a member gives that has a method for being read, nothing if that is not
        known.
        """
        home = self.home(member)
        method = home.semantics.descriptor_method
        return (
            self.calls.of_member(member, method, home) if method and self.named(method) else BOTTOM
        )

    def evaluated(self, values: Values) -> Values:
        """The values of functions that are called by naming them; other values as they are."""
        found: Values = BOTTOM
        for value in values:
            if isinstance(value, FunctionObject) and self.scope(value).flags & PROPERTY:
                found |= self.calls.returned(value)
            else:
                found |= singleton(value)
        return found
