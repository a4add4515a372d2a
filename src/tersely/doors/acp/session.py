"""One session in an editor: its turns as updates, questions to the user, and what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from acp import RequestError
from acp.helpers import (
    update_agent_message_text,
    update_agent_thought_text,
    update_user_message_text,
)
from acp.interfaces import Client
from acp.schema import AllowedOutcome, PermissionOption, PromptResponse, StopReason, UsageUpdate

from tersely.agent.events import (
    AnswerRestarted,
    ApprovalAsked,
    CallEnded,
    CallProgress,
    CallStarted,
    Compacted,
    Decision,
    EndReason,
    Event,
    Notice,
    NoticeLevel,
    Retrieved,
    TextDelta,
    ThoughtDelta,
    TurnEnded,
    Usage,
)
from tersely.agent.opening import Mode
from tersely.doors.acp import commands, prompts, updates
from tersely.doors.acp.front import EditorAgent
from tersely.doors.acp.places import EditorPlaces
from tersely.doors.screen.shown import ShownWords
from tersely.foundation.background import Background
from tersely.foundation.errors import TerselyError

_STOPS: dict[EndReason, StopReason] = {
    EndReason.ANSWERED: "end_turn", EndReason.STUCK: "end_turn", EndReason.LIMIT: "max_turn_requests",
    EndReason.CANCELLED: "cancelled",
}  # fmt: skip


class EditorSession:
    """A session that an editor has open."""

    def __init__(self, client: Client, agent: EditorAgent, places: EditorPlaces) -> None:
        self.agent = agent
        self._client = client
        self._places = places
        self._calls: dict[str, CallStarted] = {}  # of this turn
        self._terminals: dict[str, str] = {}  # that show the commands of calls
        self._said: list[str] = []  # of the answer that comes in
        self._has_turn = False
        self._asking = Background()

    @property
    def id(self) -> str:
        """The id of the session, the same in the terminal."""
        return self.agent.status().session

    async def prompt(self, blocks: Sequence[Any]) -> PromptResponse:
        """One turn, or a command; raises what has made it fail."""
        asked = prompts.read(blocks, self._places)
        if command := commands.split(asked.message):
            chosen, argument = command
            await self.tell(update_agent_message_text(await chosen.run(self.agent, argument)))
            return PromptResponse(stop_reason="end_turn")
        if self._has_turn:
            raise TerselyError("busy", "a turn is still running", "cancel it first")
        self._calls, self._said, self._has_turn = {}, [], True
        self._terminals.clear()
        try:
            async with aclosing(self.agent.run(asked.message, asked.pasted)) as events:  # type: ignore[type-var]
                async for event in events:
                    await self._show(event)
                    if isinstance(event, TurnEnded):
                        return await self._end(event)
        finally:
            self._has_turn = False
            await self._asking.end()  # the turn waits for no answer any more
        raise TerselyError("internal_error", "the turn has no end")

    def cancel(self) -> None:
        """Have the running turn end."""
        self.agent.cancel()

    async def replay(self) -> None:
        """Tell what was said and done so far."""
        calls: dict[str, CallStarted] = {}
        for each in self.agent.history():
            match each:
                case ShownWords(role="user"):
                    await self.tell(update_user_message_text(each.text))
                case ShownWords():
                    await self.tell(update_agent_message_text(each.text))
                case CallStarted():
                    calls[each.call_id] = each
                    await self.tell(updates.started(each, self._places))
                case CallEnded():
                    await self.tell(updates.ended(each, calls.get(each.call_id), self._places))

    async def tell(self, update: Any) -> None:
        """Send an update of the session."""
        await self._client.session_update(self.id, update)

    async def _show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._said.append(event.text)
                await self.tell(update_agent_message_text(event.text))
            case ThoughtDelta():
                await self.tell(update_agent_thought_text(event.text))
            case CallStarted():
                self._calls[event.call_id] = event
                self._said.clear()
                await self.tell(updates.started(event, self._places))
            case CallProgress():
                if event.terminal:
                    self._terminals[event.call_id] = event.terminal
                await self.tell(updates.progressed(event))
            case CallEnded():
                call, shown = self._calls.get(event.call_id), self._terminals.get(event.call_id, "")
                await self.tell(updates.ended(event, call, self._places, shown))
            case ApprovalAsked():
                self._asking.begin(self._answered(event))
            case Usage():
                used = event.prompt_tokens + event.completion_tokens
                usage = UsageUpdate(session_update="usage_update", used=used, size=event.window)
                await self.tell(usage)
            case _:
                await self._note(event)

    async def _note(self, event: Event) -> None:
        """Send a remark beside the answer."""
        match event:
            case Notice(level=NoticeLevel.NOTE):
                await self.tell(update_agent_thought_text(f"{event.text}\n"))
            case Notice():
                await self.tell(
                    update_agent_message_text(f"\n\n{event.level.value}: {event.text}\n\n")
                )
            case AnswerRestarted():
                self._said.clear()
                await self.tell(
                    update_agent_message_text(
                        "\n\nThe connection broke; the answer begins anew:\n\n"
                    )
                )
            case Retrieved():
                names = ", ".join(item.name for item in event.items)
                await self.tell(
                    update_agent_thought_text(f"looked up, {event.tokens:,} tokens: {names}\n")
                )
            case Compacted():
                text = f"older turns left the prompt: {event.before:,} to {event.after:,} tokens\n"
                await self.tell(update_agent_thought_text(text))
            case _:
                pass

    async def _end(self, event: TurnEnded) -> PromptResponse:
        if event.reason is EndReason.FAILED:
            raise TerselyError(
                event.code or "internal_error", event.message or "the turn failed", event.hint
            )
        if self.agent.mode() is Mode.PLAN and (plan := updates.plan_of("".join(self._said))):
            await self.tell(plan)
        return PromptResponse(stop_reason=_STOPS[event.reason])

    async def _answered(self, event: ApprovalAsked) -> None:
        """Ask the user, while the turn waits."""
        call = updates.asked(event, self._calls[event.call_id], self._places)
        decision, pattern = Decision.DENY, ""
        try:
            response = await self._client.request_permission(self.id, call, _options(event))
            if isinstance(response.outcome, AllowedOutcome):
                decision = Decision(response.outcome.option_id)
                pattern = event.pattern if decision is Decision.ALLOW_PATTERN else ""
        except (RequestError, ValueError, ConnectionError) as error:
            note = Notice(
                event.turn,
                NoticeLevel.WARNING,
                f"{event.tool} was denied: nobody could be asked ({error})",
            )
            await self._note(note)
        finally:
            self.agent.approve(event.call_id, decision, pattern)


def _options(event: ApprovalAsked) -> list[PermissionOption]:
    offered = [
        PermissionOption(option_id=Decision.ALLOW_ONCE.value, name="Allow once", kind="allow_once"),
        PermissionOption(
            option_id=Decision.ALLOW_SESSION.value,
            name=f"Allow {event.tool} in this session",
            kind="allow_always",
        ),
    ]
    if event.pattern:
        name = f"Allow {event.tool} {event.pattern} in this session"
        offered.append(
            PermissionOption(option_id=Decision.ALLOW_PATTERN.value, name=name, kind="allow_always")
        )
    return [
        *offered,
        PermissionOption(option_id=Decision.DENY.value, name="Reject", kind="reject_once"),
    ]
