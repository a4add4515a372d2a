"""The arguments that a class outside the repository is given when one of ours below it is made: those
of the call itself, unless a constructor passes others on, by `super().__init__(prefix=prefix)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tersely.code.expressions import VERSION_MARK, Expression
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.names import Written
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.pointsto.values import (
    ClassObject,
    Value,
    only,
)
from tersely.code.graph.program.file import File
from tersely.code.languages.model import Resolution
from tersely.code.nodes import ConstantValue, Invocation, Item, Node
from tersely.code.syntax.mentions import callee_names

Choose = Callable[[Expression], Expression]  # an argument of a call, None if it has none


class BaseArguments(Component):
    """Arguments of bases outside the repository, over the values of an `Evaluator`."""

    def of(self, call: Written, choose: Choose) -> Iterator[Written]:
        """What a call of a class, or of anything else, passes on for an argument."""
        file, scope, written = call
        called: Iterable[Value] = ()
        if isinstance(written, Invocation):
            called = self.calls.called(file, scope, written)
        classes = sorted(only(called, ClassObject))
        if not classes:
            yield call._replace(expression=choose(call.expression))
        for value in classes:
            yield from self._passed(self.inheritance.linearised(value), call, choose)

    def _passed(
        self, classes: Sequence[ClassObject], call: Written, choose: Choose
    ) -> Iterator[Written]:
        """What the first constructor of some classes, each above the one before, passes on."""
        for at, owner in enumerate(classes):
            home = self.home(owner)
            for position in own_constructors(home, owner.position):
                for inner in home.scope(position).calls:
                    if _is_chained(inner, home.semantics):
                        chained = Written(home, position, inner)
                        for passed in self._passed(classes[at + 1 :], chained, choose):
                            yield from _from_outside(passed, chained, call, choose)
                return
        yield call._replace(expression=choose(call.expression))


def _from_outside(
    passed: Written, chained: Written, call: Written, choose: Choose
) -> Iterator[Written]:
    """What a constructor passes on, as the call writes it by which the constructor is called."""
    file, position, expression = passed
    outer, inner = call.expression, chained.expression
    assert isinstance(outer, Invocation)
    assert isinstance(inner, Invocation)
    if (file, position) != chained[:2]:
        yield passed
        return
    if isinstance(expression, Item) and isinstance(
        expression.key, ConstantValue
    ):  # of all there are
        for keyword, value in outer.keywords:
            if keyword == expression.key.value:
                yield call._replace(expression=value)
        return
    if isinstance(expression, Node):
        yield passed
        return
    scope, passes_all = file.scope(position), any(not name for name, _ in inner.keywords)
    if expression is None and passes_all:
        yield call._replace(expression=choose(outer))
    name = expression.partition(VERSION_MARK)[0] if expression is not None else ""
    for index, (parameter, _, default, _) in enumerate(scope.parameters):
        if parameter == name:
            given = passed_expressions(scope, index, outer, 1)
            yield from (call._replace(expression=one) for one in given)
            if not given:
                yield Written(file, file.parent(position), default)


def own_constructors(file: File, owner: int) -> list[int]:
    """The constructors that a class writes itself."""
    return [
        child
        for child in file.named_inside(owner, *file.semantics.constructors)
        if file.body(child) is not None
    ]


def _is_chained(call: Invocation, semantics: Resolution) -> bool:
    """True if a constructor calls that of a base."""
    return call.callee in semantics.super_names or any(
        name in semantics.constructors for name in callee_names(call.callee)
    )
