"""The functions that are given to a call, and the values that the call passes on to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.code.expressions import VARIADIC, Expression, Expressions, last_part
from tersely.code.graph.calls.targets import Carrier, Target
from tersely.code.graph.dispatch.registrations.registered import registering, registering_methods
from tersely.code.languages.model import RECEIVER, Resolution, Summary
from tersely.code.nodes import (
    Call,
    DefinedHere,
    Either,
    Element,
    Held,
    Invocation,
    ListLiteral,
    Member,
    RejectionReason,
    Spread,
)
from tersely.code.syntax.mentions import callee_names

if TYPE_CHECKING:
    from tersely.code.graph.program.file import File

_IN_PASSED = {
    "element": Element,
    "elements": Spread,
    "item": Held,
    "reason": RejectionReason,
}  # words of `Summary.passes`


class Calling(NamedTuple):
    """A function outside the repository, and the methods that it calls of what it is given."""

    name: str
    handlers: re.Pattern[str]


class Binder(NamedTuple):
    """A function outside the repository that gives arguments to one that it is given."""

    name: str
    position: int  # of that function among its own arguments


@cache
def binding_functions(semantics: Resolution) -> tuple[Binder, ...]:
    """The functions outside the repository that give arguments to a function for later."""
    return tuple(
        Binder(last_part(name), summary.binds)
        for name, summary in semantics.summaries.items()
        if summary.binds >= 0
    )


@cache
def decorating(semantics: Resolution) -> frozenset[str]:
    """What decorators outside the repository make of a function: objects that call it by a method."""
    return frozenset(
        name.rpartition(".")[0]
        for name, summary in semantics.summaries.items()
        if summary.calls == (RECEIVER,) and not summary.methods
    )


@cache
def calling_methods(semantics: Resolution) -> tuple[Calling, ...]:
    """The functions outside the repository that call methods of their arguments."""
    return tuple(
        Calling(last_part(name).removesuffix("()"), _fitting(summary.methods))
        for name, summary in semantics.summaries.items()
        if summary.methods and summary.calls != (RECEIVER,)
    )


@cache
def template_methods(semantics: Resolution) -> tuple[Calling, ...]:
    """The methods of classes outside the repository that call others of the same object."""
    return tuple(
        Calling(last_part(name), _fitting(summary.methods))
        for name, summary in semantics.summaries.items()
        if summary.methods and summary.calls == (RECEIVER,)
    )


def _fitting(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, sorted(patterns))))


def receiver_of(call: Invocation) -> Expression:
    """The expression that a method is called on."""
    return call.callee.object if isinstance(call.callee, Member) else None


def passed_on(words: str, receiver: Expression, call: Invocation) -> Expression:
    """What one of the words of `Summary.passes` says that a call passes on."""
    what, _, place = words.partition(" ")
    source = _argument(call, place) if place else receiver
    if source is None or what in ("receiver", "argument"):
        return source
    if what == "held":
        return Either((Element(source), source))
    return _IN_PASSED[what](source) if what in _IN_PASSED else None


def _argument(call: Invocation, place: str) -> Expression:
    """What a call passes at a position or by a keyword, None if nothing."""
    if not place.isdecimal():
        return next((value for name, value in call.keywords if name == place), None)
    return call.arguments[int(place)] if int(place) < len(call.arguments) else None


def all_passed_on(words: str, call: Invocation) -> Expressions:
    """What one of the words of `Summary.passes` says that a call passes on, one after the other."""
    what, _, place = words.partition(" ")
    if what == "rest":
        return tuple(call.arguments[int(place or 1) :])
    passed = passed_on(words, receiver_of(call), call)
    if passed is None and what == "elements":
        return ()
    is_written = isinstance(passed, Spread) and isinstance(passed.collection, ListLiteral)
    return passed.collection.elements if is_written else (passed,)


def called_arguments(summary: Summary, call: Invocation) -> Iterator[Expression]:
    """The arguments, and the receiver, that a function outside the repository calls."""
    for position in summary.calls:
        if position == RECEIVER:
            yield receiver_of(call)
        elif position < len(call.arguments):
            yield call.arguments[position]
    yield from (value for name, value in call.keywords if name in summary.calls_named)


def innermost(expression: Expression) -> Expression:
    """What functions are applied to one after the other, None for what is no call of one argument:
    the view in `guarded(logged(view))`.
    """
    inner = expression
    while isinstance(inner, Call) and len(inner.arguments) == 1:
        inner = inner.arguments[0]
    return inner if inner is not expression else None


def may_be_function(expression: Expression) -> bool:
    """True if an argument may be a function by its form: a name, a member, a function written there."""
    return type(expression) is str or (isinstance(expression, (Member, DefinedHere)))


def into_parameters_of(home: File, target: Target, argument: Any) -> Iterator[Carrier]:
    """The parameters of a function that an argument may be passed for."""
    body = home.body(target.position)
    for index, parameter in enumerate(body.parameters if body is not None else ()):
        is_any = target.shift < 0 or parameter.mode in VARIADIC
        if is_any or argument in (parameter.name, index - target.shift):
            yield Carrier(parameter.name, target.file, target.position)


def is_given_itself(home: File, position: int) -> bool:
    """True if a decorator gives a function what it made of it before what that is called with."""
    scope, keywords = home.body(position), home.semantics.binding_keywords
    made = scope.decorated if scope is not None and keywords else None
    while isinstance(made, Call):
        if isinstance(made.callee, Call) and any(
            name in keywords for name, _ in made.callee.keywords
        ):
            return True
        made = made.arguments[0] if made.arguments else None
    return False


def kept_under(file: File, call: Invocation, argument: Any) -> Iterator[str]:
    """The names under which a call keeps an argument: those of what it registers it at, of the list
    or mapping that it adds it to, and of the keyword that it is given by.
    """
    callee = call.callee
    if not registering_methods(file.semantics).isdisjoint(callee_names(callee)):
        yield from callee_names(registering(call))
    if not isinstance(callee, Member):
        return
    if argument in range(len(call.arguments)) and callee.name in file.semantics.adders:
        yield from callee_names(callee.object)
    if type(argument) is str and callee.name in file.semantics.keyword_keepers.values():
        yield argument


def is_constructor(file: File, position: int) -> bool:
    """True if a definition is called by constructing its class."""
    semantics, owner = file.semantics, file.owner_class(position)
    name, around = file.name(position), file.name(owner)
    is_named = semantics.constructor_is_class_name and name == around
    return owner >= 0 and (is_named or name in semantics.constructors)
