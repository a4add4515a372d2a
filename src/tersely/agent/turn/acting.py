"""One call of a tool: whether it may be made, what it gave, and what the model is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from tersely.agent.context import disclosure
from tersely.agent.context.window import PICTURE_TOKENS
from tersely.agent.conversation import AnsweredApproval, Conversation
from tersely.agent.events import (
    ApprovalAsked,
    CallEnded,
    CallProgress,
    CallStarted,
    Decision,
    NoticeLevel,
    TextDelta,
)
from tersely.agent.sessions.session import MessageDraft
from tersely.agent.tool_calling import CallFormat, MalformedCall, ToolCall
from tersely.agent.tools.approvals import Verdict, suggested
from tersely.agent.tools.declaration import (
    ANSWER,
    REQUEST_TOOLS,
    AgentTool,
    ApprovalSubject,
    Observation,
)
from tersely.agent.tools.running.tail import Tail
from tersely.agent.turn import assembling, repeats
from tersely.agent.turn.repeats import Repeated
from tersely.capabilities.declaration.declaration import Effect
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import PROGRESS_SECONDS
from tersely.foundation.text.escape import visible_line

DENIED = "denied"
_KEPT_STATUS = {"ok": "completed", DENIED: "denied"}  # all others are errors


class Acted(NamedTuple):
    """The outcome of a call for the turn."""

    ends_turn: bool = False  # it was the answer
    is_empty: bool = False  # without a word
    is_stuck: bool = False


async def act(conversation: Conversation, call: ToolCall | MalformedCall) -> Acted:
    """Make a call, and append what it gave."""
    if isinstance(call, MalformedCall):
        await conversation.notice(NoticeLevel.NOTE, f"a call that cannot be made: {call.reason}")
        await _append(conversation, f"That call cannot be made: {call.reason}", call.id)
        return Acted()
    if call.repairs:
        await conversation.notice(NoticeLevel.NOTE, f"{call.tool}: {'; '.join(call.repairs)}")
    if call.tool == ANSWER:
        return await _respond(conversation, str(call.arguments["text"]))
    tool = next(tool for tool in conversation.tools if tool.name == call.tool)
    if conversation.repeats.before(call.tool, call.arguments) is Repeated.STUCK:
        await conversation.notice(
            NoticeLevel.WARNING,
            f"{call.tool} is called again and again with the same result",
        )
        return Acted(is_stuck=True)
    await _carry_out(conversation, tool, call)
    return Acted()


async def _respond(conversation: Conversation, text: str) -> Acted:
    """End the turn with an answer that is a call."""
    said = f"{conversation.session.messages[-1].text}{text}"
    conversation.session.show_last(said)
    await conversation.emit(TextDelta(conversation.turn, text))
    return Acted(ends_turn=True, is_empty=not said.strip())


async def _carry_out(conversation: Conversation, tool: AgentTool, call: ToolCall) -> None:
    """Make a call that is allowed, or find that it is not; write down and append what came of it."""
    call_id = new_id()
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    preview = await _preview(conversation, tool, call)
    conversation.session.begin_call(call_id, tool.name, arguments, tool.tier)
    await conversation.emit(CallStarted(conversation.turn, call_id, tool.name, arguments, preview))
    refused = await _refused(conversation, tool, call, call_id, preview)
    watch = Stopwatch()  # what somebody took to answer is not the time of the tool
    observation = refused or await _make_call(conversation, tool, call, call_id)
    await _end(conversation, call_id, observation, int(watch.seconds() * 1000))
    await assembling.habit(conversation, tool.name)
    picture = observation.picture if conversation.sees else ""
    await _append(
        conversation, _text_for_model(conversation, tool, call, observation), call.id, picture
    )


async def pass_over(conversation: Conversation, call: ToolCall | MalformedCall) -> Acted:
    """Leave out a call whose result would have no room behind those of the calls before it."""
    await _append(
        conversation,
        f"{call.tool} was not called: the window is full. Call it again if you need it.",
        call.id,
    )
    return Acted()


async def _refused(
    conversation: Conversation, tool: AgentTool, call: ToolCall, id: str, preview: str
) -> Observation | None:
    """The reason for which a call is not made; None if it may be."""
    policy = conversation.toolbox.approvals.policy
    if tool.tier > conversation.session.tier:
        await conversation.unlock(tool.tier, f"the model called {tool.name}")
    is_denied = policy[tool.tier] is Verdict.DENY
    if is_denied or tool.tier > conversation.session.tier:
        return Observation(disclosure.denied_answer(tool), DENIED if is_denied else "refused")
    if tool.name == REQUEST_TOOLS:
        return None
    verdict = conversation.toolbox.verdict(tool, call.arguments)
    if verdict is Verdict.ASK:
        refusal = await conversation.toolbox.apart(
            lambda: tool.refusal(conversation.toolbox, call.arguments)
        )
        if refusal is not None:  # nothing would come of it, so nobody is asked
            return refusal
        verdict = await _ask_person(conversation, tool, call, id, preview)
    if verdict is Verdict.DENY:
        return Observation(
            f"The user does not allow this {tool.name}. Ask what to do instead, or go on without.",
            DENIED,
        )
    return None


async def _make_call(
    conversation: Conversation, tool: AgentTool, call: ToolCall, id: str
) -> Observation:
    """The observation of a call that is made."""
    if tool.name == REQUEST_TOOLS:
        return await _request_tools(conversation, int(call.arguments["tier"]))
    async with _overheard(conversation, id):
        observation = await tool.run(conversation.toolbox, call.arguments)
    if tool.effect_of(call.arguments) is not Effect.READ:
        await assembling.look_around(conversation)
        if observation.status == "ok":
            conversation.repeats.changed(tool.name, call.arguments, observation.text)
    return observation


@asynccontextmanager
async def _overheard(conversation: Conversation, id: str) -> AsyncIterator[None]:
    """Meanwhile tell what the command of a call prints."""
    tail = Tail()
    telling = asyncio.create_task(_tell(conversation, id, tail))
    conversation.toolbox.heard = tail.add
    conversation.toolbox.tell_terminal = lambda terminal: conversation.emit(
        CallProgress(conversation.turn, id, "", terminal)
    )
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.wait([telling])


async def _tell(conversation: Conversation, id: str, tail: Tail) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        if tail.is_new:
            await conversation.emit(CallProgress(conversation.turn, id, tail.text()))


async def _request_tools(conversation: Conversation, tier: int) -> Observation:
    if tier <= conversation.session.tier:
        return Observation(f"You have the tools of tier {tier} already.")
    if not await conversation.unlock(tier, "the model asked for it"):
        return Observation(f"The user does not allow tier {tier}. Go on without it.", DENIED)
    return Observation(f"You have the tools of tier {conversation.session.tier} now.")


def _unasked(conversation: Conversation, tool: AgentTool, call: ToolCall) -> str:
    """The reason for which a call was denied that nobody could be asked about."""
    text = f"{tool.name} was denied: nobody can be asked here"
    if not tool.is_doubtful(conversation.toolbox, call.arguments):
        return text
    subject = visible_line(conversation.toolbox.subject(tool, call.arguments))
    return f"{text}, and {tool.name} {subject} is asked about also where its tier is allowed"


async def _ask_person(
    conversation: Conversation, tool: AgentTool, call: ToolCall, id: str, preview: str
) -> Verdict:
    """The verdict of whoever is asked about a call; with nobody to ask, no."""
    if not conversation.options.can_ask:
        await conversation.notice(NoticeLevel.WARNING, _unasked(conversation, tool, call))
        return Verdict.DENY
    subject = conversation.toolbox.subject(tool, call.arguments)
    answered: asyncio.Future[AnsweredApproval] = asyncio.get_running_loop().create_future()
    conversation.waiting[id] = answered
    what = f"{tool.name} {subject}".strip()
    await conversation.emit(
        ApprovalAsked(
            conversation.turn, id, tool.name, what, preview, suggested(tool.about, subject)
        )
    )
    try:
        decision, pattern = await answered
    finally:
        del conversation.waiting[id]
    if decision is Decision.ALLOW_SESSION:
        conversation.toolbox.approvals.allow_tool(tool)
    elif decision is Decision.ALLOW_PATTERN:
        try:
            conversation.toolbox.approvals.allow_pattern(
                tool, pattern or suggested(tool.about, subject)
            )
        except TerselyError as error:
            await conversation.notice(NoticeLevel.WARNING, f"allowed this once: {error.message}")
    return Verdict.DENY if decision is Decision.DENY else Verdict.ALLOW


async def _preview(conversation: Conversation, tool: AgentTool, call: ToolCall) -> str:
    if tool.effect_of(call.arguments) is Effect.EXECUTE:
        await conversation.toolbox.confinement()  # the preview says what holds the command back
    try:
        return await conversation.toolbox.apart(
            lambda: tool.preview(conversation.toolbox, call.arguments)
        )
    except TerselyError as error:  # the call will fail for the same reason, and say so
        return error.message


async def _end(
    conversation: Conversation, id: str, observation: Observation, duration_ms: int
) -> None:
    status = _KEPT_STATUS.get(observation.status, "error")
    conversation.session.end_call(
        id, status, observation.text, conversation.count(observation.text), duration_ms
    )
    ended = CallEnded(
        conversation.turn, id, observation.status, observation.text, duration_ms, observation.change
    )
    await conversation.emit(ended)


def _text_for_model(
    conversation: Conversation, tool: AgentTool, call: ToolCall, observation: Observation
) -> str:
    """The text that the model reads of a call."""
    # of a command that ran, its exit status tells more
    says_itself = observation.status == "ok" or tool.about is ApprovalSubject.COMMAND
    result = "" if says_itself else f" ({observation.status})"
    text = f"{tool.name}{result}:\n{observation.text}"
    repeated = conversation.repeats.after(tool.name, call.arguments, observation.text)
    if repeated not in repeats.HINTS:
        return text
    plain = repeats.without_durations
    said = (plain(stored.content) for stored in conversation.session.prompted())
    has_it = observation.change is None and any(plain(text) in each for each in said)
    text = f"{tool.name}{result}: {repeats.SAME}" if has_it else text
    return f"{text}\n{assembling.reminded(conversation, repeats.HINTS[repeated])}"


async def _append(conversation: Conversation, text: str, call_id: str, picture: str = "") -> None:
    """Append what the model is told; with the first of it, what the project asks, and tools that
    are new.
    """
    asks = await assembling.project_asks(conversation)
    content = "\n\n".join(filter(None, [text, conversation.announcement(), asks]))
    role = "tool" if conversation.call_format is CallFormat.NATIVE and call_id else "user"
    tokens = conversation.count(content) + (PICTURE_TOKENS if picture else 0)
    conversation.session.add(
        MessageDraft(
            role, content, tokens, conversation.turn, shown="", call_id=call_id, picture=picture
        )
    )
