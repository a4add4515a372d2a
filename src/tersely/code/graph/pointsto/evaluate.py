"""Points-to on demand: which values an expression may have, flow-insensitively, over the whole
program.

For Python this is the analysis of PyCG (Salis et al., ICSE 2021) turned around: instead of one pass
over everything, each question is an equation of `fixpoint.Solver` and pulls in only the equations
it needs. Nothing here knows a programming language; what differs between them is in
`languages.model.Resolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tersely.code.expressions import (
    CONTEXT_MANAGER,
    HOLE,
    behind_path,
)
from tersely.code.graph.calls.call_resolution import Sites
from tersely.code.graph.calls.callbacks import Callbacks
from tersely.code.graph.calls.grades import Grades
from tersely.code.graph.calls.missed import Missed
from tersely.code.graph.calls.namesakes import Namesakes
from tersely.code.graph.calls.properties import Properties
from tersely.code.graph.dispatch.classes.bodies import ClassBodies
from tersely.code.graph.dispatch.classes.class_members import ClassMembers
from tersely.code.graph.dispatch.classes.data_model import Descriptors, Metaclasses, MissingMembers
from tersely.code.graph.dispatch.classes.inheritance import Inheritance
from tersely.code.graph.dispatch.classes.interfaces import Interfaces
from tersely.code.graph.dispatch.classes.open_classes import OpenClasses
from tersely.code.graph.dispatch.classes.overriding import Overriding
from tersely.code.graph.dispatch.classes.traits import Traits
from tersely.code.graph.dispatch.generics import Generics
from tersely.code.graph.dispatch.header_fields import HeaderFields
from tersely.code.graph.dispatch.inference import Inference
from tersely.code.graph.dispatch.member_stores import MemberStores
from tersely.code.graph.dispatch.members import Members
from tersely.code.graph.dispatch.modules import Modules
from tersely.code.graph.dispatch.object_literals import Objects
from tersely.code.graph.dispatch.registrations.fixture_injection import Providers
from tersely.code.graph.dispatch.registrations.registered import Registered
from tersely.code.graph.dispatch.registrations.topics import Topics
from tersely.code.graph.dispatch.tested_members import TestedMembers
from tersely.code.graph.dispatch.type_filtering import TypeFilter
from tersely.code.graph.pointsto.annotations import Annotations, instances_of
from tersely.code.graph.pointsto.calls import Calls
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.containers import Containers
from tersely.code.graph.pointsto.contexts import Contexts
from tersely.code.graph.pointsto.fixpoint import Solver
from tersely.code.graph.pointsto.imported import Imported
from tersely.code.graph.pointsto.names import Names
from tersely.code.graph.pointsto.parameters import Parameters
from tersely.code.graph.pointsto.receivers import Receivers
from tersely.code.graph.pointsto.summaries import Summaries
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ConstantObject,
    ContainerLiteral,
    ExternalResult,
    FunctionObject,
    GeneratorObject,
    Instance,
    RejectedPromise,
    SignatureObject,
    Value,
    Values,
    WrappedFunction,
    has,
    is_text,
    only,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Program
from tersely.code.graph.searches.aliases import Aliases
from tersely.code.graph.searches.argument_flow import ArgumentFlow
from tersely.code.graph.searches.caller_names import CallerNames
from tersely.code.graph.searches.searches import Searches
from tersely.code.nodes import (
    AsTrait,
    Call,
    CallableType,
    ConstantValue,
    Declared,
    DefinedHere,
    Displayed,
    Either,
    Element,
    Enter,
    Expression,
    Generic,
    GivenInstances,
    Guarded,
    GuardType,
    Held,
    ImportedValue,
    Item,
    KeyOf,
    ListLiteral,
    Literal,
    MappingLiteral,
    Member,
    MemberTest,
    MethodReference,
    New,
    Node,
    OuterName,
    Received,
    RejectionReason,
    SequencePart,
    Spread,
    Typed,
    TypeParameter,
    UnitType,
)
from tersely.code.symbols import MEMBER_OWNERS
from tersely.foundation.recursion import allow_deep_nesting

UNOPERATED = (
    FunctionObject,
    WrappedFunction,
    GeneratorObject,
)  # values without methods of operators
FLOW_LEVELS = 2  # parameters through which a function may come before it is called


class Evaluator:
    """Answers what expressions, names, parameters, returns and members may be.

    What a parameter receives depends on who calls the function, and who calls it on what parameters
    receive. This circle is cut by levels: an evaluator takes the callers and what they pass from
    the one below it, and the lowest knows nothing of what is passed. So a question reaches as many
    callers upward as there are levels, not all of them.
    """

    def __init__(self, program: Program, level: int = FLOW_LEVELS) -> None:
        allow_deep_nesting()
        self.program = program
        self.below = Evaluator(program, level - 1) if level else None
        self.solver: Solver = Solver(
            self.below.solver if self.below is not None else None, program.bounds
        )
        self.parts: list[Component] = []
        self.members = Members(self)
        self.class_members = ClassMembers(self)
        self.bodies = ClassBodies(self)
        self.inheritance = Inheritance(self)
        self.interfaces = Interfaces(self)
        self.open_classes = OpenClasses(self)
        self.missing_members = MissingMembers(self)
        self.modules = Modules(self)
        self.stores = MemberStores(self)
        self.overriding = Overriding(self)
        self.objects = Objects(self)
        self.typed = TypeFilter(self)
        self.traits = Traits(self)
        self.generics = Generics(self)
        self.inference = Inference(self)
        self.tested = TestedMembers(self)
        self.header_fields = HeaderFields(self)
        self.registered = Registered(self)
        self.metaclasses = Metaclasses(self)
        self.descriptors = Descriptors(self)
        self.receivers = Receivers(self)
        self.imported = Imported(self)
        self.names = Names(self)
        self.annotations = Annotations(self)
        self.calls = Calls(self)
        self.summaries = Summaries(self)
        self.parameters = Parameters(self)
        self.contexts = Contexts(self)
        self.providers = Providers(self)
        self.containers = Containers(self)
        self.topics: Topics = self.below.topics if self.below is not None else Topics(self)
        self.sites = Sites(self)
        self.callbacks = Callbacks(self)
        self.properties = Properties(self)
        self.namesakes = Namesakes(self)
        self.missed = Missed(self)
        self.grades = Grades(self)
        self.searches = Searches(self)
        self.caller_names = CallerNames(self)
        self.aliases = Aliases(self)
        self.argument_flow = ArgumentFlow(self)
        for part in self.parts:
            part.connect()
        self._by_class = self._evaluations()

    def _evaluations(self) -> dict[type[Node], Callable[..., Values]]:
        """The evaluation of each kind of expression, by its class."""
        return {
            OuterName: self._around,
            AsTrait: self._as_trait,
            Call: self.calls.given,
            ConstantValue: self._const,
            Declared: self._declared,
            DefinedHere: self._defined,
            Displayed: self._displayed,
            Either: self._either,
            Element: self._element,
            Enter: self._enter,
            Generic: self._generic,
            GivenInstances: self._given,
            GuardType: self._nothing,
            Guarded: self._nothing,
            ImportedValue: self._imported,
            Item: self.containers.item,
            Held: self._held,
            KeyOf: self._key_of,
            Literal: self._literal,
            MappingLiteral: self._display,
            Member: self._member,
            New: self.calls.given,
            Received: self.parameters.of,
            SequencePart: self._part,
            RejectionReason: self._reason,
            MethodReference: self._reference,
            ListLiteral: self._display,
            CallableType: self._signature,
            Spread: self._element,
            MemberTest: self._nothing,
            TypeParameter: self._bound,
            Typed: self._typed,
            UnitType: self._const,
        }

    def values(self, file: File, scope: int, expression: Expression) -> Values:
        """The values that an expression in a scope may have."""
        if expression is None:
            return BOTTOM
        if isinstance(expression, str):
            return self.names.of(file, scope, expression)
        return self._by_class[type(expression)](file, scope, expression)

    def union(self, file: File, scope: int, expressions: Iterable[Expression]) -> Values:
        """The values that any of several expressions in a scope may have."""
        found: Values = BOTTOM
        for expression in expressions:
            found |= self.values(file, scope, expression)
        return found

    def _member(self, file: File, scope: int, expression: Member) -> Values:
        values = self.values(file, scope, expression.object)
        if expression.name in file.semantics.receiver_names:  # Outer.this
            return self.typed.opened(instances_of(values))
        found = self.members.of_all(values, expression.name, file)
        if file.semantics.open_receivers and has(found, FunctionObject):
            below = self.overriding.reached(file, scope, expression)
            found |= only(below, FunctionObject)
        return self.names.without_methods(found) if file.semantics.methods_apart else found

    def _reference(self, file: File, scope: int, expression: MethodReference) -> Values:
        found: Values = BOTTOM
        for value in self.members.of_all(
            self.calls.receivers(file, scope, expression.object), expression.name, file
        ):
            found |= (
                singleton(FunctionObject(*value.place, value))
                if isinstance(value, FunctionObject)
                else frozenset((value,))
            )
        return found

    def _declared(self, file: File, scope: int, expression: Declared) -> Values:
        values = self.values(file, scope, expression.value)
        if isinstance(expression.type, MemberTest):
            return self.tested.admitted(file, scope, values, expression.type)
        return self.typed.narrowed(
            values, self.annotations.instances(file, scope, expression.type), whole=True
        )

    def _const(self, file: File, scope: int, expression: ConstantValue | UnitType) -> Values:
        return singleton(ConstantObject(expression.value))

    def _literal(self, file: File, scope: int, expression: Literal) -> Values:
        if expression.beginning is not None:
            return self.begun(file, expression, self.values(file, scope, expression.beginning))
        type_ = f"{file.semantics.builtins}.{expression.type}"
        return singleton(ExternalResult(type_, expression.pattern))

    def begun(self, file: File, text: Literal, beginnings: Values) -> Values:
        """A text that begins with some values; what is put behind a path is left out."""
        type_, pattern = f"{file.semantics.builtins}.{text.type}", text.pattern or HOLE
        rest, has_path_alone = pattern[len(HOLE) :], behind_path(pattern)
        found: set[Value] = set()
        for value in beginnings:
            if isinstance(value, ConstantObject) and isinstance(value.constant, str):
                found.add(ExternalResult(type_, f"{value.constant}{rest}"))
            elif has_path_alone and is_text(value):
                found.add(value)
        return frozenset(found) or singleton(
            ExternalResult(type_, None if has_path_alone else pattern)
        )

    def _defined(self, file: File, scope: int, expression: DefinedHere) -> Values:
        position = expression.definition
        kind = file.kind(position)
        if kind in MEMBER_OWNERS:
            return frozenset((self.open_classes.whole(file, position),))
        return singleton(FunctionObject(file.id, position, None))

    def _display(self, file: File, scope: int, expression: ListLiteral | MappingLiteral) -> Values:
        file.displays[expression.serial] = (scope, expression)
        return singleton(ContainerLiteral(file.id, expression.serial))

    def _displayed(self, file: File, scope: int, expression: Displayed) -> Values:
        return singleton(ContainerLiteral(file.id, expression.serial))

    def _either(self, file: File, scope: int, expression: Either) -> Values:
        if expression.operated:
            entered, right = expression.alternatives
            assert isinstance(entered, Enter)
            return self._operated(file, scope, entered, right)
        return self.union(file, scope, expression.alternatives)

    def _operated(self, file: File, scope: int, entered: Enter, right: Expression) -> Values:
        """What an operator gives: what its method gives of the left operand, if that has one."""
        left = self.values(file, scope, entered.object)
        methods = file.semantics.in_place_of(entered.method)
        found: Values = BOTTOM
        others = set[Value]()
        for value in left:
            given = (
                self._by_methods(value, methods, file) if isinstance(value, Instance) else BOTTOM
            )
            found |= given
            if not given:
                others.add(value)
        if found and all(isinstance(value, UNOPERATED) for value in others):
            return found
        return found | others | self.values(file, scope, right)

    def _imported(self, file: File, scope: int, expression: ImportedValue) -> Values:
        return self.imported.of(file, expression.module, expression.name)

    def _typed(self, file: File, scope: int, expression: Typed) -> Values:
        return self.annotations.instances(file, scope, expression.type)

    def _reason(self, file: File, scope: int, expression: RejectionReason) -> Values:
        promises = self.values(file, scope, expression.promise)
        return frozenset().union(*[value.reasons for value in only(promises, RejectedPromise)])

    def _element(self, file: File, scope: int, expression: Element | Spread) -> Values:
        return self.containers.elements(self.values(file, scope, expression.collection))

    def _held(self, file: File, scope: int, expression: Held) -> Values:
        return self.containers.held(self.values(file, scope, expression.collection))

    def _key_of(self, file: File, scope: int, expression: KeyOf) -> Values:
        values = self.values(file, scope, expression.collection)
        return self.containers.keys_of(values) or self.containers.elements(values)

    def _part(self, file: File, scope: int, expression: SequencePart) -> Values:
        if expression.start is not None or expression.stop is not None:
            bounds = slice(expression.start, expression.stop)
            collections = self.values(file, scope, expression.collection)
            found = self.containers.parts(collections, bounds)
            if found is not None:
                return found
        whole = ListLiteral((Spread(expression.collection),), expression.serial)
        return self._display(file, scope, whole)

    def _enter(self, file: File, scope: int, expression: Enter) -> Values:
        method = expression.method
        found: Values = BOTTOM
        for value in self.values(file, scope, expression.object):
            if isinstance(value, GeneratorObject) and self._is_manager(value):
                found |= self.calls.yielded(value)
            elif isinstance(value, Instance) and method == file.semantics.await_method:
                found |= self.calls.awaited(value, file) or frozenset((value,))
            else:
                given = self._by_methods(value, file.semantics.in_place_of(method), file)
                found |= given or frozenset((value,))
        return found

    def _by_methods(self, value: Value, methods: list[str], file: File) -> Values:
        """What the first of some methods gives that an object has."""
        for method in methods:
            if given := self.calls.of_member(value, method, file):
                return given
        return BOTTOM

    def _is_manager(self, generated: GeneratorObject) -> bool:
        return bool(self.program.scope(generated).flags & CONTEXT_MANAGER)

    def _around(self, file: File, scope: int, expression: OuterName) -> Values:
        return self.names.of(file, max(file.parent(scope), 0), expression.name)

    def _as_trait(self, file: File, scope: int, expression: AsTrait) -> Values:
        types = self.values(file, scope, expression.type)
        return self.traits.seen_as(types, self.values(file, scope, expression.trait))

    def _signature(self, file: File, scope: int, expression: CallableType) -> Values:
        return singleton(
            SignatureObject(file.id, scope, expression.returned, expression.parameters)
        )

    def _given(self, file: File, scope: int, expression: GivenInstances) -> Values:
        return expression.values

    def _nothing(self, file: File, scope: int, expression: Node) -> Values:
        return BOTTOM

    def _generic(self, file: File, scope: int, expression: Generic) -> Values:
        return self.values(file, scope, expression.base)

    def _bound(self, file: File, scope: int, expression: TypeParameter) -> Values:
        return self.values(file, scope, expression.bound)
