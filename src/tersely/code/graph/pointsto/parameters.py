"""The values of parameters: those declared, and those that calls pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from tersely.code.expressions import (
    CLASS_METHOD,
    KEYWORD_ONLY,
    OUTSIDE,
    POSITIONAL_ONLY,
    TAKES_RESULTS,
    VARIADIC,
    Expression,
    is_spread,
)
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    BOTTOM,
    ClassObject,
    CollectionObject,
    ConstantObject,
    FunctionObject,
    Instance,
    RestArguments,
    Value,
    Values,
    has,
    only,
    singleton,
    without,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.scopes import Body
from tersely.code.languages.model import Resolution
from tersely.code.nodes import (
    Call,
    ConstantValue,
    Invocation,
    Item,
    Member,
    Received,
)
from tersely.code.syntax.mentions import carried_names

if TYPE_CHECKING:
    from tersely.code.graph.calls.targets import Passing


EVERY = -1  # in place of the position of a parameter: everything that a function is given
MAX_KEYS = 12  # constants that a parameter may stand for


class Parameters(Component):
    """Values of the parameters of functions."""

    def of(self, file: File, scope: int, expression: Received) -> Values:
        """The values that a parameter of a function may have."""
        key = ("parameter", file.id, scope, expression.position)
        return self.solve(key, self._values, file, scope, expression.position)

    def _values(self, file: File, position: int, index: int) -> Values:
        scope = file.scope(position)
        _, annotation, _, mode = scope.parameters[index]
        outer = position if scope.flags & OUTSIDE else file.parent(position)
        if scope.receiver_type is not None and index == 0 and not scope.flags & OUTSIDE:
            return self.annotations.instances(file, outer, scope.receiver_type)
        if index == 0 and _takes_receiver(file, position):
            return self.evaluator.receivers.of(file, position, bool(scope.flags & CLASS_METHOD))
        if mode in VARIADIC:
            return singleton(RestArguments(file.id, position, index))
        if annotation is None:
            declared = self.evaluator.contexts.parameter(file, position, index)
        else:
            declared = self.annotations.instances(file, outer, annotation)
        if self._says_enough(declared, file):
            return declared
        return self._given(file, position, index, declared)

    def _says_enough(self, declared: Values, file: File) -> bool:
        """True if what a parameter is declared as need not be completed by what it is given."""
        is_promised = self.calls.is_promised
        if not file.semantics.virtual and any(map(self._tells_all, declared)):
            return not any(map(is_promised, declared))
        return file.semantics.declarations_suffice and self.typed.says_enough(declared, file)

    def _given(self, file: File, position: int, index: int, declared: Values) -> Values:
        """What a parameter is given by calls, by injection and by its default, within what it is
        declared as.
        """
        name, _, default, _ = file.scope(position).parameters[index]
        outer = file.parent(position)
        passed = self._handed(file, position, index) or self._passed(file, position, index)
        if file.semantics.injection is not None:
            passed |= self.evaluator.providers.provided(file, position, name)
        if file.semantics.virtual:
            return self.typed.narrowed(passed | self.values(file, outer, default), declared)
        if default is None or (passed and self._always_passed(file, position, index)):
            return declared | passed
        return declared | passed | self.values(file, outer, default)

    def _tells_all(self, value: Value) -> bool:
        """True if a declared value tells what may be passed."""
        return isinstance(value, (Instance, CollectionObject, ClassObject))

    def _always_passed(self, file: File, position: int, index: int) -> bool:
        """True if no known call leaves a parameter to its default."""
        self.solver.mark_own()
        scope = file.scope(position)
        sites = (
            self.evaluator.below.header_fields.passings(file, position)
            if self.evaluator.below
            else []
        )
        return all(passed_expressions(scope, index, call, shift) for _, _, call, shift in sites)

    def rest(self, value: RestArguments) -> Values:
        """Everything that a variadic parameter may receive."""
        _, file_id, position, index = value
        file = self.file(file_id)
        return self.solve(
            ("rest", file_id, position, index), self._rest_values, file, position, index
        )

    def _rest_values(self, file: File, position: int, index: int) -> Values:
        found = self._passed(file, position, index)
        if index == EVERY:
            return found
        annotation, outer = (
            file.scope(position).parameters[index].annotation,
            file.parent(position),
        )
        declared = self.annotations.instances(file, outer, annotation)
        is_bound = file.semantics.virtual
        return self.typed.narrowed(found, declared) if is_bound else found | declared

    def _handed(self, file: File, position: int, index: int) -> Values:
        """What a function without a name is given by the function outside the repository that it is
        written for.

        That call is the one place where such a function goes, so that nothing need be searched for.
        """
        handed = file.uses.handed(position) if hands_over(file.semantics) else None
        if handed is None:
            return BOTTOM
        scope, call = handed
        if has(self.calls.called(file, scope, call), FunctionObject):
            return BOTTOM
        given = self.callbacks.given(file, scope, call, (file.id, position))
        parameters = file.scope(position).parameters
        if len(given.arguments) == 1 < len(parameters):
            return self.values(file, scope, Item(given.arguments[0], ConstantValue(index)))
        return self.union(file, scope, passed_expressions(file.scope(position), index, given, 0))

    def receivers(self, file: File, position: int) -> Values:
        """The receivers of a function without a name where it is written for a function that gives
        it one.
        """
        handed = file.uses.handed(position)
        if handed is None:
            return BOTTOM
        key = ("receiver", file.id, position)
        return self.solve(key, self._receiver_values, file, *handed)

    def _receiver_values(self, file: File, scope: int, call: Invocation) -> Values:
        return self.values(file, scope, self.callbacks.given_receiver(file, scope, call))

    def _passed(self, file: File, position: int, index: int) -> Values:
        """The values that call sites pass for a parameter."""
        below = self.evaluator.below
        self.solver.mark_own()
        if below is None:
            return BOTTOM
        found: Values = BOTTOM
        passings = below.header_fields.passings(file, position)
        if not passings and index != EVERY:
            callbacks = below.argument_flow.given_to_constructor(file, position, index)
            return self._called_back(file, position, index, callbacks)
        for site_file, site_scope, call, shift in passings:
            caller = self.file(site_file)
            for expression in passed_expressions(file.scope(position), index, call, shift):
                # What is passed on as it came is followed through any number of calls.
                is_passed_on = type(expression) is str and caller.is_parameter(
                    site_scope, expression
                )
                found |= (self.evaluator if is_passed_on else below).values(
                    caller, site_scope, expression
                )
        return few_keys(found)

    def _called_back(
        self, file: File, position: int, index: int, passings: Sequence[Passing]
    ) -> Values:
        """The functions among what some calls pass for a parameter."""
        assert self.evaluator.below is not None
        found: Values = BOTTOM
        for site_file, site_scope, call, shift in passings:
            passed = passed_expressions(file.scope(position), index, call, shift)
            caller = self.file(site_file)
            found |= self.evaluator.below.union(caller, site_scope, passed)
        return only(found, FunctionObject)


@cache
def hands_over(semantics: Resolution) -> bool:
    """True if it is known of functions outside the repository what they pass to those that they are
    given.
    """
    return any(
        summary.passes for summary in (*semantics.methods.values(), *semantics.summaries.values())
    )


def _takes_receiver(file: File, position: int) -> bool:
    """True if the first parameter of a function is the object that it is called on."""
    return bool(
        file.semantics.receiver_parameter
        and file.receiver_name(position)
        and file.owner_class(position) >= 0
    )


def few_keys(values: Values) -> Values:
    """Values without their constants when there are so many that they say nothing."""
    if len(values) <= MAX_KEYS:
        return values
    others = without(values, ConstantObject)
    return values if len(values) - len(others) <= MAX_KEYS else others


def passed_expressions(scope: Body, index: int, call: Invocation, shift: int) -> list[Expression]:
    """The argument expressions of a call that end in one parameter. `shift`: parameters taken by
    the receiver.
    """
    arguments, keywords = call.arguments, call.keywords
    if index == EVERY:
        return list(arguments)
    name, _, _, mode = scope.parameters[index]
    if scope.flags & TAKES_RESULTS and _passes_results(scope, call, shift):
        return [Item(arguments[0], ConstantValue(index - shift))]
    found = []
    if mode == VARIADIC[0]:
        found = list(arguments[max(index - shift, 0) :])
    elif mode == VARIADIC[1]:
        named = {parameter.name for parameter in scope.parameters}
        found = [value for keyword, value in keywords if keyword not in named]
    else:
        place = index - shift
        spread = next((i for i, part in enumerate(arguments) if is_spread(part)), len(arguments))
        if mode != KEYWORD_ONLY and 0 <= place < min(spread, len(arguments)):
            found.append(arguments[place])
        elif mode != KEYWORD_ONLY and place >= spread:
            found.extend(part for part in arguments[spread:] if is_spread(part))
        if mode == POSITIONAL_ONLY:
            return found
        found.extend(value for keyword, value in keywords if keyword == name)
        found.extend(
            Item(value, ConstantValue(name))
            for keyword, value in keywords
            if not keyword and value is not None
        )
    return found


def is_called(file: File, position: int, index: int) -> bool:
    """True if a file calls a parameter of a method, or a member that is given it."""
    name = file.scope(position).parameters[index].name
    members = {
        target.name
        for target, value in file.scope(position).binds
        if isinstance(target, Member) and name in carried_names(value)
    }
    return any(one in file.uses.calls_by_name for one in {name, *members})


def _passes_results(scope: Body, call: Invocation, shift: int) -> bool:
    """True if the one argument of a call is a call that gives all parameters a value."""
    fills_several = len(scope.parameters) - shift > 1
    has_rest = any(parameter.mode in VARIADIC for parameter in scope.parameters)
    is_call = len(call.arguments) == 1 and isinstance(call.arguments[0], Call)
    return is_call and fills_several and not has_rest
