"""A slow line: nothing is painted while what was painted earlier waits to be sent."""

from __future__ import annotations

import io
import queue
from types import SimpleNamespace

import pytest
from tests.doors.screen.conftest import seen
from tests.doors.screen.scripted import PAUSE, Scripted
from textual.drivers._writer_thread import WriterThread

from tersely.agent.events import TextDelta
from tersely.doors.screen.entries.answer import AnswerEntry

pytestmark = pytest.mark.anyio


async def test_an_answer_waits_for_the_line() -> None:
    line: queue.Queue[str] = queue.Queue()
    async with seen(
        Scripted([[TextDelta(1, "one\n\n"), PAUSE, TextDelta(1, "two\n\n")]])
    ) as screen:
        await screen.type("go\n")
        await screen.shows("one")
        screen.app._driver._writer_thread = SimpleNamespace(_queue=line)  # type: ignore[union-attr]
        line.put("what was painted earlier")
        screen.agent.go_on()
        await screen.until(
            lambda: not screen.chat.query_one("#activity").visible, "the end of the turn"
        )
        await screen.pilot.pause(0.2)
        assert screen.chat.query_one(AnswerEntry).text == "one\n\n"
        line.get()
        await screen.shows("two")


def test_what_waits_is_where_it_is_looked_for() -> None:
    assert WriterThread(io.StringIO())._queue.empty()
