"""A conversation whose turns are written down, and the screen that shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from textual.app import App

from tersely.agent.events import (
    ApprovalAsked,
    CallEnded,
    CallStarted,
    Decision,
    EndReason,
    Event,
    TextDelta,
    TurnEnded,
    Unlocked,
    Usage,
)
from tersely.agent.opening import Mode
from tersely.agent.tools.declaration import MadeChange
from tersely.doors.screen.app import ChatApp
from tersely.doors.screen.chat import ChatScreen
from tersely.doors.screen.shown import SessionRow, ShownStatus, ShownWords, ToolRow
from tersely.foundation.errors import TerselyError

WAIT = object()  # in a script: until the turn is cancelled, or something else is done
PAUSE = object()  # in a script: until `go_on`
TOOLS = (
    ToolRow("read", 0, "read(path, start?, end?) shows a file or lines of it", "allow", True),
    ToolRow("search", 0, "search(query) finds code by words or meaning", "allow", True),
    ToolRow("edit", 1, "edit(path, start, end, body) replaces lines", "ask", False),
    ToolRow("bash", 2, "bash(command) runs a command in the repository", "ask", False),
)
DIFF = """--- a/src/executor.py
+++ b/src/executor.py
@@ -1,3 +1,5 @@
+import logging
+
 def process_enrichment(row):
-    return enrich(row)
+    return enrich(row)  # [bold]not markup[/bold]
"""


STATUS = ShownStatus(
    "qwen3:4b", 0, 2847, 8192, 97.4, "llmc", "writes in the repository only", True, "s1"
)


@dataclass
class Scripted:
    """Turns of events; `asked` has what the screen did."""

    turns: list[Sequence[Event | object]] = field(default_factory=list)
    state: ShownStatus = STATUS
    said: Sequence[ShownWords | CallStarted | CallEnded] = ()
    asked: list[str] = field(default_factory=list)
    pasted: list[tuple[str, ...]] = field(default_factory=list)  # in each message
    _mode: Mode = Mode.ASK
    _cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    _answered: asyncio.Event = field(default_factory=asyncio.Event)

    def status(self) -> ShownStatus:
        """As it was set."""
        return self.state

    async def run(self, message: str, pasted: Sequence[str] = ()) -> AsyncIterator[Event]:
        """The next turn of the script."""
        self.asked.append(f"run {message}")
        self.pasted.append(tuple(pasted))
        self._cancelled.clear()
        for event in self.turns.pop(0):
            if event is WAIT:
                await self._cancelled.wait()
                yield TurnEnded(1, EndReason.CANCELLED)
                return
            if event is PAUSE:
                await self._answered.wait()
                self._answered.clear()
                continue
            assert isinstance(event, Event)
            if isinstance(event, Unlocked):
                self.set_tier(event.tier)
            yield event
            if isinstance(event, ApprovalAsked):
                await self._answered.wait()
                self._answered.clear()
        yield TurnEnded(1, EndReason.ANSWERED)

    def cancel(self) -> None:
        """End the turn that waits."""
        self.asked.append("cancel")
        self._cancelled.set()
        self._answered.set()

    def approve(self, call_id: str, decision: Decision, pattern: str = "") -> None:
        """Go on, and remember what was decided."""
        self.asked.append(f"{decision.value} {call_id} {pattern}".strip())
        self._answered.set()

    def go_on(self) -> None:
        """End a pause."""
        self._answered.set()

    def tools(self) -> Sequence[ToolRow]:
        """Four."""
        return [tool._replace(is_unlocked=tool.tier <= self.state.tier) for tool in TOOLS]

    def set_tier(self, tier: int) -> None:
        """Up to 2."""
        if tier > 2:
            raise TerselyError("invalid_argument", f"there is no tier {tier}")
        self.state = self.state._replace(tier=tier)

    def mode(self) -> Mode:
        """The last that was set."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Any."""
        self._mode = mode

    def set_retrieval(self, on: bool) -> None:
        """On or off."""
        self.state = self.state._replace(retrieves=on)

    async def models(self, url: str) -> Sequence[str]:
        """Two, and one elsewhere."""
        return ["glm-4.5"] if url else ["qwen3:4b", "gemma3:4b"]

    async def use_model(self, name: str, url: str) -> str:
        """Any."""
        self.asked.append(f"use {name} {url}".strip())
        self.state = self.state._replace(model=name)
        return f"{name} answers from now on"

    def set_budget(self, tokens: int) -> None:
        """Remembered."""
        self.asked.append(f"budget {tokens}")

    def budget(self) -> str:
        """In words only."""
        return "2,847 tokens used"

    async def compact(self) -> str:
        """In words only."""
        return "2,847 tokens became 900"

    async def undo(self, *, insists: bool) -> str:
        """There is nothing to undo."""
        raise TerselyError(
            "invalid_argument", "nothing was changed", "There is nothing to take back."
        )

    async def sessions(self) -> Sequence[SessionRow]:
        """Two."""
        return [
            SessionRow("s1", "callers", 3, "2026-11-21 10:00"),
            SessionRow("s0", "callers", 9, "2026-11-20 10:00"),
        ]

    async def resume(self, session: str) -> None:
        """One that has said something."""
        self.asked.append(f"resume {session}")
        self.state = self.state._replace(session=session)
        made = call(1, "bash", "3 passed", command="pytest -q")
        self.said = [
            ShownWords("user", "run the tests"),
            *made,
            ShownWords("assistant", "They **pass**."),
        ]

    async def begin_anew(self) -> None:
        """One that has said nothing."""
        self.asked.append("new")
        self.said = ()

    async def run_command(self, command: str) -> str:
        """Any."""
        self.asked.append(f"! {command}")
        return f"ran {command}"

    async def fork(self) -> str:
        """In words only."""
        return "this is s2 from now on"

    def history(self) -> Sequence[ShownWords | CallStarted | CallEnded]:
        """What was set."""
        return self.said

    def cost(self) -> str:
        """In words only."""
        return "3 requests, 2,847 tokens"


