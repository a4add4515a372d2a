"""Prompts in which every call has its answer: providers refuse one without the other."""

from __future__ import annotations

from collections.abc import Iterable

from tersely.agent.models.protocol import Message, Prompt


def pair_calls(prompt: Prompt) -> Prompt:
    """The prompt without calls that nothing answers; what answers none of its calls is the user's.

    A turn that was stopped leaves such calls.
    """
    known = _answered_ids(prompt)
    return tuple(_with_pairs(message, known) for message in prompt)


def _with_pairs(message: Message, known: set[str]) -> Message:
    calls = tuple(call for call in message.calls if call.id in known)
    if message.role == "tool" and message.call_id not in known:
        return message.of_user()
    return message._replace(calls=calls)


def _answered_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of calls that a later message answers."""
    made: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        made |= {call.id for call in message.calls}
        if message.call_id in made:
            answered.add(message.call_id)
    return answered - {""}
