"""Chapter 7 of the design of the agent: the layout of the screen, its bar, and its keys."""

from __future__ import annotations

import pytest
from tests.doors.screen.conftest import Seen, seen
from tests.doors.screen.scripted import EXAMPLE, WAIT, Scripted

from tersely.agent.events import TextDelta

pytestmark = pytest.mark.anyio


async def ask(screen: Seen, message: str) -> None:
    await screen.type(message)
    await screen.press("enter")


async def test_a_turn_is_shown_as_it_happens() -> None:
    async with seen(Scripted([EXAMPLE]), (100, 50)) as screen:
        await ask(screen, "who calls it?")
        await screen.shows("https://example.org/x")
        rows = screen.text.splitlines()
        assert (
            rows[0]
            .strip()
            .startswith("Tersely │ qwen3:4b │ Tier 1 │ 2,847 / 8,192 tokens │ 97% cached")
        )
        for row in (
            "› who calls it?", "▸ ✓ search process_enrichment  12 ms", "1. llmc/enrichment/executor.py:45",
            "tier 1 unlocked: “add logging” asks for a change", "▾ ✓ edit llmc/enrichment/executor.py  +3 -1 · 24 ms",
            "+import logging", "executor.py │ +3 -1",
        ):  # fmt: skip
            assert any(row in shown for shown in rows), row
        assert screen.chat.query_one("#activity").visible is False


async def test_keys_of_tools_tiers_and_retrieval() -> None:
    async with seen(Scripted()) as screen:
        await screen.press("tab")
        await screen.shows("edit(path, start, end, body) replaces lines")
        assert "Tier 1  locked, asks first" in screen.text
        await screen.press("tab", "ctrl+t")
        await screen.shows("tier 1: read, search, edit")
        await screen.press("ctrl+t", "ctrl+t")
        await screen.shows("tier 0: read, search")
        await screen.press("ctrl+r")
        await screen.shows("no code is looked up beforehand")
        assert "RAG off" in screen.text


async def test_ctrl_c_cancels_the_turn_and_not_the_program() -> None:
    async with seen(Scripted([[TextDelta(1, "I begin"), WAIT], [TextDelta(1, "again")]])) as screen:
        await ask(screen, "go")
        await screen.shows("I begin")
        assert "Esc cancels" in screen.text
        await screen.press("ctrl+c")
        await screen.shows("cancelled")
        assert screen.agent.asked == ["run go", "cancel"]
        await screen.type("draft")
        await screen.press("ctrl+c")
        assert screen.chat.prompt.text == ""
        await screen.press("ctrl+c")
        await ask(screen, "more")
        await screen.shows("again")


async def test_quitting() -> None:
    async with seen(Scripted()) as screen:
        await screen.type("q")
        assert screen.chat.prompt.text == "q"
        await screen.press("backspace", "escape", "q")
        await screen.shows("Press q again to quit.")
        assert screen.app.is_running
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running)
    async with seen(Scripted([[WAIT]])) as screen:
        await ask(screen, "go")
        await screen.until(lambda: screen.agent.asked)
        screen.chat.log_view.focus()
        await screen.press("q")
        await screen.shows("Press q again")
        assert screen.app.is_running
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running)
    async with seen(Scripted()) as screen:
        await ask(screen, "/quit")
        await screen.until(lambda: not screen.app.is_running)


async def test_the_last_row_names_the_keys() -> None:
    async with seen(Scripted(), (100, 24)) as screen:
        await screen.shows("Quit")
        last = screen.text.rstrip().splitlines()[-1].lower()
        for key, meaning in {
            "tab": "tools",
            "^t": "tier",
            "^r": "rag",
            "^g": "mode",
            "^c": "cancel",
            "q": "quit",
        }.items():
            assert f"{key} {meaning}" in last
