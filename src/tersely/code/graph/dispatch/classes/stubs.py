"""Functions that say with stubs how they may be called: what a call gives is what the stubs say that
it fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.expressions import (
    KEYWORD_REST,
    POSITIONAL,
    REST,
    VARIADIC,
    Expression,
    Scope,
    is_spread,
)
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.pointsto.values import (
    FUNCTION,
    NOTHING,
    PROMISED,
    Value,
    Values,
)

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator


class Stubs:
    """Results of functions with stubs over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def returned(self, function: Value, call: Expression, shift: int) -> Values:
        """The values that a function gives to a call by its stubs, nothing if it has none.

        `shift`: 1 if the receiver is its first parameter. Functions are known by what the body
        returns, where the stubs say that there are any.
        """
        home, position = self.evaluator.program.file(function[1]), function[2]
        stubs = home.stubs.get(position, ())
        fitting = [one for one in stubs if takes(home.scope(one), call, shift)] or stubs
        declared: Values = NOTHING
        for one in fitting:
            declared |= self.evaluator.annotations.instances(
                home, one, home.scope(one).returned_type
            )
        if not any(value[0] == PROMISED for value in declared):
            return declared
        values = self.evaluator.union(home, position, home.scope(position).returns)
        return declared | frozenset(value for value in values if value[0] == FUNCTION)


def takes(scope: Scope, call: Expression, shift: int) -> bool:
    """True if a function can be called so, by the number and the names of the arguments."""
    arguments, keywords = call[2], call[3]
    if any(is_spread(argument) for argument in arguments) or any(not name for name, _ in keywords):
        return True
    parameters = scope.parameters[shift:]
    modes = {mode for _, _, _, mode in parameters}
    names = {name for name, _, _, _ in parameters}
    places = sum(mode == POSITIONAL for _, _, _, mode in parameters)
    if len(arguments) > places and REST not in modes:
        return False
    if KEYWORD_REST not in modes and any(name not in names for name, _ in keywords):
        return False
    return all(
        passed_expressions(scope, index + shift, call, shift)
        for index, (_, _, default, mode) in enumerate(parameters)
        if default is None and mode not in VARIADIC
    )
