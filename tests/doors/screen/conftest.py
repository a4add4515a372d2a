"""The screen in a terminal that nobody sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.doors.screen.scripted import Scripted, screen_of, shown
from textual.pilot import Pilot

from tersely.doors.screen.app import ChatApp
from tersely.doors.screen.chat import ChatScreen
from tersely.doors.screen.dialogs import approving
from tersely.foundation.clock import Stopwatch

PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.01
SHORT_QUIET_SECONDS = 0.01


class Seen:
    """A running screen: what it shows, and keys for it."""

    def __init__(self, app: ChatApp, agent: Scripted, pilot: Pilot[None]) -> None:
        self.app = app
        self.agent = agent
        self.pilot = pilot

    @property
    def chat(self) -> ChatScreen:
        return screen_of(self.app)

    @property
    def text(self) -> str:
        return shown(self.app)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("enter" if letter == "\n" else letter for letter in text))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait for something; the screen is in the message when it does not come."""
        watch = Stopwatch()
        while not condition():
            assert watch.seconds() < PATIENCE_SECONDS, (
                f"{what or condition} has not come:\n{self.text}"
            )
            await self.pilot.pause(LOOK_SECONDS)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text, repr(text))

    async def asks(self, text: str) -> None:
        """A question is there, and takes keys."""
        await self.shows(text)
        await self.until(
            lambda: getattr(self.app.screen, "takes_keys", False), f"keys for {text!r}"
        )


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the terminal of the tests is."""
    for name in ("NO_COLOR", "TEXTUAL", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions take keys soon."""
    monkeypatch.setattr(approving, "QUIET_SECONDS", SHORT_QUIET_SECONDS)


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run on the loop that the screen runs on."""
    return "asyncio"


@asynccontextmanager
async def seen(
    agent: Scripted, size: tuple[int, int] = (80, 24), root: Path | None = None, theme: str = ""
) -> AsyncIterator[Seen]:
    """The screen of an agent."""
    app = ChatApp(agent, root)
    if theme:
        app.theme = theme
    async with app.run_test(size=size) as pilot:
        yield Seen(app, agent, pilot)
