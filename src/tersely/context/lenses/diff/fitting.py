"""Whether a call that fitted what a function asked for fits what it asks for now."""

from __future__ import annotations

from typing import Any

from tersely.code.expressions import (
    CLASS_METHOD,
    STATIC,
    VARIADIC,
    Expression,
    Scope,
    is_spread,
)
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.program.scopes import Body
from tersely.code.languages.model import Language
from tersely.code.nodes import Call, DefinedHere, Generic, Invocation

_Passed = dict[str | int, Any]  # by the name or place of a parameter


def fits(call: Invocation, shift: int, was: Scope, now: Scope, language: Language) -> bool:
    """True if all that a call passes goes to the parameters that it went to, and none is lacked. So
    too if that was not so before: then another is called, or more than is known. `shift` parameters
    are given by the receiver. Parameters are told apart by their types where types are checked, else
    by their names.
    """
    marks = STATIC | CLASS_METHOD
    was_bound = was.flags & CLASS_METHOD and 1
    shift_before = was_bound if (was.flags ^ now.flags) & marks else shift
    old = _passed(call, shift_before, was, language)
    new = _passed(call, shift, now, language, may_lack=True)
    if old is None or new is None:
        return old is None
    if language.checks_types:
        return not any(_are_apart(old[at], new[at], language) for at in old.keys() & new.keys())
    return old | new == new | old


def gives_other(was: Scope, now: Scope, language: Language) -> bool:
    """True if what a function gives cannot be used as it was."""
    old, new = (Body(one, {}).returned_type for one in (was, now))
    if old is None or new is None:
        return bool(old and was.returns) and not (now.returns or now.yields)
    sizes = {_parts(one, language) for one in (old, new)}
    holders = [one for one in (old, new) if isinstance(one, Generic)]
    unions = language.resolution.union_types - language.resolution.waited_types
    is_held = any(
        one.base not in unions and (old in one.arguments or new in one.arguments) for one in holders
    )
    return is_held or len(sizes) > 1 or _are_apart(old, new, language)


def _parts(type_: Expression, language: Language) -> int:
    """The number of values of a type that code takes apart."""
    is_tuple = isinstance(type_, Generic) and type_.base in language.resolution.tuples
    return len(type_.arguments) if is_tuple else 1


def _are_apart(one: Expression, other: Expression, language: Language) -> bool:
    """True if no value is of both types, as far as that is known."""
    basic = language.resolution.basic_types
    kinds = {basic.get(each) if isinstance(each, str) else None for each in (one, other)}
    return len(kinds) > 1 and None not in kinds


def _passed(
    call: Invocation, shift: int, scope: Scope, language: Language, *, may_lack: bool = False
) -> _Passed | None:
    """What a call passes for each parameter, or the types of those; None if a parameter lacks a
    value, or a value a parameter. What stands for several values may be any. With `may_lack` those
    may that the function itself gives one.
    """
    body, passed, taken = Body(scope, {}), _Passed(), 0
    arguments, keywords = call.arguments, [one for one in call.keywords if one[0] != "&"]
    last = arguments[-1] if arguments else None
    resolution = language.resolution
    if resolution.trailing_functions and body.parameters and type(last) is DefinedHere:
        arguments, keywords = arguments[:-1], [*keywords, (body.parameters[-1].name, last)]
    takes_any = may_lack and resolution.arguments_name and not language.checks_types
    bound = [name for name, _ in body.binds if takes_any]
    asked = Call(call.callee, arguments, tuple(keywords), call.line)
    for index, one in enumerate(body.parameters[shift:], shift):
        given = passed_expressions(body, index, asked, shift)
        has_default = one.default is not None or one.name in bound
        if not (given or has_default or one.mode in VARIADIC):
            return None
        taken += len(given)
        if language.checks_types and given:
            passed[index] = one.annotation
        elif one.mode not in VARIADIC:
            passed[one.name] = given
    if any(map(is_spread, arguments)) or "" in dict(keywords):
        return {}
    return passed if taken >= len(arguments) + len(keywords) else None
