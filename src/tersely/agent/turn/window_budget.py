"""Room for what comes next: old turns leave between turns, old steps within a turn that outgrows
the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.context import compaction
from tersely.agent.conversation import Conversation
from tersely.agent.events import Compacted
from tersely.agent.models.protocol import ModelMessage
from tersely.agent.sessions.session import Stored
from tersely.agent.tool_calling import CallFormat
from tersely.foundation.clock import Stopwatch


async def make_room_between_turns(conversation: Conversation, coming_tokens: int) -> None:
    """Have old turns leave where the prompt would be above its threshold with what is coming,
    unless they stay.
    """
    if not conversation.options.compacts:
        return
    budget, gauge = conversation.budget, conversation.gauge
    if (
        not conversation.session.messages
        or gauge.tokens(conversation.prompt()) + coming_tokens <= budget.threshold
    ):
        return
    messages = conversation.session.prompted()
    most, most_of_last = gauge.own(budget.kept), gauge.own(budget.history)
    await compact(conversation, compaction.first_kept(messages, most, most_of_last))


async def compact_all_but_last(conversation: Conversation) -> Compacted | None:
    """Have all turns but the last leave; None where there are none."""
    messages = conversation.session.prompted()
    at = next(
        (at for at, each in enumerate(messages) if each.turn == conversation.session.turn),
        len(messages),
    )
    return await compact(conversation, at)


async def compact(conversation: Conversation, at: int) -> Compacted | None:
    """Have the messages before a place leave, and their summary come with the next one; None where
    there are none.
    """
    session, prompt = conversation.session, conversation.prompt()
    messages = session.prompted()
    if at == 0 or session.summary:
        return None
    before = conversation.gauge.tokens(prompt)
    made = await _summary(conversation, messages[:at])
    session.leave_out(messages[at].id if at < len(messages) else None, made.text)
    after = conversation.gauge.tokens((*conversation.prompt(), ModelMessage("user", made.text)))
    done = Compacted(conversation.turn, before, after, made.how)
    await conversation.emit(done)
    return done


async def _summary(
    conversation: Conversation, leaving: Sequence[Stored]
) -> compaction.TurnsSummary:
    """A summary of what is at the beginning of the prompt, by the model where the prompt leaves it
    the room.
    """
    most = conversation.budget.summary
    tokenizer = conversation.toolbox.tokenizer
    watch = Stopwatch()
    asking = _behind_prompt(conversation)
    if conversation.gauge.tokens(asking.request) + most > conversation.budget.window:
        return compaction.TurnsSummary(
            compaction.extracts(leaving, most, tokenizer), compaction.EXTRACTIVE
        )
    made = await compaction.summarised(asking, leaving, most, tokenizer)
    if made.usage is not None:
        await conversation.account(made.usage, watch)
    return made


def _behind_prompt(conversation: Conversation) -> compaction.SummaryRequest:
    """A summary asked for behind the prompt, nearly all of which the server has evaluated."""
    constraint = (
        conversation.constraint() if conversation.call_format is CallFormat.NATIVE else None
    )
    request = (*conversation.prompt(), ModelMessage("user", compaction.REQUEST))
    return compaction.SummaryRequest(
        conversation.model, request, conversation.call_format, constraint
    )


def has_room_for_result(conversation: Conversation) -> bool:
    """True if the prompt fits with a reply, and with the result of one more call."""
    return (
        conversation.gauge.tokens(conversation.prompt()) + conversation.budget.observation
        <= conversation.budget.room
    )


async def has_room(conversation: Conversation, *, is_refused: bool = False) -> bool:
    """True if the prompt fits with a reply; once in a turn, what is oldest leaves. `is_refused`:
    the server says no.
    """
    before = conversation.gauge.tokens(conversation.prompt())
    if before <= conversation.budget.room and not is_refused:
        return True
    if not conversation.options.compacts:
        return False
    messages = conversation.session.prompted()
    most = conversation.budget.observations // 2
    if is_refused:  # by a server that counts otherwise than we do
        most = min(most, sum(stored.tokens for stored in messages) // 2)
    at = compaction.first_kept_step(messages, most)
    if conversation.has_made_room or at == 0:
        return False
    conversation.has_made_room = True
    _fold(conversation, messages, at)
    after = conversation.gauge.tokens(conversation.prompt())
    await conversation.emit(Compacted(conversation.turn, before, after, compaction.EXTRACTIVE))
    return after <= conversation.budget.room


def _fold(conversation: Conversation, messages: Sequence[Stored], at: int) -> None:
    """Have all messages before a place leave, and say in the last one what they were."""
    session, last = conversation.session, messages[-1]
    wish = next(
        (each.text for each in messages[:at] if each.turn == last.turn and each.role == "user"), ""
    )
    text = compaction.extracts(
        messages[:at], conversation.budget.summary, conversation.toolbox.tokenizer
    )
    task = conversation.toolbox.tokenizer.truncate(wish, conversation.budget.summary)
    parts = [
        f"{compaction.HEADING}\n{text}",
        f"The task: {task}" if task else "",
        conversation.announcement(after_all_left=True),
    ]
    content = "\n\n".join(filter(None, [*parts, last.content]))
    session.replace_last(content, conversation.count(content), messages[at].id)
