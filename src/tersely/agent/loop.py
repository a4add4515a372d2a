"""One turn: assemble the prompt, ask the model, make the calls that it asks for, append, until it
answers.

What a turn works on is its `Conversation`; what happens is told as events. Whoever wants to talk to
a model wants an `agent.CodingAgent`, which runs turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from tersely.agent.conversation import Conversation
from tersely.agent.events import EndReason, Notice, NoticeLevel
from tersely.agent.models.protocol import Thinking
from tersely.agent.tool_calling import CallFormat, MalformedCall, call_format_of
from tersely.agent.turn import assembling, window_budget
from tersely.agent.turn.acting import act, pass_over
from tersely.agent.turn.answering import LENGTH, STUCK, ModelAnswer, answer
from tersely.capabilities.invoke import defect
from tersely.foundation.errors import TerselyError

MAX_TURN_STEPS = 40  # requests to the model in one turn
MAX_MALFORMED_CALLS = 4  # in a row
MAX_CONTINUED_ANSWERS = 3  # in one turn, of those that were cut off
# answers in the model's own form that its server cannot read, until another way is taken
MAX_UNREAD_CALLS = 2


class TurnEnd(NamedTuple):
    """The end of a turn: its reason, and what whoever listens should know of it, "" where that says
    itself.

    `code` and `hint` are those of the error that has ended it, if it was one.
    """

    reason: EndReason
    message: str = ""
    code: str = ""
    hint: str = ""

    def notice(self, turn: int) -> Notice | None:
        """The notice that is told of it, None for nothing."""
        if not self.message:
            return None
        if not self.code:
            return Notice(turn, NoticeLevel.WARNING, self.message)
        hint = f" ({self.hint})" if self.hint else ""
        return Notice(turn, NoticeLevel.ERROR, f"{self.code}: {self.message}{hint}")


_WINDOW_FULL = TurnEnd(
    EndReason.LIMIT, "the window is full: say how to go on, and older steps will leave"
)
_WINDOW_KEPT = TurnEnd(
    EndReason.LIMIT, "the window is full, and chat_compact is off: /compact, or begin a new session"
)
_CUT_OFF = TurnEnd(EndReason.LIMIT, "the answer was cut off: ask to go on")
_REPEATED = TurnEnd(
    EndReason.STUCK, "the model repeated itself and was stopped: say it in other words"
)
_SILENT = TurnEnd(EndReason.STUCK, "the model said nothing: say it in other words")
_STUCK = TurnEnd(EndReason.STUCK, "the model does not get on: say what it should do instead")


async def run_turn(conversation: Conversation, message: str, pasted: Sequence[str] = ()) -> TurnEnd:
    """One turn of a conversation; ends for whatever reason, and raises nothing."""
    conversation.begin_turn()
    try:
        await assembling.open_turn(conversation, message, pasted)
        ended = await _steps(conversation)
        return await _last_answer(conversation, ended) if ended.reason is EndReason.STUCK else ended
    except asyncio.CancelledError:
        return TurnEnd(EndReason.CANCELLED)
    except TerselyError as error:
        return failed(error)
    except Exception as error:  # noqa: BLE001 - a defect must reach whoever listens, not leave them waiting
        found = defect(error)
        return TurnEnd(EndReason.FAILED, found.message, found.code, found.hint)


async def _last_answer(conversation: Conversation, stuck: TurnEnd) -> TurnEnd:
    """The end of a turn that does not get on: one answer from what is known is asked for. Where the
    model has none either, the turn ends as it would have.
    """
    if not await window_budget.has_room(conversation):
        return stuck
    await assembling.append_last_question(conversation)
    said = await answer(conversation, Thinking.OFF, may_call=False)
    return stuck if said.is_empty or said.stop == STUCK else TurnEnd(EndReason.ANSWERED)


def failed(error: TerselyError) -> TurnEnd:
    """The end of a turn that this error has stopped."""
    return TurnEnd(EndReason.FAILED, error.message, error.code, error.hint)


async def _steps(conversation: Conversation) -> TurnEnd:
    """Ask and act in turns, until there is an answer or a reason to stop."""
    malformed = continued = 0  # malformed calls are counted in a row
    was_silent = False
    for _ in range(MAX_TURN_STEPS):
        if not await window_budget.has_room(conversation):
            return _WINDOW_FULL if conversation.options.compacts else _WINDOW_KEPT
        said = await _answer(conversation, _thinking(conversation, continued))
        is_cut = not said.calls and said.stop == LENGTH
        if is_cut and continued < MAX_CONTINUED_ANSWERS:
            continued += 1
            await assembling.append_continuation(conversation)
            continue
        if not said.calls:
            ended = _without_calls(said)
            if ended is not _SILENT or was_silent:
                return ended
            was_silent = True
            await assembling.append_after_silence(conversation)
        for call in said.calls:
            acted = (
                await act(conversation, call)
                if window_budget.has_room_for_result(conversation)
                else await pass_over(conversation, call)
            )
            malformed = malformed + 1 if isinstance(call, MalformedCall) else 0
            if acted.ends_turn:
                return _SILENT if acted.is_empty else TurnEnd(EndReason.ANSWERED)
            if acted.is_stuck or malformed >= MAX_MALFORMED_CALLS:
                return _STUCK
    return TurnEnd(EndReason.LIMIT, f"{MAX_TURN_STEPS} steps were made: say whether to go on")


def _thinking(conversation: Conversation, continued: int) -> Thinking:
    """The thinking that the next answer may have: about work, not to end an answer that was cut
    off.
    """
    if continued:
        return Thinking.OFF
    return Thinking.ON if conversation.is_work else Thinking.DEFAULT


async def _answer(conversation: Conversation, thinking: Thinking) -> ModelAnswer:
    """Ask the model; where that is refused for a reason that can be mended, mend it and ask again."""
    is_cut = False  # the prompt, since it did not fit
    while True:
        try:
            return await answer(conversation, thinking)
        except TerselyError as error:
            if (
                error.code == "window_exceeded"
                and not is_cut
                and await window_budget.has_room(conversation, is_refused=True)
            ):
                is_cut = True
                text = f"{error.message}; asked again without the oldest steps"
                await conversation.notice(NoticeLevel.WARNING, text)
            elif not await _takes_another_way(conversation, error):
                raise


async def _takes_another_way(conversation: Conversation, error: TerselyError) -> bool:
    """True if to ask again: in another way of calling where this one is refused, or cannot be read
    time and again.
    """
    abilities = conversation.model.abilities
    if (
        error.code == "model_failed"
        and conversation.call_format is CallFormat.NATIVE
        and not conversation.has_shown
    ):
        conversation.unread_calls += 1
        if conversation.unread_calls < MAX_UNREAD_CALLS:
            return True
        abilities = abilities._replace(tools=False)
    elif (
        error.code != "way_refused"
        or call_format_of(abilities, conversation.options.calls) is conversation.call_format
    ):
        return False
    before = conversation.call_format.value
    conversation.use_call_format(abilities)
    now = conversation.call_format.value
    text = f"{error.message}; calls are asked for as {now} from now on, not as {before}"
    await conversation.notice(NoticeLevel.WARNING, text)
    return True


def _without_calls(said: ModelAnswer) -> TurnEnd:
    """The end of a turn with words alone."""
    if said.stop == STUCK:
        return _REPEATED
    if said.stop == LENGTH:
        return _CUT_OFF
    return _SILENT if said.is_empty else TurnEnd(EndReason.ANSWERED)
