"""The loop of the agent: assemble the prompt, ask the model, make the calls that it asks for, append, until it answers.

    async with opened(root, model, folder) as agent:
        async for event in agent.run("who calls parse?"):
            show(event)

It knows no screen: whoever shows it reads its events, and answers `ApprovalAsked` with `approve`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

from laconic.agent import assembling
from laconic.agent.acting import act
from laconic.agent.answering import LENGTH, STUCK, Answer, answer
from laconic.agent.calling import Malformed
from laconic.agent.conversation import Answered, Conversation
from laconic.agent.events import Compacted, Decision, Event, Level, Notice, Reason, TurnEnded
from laconic.agent.sessions.session import Session
from laconic.capabilities.invoke import defect
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_MALFORMED_CALLS


class Status(NamedTuple):
    """What a status line shows: `tokens` of the next prompt, `cached_percent` of the last, None where nobody tells."""

    session: str
    name: str
    model: str
    repository: str
    way: str
    tier: int
    tokens: int
    window: int
    cached_percent: float | None
    retrieves: bool


class Agent:
    """A session that can be talked to, one turn at a time."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self._running: asyncio.Task[None] | None = None
        self._is_cancellable = False

    async def run(self, message: str) -> AsyncIterator[Event]:
        """One turn: everything that happens, up to `TurnEnded`. Closing the iterator cancels the turn."""
        if self._running is not None:
            raise LaconicError("busy", "a turn is still running", "wait for it, or cancel it")
        self._running, self._is_cancellable = asyncio.create_task(self._guarded(message)), True
        try:
            while True:
                event = await self._next(self._running)
                yield event
                if isinstance(event, TurnEnded):
                    return
        finally:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None
            while not self.talk.events.empty():
                self.talk.events.get_nowait()

    async def _next(self, running: asyncio.Task[None]) -> Event:
        """The next event; raises what a turn has failed with that could not even be told."""
        events = self.talk.events
        if events.empty():
            getting = asyncio.ensure_future(events.get())
            try:
                await asyncio.wait({getting, running}, return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    return getting.result()
            finally:
                getting.cancel()
            running.result()
        return events.get_nowait()

    async def _turn(self, message: str) -> Reason:
        talk, malformed = self.talk, 0
        await assembling.look_around(talk)
        await assembling.make_room_between_turns(talk, message)
        await assembling.open_turn(talk, message)
        for _ in range(talk.options.most_steps):
            if not await assembling.has_room(talk):
                return await self._say(Reason.LIMIT, "the window is full: say how to go on, and older steps will leave")
            said = await self._answer()
            if said.stop == STUCK:
                return await self._say(Reason.STUCK, "the model repeated itself and was stopped: say it in other words")
            if said.stop == LENGTH and not said.calls:
                return await self._say(Reason.LIMIT, "the answer was cut off: ask to go on")
            if said.is_empty:
                return await self._say(Reason.STUCK, "the model said nothing: say it in other words")
            if not said.calls:
                return Reason.ANSWERED
            for call in said.calls:
                acted = await act(talk, call)
                malformed = malformed + 1 if isinstance(call, Malformed) else 0
                if acted.ends_turn:
                    return Reason.ANSWERED
                if acted.is_stuck or malformed >= MAX_MALFORMED_CALLS:
                    return await self._say(Reason.STUCK, "the model does not get on: say what it should do instead")
        return await self._say(Reason.LIMIT, f"{talk.options.most_steps} steps were made: say whether to go on")

    async def _answer(self) -> Answer:
        """Ask the model; where the prompt turns out not to fit, once more without what is oldest."""
        try:
            return await answer(self.talk)
        except LaconicError as error:
            if error.code != "window_exceeded" or not await assembling.has_room(self.talk, is_refused=True):
                raise
        return await answer(self.talk)

    async def _guarded(self, message: str) -> None:
        """A turn that ends with an event, and with an answer in the session, whatever happens."""
        talk = self.talk
        talk.turn = talk.session.turn + 1
        talk.has_made_room = False
        talk.repeats.forget()
        reason, why = Reason.FAILED, ""
        try:
            reason = await self._turn(message)
        except asyncio.CancelledError:
            reason = Reason.CANCELLED
        except LaconicError as error:
            why = f"{error.code}: {error.message}" + (f" ({error.hint})" if error.hint else "")
        except Exception as error:  # noqa: BLE001 - a defect must reach whoever listens, not leave them waiting
            why = defect(error).message
        self._is_cancellable = False  # from here on the end is told, whoever asks for it once more
        if why:
            await self._say(reason, why, Level.ERROR)
        talk.session.end_turn()
        await talk.emit(TurnEnded(talk.turn, reason))

    async def _say(self, reason: Reason, text: str, level: Level = Level.WARNING) -> Reason:
        await self.talk.emit(Notice(self.talk.turn, level, text))
        return reason

    def cancel(self) -> None:
        """Have the turn end as soon as it can; nothing happens where none is running."""
        if self._running is not None and self._is_cancellable:
            self._is_cancellable = False
            self._running.cancel()

    def approve(self, call_id: str, decision: Decision, pattern: str = "") -> None:
        """Answer `ApprovalAsked`; a call that nobody waits for any more is passed over."""
        waiting = self.talk.waiting.get(call_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(Answered(decision, pattern))

    async def compact(self) -> Compacted | None:
        """Have all turns but the last leave the prompt with the next message; None where there are none."""
        if self._running is not None:
            raise LaconicError("busy", "a turn is still running", "wait for it, or cancel it")
        messages = self.talk.session.prompted()
        last = sum(stored.tokens for stored in messages if stored.turn == self.talk.session.turn)
        return await assembling.compact(self.talk, last)

    def set_tier(self, tier: int) -> None:
        """Have the tools up to a tier: the user says so, so the policy of unlocking does not matter."""
        self.talk.session.unlock(tier)

    @property
    def session(self) -> Session:
        """What is kept of it."""
        return self.talk.session

    def status(self) -> Status:
        """What a status line shows."""
        talk, session = self.talk, self.talk.session
        usage, cached = talk.usage, None
        if usage is not None and usage.cached_tokens is not None and usage.prompt_tokens:
            cached = 100 * usage.cached_tokens / usage.prompt_tokens
        return Status(
            session.id, session.name, session.model, session.repository, talk.way.value, session.tier,
            talk.gauge.tokens(session.prompt()), talk.budget.window,
            cached, talk.retrieves,
        )  # fmt: skip

    async def close(self) -> None:
        """End the turn, and let go of everything but the model."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
        self.talk.toolbox.close()
        self.talk.store.close()
