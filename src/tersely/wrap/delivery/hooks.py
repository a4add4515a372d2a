"""The hooks of a wrapped agent: what they say that it does, and texts handed over with their
answers.

Hooks connect to a socket of this run, one connection each. A hook sends one line, `{"waits": …,
"call": …}` and perhaps the `agent` whose it is, gets one, `{"text": …}`, and says `{"done": …}`
when the text has arrived; otherwise the text waits again. Hooks that wait are answered when there
is something: `idle` ones wake an agent that does nothing, `always` ones take texts at any time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.clock import elapsed_seconds
from tersely.integrations.hooks import printed
from tersely.integrations.run_hook import MAX_RUN_CALL_BYTES, RUN_HOOK_SECONDS
from tersely.integrations.wrapped import AgentState, Moment, Wrapped
from tersely.wrap.delivery.inbox import Inbox, TypedText, WaitingText
from tersely.wrap.delivery.injection import CONFIRM_SECONDS, squeezed

MAX_OPEN_HOOKS = 64  # of one agent at a time
_COMPARED_CHARACTERS = 200  # of a text, by which it is known in a prompt
_CONTEXT_EVENT = "SessionStart"
_SEPARATOR = "\n\n"


class _Waiting(NamedTuple):
    """A hook that waits for a text, and whether it takes one while the agent works."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    at_any_time: bool


class _HookMessage(NamedTuple):
    """The message of a hook: whose it is, "" if that is clear, what it waits for, and the call of
    the agent.
    """

    agent: str
    waits: str
    event: str
    prompt: str
    is_second_stop: bool  # the agent has gone on once; agents end such loops


def _read(line: bytes) -> _HookMessage:
    """Raises `ValueError` for what is no call."""
    try:
        told = json.loads(line)
    except RecursionError:
        raise ValueError("a hook sends no such depth") from None
    call = told.get("call") if isinstance(told, dict) else None
    if not isinstance(call, dict):
        raise ValueError("a hook sends an object with a call")
    return _HookMessage(
        str(told.get("agent", "")), str(told.get("waits", "")), str(call.get("hook_event_name", "")),
        str(call.get("prompt", "")), call.get("stop_hook_active") is True,
    )  # fmt: skip


class Hooks:
    """The hooks of one run."""

    def __init__(
        self,
        agent: str,
        wrapped: Wrapped,
        inbox: Inbox,
        rules: str,
        taken: Callable[[WaitingText], None],
    ) -> None:
        """`taken` is told of each text that has arrived."""
        self._agent = agent
        self._wrapped = wrapped
        self._inbox = inbox
        self._rules = rules
        self._taken = taken
        self._waiting: _Waiting | None = None
        # beginnings of texts that are to show up in a prompt
        self._expected: dict[str, asyncio.Event] = {}
        self._open = 0
        self.state: AgentState | None = None
        self.changed = 0.0
        self.is_alive = False  # a hook has called

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """The path of the socket, for as long as it is listened at."""
        with tempfile.TemporaryDirectory(prefix="tersely-") as folder:
            path = str(Path(folder) / "hooks")
            server = await asyncio.start_unix_server(self._serve, path, limit=MAX_RUN_CALL_BYTES)
            try:
                yield path
            finally:
                server.close()
                if self._waiting is not None:
                    self._waiting.writer.close()

    def can_hand_over(self, state: AgentState | None) -> bool:
        """True if a hook waits that takes a text from an agent in a state."""
        waiting = self._waiting
        return waiting is not None and (waiting.at_any_time or state is AgentState.IDLE)

    @property
    def takes_tasks(self) -> bool:
        """True if the hook that waits puts texts in as prompts."""
        return self._waiting is not None and self._waiting.at_any_time

    def expect(self, whole: str) -> asyncio.Event:
        """An event for when a text shows up in a prompt of the agent."""
        return self._expected.setdefault(_known_by(whole), asyncio.Event())

    def has_arrived(self, whole: str) -> bool:
        """True if a text that is expected has shown up."""
        return self.expect(whole).is_set()

    def forget(self, whole: str) -> None:
        """A text is expected no longer."""
        self._expected.pop(_known_by(whole), None)

    async def hand_over(self) -> None:
        """Give what waits to the hook that waits."""
        written = await self._inbox.take_all()
        waiting, self._waiting = self._waiting, None
        if waiting is None or not written:
            # an event hook was faster, or the program has ended its own
            self._waiting = waiting
            self._inbox.put_back([one.text for one in written])
            return
        arrivals = [self.expect(one.whole) for one in written]
        try:
            done = await asyncio.wait_for(
                _exchange(waiting.reader, waiting.writer, _joined(written)), RUN_HOOK_SECONDS
            )
            if done == "printed":
                async with asyncio.timeout(CONFIRM_SECONDS):
                    await arrivals[0].wait()
            self._settle(written, is_taken=bool(done))
        except (OSError, ValueError, TimeoutError):
            self._settle(written, is_taken=False)
        finally:
            waiting.writer.close()
            for one in written:
                self.forget(one.whole)

    def _settle(self, written: Sequence[TypedText], *, is_taken: bool) -> None:
        if not is_taken:
            self._inbox.put_back([one.text for one in written])
            return
        for one in written:
            self._taken(one.text)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._open >= MAX_OPEN_HOOKS:
            writer.close()
            return
        self._open += 1
        try:
            await self._answer(reader, writer)
        except (OSError, ValueError, TimeoutError):  # the agent has ended its hook
            writer.close()
        finally:
            self._open -= 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = _read(await reader.readline())
        if call.waits:
            if self._waiting is not None:
                self._waiting.writer.close()
            self._waiting = _Waiting(reader, writer, call.waits == "always")
            return
        with contextlib.closing(writer):
            if call.agent in ("", self._agent):
                await self._answer_event(call, reader, writer)

    async def _answer_event(
        self, call: _HookMessage, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.is_alive = True
        self._note_prompt(call.prompt)
        moment = self._wrapped.moments.get(call.event, Moment(None))
        written = await self._inbox.take_all() if _takes_texts(moment, call) else []
        goes_on = bool(written) and moment.state is AgentState.IDLE  # a text keeps it from stopping
        if moment.state is not None and not goes_on:
            self.state, self.changed = moment.state, elapsed_seconds()
        text = self._rules if call.event == _CONTEXT_EVENT else _joined(written)
        answer = (
            printed(moment.answer(call.event, text)) if moment.answer is not None and text else ""
        )
        try:
            done = await asyncio.wait_for(_exchange(reader, writer, answer), RUN_HOOK_SECONDS)
            self._settle(written, is_taken=bool(done))
        except (OSError, ValueError, TimeoutError):
            self._settle(written, is_taken=False)

    def _note_prompt(self, prompt: str) -> None:
        """A prompt has been sent: texts that are in it have arrived."""
        shown = squeezed(prompt)
        for known, event in self._expected.items():
            if shown and known in shown:
                event.set()


def _takes_texts(moment: Moment, call: _HookMessage) -> bool:
    return moment.answer is not None and not call.is_second_stop and call.event != _CONTEXT_EVENT


def _known_by(whole: str) -> str:
    return squeezed(whole)[:_COMPARED_CHARACTERS]


def _joined(written: Sequence[TypedText]) -> str:
    return _SEPARATOR.join(one.whole for one in written)


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> str:
    """Send a text, and what the hook says that it did with it; empty where it ended before."""
    writer.write(json.dumps({"text": text}).encode() + b"\n")
    await writer.drain()
    said = await reader.readline()
    return str(json.loads(said).get("done", "")) if said else ""
