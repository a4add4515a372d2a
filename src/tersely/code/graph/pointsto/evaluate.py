"""Points-to on demand: which values an expression may have, flow-insensitively, over the whole
program.

For Python this is the analysis of PyCG (Salis et al., ICSE 2021) turned around: instead of one pass
over everything, each question is an equation of `fixpoint.Solver` and pulls in only the equations
it needs. Nothing here knows a programming language; what differs between them is in
`languages.model.Resolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tersely.code.expressions import (
    AS_TRAIT,
    CALL,
    CONST,
    CONTEXT_MANAGER,
    DECLARED,
    DEFINED,
    DISPLAYED,
    EITHER,
    ELEMENT,
    ENTER,
    GENERIC,
    GIVEN,
    GUARD,
    GUARDED,
    HELD,
    HOLE,
    IMPORTED,
    ITEM,
    KEY_OF,
    LITERAL,
    MAPPING,
    MEMBER,
    NEW,
    OUTER_NAME,
    PARAMETER,
    PART,
    REASON,
    REFERENCE,
    SEQUENCE,
    SIGNATURE,
    SPREAD,
    TESTED,
    TYPE_PARAMETER,
    TYPED,
    UNIT,
    Expression,
    behind_path,
    is_tagged,
)
from tersely.code.graph.dispatch.classes.descriptors import Descriptors
from tersely.code.graph.dispatch.classes.metaclasses import Metaclasses
from tersely.code.graph.dispatch.classes.overriding import Overriding
from tersely.code.graph.dispatch.classes.traits import Traits
from tersely.code.graph.dispatch.generics import Generics
from tersely.code.graph.dispatch.header_fields import HeaderFields
from tersely.code.graph.dispatch.inference import Inference
from tersely.code.graph.dispatch.members import Members
from tersely.code.graph.dispatch.object_literals import Objects
from tersely.code.graph.dispatch.registrations.fixture_injection import Providers
from tersely.code.graph.dispatch.registrations.registered import Registered
from tersely.code.graph.dispatch.registrations.topics import Topics
from tersely.code.graph.dispatch.tested_members import TestedMembers
from tersely.code.graph.dispatch.type_filtering import Typed
from tersely.code.graph.pointsto.annotations import Annotations, instances_of
from tersely.code.graph.pointsto.calls import Calls
from tersely.code.graph.pointsto.containers import Containers
from tersely.code.graph.pointsto.contexts import Contexts
from tersely.code.graph.pointsto.fixpoint import Solver
from tersely.code.graph.pointsto.names import Names
from tersely.code.graph.pointsto.parameters import Parameters
from tersely.code.graph.pointsto.summaries import Summaries
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    CONSTANT,
    CONTAINER_LITERAL,
    FUNCTION,
    GENERATED,
    INSTANCE,
    REFUSED,
    RESULT,
    RETURN_TYPE,
    WRAPPED,
    Value,
    Values,
    singleton,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Program
from tersely.code.symbols import MEMBER_OWNERS
from tersely.foundation.recursion import allow_deep_nesting

UNOPERATED = (FUNCTION, WRAPPED, GENERATED)  # values without methods of operators
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
        self.members = Members(self)
        self.overriding = Overriding(self)
        self.objects = Objects(self)
        self.typed = Typed(self)
        self.traits = Traits(self)
        self.generics = Generics(self)
        self.inference = Inference(self)
        self.tested = TestedMembers(self)
        self.header_fields = HeaderFields(self)
        self.registered = Registered(self)
        self.metaclasses = Metaclasses(self)
        self.descriptors = Descriptors(self)
        self.names = Names(self)
        self.annotations = Annotations(self)
        self.calls = Calls(self)
        self.summaries = Summaries(self)
        self.parameters = Parameters(self)
        self.contexts = Contexts(self)
        self.providers = Providers(self)
        self.containers = Containers(self)
        self.topics: Topics = self.below.topics if self.below is not None else Topics(self)
        self._by_tag = self._evaluations()

    def _evaluations(self) -> dict[int, Callable[[File, int, Any], Values]]:
        """The evaluation of each kind of expression, by its tag."""
        return {
            OUTER_NAME: self._around,
            AS_TRAIT: self._as_trait,
            CALL: self.calls.given,
            CONST: self._const,
            DECLARED: self._declared,
            DEFINED: self._defined,
            DISPLAYED: self._displayed,
            EITHER: self._either,
            ELEMENT: self._element,
            ENTER: self._enter,
            GENERIC: self._generic,
            GIVEN: self._given,
            GUARD: self._nothing,
            GUARDED: self._nothing,
            IMPORTED: self._imported,
            ITEM: self.containers.item,
            HELD: self._held,
            KEY_OF: self._key_of,
            LITERAL: self._literal,
            MAPPING: self._display,
            MEMBER: self._member,
            NEW: self.calls.given,
            PARAMETER: self.parameters.of,
            PART: self._part,
            REASON: self._reason,
            REFERENCE: self._reference,
            SEQUENCE: self._display,
            SIGNATURE: self._signature,
            SPREAD: self._element,
            TESTED: self._nothing,
            TYPE_PARAMETER: self._generic,
            TYPED: self._typed,
            UNIT: self._const,
        }

    def values(self, file: File, scope: int, expression: Expression) -> Values:
        """The values that an expression in a scope may have."""
        if expression is None:
            return BOTTOM
        if type(expression) is str:
            return self.names.of(file, scope, expression)
        return self._by_tag[expression[0]](file, scope, expression)

    def union(self, file: File, scope: int, expressions: Iterable[Expression]) -> Values:
        """The values that any of several expressions in a scope may have."""
        found: Values = BOTTOM
        for expression in expressions:
            found |= self.values(file, scope, expression)
        return found

    def _member(self, file: File, scope: int, expression: Any) -> Values:
        values = self.values(file, scope, expression[1])
        if expression[2] in file.semantics.receiver_names:  # Outer.this
            return self.typed.opened(instances_of(values))
        found = self.members.of_all(values, expression[2], file)
        if file.semantics.open_receivers and any(value[0] == FUNCTION for value in found):
            below = self.overriding.reached(file, scope, expression)
            found |= frozenset(value for value in below if value[0] == FUNCTION)
        return self.names.without_methods(found) if file.semantics.methods_apart else found

    def _reference(self, file: File, scope: int, expression: Any) -> Values:
        found: Values = BOTTOM
        for value in self.members.of_all(
            self.calls.receivers(file, scope, expression[1]), expression[2], file
        ):
            found |= singleton(*value[:3], value) if value[0] == FUNCTION else frozenset((value,))
        return found

    def _declared(self, file: File, scope: int, expression: Any) -> Values:
        values = self.values(file, scope, expression[1])
        if is_tagged(expression[2], TESTED):
            return self.tested.admitted(file, scope, values, expression[2])
        return self.typed.narrowed(
            values, self.annotations.instances(file, scope, expression[2]), whole=True
        )

    def _const(self, file: File, scope: int, expression: Any) -> Values:
        return singleton(CONSTANT, expression[1])

    def _literal(self, file: File, scope: int, expression: Any) -> Values:
        if len(expression) == len(("tag", "type", "pattern", "beginning")):
            return self.begun(file, expression, self.values(file, scope, expression[3]))
        return singleton(RESULT, f"{file.semantics.builtins}.{expression[1]}", *expression[2:])

    def begun(self, file: File, text: Any, beginnings: Values) -> Values:
        """A text that begins with some values; what is put behind a path is left out."""
        made, pattern = (RESULT, f"{file.semantics.builtins}.{text[1]}"), text[2]
        rest, has_path_alone = pattern[len(HOLE) :], behind_path(pattern)
        found: set[Value] = set()
        for value in beginnings:
            if value[0] == CONSTANT and type(value[1]) is str:
                found.add((*made, f"{value[1]}{rest}"))
            elif has_path_alone and value[0] == RESULT and len(value) == len((*made, "pattern")):
                found.add(value)
        return frozenset(found) or singleton(*made, *(() if has_path_alone else (pattern,)))

    def _defined(self, file: File, scope: int, expression: Any) -> Values:
        position = expression[1]
        kind = file.definitions[position].kind
        if kind in MEMBER_OWNERS:
            return frozenset((self.members.open.whole(file, position),))
        return singleton(FUNCTION, file.id, position, None)

    def _display(self, file: File, scope: int, expression: Any) -> Values:
        file.displays[expression[2]] = (scope, expression)
        return singleton(CONTAINER_LITERAL, file.id, expression[2])

    def _displayed(self, file: File, scope: int, expression: Any) -> Values:
        return singleton(CONTAINER_LITERAL, file.id, expression[1])

    def _either(self, file: File, scope: int, expression: Any) -> Values:
        if len(expression) > len(("tag", "alternatives")):
            return self._operated(file, scope, *expression[1])
        return self.union(file, scope, expression[1])

    def _operated(self, file: File, scope: int, entered: Any, right: Expression) -> Values:
        """What an operator gives: what its method gives of the left operand, if that has one."""
        left, methods = self.values(file, scope, entered[1]), file.semantics.in_place_of(entered[2])
        found: Values = BOTTOM
        others = set[Value]()
        for value in left:
            given = self._by_methods(value, methods, file) if value[0] == INSTANCE else BOTTOM
            found |= given
            if not given:
                others.add(value)
        if found and all(value[0] in UNOPERATED for value in others):
            return found
        return found | others | self.values(file, scope, right)

    def _imported(self, file: File, scope: int, expression: Any) -> Values:
        return self.names.imported(file, expression[1], expression[2])

    def _typed(self, file: File, scope: int, expression: Any) -> Values:
        return self.annotations.instances(file, scope, expression[1])

    def _reason(self, file: File, scope: int, expression: Any) -> Values:
        promises = self.values(file, scope, expression[1])
        return frozenset().union(*[value[1] for value in promises if value[0] == REFUSED])

    def _element(self, file: File, scope: int, expression: Any) -> Values:
        return self.containers.elements(self.values(file, scope, expression[1]))

    def _held(self, file: File, scope: int, expression: Any) -> Values:
        return self.containers.held(self.values(file, scope, expression[1]))

    def _key_of(self, file: File, scope: int, expression: Any) -> Values:
        values = self.values(file, scope, expression[1])
        return self.containers.keys_of(values) or self.containers.elements(values)

    def _part(self, file: File, scope: int, expression: Any) -> Values:
        _, collection, start, stop, serial = expression
        if start is not None or stop is not None:
            found = self.containers.parts(self.values(file, scope, collection), slice(start, stop))
            if found is not None:
                return found
        return self._display(file, scope, (SEQUENCE, ((SPREAD, collection),), serial))

    def _enter(self, file: File, scope: int, expression: Any) -> Values:
        _, entered, method = expression
        found: Values = BOTTOM
        for value in self.values(file, scope, entered):
            if value[0] == GENERATED and self._is_manager(value):
                found |= self.calls.yielded(value)
            elif value[0] == INSTANCE and method == file.semantics.await_method:
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

    def _is_manager(self, generated: Value) -> bool:
        return bool(self.program.file(generated[1]).scope(generated[2]).flags & CONTEXT_MANAGER)

    def _around(self, file: File, scope: int, expression: Any) -> Values:
        return self.names.of(file, max(file.definitions[scope].parent, 0), expression[1])

    def _as_trait(self, file: File, scope: int, expression: Any) -> Values:
        types, traits = expression[1:]
        return self.traits.seen_as(
            self.values(file, scope, types), self.values(file, scope, traits)
        )

    def _signature(self, file: File, scope: int, expression: Any) -> Values:
        return singleton(RETURN_TYPE, file.id, scope, *expression[1:])

    def _given(self, file: File, scope: int, expression: Any) -> Values:
        return expression[1]  # type: ignore[no-any-return]

    def _nothing(self, file: File, scope: int, expression: Any) -> Values:
        return BOTTOM

    def _generic(self, file: File, scope: int, expression: Any) -> Values:
        return self.values(file, scope, expression[1])
