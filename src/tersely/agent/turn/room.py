"""Room for what comes next: old turns leave between turns, old steps within a turn that outgrows the window."""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.calling import Way
from tersely.agent.context import compaction
from tersely.agent.conversation import Conversation
from tersely.agent.events import Compacted
from tersely.agent.models.protocol import Message
from tersely.agent.sessions.session import Stored
from tersely.foundation.clock import Stopwatch


async def make_room_between_turns(talk: Conversation, coming_tokens: int) -> None:
    """Have old turns leave where the prompt would be above its threshold with what is coming, unless they stay."""
    if not talk.options.compacts:
        return
    prompt, budget, gauge = talk.session.prompt(), talk.budget, talk.gauge
    if talk.session.messages and gauge.tokens(prompt) + coming_tokens > budget.threshold:
        most, most_of_last = gauge.own(budget.kept), gauge.own(budget.history)
        await compact(talk, compaction.first_kept(talk.session.prompted(), most, most_of_last))


async def compact_all_but_last(talk: Conversation) -> Compacted | None:
    """Have all turns but the last leave; None where there are none."""
    messages = talk.session.prompted()
    at = next((at for at, each in enumerate(messages) if each.turn == talk.session.turn), len(messages))
    return await compact(talk, at)


async def compact(talk: Conversation, at: int) -> Compacted | None:
    """Have the messages before a place leave, and their summary come with the next one; None where there are none."""
    session, prompt = talk.session, talk.session.prompt()
    messages = session.prompted()
    if at == 0 or session.summary:
        return None
    before = talk.gauge.tokens(prompt)
    made = await _summary(talk, messages[:at])
    session.leave_out(messages[at].id if at < len(messages) else None, made.text)
    after = talk.gauge.tokens((*session.prompt(), Message("user", made.text)))
    done = Compacted(talk.turn, before, after, made.how)
    await talk.emit(done)
    return done


async def _summary(talk: Conversation, leaving: Sequence[Stored]) -> compaction.Summary:
    """A summary of what is at the beginning of the prompt, by the model where the prompt leaves it the room."""
    most, tokenizer, watch = talk.budget.summary, talk.toolbox.tokenizer, Stopwatch()
    request = (*talk.session.prompt(), Message("user", compaction.REQUEST))
    if talk.gauge.tokens(request) + most > talk.budget.window:
        return compaction.Summary(compaction.extracts(leaving, most, tokenizer), compaction.EXTRACTIVE)
    constraint = talk.constraint() if talk.way is Way.NATIVE else None
    asking = compaction.Asking(talk.model, request, talk.way, constraint)
    made = await compaction.summarised(asking, leaving, most, tokenizer)
    if made.usage is not None:
        await talk.account(made.usage, watch)
    return made


async def has_room(talk: Conversation, *, is_refused: bool = False) -> bool:
    """Whether the prompt fits with a reply; once in a turn, what is oldest leaves. `is_refused`: the server says no."""
    before = talk.gauge.tokens(talk.session.prompt())
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
    after = talk.gauge.tokens(talk.session.prompt())
    await talk.emit(Compacted(talk.turn, before, after, compaction.EXTRACTIVE))
    return after <= talk.budget.room


def _fold(talk: Conversation, messages: Sequence[Stored], at: int) -> None:
    """Have all messages before a place leave, and say in the last one what they were."""
    session, last = talk.session, messages[-1]
    wish = next((each.text for each in messages[:at] if each.turn == last.turn and each.role == "user"), "")
    text = compaction.extracts(messages[:at], talk.budget.summary, talk.toolbox.tokenizer)
    task = talk.toolbox.tokenizer.truncate(wish, talk.budget.summary)
    parts = [
        f"{compaction.HEADING}\n{text}",
        f"The task: {task}" if task else "",
        talk.announcement(after_all_left=True),
    ]
    content = "\n\n".join(filter(None, [*parts, last.content]))
    session.replace_last(content, talk.count(content), messages[at].id)
