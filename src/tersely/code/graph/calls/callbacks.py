"""Functions that code outside the repository is given and calls, and what it passes to them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse, product

from tersely.code.expressions import (
    HOLE,
    Expression,
    is_spread,
)
from tersely.code.graph.calls.passing import (
    all_passed_on,
    called_arguments,
    innermost,
    passed_on,
    receiver_of,
)
from tersely.code.graph.calls.targets import Targets, given_nothing
from tersely.code.graph.pointsto.component import Component
from tersely.code.graph.pointsto.values import (
    ClassObject,
    ConstantObject,
    FunctionObject,
    Instance,
    MemberFamily,
    Value,
    Values,
    itself,
    only,
    own_class,
)
from tersely.code.graph.program.file import File
from tersely.code.graph.program.program import Place
from tersely.code.languages.model import Summary
from tersely.code.nodes import (
    Call,
    Invocation,
    Member,
)


class Callbacks(Component):
    """Calls of functions by what is outside the repository."""

    def called_back(
        self, summary: Summary | None, file: File, scope: int, call: Invocation
    ) -> Targets:
        """Functions that a function outside the repository is known to call."""
        found: Targets = []
        given = call.passed if file.semantics.calls_back else ()
        for index, argument in enumerate(given):
            if summary is not None and summary.returns == index:
                continue
            targets = map(self.sites.target, self._functions(file, scope, argument))
            # what they are given: unknown
            found.extend(map(given_nothing, targets))
        if summary is None:
            return sorted(found)
        for expression in called_arguments(summary, call):
            functions = self._functions(file, scope, expression, summary.methods)
            if summary.rule:
                functions += self._held_functions(file, scope, expression)
                if (decorated := innermost(expression)) is not None:
                    functions += self._functions(file, scope, decorated)
            found.extend(map(given_nothing, map(self.sites.target, functions)))
        return sorted(set(found))

    def _functions(
        self,
        file: File,
        scope: int,
        expression: Expression,
        methods: frozenset[str] = frozenset(),
    ) -> list[FunctionObject]:
        """The functions that an argument is, or has: methods of a class that are handlers."""
        made_by = expression.callee if isinstance(expression, Call) else None
        if isinstance(made_by, Member) and made_by.name in file.semantics.dispatchers:
            given = self.union(file, scope, filterfalse(is_spread, expression.arguments))
            named = self.containers.held(given)
            constants = (value.constant for value in only(named, ConstantObject))
            texts = (one for one in constants if isinstance(one, str))
            names = dict.fromkeys([*file.semantics.dispatchers[made_by.name], *sorted(texts)])
            return self._methods(self.values(file, scope, made_by.object), names)
        values = self.values(file, scope, expression)
        functions = list(only(values, FunctionObject))
        for family in map(self.summaries.family, only(values, MemberFamily)):
            functions += only(family, FunctionObject)
        return functions + self._methods(values, sorted(methods))

    def _held_functions(
        self, file: File, scope: int, expression: Expression
    ) -> list[FunctionObject]:
        """The functions that the lists and objects hold which an argument is."""
        values = self.values(file, scope, expression)
        held = self.containers.held(values)
        return list(only(held, FunctionObject))

    def _methods(self, values: Values, names: Iterable[str]) -> list[FunctionObject]:
        """The methods of some names, or that fit such patterns, which the classes and the classes of
        the objects among some values declare.
        """
        found: list[Value] = []
        owners = sorted(only(values, ClassObject, Instance))
        for owner, name in product(owners, names):
            if HOLE in name:
                found += sorted(self.summaries.family(MemberFamily(owner, name)), key=repr)
            else:
                found += self.class_members.declared(own_class(owner), name)
        return list(only(found, FunctionObject))

    def summary(self, file: File, scope: int, call: Invocation) -> Summary | None:
        """The summary of the function outside the repository that a call calls, None if there is
        none.
        """
        callee = call.callee
        for value in sorted(self.calls.called(file, scope, call), key=repr):
            summary = self.summaries.of(value, file)
            if summary is not None:
                return summary
        return file.semantics.methods.get(self.names.method_name(file, scope, callee))

    def given(self, file: File, scope: int, call: Invocation, place: Place | None = None) -> Call:
        """The call that a function outside the repository makes to a function it was given, to that
        at `place` if that matters.
        """
        summary = self.summary(file, scope, call)
        given: list[Expression] = []
        passes = summary.passes if summary is not None else ()
        if place is not None and summary is not None and summary.refused >= 0:
            handlers = self.union(file, scope, call.arguments[summary.refused :])
            if any(itself(value) == FunctionObject(*place) for value in handlers):
                passes = ("reason",)
        for words in passes:
            given.extend(all_passed_on(words, call))
        keywords = call.keywords if any(words.startswith("rest") for words in passes) else ()
        return Call(call.callee, tuple(given), keywords, call.line)

    def given_receiver(self, file: File, scope: int, call: Invocation) -> Expression:
        """The receiver in a function that a function outside the repository is given."""
        summary = self.summary(file, scope, call)
        return (
            passed_on(summary.receives, receiver_of(call), call)
            if summary is not None and summary.receives
            else None
        )

    def rule(self, file: File, scope: int, call: Invocation) -> str:
        """The rule of a framework by which a call reaches what it does not call."""
        summary = self.summary(file, scope, call)
        return summary.rule if summary is not None else ""
