"""Room for what comes next: old turns leave between turns, old steps within a turn that outgrows
the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.context import compaction
from tersely.agent.conversation import Conversation
from tersely.agent.events import Compacted
from tersely.agent.models.protocol import Message, RequestOptions, Thinking
from tersely.agent.sessions.session import Stored
from tersely.agent.tool_calling import CallFormat
from tersely.foundation.clock import Stopwatch

SESSION_SLOT, CHORE_SLOT = 0, 1  # of a server that keeps several caches


async def make_room_between_turns(talk: Conversation, coming_tokens: int) -> None:
    """Have old turns leave where the prompt would be above its threshold with what is coming,
    unless they stay.
    """
    if not talk.options.compacts:
        return
    budget, gauge = talk.budget, talk.gauge
    threshold = budget.late_threshold if talk.cache.is_fragile else budget.threshold
    if not talk.session.messages or gauge.tokens(talk.prompt()) + coming_tokens <= threshold:
        return
    messages = talk.session.prompted()
    if talk.cache.is_fragile:
        # what stays would be evaluated again from the beginning: the longest time until next
        await compact(talk, len(messages))
        return
    most, most_of_last = gauge.own(budget.kept), gauge.own(budget.history)
    await compact(talk, compaction.first_kept(messages, most, most_of_last))


async def compact_all_but_last(talk: Conversation) -> Compacted | None:
    """Have all turns but the last leave; None where there are none."""
    messages = talk.session.prompted()
    at = next(
        (at for at, each in enumerate(messages) if each.turn == talk.session.turn), len(messages)
    )
    return await compact(talk, at)


async def compact(talk: Conversation, at: int) -> Compacted | None:
    """Have the messages before a place leave, and their summary come with the next one; None where
    there are none.
    """
    session, prompt = talk.session, talk.prompt()
    messages = session.prompted()
    if at == 0 or session.summary:
        return None
    before = talk.gauge.tokens(prompt)
    made = await _summary(talk, messages[:at])
    session.leave_out(messages[at].id if at < len(messages) else None, made.text)
    after = talk.gauge.tokens((*talk.prompt(), Message("user", made.text)))
    done = Compacted(talk.turn, before, after, made.how)
    await talk.emit(done)
    return done


async def _summary(talk: Conversation, leaving: Sequence[Stored]) -> compaction.Summary:
    """A summary of what is at the beginning of the prompt, by the model where the prompt leaves it
    the room.
    """
    most, tokenizer, watch = talk.budget.summary, talk.toolbox.tokenizer, Stopwatch()
    asking = _apart(talk, leaving) if _has_slot_apart(talk) else _behind_prompt(talk)
    if talk.gauge.tokens(asking.request) + most > talk.budget.window:
        return compaction.Summary(
            compaction.extracts(leaving, most, tokenizer), compaction.EXTRACTIVE
        )
    made = await compaction.summarised(asking, leaving, most, tokenizer)
    if made.usage is not None and not asking.options.slot:
        await talk.account(made.usage, watch, asking.request)
    elif made.usage is not None:
        talk.session.record(made.usage, int(watch.seconds() * 1000))
    return made


def _has_slot_apart(talk: Conversation) -> bool:
    """Whether the server keeps another cache, and that of the session would not outlast a chore."""
    return talk.cache.is_fragile and talk.model.abilities.slots > 1


def _behind_prompt(talk: Conversation) -> compaction.Asking:
    """A summary asked for behind the prompt, nearly all of which the server has evaluated."""
    constraint = talk.constraint() if talk.call_format is CallFormat.NATIVE else None
    request = (*talk.prompt(), Message("user", compaction.REQUEST))
    options = RequestOptions(Thinking.OFF)
    return compaction.Asking(talk.model, request, talk.call_format, constraint, options)


def _apart(talk: Conversation, leaving: Sequence[Stored]) -> compaction.Asking:
    """A summary of extracts alone, asked for in another slot of the server."""
    text = compaction.extracts(leaving, talk.budget.history, talk.toolbox.tokenizer)
    request = (Message("user", f"{text}\n\n{compaction.REQUEST}"),)
    options = RequestOptions(Thinking.OFF, slot=CHORE_SLOT)
    return compaction.Asking(talk.model, request, CallFormat.TEXT, None, options)


def has_room_for_result(talk: Conversation) -> bool:
    """Whether the prompt fits with a reply, and with the result of one more call."""
    return talk.gauge.tokens(talk.prompt()) + talk.budget.observation <= talk.budget.room


async def has_room(talk: Conversation, *, is_refused: bool = False) -> bool:
    """Whether the prompt fits with a reply; once in a turn, what is oldest leaves. `is_refused`:
    the server says no.
    """
    before = talk.gauge.tokens(talk.prompt())
    if before <= talk.budget.room and not is_refused:
        return True
    if not talk.options.compacts:
        return False
    messages = talk.session.prompted()
    most = talk.budget.observations // 2
    if is_refused:  # by a server that counts otherwise than we do
        most = min(most, sum(stored.tokens for stored in messages) // 2)
    at = compaction.first_kept_step(messages, most)
    if talk.has_made_room or at == 0:
        return False
    talk.has_made_room = True
    _fold(talk, messages, at)
    after = talk.gauge.tokens(talk.prompt())
    await talk.emit(Compacted(talk.turn, before, after, compaction.EXTRACTIVE))
    return after <= talk.budget.room


def _fold(talk: Conversation, messages: Sequence[Stored], at: int) -> None:
    """Have all messages before a place leave, and say in the last one what they were."""
    session, last = talk.session, messages[-1]
    wish = next(
        (each.text for each in messages[:at] if each.turn == last.turn and each.role == "user"), ""
    )
    text = compaction.extracts(messages[:at], talk.budget.summary, talk.toolbox.tokenizer)
    task = talk.toolbox.tokenizer.truncate(wish, talk.budget.summary)
    parts = [
        f"{compaction.HEADING}\n{text}",
        f"The task: {task}" if task else "",
        talk.announcement(after_all_left=True),
    ]
    content = "\n\n".join(filter(None, [*parts, last.content]))
    session.replace_last(content, talk.count(content), messages[at].id)
