"""The design of the agent, from its tiers of tools to compaction, with a model that says what it is
told to.

The screen of the same design is in tests/doors/screen/test_seed.py.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.agent.core.talking import (
    ALLOWED,
    GRAMMAR,
    Scripted,
    call,
    of_kind,
    reason_of,
    talking,
    turn,
)

from tersely.agent.context.compaction import HEADING, REQUEST
from tersely.agent.events import CallEnded, Compacted, EndReason, Event, Retrieved, Unlocked, Usage
from tersely.agent.models.protocol import Abilities, Prompt
from tersely.agent.prompts import system_text
from tersely.agent.tools.table import TOOLS
from tersely.foundation.text.tokens import count

TOOL_TIERS = {
    0: {"read", "search", "respond"},
    1: {"edit", "write", "create"},
    2: {"bash", "git"},
    3: {"browser", "fetch", "mcp", "relay"},
}
TIER_0_TOKENS = 500
INTENT_KEYWORDS = {
    1: ("change", "modify", "fix", "update", "refactor"),
    2: ("run", "execute", "build", "test", "commit"),
    3: ("fetch", "download", "look up", "search web"),
}
TABLES = {
    "sessions": {"id", "created_at", "updated_at", "repo_path", "model_id", "active_tier"},
    "messages": {"id", "session_id", "parent_id", "role", "content", "tokens", "created_at"},
    "tool_calls": {
        "id",
        "message_id",
        "tool_name",
        "input_json",
        "output",
        "status",
        "duration_ms",
    },
}
WINDOW = 4_096
THRESHOLD = WINDOW * 7 // 10
SUMMARY = "The user counts words. Nothing was changed, and nothing is left to do."


def talk(
    root: Path, model: Scripted, *messages: str, retrieves: bool = False, choices: object = ALLOWED
) -> list[list[Event]]:
    """The turns that these messages begin."""

    async def all_turns() -> list[list[Event]]:
        async with talking(model, root, retrieves=retrieves, choices=choices) as agent:
            return [await turn(agent, message) for message in messages]

    return asyncio.run(all_turns())


def listed(prompt: Prompt) -> set[str]:
    """The tools whose signatures a prompt has."""
    text = "\n".join(message.content for message in prompt)
    return {tool.name for tool in TOOLS if tool.signature in text}


WITHOUT_EDITOR = [tool for tool in TOOLS if not tool.is_in_editor]  # there is none here


def size(prompt: Prompt) -> int:
    return sum(count(message.content) for message in prompt)


# 4 Progressive Tool Disclosure


def test_tools_are_in_four_tiers_of_which_the_first_is_always_there(root: Path) -> None:
    tiers = {
        tier: {tool.name for tool in WITHOUT_EDITOR if tool.tier == tier} for tier in TOOL_TIERS
    }
    assert tiers == {**TOOL_TIERS, 0: TOOL_TIERS[0] | {"list", "outline", "request_tools"}}
    model = Scripted(["Hello."])
    talk(root, model, "hello")
    assert listed(model.prompts[0]) == tiers[0]
    assert size(model.prompts[0]) <= TIER_0_TOKENS


def test_a_tier_unlocks_all_below_it_and_only_those(root: Path) -> None:
    model = Scripted(["ok", "ok"])
    events, later = talk(root, model, "run it", "thank you")
    assert [event.tier for event in of_kind(events, Unlocked)] == [2]
    assert not of_kind(later, Unlocked)
    below = {tool.name for tool in WITHOUT_EDITOR if tool.tier <= 2}
    assert [listed(prompt) for prompt in model.prompts] == [below, below]


def test_the_model_asks_for_a_tier(root: Path) -> None:
    model = Scripted([call("request_tools", tier=1), call("create", path="new.txt"), "Done."])
    (events,) = talk(root, model, "is there a new.txt?")
    assert [(event.tier, event.reason) for event in of_kind(events, Unlocked)] == [
        (1, "the model asked for it")
    ]
    assert listed(model.prompts[0]) & TOOL_TIERS[1] == set()
    assert listed(model.prompts[1]) >= TOOL_TIERS[1]
    assert (root / "new.txt").read_text() == ""


@pytest.mark.parametrize(
    ("word", "tier"), [(word, tier) for tier, words in INTENT_KEYWORDS.items() for word in words]
)
def test_words_of_a_message_unlock_a_tier(root: Path, word: str, tier: int) -> None:
    (events,) = talk(root, Scripted(["ok"]), f"please {word} it")
    assert [event.tier for event in of_kind(events, Unlocked)] == [tier]


# 5 Agent Loop


def test_the_loop_asks_again_with_each_result_until_there_is_an_answer(root: Path) -> None:
    model = Scripted(
        [
            f"I look.\n{call('read', path='shop/prices.py')}",
            call("search", query="total"),
            "It adds up.",
        ]
    )
    (events,) = talk(root, model, "what does shop.prices do?")
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "ok"]
    assert "def price(item)" in model.prompts[1][-1].content
    assert "shop/orders.py" in model.prompts[2][-1].content
    assert all(
        after[: len(before)] == before
        for before, after in zip(model.prompts, model.prompts[1:], strict=False)
    )
    assert reason_of(events) is EndReason.ANSWERED


@pytest.mark.parametrize("family", ["qwen", "llama", "unknown"])
def test_a_prompt_begins_with_the_text_for_the_family_of_the_model(root: Path, family: str) -> None:
    model = Scripted(["ok"], GRAMMAR._replace(family=family))
    talk(root, model, "hello")
    first = model.prompts[0][0]
    assert first.role == "system"
    assert first.content.startswith(system_text(family))
    assert (system_text(family) == system_text("default")) == (family == "unknown")


def test_code_comes_before_a_message_that_is_about_code(root: Path) -> None:
    model = Scripted(["ok", "ok"])
    events, thanks = talk(root, model, "what does `invoice` do?", "thank you", retrieves=True)
    (found,) = of_kind(events, Retrieved)
    assert "shop/orders.py" in {item.name for item in found.items}
    content = model.prompts[0][-1].content
    assert content.index("def invoice") < content.index("what does `invoice` do?")
    assert content.endswith("what does `invoice` do?")
    assert not of_kind(thanks, Retrieved)


# 6 Session Management


def rows(root: Path, question: str) -> list[dict[str, Any]]:
    database = sqlite3.connect(root.parent / "chats" / "sessions.sqlite")
    database.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in database.execute(question)]
    finally:
        database.close()


def test_sessions_messages_and_calls_are_kept_in_tables(root: Path) -> None:
    model = Scripted(
        [call("read", path="shop/prices.py"), call("git", arguments="show nothing"), "ok"]
    )
    talk(root, model, "please commit shop.prices")
    for table, columns in TABLES.items():
        assert columns <= {row["name"] for row in rows(root, f"pragma table_info({table})")}
    (session,) = rows(root, "select * from sessions")
    assert (session["repo_path"], session["model_id"], session["active_tier"]) == (
        str(root),
        "m",
        2,
    )
    assert session["created_at"] <= session["updated_at"]
    messages = rows(root, "select * from messages order by id")
    assert [message["role"] for message in messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert [message["parent_id"] for message in messages] == [
        None,
        *(message["id"] for message in messages[:-1]),
    ]
    assert all(message["tokens"] == count(message["content"]) for message in messages)
    calls = rows(root, "select * from tool_calls order by id")
    assert [one["tool_name"] for one in calls] == ["read", "git"]
    assert [json.loads(one["input_json"]) for one in calls] == [
        {"path": "shop/prices.py"}, {"arguments": "show nothing"},
    ]  # fmt: skip
    assert [one["status"] for one in calls] == ["completed", "error"]
    assert "def price(item)" in calls[0]["output"]
    assert all(one["duration_ms"] >= 0 for one in calls)


def test_old_turns_are_summarized_above_70_percent_of_the_window(root: Path) -> None:
    words = " ".join(["word"] * 90)
    model = Scripted(
        [lambda prompt: SUMMARY if prompt[-1].content == REQUEST else words] * 99, small(WINDOW)
    )
    turns = talk(root, model, *(f"message {number}: {words}" for number in range(20)))
    compacted = [event for events in turns for event in of_kind(events, Compacted)]
    assert compacted
    assert all(event.how == "model" and event.after < event.before for event in compacted)
    grown = [prompt for prompt in model.prompts if prompt[-1].content != REQUEST]
    assert THRESHOLD * 9 // 10 < max(map(size, grown)) <= THRESHOLD
    after = next(prompt for prompt in grown if HEADING in prompt[-1].content)
    assert SUMMARY in after[-1].content
    assert "message 0:" not in "\n".join(message.content for message in after[1:])
    assert [
        message["content"]
        for message in rows(root, "select * from messages where content like '%message 0:%'")
    ]


def small(window: int) -> Abilities:
    return GRAMMAR._replace(window=window)


def test_the_tokens_of_every_request_are_told_and_kept(root: Path) -> None:
    (events,) = talk(root, Scripted(["ok"]), "hello")
    (usage,) = of_kind(events, Usage)
    (kept,) = rows(root, "select * from requests")
    assert (kept["prompt_tokens"], kept["completion_tokens"]) == (
        usage.prompt_tokens,
        usage.completion_tokens,
    )
    assert usage.window == GRAMMAR.window
