"""The picture of README.md: what the scripted model reads of a packet, and what is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text
from tests.wrap.scripted_model import Asked, Turn
from tools.picture_session import COLUMNS, PACKET_COLUMNS, PROMPT, answer, drawing, packet_in

PICTURE = Path(__file__).parents[2] / "docs" / "session.svg"
PACKET = f"""\
Probably about, likeliest first (check before editing):
shop/prices.py
  3-9 Basket.total: very likely, has <total> & "{"x" * PACKET_COLUMNS}"
test: pytest tests/test_prices.py
"""
HOOKED = Turn("system", f"hook additional context: {PACKET}\n\n</system-reminder>")


def texts_of(svg: str) -> list[str]:
    """The text of each line that is drawn."""
    lines = ET.fromstring(svg).iterfind("{http://www.w3.org/2000/svg}text")
    return ["".join(line.itertext()) for line in lines]


def test_the_packet_is_found_between_what_the_agent_adds() -> None:
    assert packet_in(HOOKED.text) == PACKET.rstrip()
    assert packet_in("nothing") == ""


def test_the_model_reads_the_first_place_and_then_names_it() -> None:
    asked = Asked([HOOKED], {"Read": {}})
    assert answer(asked).arguments == {"file_path": "shop/prices.py", "offset": 3, "limit": 7}
    said = answer(Asked([HOOKED, Turn("tool", "3 def total")], {"Read": {}})).text
    assert "`Basket.total`" in said
    assert "`pytest tests/test_prices.py`" in said


@pytest.mark.parametrize("asked", [Asked([], {"Read": {}}), Asked([HOOKED], {})])
def test_without_a_packet_or_a_tool_nothing_is_read(asked: Asked) -> None:
    assert answer(asked).tool == ""


def test_both_halves_are_drawn_within_their_windows() -> None:
    screen = Text(
        f"a welcome\n> {PROMPT[:30]}\n  {PROMPT[30:]}\n\n● Done & <well>.\n\n✻ Worked\n──── x"
    )
    svg = drawing(screen, PACKET)
    assert '<tspan fill="#58a6ff">shop/prices.py</tspan>' in svg
    first, *lines = texts_of(svg)
    assert first == "Claude Code, in a clone of Flask"
    said, (title, *shown) = lines[:4], lines[4:]
    assert said == [f"> {PROMPT[:30]}", f"  {PROMPT[30:]}", "", "● Done & <well>."]
    assert re.fullmatch(r"what Tersely put beside the prompt: \d+ tokens", title)
    assert shown[0] == PACKET.splitlines()[0]
    assert {len(line) for line in shown} & {PACKET_COLUMNS} == {PACKET_COLUMNS}
    assert max(map(len, shown)) == PACKET_COLUMNS


def test_the_picture_of_the_readme_loads_nothing_and_fits() -> None:
    svg = PICTURE.read_text("utf-8")
    assert len(svg) < 20_000
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}
    texts = texts_of(svg)
    assert "SESSION_REFRESH_EACH_REQUEST" in " ".join(texts)
    assert max(map(len, texts)) <= max(COLUMNS, PACKET_COLUMNS)
