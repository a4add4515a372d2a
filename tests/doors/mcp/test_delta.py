"""What a connection was sent is not sent on it again."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from mcp.client.client import Client
from tests.doors.mcp.conversing import converse, text_of

from tersely.cli.main import main
from tersely.foundation.text.tokens import count

QUESTION = {"symbols": ["checkout"]}


async def asked(client: Client) -> str:
    return text_of(await client.call_tool("context", QUESTION))


def lose_context(monkeypatch: pytest.MonkeyPatch, directory: Path, source: str) -> None:
    """What an agent calls when a session begins, or goes on without what it had."""
    call = json.dumps(
        {
            "session_id": "s",
            "cwd": str(directory),
            "hook_event_name": "SessionStart",
            "source": source,
        }
    )
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=io.BytesIO(call.encode()), isatty=lambda: False)
    )
    assert main(["hook", "session", "--agent", "claude"]) == 0


def test_an_answer_leaves_out_what_the_connection_has_and_says_how_to_get_it(shop: Path) -> None:
    answers: list[str] = []

    async def work(client: Client) -> None:
        answers.extend([await asked(client), await asked(client)])
        whole = await client.call_tool("symbol_get", {"symbol": "checkout"})
        answers.append(text_of(whole))

    converse(work)
    first, second, whole = answers
    assert "def checkout" in first
    assert "[unchanged" in second
    assert "def checkout" not in second
    assert count(second) < count(first) / 2
    assert re.search(r"whole: symbol get NAME$", second.rstrip())
    assert "def checkout" in whole


def test_what_changed_meanwhile_is_sent_as_a_diff(shop: Path) -> None:
    place = next(path for path in shop.rglob("*.py") if "def checkout" in path.read_text("utf-8"))

    async def work(client: Client) -> None:
        await asked(client)
        text = place.read_text("utf-8")
        at = text.index("\n", text.index("def checkout")) + 1
        indentation = re.match(r" *", text[at:])
        assert indentation is not None
        place.write_text(f"{text[:at]}{indentation[0]}marked = 1\n{text[at:]}", "utf-8")
        answer = await asked(client)
        assert "marked = 1" in answer
        assert "[diff from " in answer or "def checkout" in answer

    converse(work)


@pytest.mark.slow
def test_another_connection_and_a_reader_that_lost_its_context_are_told_all(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TERSELY_DAEMON", "off")

    async def work(client: Client) -> None:
        first = await asked(client)
        lose_context(monkeypatch, shop, "startup")
        assert "[unchanged" in await asked(client)
        for source in ("compact", "clear", "resume"):
            lose_context(monkeypatch, shop, source)
            assert await asked(client) == first
            assert "[unchanged" in await asked(client)

    converse(work)

    async def other(client: Client) -> None:
        assert "[unchanged" not in await asked(client)

    converse(other)


def test_a_session_that_is_named_counts_and_a_map_that_is_a_resource_is_whole(shop: Path) -> None:
    async def work(client: Client) -> None:
        first = await asked(client)
        named = {**QUESTION, "session": "another", "fill": True}
        assert text_of(await client.call_tool("context", named)) == first
        maps = [(await client.read_resource("tersely://map")).contents[0] for _ in range(2)]
        assert maps[0] == maps[1]

    converse(work)
