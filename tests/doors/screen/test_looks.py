"""How the screen looks: pictures of it, compared with those that somebody has looked at.

`TERSELY_TEST_PICTURES=write` writes them anew. They are SVG, so a browser shows them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.doors.screen.conftest import seen
from tests.doors.screen.scripted import DIFF, EXAMPLE, Scripted

from tersely.agent.events import ApprovalAsked

pytestmark = pytest.mark.anyio

PICTURES = Path(__file__).parent / "pictures"
IDENTITY = re.compile(r"terminal-\d+")
BASH = ApprovalAsked(1, "c1", "bash", "pytest -q tests", "pytest -q tests", "pytest *")


def compare(name: str, picture: str) -> None:
    """Ids in a picture are hashes of its text; nothing else differs between two runs."""
    picture = IDENTITY.sub("terminal", picture).rstrip() + "\n"
    path = PICTURES / f"{name}.svg"
    if os.environ.get("TERSELY_TEST_PICTURES") == "write":
        PICTURES.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
    assert picture == path.read_text("utf-8"), f"{path.name} looks different"


@pytest.mark.parametrize(
    ("name", "size", "theme"),
    [
        ("60x20", (60, 20), "textual-dark"),
        ("80x24", (80, 24), "textual-light"),
        ("120x40", (120, 40), "textual-dark"),
    ],
)
async def test_a_conversation(name: str, size: tuple[int, int], theme: str) -> None:
    async with seen(Scripted([EXAMPLE]), size, theme=theme) as screen:
        await screen.type("who calls it?\n")
        await screen.shows("https://example.org/x")
        await screen.until(lambda: not screen.chat.query_one("#activity").visible)
        await screen.press("escape")  # the cursor of the prompt blinks
        await screen.pilot.pause()
        compare(name, screen.app.export_screenshot())


@pytest.mark.parametrize(
    "asked", [BASH, ApprovalAsked(1, "c1", "edit", "src/executor.py", DIFF, "src/*")]
)
async def test_a_question(asked: ApprovalAsked) -> None:
    async with seen(Scripted([[asked]]), (60, 20)) as screen:
        await screen.type("hi\n")
        await screen.asks("Allow")
        await screen.pilot.pause()
        compare(f"asked-{asked.tool}", screen.app.export_screenshot())


async def test_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seen(Scripted([EXAMPLE]), (80, 24)) as screen:
        await screen.type("who calls it?\n")
        await screen.shows("https://example.org/x")
        await screen.until(lambda: not screen.chat.query_one("#activity").visible)
        await screen.press("tab")
        await screen.shows("Tier 2  locked")
        await screen.pilot.pause()
        compare("no-colours", screen.app.export_screenshot())
