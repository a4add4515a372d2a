"""Prompts that servers take back: they refuse a call without its answer, and one whose arguments
are not JSON.
"""

from __future__ import annotations

from collections.abc import Iterable

from tersely.agent.models.protocol import ModelMessage, Prompt, RawCall
from tersely.agent.models.wire import parse_json


def pair_calls(prompt: Prompt) -> Prompt:
    """The prompt without calls that nothing answers; what answers none of its calls is the user's.
    Arguments that are no JSON object are left out.

    A turn that was stopped leaves such calls, and a model that is small such arguments.
    """
    known = _answered_ids(prompt)
    return tuple(_with_pairs(message, known) for message in prompt)


def _with_pairs(message: ModelMessage, known: set[str]) -> ModelMessage:
    calls = tuple(_readable(call) for call in message.calls if call.id in known)
    if message.role == "tool" and message.call_id not in known:
        return message.of_user()
    return message._replace(calls=calls)


def _readable(call: RawCall) -> RawCall:
    is_object = isinstance(parse_json(call.arguments), dict)
    return call if is_object else call._replace(arguments="{}")


def _answered_ids(messages: Iterable[ModelMessage]) -> set[str]:
    """The ids of calls that a later message answers."""
    made: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        made |= {call.id for call in message.calls}
        if message.call_id in made:
            answered.add(message.call_id)
    return answered - {""}
