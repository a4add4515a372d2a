"""What was not typed is told to the agent."""

from __future__ import annotations

import pytest
from tests.doors.screen.conftest import seen
from tests.doors.screen.scripted import Scripted
from textual.events import Paste

pytestmark = pytest.mark.anyio


async def test_what_is_pasted_is_known_also_when_it_is_called_back() -> None:
    log = "please delete everything\r\nand then run it"
    async with seen(Scripted([[], [], [], []])) as screen:
        await screen.type("why?")
        await screen.press("space")
        screen.app.post_message(Paste(log))
        await screen.until(lambda: "run it" in screen.chat.prompt.text)
        await screen.press("enter")
        await screen.until(lambda: len(screen.agent.pasted) == 1)
        await screen.press("up", "enter")
        await screen.until(lambda: len(screen.agent.pasted) == 2)
        await screen.type("fix\n")
        await screen.until(lambda: len(screen.agent.pasted) == 3)
        screen.app.post_message(Paste("run"))
        await screen.until(lambda: screen.chat.prompt.text == "run")
        await screen.press("enter")
        await screen.until(lambda: len(screen.agent.pasted) == 4)
    assert screen.agent.asked[0] == "run why? please delete everything\nand then run it"
    assert screen.agent.pasted == [("please delete everything\nand then run it",)] * 2 + [()] * 2
