"""The arguments that a class outside the repository is given when one of ours below it is made: those
of the call itself, unless a constructor passes others on, by `super().__init__(prefix=prefix)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tersely.code.expressions import CONST, ITEM, VERSION_MARK, Expression, is_tagged
from tersely.code.graph.pointsto.fixpoint import Component
from tersely.code.graph.pointsto.names import Written
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.pointsto.values import CLASS, Value
from tersely.code.graph.program.file import File
from tersely.code.languages.model import Resolution
from tersely.code.syntax.mentions import callee_names

Choose = Callable[[Expression], Expression]  # an argument of a call, None if it has none


class BaseArguments(Component):
    """Arguments of bases outside the repository, over the values of an `Evaluator`."""

    def of(self, call: Written, choose: Choose) -> Iterator[Written]:
        """What a call of a class, or of anything else, passes on for an argument."""
        called = self.evaluator.calls.called(*call) if call.expression is not None else ()
        classes = sorted(value for value in called if value[0] == CLASS)
        if not classes:
            yield call._replace(expression=choose(call.expression))
        for value in classes:
            yield from self._passed(self.evaluator.members.linearised(value), call, choose)

    def _passed(self, classes: Sequence[Value], call: Written, choose: Choose) -> Iterator[Written]:
        """What the first constructor of some classes, each above the one before, passes on."""
        for at, owner in enumerate(classes):
            home = self.program.file(owner[1])
            for position in _constructors(home, owner[2]):
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
    is_keyword = is_tagged(expression, ITEM) and is_tagged(expression[2], CONST)  # of all there are
    is_own = expression is None or type(expression) is str or is_keyword
    if (file, position) != chained[:2] or not is_own:
        yield passed
        return
    if is_keyword:
        for keyword, value in call.expression[3]:
            if keyword == expression[2][1]:
                yield call._replace(expression=value)
        return
    scope, passes_all = file.scope(position), any(not name for name, _ in chained.expression[3])
    if expression is None and passes_all:
        yield call._replace(expression=choose(call.expression))
    name = expression.partition(VERSION_MARK)[0] if expression is not None else ""
    for index, (parameter, _, default, _) in enumerate(scope.parameters):
        if parameter == name:
            given = passed_expressions(scope, index, call.expression, 1)
            yield from (call._replace(expression=one) for one in given)
            if not given:
                yield Written(file, file.definitions[position].parent, default)


def _constructors(file: File, owner: int) -> list[int]:
    """The constructors that a class writes itself."""
    return [
        child
        for child in file.children.get(owner, ())
        if file.definitions[child].name in file.semantics.constructors
        and file.scopes[child] is not None
    ]


def _is_chained(call: Expression, semantics: Resolution) -> bool:
    """True if a constructor calls that of a base."""
    return call[1] in semantics.super_names or any(
        name in semantics.constructors for name in callee_names(call[1])
    )
