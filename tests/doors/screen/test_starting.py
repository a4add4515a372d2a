"""Before there is a conversation: what is shown until a server is there, and how it is found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.doors.screen.scripted import shown
from textual.pilot import Pilot

from tersely.doors.screen.starting import Starting, until_found
from tersely.foundation.errors import TerselyError

pytestmark = pytest.mark.anyio

NOBODY = TerselyError(
    "model_unavailable",
    "no model is served here \x1b[2J",
    "start one:\n  llama-server -m MODEL.gguf",
)


class Server:
    """One that is started some time, and that may be slow."""

    def __init__(self) -> None:
        self.runs = False
        self.looks = 0
        self.slow: asyncio.Event | None = None

    async def look(self) -> str:
        self.looks += 1
        if self.slow is not None:
            await self.slow.wait()
        if not self.runs:
            raise NOBODY
        return "model"


async def until(pilot: Pilot[str], condition: Callable[[], object]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError(shown(pilot.app))


async def test_it_says_what_to_start_and_goes_on_when_that_runs() -> None:
    server = Server()
    app = Starting(server.look)
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: "no model is served here \\x1b[2J" in shown(app))
        assert "  llama-server -m MODEL.gguf" in shown(app)
        await until(pilot, lambda: "Look again" in shown(app))
        before, server.runs = server.looks, True
        await pilot.press("r")
        await until(pilot, lambda: not app.is_running)
    assert app.return_value == "model"
    assert server.looks == before + 1


async def test_a_server_that_does_not_answer_is_asked_once_and_can_be_left() -> None:
    server = Server()
    server.slow = asyncio.Event()
    app = Starting(server.look)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Looking for a model" in shown(app))
        await pilot.press("r", "r")
        assert server.looks == 1
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert app.return_value is None


async def test_what_is_found_at_once_needs_no_screen() -> None:
    server = Server()
    server.runs = True
    assert await until_found(server.look) == "model"

    async def broken() -> str:
        raise ValueError("a defect")

    looks: Callable[[], Awaitable[str]] = broken
    with pytest.raises(ValueError, match="a defect"):
        await until_found(looks)
