"""A prompt begins with the prompt before it, and the first one is short."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.agent.core.conftest import made_shop
from tests.agent.core.talking import (
    ALLOWED,
    GRAMMAR,
    OPENED,
    Said,
    Scripted,
    call,
    of_kind,
    reason_of,
    rendered,
    talking,
    turn,
)
from tests.depth import mostly_slow
from tools.budgets.limits import own

from tersely.agent.events import Compacted, EndReason, Event, ToolsDeclared, Unlocked
from tersely.agent.models.protocol import Abilities, Prompt, RawCall
from tersely.agent.opening import AgentOptions
from tersely.foundation.text.tokens import Tokenizer

SCHEMA = GRAMMAR._replace(grammar=False)
NATIVE = GRAMMAR._replace(grammar=False, schema=False, tools=True)
TEXT = GRAMMAR._replace(grammar=False, schema=False)


def session(way: Abilities) -> list[Said]:
    """Four turns: small talk, a look, an edit that unlocks, a command that the model asks tools
    for.
    """
    if way.tools:
        return [
            "Hello.",
            RawCall("read", '{"path": "shop/prices.py"}', "1"),
            "It adds prices up.",
            RawCall(
                "edit",
                '{"path": "shop/prices.py", "start": 5, "end": 5, "body": "def price(item):  # one\\n"}',
                "2",
            ),
            "Done.",
            RawCall("request_tools", '{"tier": "2"}', "3"),
            RawCall("bash", '{"command": "true"}', "4"),
            "It is true.",
        ]
    edit = call(
        "edit", "--- body\ndef price(item):  # one\n", path="shop/prices.py", start=5, end=5
    )
    texts = [
        "Hello.", f"I look.\n{call('read', path='shop/prices.py')}", "It adds prices up.", edit, "Done.",
        call("request_tools", tier=2), call("bash", command="true"), "It is true.",
    ]  # fmt: skip
    return list(map(enveloped, texts)) if not way.grammar and way.schema else list(texts)


def enveloped(text: str) -> str:
    calls = {
        "read": '{"tool": "read", "path": "shop/prices.py"}',
        "edit": '{"tool": "edit", "path": "shop/prices.py", "start": 5, "end": 5, "body": "def price(item):"}',
        "request_tools": '{"tool": "request_tools", "tier": "2"}',
        "bash": '{"tool": "bash", "command": "true"}',
    }
    name = text.partition("<call ")[2].partition(">")[0]
    return f'{{"say": "ok", "call": {calls.get(name, "null")}}}'


@pytest.mark.parametrize(
    "way",
    mostly_slow([GRAMMAR, SCHEMA, NATIVE, TEXT], GRAMMAR, NATIVE),
    ids=["grammar", "schema", "native", "text"],
)
def test_each_prompt_begins_with_the_one_before(root: Path, way: Abilities) -> None:
    model = Scripted(session(way), way)
    (root / "AGENTS.md").write_text("# Rules\n- run pytest\n")

    async def talk() -> None:
        async with talking(model, root, retrieves=True, choices=ALLOWED) as agent:
            happened = []
            for message in (
                "hello",
                "what does shop.prices do?",
                "add a comment to `price`",
                "is it true?",
            ):
                happened += await turn(agent, message)
                assert reason_of(happened) is EndReason.ANSWERED
            assert [event.tier for event in of_kind(happened, Unlocked)] == [1, 2]
            assert of_kind(happened, Compacted) == []

    asyncio.run(talk())
    assert len(model.prompts) == 8
    for before, after in zip(model.prompts, model.prompts[1:], strict=False):
        assert after[: len(before)] == before
        assert rendered(after).startswith(rendered(before))
    last = model.prompts[-1]
    for unlocked in ("edit(path", "bash(command"):  # functions are declared instead
        assert [unlocked in message.content for message in last].count(True) == (
            0 if way.tools else 1
        )
    assert "edit(path" not in last[0].content
    assert sum("AGENTS.md asks:\n# Rules\n- run pytest" in message.content for message in last) == 1


def declared(model: Scripted) -> list[list[str]]:
    """The names of the functions of each request."""
    return [
        [each["name"] for each in constraint.tools] if constraint else []
        for constraint in model.constraints
    ]


def test_every_function_that_is_unlocked_is_declared_and_the_list_changes_twice_at_most(
    root: Path,
) -> None:
    model = Scripted(session(NATIVE), NATIVE)

    async def talk() -> list[Event]:
        async with talking(model, root, choices=ALLOWED) as agent:
            events = []
            for message in (
                "hello",
                "what does shop.prices do?",
                "add a comment to `price`",
                "is it true?",
            ):
                events += await turn(agent, message)
                assert {tool.name for tool in agent.conversation.unlocked()} <= set(
                    declared(model)[-1]
                )
            return events

    events = asyncio.run(talk())
    lists = declared(model)
    assert "edit" not in lists[0]
    assert "edit" in lists[3]
    assert "bash" in lists[-1]
    changes = [
        at for at in range(1, len(lists)) if model.constraints[at] != model.constraints[at - 1]
    ]
    assert len(changes) == 2
    announced = of_kind(events, ToolsDeclared)
    assert [list(event.tools) for event in announced] == [lists[at] for at in changes]
    assert all(event.tokens > 0 for event in announced)


@pytest.mark.parametrize("way", [SCHEMA, NATIVE], ids=["schema", "native"])
def test_the_first_request_is_short_also_in_a_large_repository(root: Path, way: Abilities) -> None:
    large = made_shop(root.parent / "large" / root.name, 150)
    model = Scripted(["Hello." if way.tools else enveloped("Hello.")], way)

    async def talk() -> None:
        async with talking(model, large, retrieves=True) as agent:
            await turn(agent, "hello")

    asyncio.run(talk())
    (constraint,) = model.constraints
    assert constraint is not None
    functions = [json.dumps({"type": "function", "function": each}) for each in constraint.tools]
    shown = "\n".join([rendered(model.prompts[0]), *functions])
    assert "a_long_name" not in shown + json.dumps(constraint.schema)
    assert Tokenizer("cl100k").count(shown) <= own()["tokens.first_request.functions"]


def test_a_constraint_allows_what_is_unlocked(root: Path) -> None:
    model = Scripted(["Hello.", "No."])

    async def talk() -> None:
        async with talking(model, root) as agent:
            await turn(agent, "hello")
            await turn(agent, "add a comment")

    asyncio.run(talk())
    first, second = (constraint.grammar if constraint else "" for constraint in model.constraints)
    assert "call-read" in first
    assert "call-edit" not in first
    assert "call-edit" in second
    assert "call-bash" not in second


@pytest.mark.parametrize("family", ["qwen", "llama", "../x"])
@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("hello", own()["tokens.first_request.grammar"]),
        ("fix it", own()["tokens.first_request.edits"]),
    ],
)
def test_the_first_request_is_short(root: Path, family: str, message: str, most: int) -> None:
    model = Scripted(["Hello."], GRAMMAR._replace(family=family))

    async def talk() -> None:
        async with talking(model, root, retrieves=True) as agent:
            await turn(agent, message)

    asyncio.run(talk())
    (prompt,) = model.prompts
    shown = rendered(prompt) + OPENED
    assert shown.count("(") >= 6
    assert Tokenizer("cl100k").count(shown) <= most


def test_without_code_context_there_are_files_and_text_alone(root: Path) -> None:
    async def prompts() -> list[Prompt]:
        model = Scripted(
            [call("search", text="def price"), "It is there.", call("outline"), "So be it."]
        )
        async with talking(model, root, options=AgentOptions(with_code_context=False)) as agent:
            await turn(agent, "who calls price?")
            await turn(agent, "and what is defined?")
        return model.prompts

    found = asyncio.run(prompts())
    first = found[0][0].content
    assert "search(text)" in first
    assert "outline" not in first
    assert "symbol" not in first
    assert "shop/prices.py:5:def price(item):" in found[1][-1].content
    assert "no tool" in found[3][-1].content or "cannot be made" in found[3][-1].content


def test_another_way_of_calling_adds_no_code_context(root: Path) -> None:
    async def names() -> set[str]:
        async with talking(
            Scripted([]), root, options=AgentOptions(with_code_context=False)
        ) as agent:
            before = {tool.name for tool in agent.conversation.tools}
            agent.conversation.use_call_format(agent.conversation.model.abilities)
            assert {tool.name for tool in agent.conversation.tools} == before
            return before

    assert "outline" not in asyncio.run(names())
