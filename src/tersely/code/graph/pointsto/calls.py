"""The targets of calls, and their results."""

from __future__ import annotations

from tersely.code.expressions import (
    GENERATOR,
    Expression,
    is_spread,
    last_name,
    last_part,
)
from tersely.code.graph.dispatch.inference import CallPlace
from tersely.code.graph.pointsto.annotations import written_arguments
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.parameters import passed_expressions
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
    MemberFamily,
    SignatureObject,
    SuperObject,
    TupleObject,
    Value,
    Values,
    has,
    instance_of,
    only,
    router,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.model import Topic
from tersely.code.nodes import Call, Either, Invocation, Item, Literal, Member, New, TypeParameter
from tersely.foundation.types import Numbers


class Calls(Component):
    """Callees and results of calls."""

    def given(self, file: File, scope: int, expression: Invocation) -> Values:
        """The values that a call in a scope gives."""
        callee = expression.callee
        if type(callee) is str and callee in file.semantics.super_names:
            return self._parents(file, scope, expression)
        found: Values = BOTTOM
        called = self.called(file, scope, expression)
        for value in called:
            found |= self.result(file, scope, value, expression)
        if isinstance(callee, Item) and self._has_class(file, scope, callee.object):
            found = self.annotations.instances(file, scope, callee)
        if not called and isinstance(callee, Member) and callee.name in file.semantics.methods:
            found = self.summaries.applied(
                file, scope, file.semantics.methods[callee.name], expression
            )
        if not called and isinstance(callee, Member) and callee.name in file.semantics.getters:
            found |= self.union(file, scope, expression.arguments[1:2])  # where there is no item
        return found

    def _has_class(self, file: File, scope: int, expression: Expression) -> bool:
        """True if an expression may be a class."""
        return has(self.values(file, scope, expression), ClassObject)

    def _parents(self, file: File, scope: int, call: Invocation) -> Values:
        """What `super()` and `super(B, self)` give: the parent of the class around, or of the one
        that is named; of one outside the repository an instance.
        """
        named = (
            self.values(file, scope, call.arguments[0])
            if call.arguments and file.semantics.names_parent
            else BOTTOM
        )
        found = frozenset(SuperObject(*value.place, Instance) for value in only(named, ClassObject))
        outside = frozenset(ExternalResult(base.name) for base in only(named, ExternalObject))
        return found | outside or self.evaluator.receivers.parent(file, scope)

    def receivers(self, file: File, scope: int, expression: Expression) -> Values:
        """The objects whose member is called: like `values`, and `super` without a call."""
        if type(expression) is str and expression in file.semantics.super_names:
            return self.evaluator.receivers.parent(file, scope)
        return self.values(file, scope, expression)

    def called(self, file: File, scope: int, call: Invocation) -> Values:
        """The values that a call calls: of overloads those that it fits."""
        callee, semantics = call.callee, file.semantics
        if isinstance(callee, Member):
            found = self.members.of_all(
                self.receivers(file, scope, callee.object), callee.name, file
            )
        elif (
            type(callee) is str
            and semantics.methods_apart
            and isinstance(call, Call)
            and not (semantics.sigil and callee.startswith(semantics.sigil))
        ):
            found = self.names.of(file, scope, callee, called=True)
        else:
            found = self.values(file, scope, callee)
        if semantics.traits:
            found = self.evaluator.traits.chosen(found, file, scope, call)
        if semantics.overloads or semantics.virtual:
            found = self.typed.chosen(found, file, scope, call)
        return found

    def result(self, file: File, scope: int, callee: Value, call: Invocation) -> Values:
        """The values that calling a value gives; `call` is the call expression in `scope` of
        `file`.
        """
        if isinstance(callee, FunctionObject):
            made = (
                singleton(instance_of(callee))
                if isinstance(call, New) and file.semantics.prototype
                else BOTTOM
            )
            return made | self._returned_to(callee, file, scope, call)
        if isinstance(callee, ClassObject):
            summary = self.summaries.of_base(callee)
            is_router = summary is not None and summary.makes_router
            made = router(self.inheritance.outer_base(callee), file.id, call.line)
            return singleton(instance_of(callee)) | (made if is_router else BOTTOM)
        if isinstance(callee, ContainerLiteral) and isinstance(call, New):
            return singleton(callee)  # it stands for a class, with the members of what it makes
        if isinstance(callee, Instance):
            return self._of_instance(callee, file)
        if isinstance(callee, BuiltinMethod):
            summary = self.summaries.of(callee, file)
            known = (
                self.summaries.applied(file, scope, summary, call)
                if summary is not None
                else BOTTOM
            )
            return known or self.summaries.of_builtin(file, scope, callee, call)
        if isinstance(callee, ExternalObject):
            summary = self.summaries.of(callee, file)
            found = self.summaries.applied(file, scope, summary, call) if summary else BOTTOM
            if summary is not None and summary.makes_router:
                return router(result_name(callee.name), file.id, call.line)
            if summary is not None and summary.links is not None:
                found = self._urls(summary.links, callee.name, file, scope, call)
            return found or singleton(ExternalResult(result_name(callee.name)))
        if isinstance(callee, SignatureObject):
            return self.promised(callee)
        if isinstance(callee, MemberFamily):
            members = only(self.summaries.family(callee), FunctionObject)
            return frozenset().union(*map(self.returned, members))
        return (
            singleton(ExternalResult(result_name(callee.name)))
            if isinstance(callee, ExternalResult)
            else BOTTOM
        )

    def _of_instance(self, instance: Instance, file: File) -> Values:
        """What calling an object gives: itself where it cannot be called, since what stands for it
        can, such as a weak reference.
        """
        method = file.semantics.call_method
        if method and not self.members.of(instance, method, file):
            return singleton(instance)
        return self.of_member(instance, method, file) if method else BOTTOM

    def _urls(self, topic: Topic, callee: str, file: File, scope: int, call: Invocation) -> Values:
        """The URLs that a function gives for the names of routes."""
        named = self.union(file, scope, call.arguments[topic.argument :][:1])
        return frozenset(
            ExternalResult(result_name(callee), name.constant)
            for name in named
            if topic.kind == "name"
            and isinstance(name, ConstantObject)
            and isinstance(name.constant, str)
        )

    def promised(self, callee: SignatureObject) -> Values:
        """The values of a function of which only the type is known."""
        type_ = callee[1:4]  # its file, scope and expression
        return self.solve(("promised", *type_), self._promised_values, *type_)

    def _promised_values(self, file_id: int, scope: int, expression: Expression) -> Values:
        return self.annotations.instances(self.file(file_id), scope, expression)

    def of_member(self, value: Value, name: str, file: File) -> Values:
        """The values that calling a method of a value without arguments gives."""
        found: Values = BOTTOM
        for member in self.members.of(value, name, file):
            if isinstance(member, FunctionObject):
                found |= self.returned(member)
            elif isinstance(member, SignatureObject):
                found |= self.promised(member)
        return found

    def awaited(self, value: Value, file: File) -> Values:
        """What waiting for an instance gives: what the generator of its method returns."""
        found: Values = BOTTOM
        for member in self.members.of(value, file.semantics.await_method, file):
            if isinstance(member, SignatureObject):
                found |= self.promised(member)
            if not isinstance(member, FunctionObject):
                continue
            home, position = self.place(member)
            written = self.generics.seen_by(member, home.scope(position).returned_type)
            is_generator = last_name(written) in home.semantics.generators
            parts = written_arguments(written) if is_generator else ()
            if len(parts) == len(("yielded", "sent", "returned")):
                found |= self.annotations.instances(home, position, parts[2])
            found = found or self.union(home, position, home.scope(position).returns)
        return found

    def _returned_to(
        self, function: FunctionObject, file: File, scope: int, call: Invocation
    ) -> Values:
        """What a function returns to one call: where it gives back a parameter as it came, what
        that call passes.
        """
        home, position = self.place(function)
        shift = int(function.receiver is not None and bool(home.receiver_name(position)))
        shift += function.given
        body = home.scope(position)
        if texts := self._begun_texts(function, CallPlace(file, scope, call), shift):
            return texts
        given_back = () if home.semantics.virtual else home.given_back(position)
        is_told = not isinstance(body.returned_type, TypeParameter)
        if not given_back or (is_told and self._is_declared(home, position)):
            return self._seen_by(function, CallPlace(file, scope, call))
        found: Values = BOTTOM
        for index in given_back:
            passed = passed_expressions(body, index, call, shift)
            given = self.union(file, scope, passed)
            default = body.parameters[index].default
            if not passed:
                given = self.values(home, home.parent(position), default)
            is_nothing = not passed and default == Either(())
            if (not given and not is_nothing) or any(
                is_spread(expression) for expression in passed
            ):
                return self.returned(function)
            found |= given
        names = {body.parameters[index].name for index in given_back}
        returns_others = any(type(each) is not str or each not in names for each in body.returns)
        return found | self.returned(function, given_back) if returns_others else found

    def _begun_texts(self, function: FunctionObject, place: CallPlace, shift: int) -> Values:
        """The texts that a function gives one call, if all that it returns begin with a parameter."""
        home, position = self.place(function)
        body = home.scope(position)
        names = [parameter.name for parameter in body.parameters]
        found: Values = BOTTOM
        for text in body.returns:
            beginning = text.beginning if isinstance(text, Literal) else None
            if not isinstance(text, Literal) or beginning not in names:
                return BOTTOM
            passed = passed_expressions(body, names.index(beginning), place.call, shift)
            given = self.union(place.file, place.scope, passed)
            found |= self.evaluator.begun(home, text, given)
        return found

    def _seen_by(self, function: FunctionObject, place: CallPlace) -> Values:
        """What a function returns, as far as its type admits that for what one call passes."""
        home, position = self.place(function)
        written = home.scope(position).returned_type
        seen = self.evaluator.inference.seen(function, written, place)
        if seen is written:
            return self.returned(function)
        declared = self.annotations.instances(home, position, seen)
        return self.typed.narrowed(self.returned(function), declared)

    def returned(self, function: FunctionObject, given_back: Numbers = ()) -> Values:
        """The values that a function returns; a bound function that returns its receiver gives that
        very receiver.

        Parameters that it gives back may be left out.
        """
        file_id, position, receiver = function.file, function.position, function.receiver
        key = ("returns", file_id, position, given_back)
        found = self.solve(key, self._returned_values, file_id, position, given_back)
        if receiver is None:
            return found
        found = self.generics.returned(function, found)
        file = self.file(file_id)
        name = file.receiver_name(position)
        if name:
            for expression in file.scope(position).returns:
                if expression == name:
                    found |= frozenset((receiver,))
                elif isinstance(expression, Call) and expression.callee == name:
                    found |= (
                        singleton(instance_of(receiver))
                        if isinstance(receiver, ClassObject)
                        else BOTTOM
                    )
        return found

    def _is_declared(self, file: File, position: int) -> bool:
        """True if the declared result of a function says enough."""
        declared = self.annotations.instances(file, position, file.scope(position).returned_type)
        says_enough = has(declared, Instance, CollectionObject, ClassObject, TupleObject)
        return says_enough and not any(map(self.is_promised, declared))

    def is_promised(self, value: Value) -> bool:
        """True if a value is known only by how it is called."""
        if isinstance(value, Instance):
            return self.typed.is_functional(value)
        return isinstance(value, SignatureObject)

    def _returned_values(self, file_id: int, position: int, given_back: Numbers) -> Values:
        file = self.file(file_id)
        scope = file.scope(position)
        if scope.flags & GENERATOR:
            return singleton(GeneratorObject(file_id, position))
        left_out = {scope.parameters[index].name for index in given_back}
        returns = [each for each in scope.returns if type(each) is not str or each not in left_out]
        declared = self.annotations.instances(file, position, scope.returned_type)
        if file.semantics.declarations_suffice and self.typed.says_enough(declared, file):
            return declared
        if file.semantics.virtual and declared:
            return self.typed.narrowed(self.union(file, position, returns), declared)
        if self._is_declared(file, position):
            return declared
        promised = frozenset(filter(self.is_promised, declared))
        return self.union(file, position, returns) | promised or declared

    def run(self, value: Value, place: tuple[int, int] | None = None) -> Values:
        """What a generator yields, of that function if one is told; any other value as it is."""
        if isinstance(value, GeneratorObject) and place in (None, value.place):
            return self.yielded(value)
        return singleton(value)

    def yielded(self, generated: GeneratorObject) -> Values:
        """The values that a generator yields."""
        return self.solve(("yields", generated), self._yielded_values, *generated.place)

    def _yielded_values(self, file_id: int, position: int) -> Values:
        file = self.file(file_id)
        scope = file.scope(position)
        declared = self.annotations.instances(file, position, scope.returned_type)
        yielded = self.union(file, position, scope.yields)
        elements = self.containers.elements(declared)
        return self.typed.narrowed(yielded, elements, whole=True) if elements else yielded


def result_name(callee: str) -> str:
    """The name of what an external callee gives: a class's instance by the class, else `callee()`."""
    name = last_part(callee)
    return callee if name[:1].isupper() or name.endswith("()") else f"{callee}()"
