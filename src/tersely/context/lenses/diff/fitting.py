"""Whether a call that fitted what a function asked for fits what it asks for now."""

from __future__ import annotations

from typing import Any

from tersely.code.expressions import VARIADIC, Scope
from tersely.code.graph.pointsto.parameters import passed_expressions
from tersely.code.graph.program.file import Body
from tersely.code.nodes import Invocation

_Key = str | int  # of a parameter: its name or place


def fits(call: Invocation, shift: int, was: Scope, now: Scope, *, is_typed: bool) -> bool:
    """True if a call passes as much as it did, to each parameter the same, and lacks no more of what
    has to be given; `shift` parameters are given by the receiver. Parameters are told apart by their
    places and types where types are checked, else by their names.
    """
    old, lacked = _passed(call, shift, was, is_typed)
    new, lacking = _passed(call, shift, now, is_typed)
    is_less = sum(map(len, new.values())) < sum(map(len, old.values()))
    return lacking <= lacked and not is_less and old | new == new | old


def _passed(
    call: Invocation, shift: int, scope: Scope, is_typed: bool
) -> tuple[dict[_Key, list[Any]], set[_Key]]:
    """What a call passes for each parameter, and those that have to be given and are not."""
    body, passed, missing = Body(scope, {}), dict[_Key, list[Any]](), set[_Key]()
    for index, one in enumerate(body.parameters[shift:], shift):
        key = index if is_typed else one.name
        given = passed_expressions(body, index, call, shift)
        passed[key] = [*given, one.annotation] if is_typed and given else given
        if not given and one.default is None and one.mode not in VARIADIC:
            missing.add(key)
    return passed, missing
