"""Asking a relay: checked arguments in, a result and its words out, the same for every door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tersely.capabilities import catalogue
from tersely.capabilities.answers.later import Later
from tersely.capabilities.answers.reply import cut
from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.binding import bound, checked
from tersely.capabilities.declaration.declaration import Capability, frozen
from tersely.capabilities.declaration.projection import harmless, to_json
from tersely.capabilities.relay.answers.permitted import shown_to
from tersely.capabilities.relay.context import PERSON, RelayContext
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping

if TYPE_CHECKING:
    from tersely.relay.access.principals import Principal


@frozen
class RelayAnswer:
    """The answer of a capability of the relay: as JSON has it, and in words that end with a line."""

    capability: str
    result: Any
    text: str


def capability_of(name: str) -> Capability:
    """A capability of the relay; raises `unknown_command` for a name that is none."""
    if name in catalogue.RELAY_NAMES:
        return catalogue.load(name)
    raise TerselyError(
        "unknown_command",
        f"the relay has no capability {name[:80]!r}",
        suggestion(name, catalogue.RELAY_NAMES),
    )


def result_of(context: RelayContext, name: str, arguments: JsonMapping) -> Any:
    """The result of a capability of the relay, which may come later; raises `invalid_argument`,
    `rate_limited` and what the capability raises.
    """
    capability = capability_of(name)
    if context.agent != PERSON:
        context.relay.rates.take(context.agent)
    if context.principal is None:
        _note(context)
        return capability.run(context, **bound(capability.run, arguments))
    return _permitted(context, context.principal, capability, arguments)


def _note(context: RelayContext) -> None:
    """Note that an agent is there, which asks something."""
    context.relay.claims.touch(context.agent)
    context.relay.mail.identities.hear(context.agent)


def _permitted(
    context: RelayContext,
    principal: Principal,
    capability: Capability,
    arguments: JsonMapping,
) -> Any:
    """The answer that an identity gets: asked as far as it may, and shown what is for it."""
    checked(capability.parameters, arguments)
    access = context.relay.access
    allowed = access.check(principal, capability.name, arguments)
    access.act_as(principal, context.agent)
    _note(context)
    result = capability.run(context, **bound(capability.run, allowed))
    return shown_to(access, principal, capability.name, result)


def answer(
    context: RelayContext,
    name: str,
    arguments: JsonMapping,
    style: Style,
    budget: int | None = None,
) -> RelayAnswer | Later[RelayAnswer]:
    """The result of `result_of`, with its words: at most `budget` tokens of them, where there is
    one.
    """
    result = result_of(context, name, arguments)
    if isinstance(result, Later):
        return result.then(lambda told: _said(name, told, style, budget))
    return _said(name, result, style, budget)


def _said(name: str, result: Any, style: Style, budget: int | None) -> RelayAnswer:
    capability = capability_of(name)
    text = capability.text(harmless(result), style)
    text = text if text.endswith("\n") else text + "\n"
    if budget is not None:
        from tersely.foundation.text.tokens import Tokenizer

        text = cut(text, budget, Tokenizer())
    return RelayAnswer(name, to_json(result), text)