def call(
    number: int, tool: str, observation: str, change: MadeChange | None = None, **arguments: object
) -> list[CallStarted | CallEnded]:
    """A call and its end."""
    started = CallStarted(1, f"c{number}", tool, json.dumps(arguments))
    return [started, CallEnded(1, f"c{number}", "ok", observation, 12 * number, change)]


def usage(prompt: int) -> Usage:
    """A request, nearly all of which was cached."""
    return Usage(1, prompt, prompt - 80, 40, 8192)


CHANGE = MadeChange("src/executor.py", DIFF, 3, 1, 7)
EXAMPLE: list[Event | object] = [
    *call(1, "search", "src/executor.py:45\nsrc/chain.py:112", query="process_enrichment"),
    TextDelta(
        1,
        "Seven places call `process_enrichment`:\n\n1. `llmc/enrichment/executor.py:45`\n2. `llmc/chain.py:112`\n",
    ),
    TextDelta(1, "\nI will add logging to the **first**.\n"),
    Unlocked(1, 1, "“add logging” asks for a change"),
    *call(
        2,
        "edit",
        "replaced lines 1-3",
        CHANGE,
        path="llmc/enrichment/executor.py",
        start=1,
        end=3,
        body="import logging",
    ),
    TextDelta(
        1,
        "## Done\n\n| file | lines |\n|---|---:|\n| executor.py | +3 -1 |\n\n```python\ndef f(row: int) -> str:\n",
    ),
    TextDelta(
        1,
        '    """Say it."""\n    return f"{row}"  # [bold]no markup[/bold]\n```\n\nSee [docs](https://example.org/x).\n',
    ),
]


def screen_of(app: ChatApp) -> ChatScreen:
    """The screen of the conversation, whatever covers it."""
    screen = app.screen_stack[0]
    assert isinstance(screen, ChatScreen)
    return screen


def shown(app: App[None]) -> str:
    """What stands on the screen, row by row."""
    strips = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text.rstrip() for strip in strips)
