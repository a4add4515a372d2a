"""Functions on a real llama.cpp server, whose template asks in Hermes' form and whose parser reads
the calls.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.modelserver.scripts import Reply, write_scripted
from bench.modelserver.server import Server
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.agent.core.talking import (
    ALLOWED,
    GRAMMAR,
    NATIVE,
    Said,
    Scripted,
    call,
    of_kind,
    reason_of,
    talking,
    turn,
)
from tests.depth import examples

from tersely.agent.events import CallEnded, EndReason, Event, Notice, ToolsDeclared, Usage
from tersely.agent.models.connecting import connect
from tersely.agent.models.protocol import Abilities, Constraint, Prompt, RawCall, Thinking
from tersely.agent.sessions.store import SessionStore
from tersely.agent.tool_calling import CallFormat
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count

# in a vocabulary of 6,000 tokens, which makes more of them than those of models in use
FIRST_REQUEST_TOKENS = 600


def written(name: str, **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


# llama.cpp holds a call to the order of its schema: required arguments, then the others.
SCRIPT = [
    Reply("Hello.", "hello"),
    Reply(written("read", path="shop/prices.py"), "what does"),
    Reply("It adds prices up.", "def total"),
    Reply(written("request_tools", tier="1"), "make the button"),
    Reply(
        written("edit", path="shop/prices.py", body="def price(item):  # one\n", start=5, end=5),
        "tools of tier 1",
    ),
    Reply("It is blue.", "line 5 replaced"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("native") / "scripted.gguf"
    write_scripted(path, SCRIPT, has_tools=True)
    with Server(path) as server:
        yield server.url


def talk(url: str, root: Path, *messages: str) -> list[Event]:
    """All that happens in these turns of one session."""

    async def all_turns() -> list[Event]:
        async with talking(await connect(url), root, choices=ALLOWED) as agent:
            assert agent.conversation.call_format is CallFormat.NATIVE
            return [event for message in messages for event in await turn(agent, message)]

    return asyncio.run(all_turns())


def test_functions_are_called_and_locked_ones_declared_when_they_are_asked_for(
    root: Path, url: str
) -> None:
    events = talk(url, root, "hello", "what does prices do?", "make the button blue")
    assert reason_of(events) is EndReason.ANSWERED
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok"] * 3
    assert "def price(item):  # one" in (root / "shop/prices.py").read_text()
    (declared,) = of_kind(events, ToolsDeclared)
    assert "edit" in declared.tools


def test_what_a_change_of_the_functions_costs_is_in_the_figures(root: Path, url: str) -> None:
    events = talk(url, root, "hello", "what does prices do?", "make the button blue")
    usages = of_kind(events, Usage)
    assert usages[0].prompt_tokens <= FIRST_REQUEST_TOKENS
    assert [usage.reevaluated_tokens > usage.prompt_tokens // 4 for usage in usages] == [
        False
    ] * 4 + [True, False]


def test_a_call_that_the_server_does_not_read_is_read_here(root: Path) -> None:
    replies: list[Said] = [
        f"I look.\n{written('read', path='README.md')}\n{written('list')}",
        "A shop.",
    ]
    model = Scripted(replies, NATIVE)

    async def look() -> list[Event]:
        async with talking(model, root) as agent:
            return await turn(agent, "what is this?")

    events = asyncio.run(look())
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "ok"]
    # what was read from text is in the prompt as what a server would have read
    assert [message.role for message in model.prompts[1]] == [
        "system", "user", "assistant", "tool", "tool",
    ]  # fmt: skip
    asked, *told = model.prompts[1][2:]
    assert [call[:2] for call in asked.calls] == [("read", '{"path": "README.md"}'), ("list", "{}")]
    assert [message.call_id for message in told] == [call.id for call in asked.calls]
    assert asked.content == "I look."
    with SessionStore.open(root.parent / "chats") as store:
        (session,) = store.every(str(root))
        said = [
            stored.text
            for stored in store.history(session.id).messages
            if stored.role == "assistant"
        ]
    assert said == ["I look.\n", "A shop."]


@pytest.mark.parametrize("error", ["model_failed", "way_refused"])
def test_where_functions_cannot_be_read_another_way_is_taken(root: Path, error: str) -> None:
    failing = TerselyError(error, "cannot be parsed")

    class Failing(Scripted):
        async def stream(self, prompt, constraint, most_tokens, thinking=None):  # type: ignore[no-untyped-def]
            if constraint is not None and constraint.tools:
                self.constraints.append(constraint)
                if error == "way_refused":
                    self.abilities = self.abilities._replace(tools=False)
                raise failing
            async for chunk in super().stream(prompt, constraint, most_tokens):
                yield chunk

    model = Failing(["<call list>\n</call>", "A shop."], NATIVE._replace(grammar=True))

    async def look() -> list[Event]:
        async with talking(model, root) as agent:
            events = await turn(agent, "what is this?")
            assert agent.conversation.call_format is CallFormat.GRAMMAR
            return events

    events = asyncio.run(look())
    assert reason_of(events) is EndReason.ANSWERED
    tried = [constraint for constraint in model.constraints if constraint and constraint.tools]
    assert len(tried) == (2 if error == "model_failed" else 1)
    assert any("calls are asked for as grammar" in event.text for event in of_kind(events, Notice))


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(1, 900), st.integers(0, 3), st.integers(1, 400)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([NATIVE, GRAMMAR._replace(grammar=False), GRAMMAR]),
)
@example(turns=[(602, 0, 139), (503, 1, 13), (120, 3, 145)], way=GRAMMAR._replace(grammar=False))
@settings(
    max_examples=examples(fast=12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_request_is_larger_than_the_window(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[int, int, int]], way: Abilities
) -> None:
    root = tmp_path_factory.mktemp("window") / "shop"
    root.mkdir()
    (root / "long.txt").write_text(
        "".join(f"{number} the price of an item\n" for number in range(900))
    )
    replies: list[Said] = []
    for _, calls, said in turns:
        for number in range(calls):
            replies.append(reading(way, 1 + 20 * number))
        replies.append(saying(way, "word " * said))

    class Counting(Scripted):
        async def stream(self, prompt, constraint, most_tokens, thinking=Thinking.DEFAULT):  # type: ignore[no-untyped-def]
            read = sent_tokens(prompt, constraint)
            sizes.append(read + most_tokens)
            async for chunk in super().stream(prompt, constraint, most_tokens, thinking):
                yield chunk._replace(usage=chunk.usage and chunk.usage._replace(prompt_tokens=read))

    sizes: list[int] = []
    model = Counting(
        itertools.chain(replies, itertools.repeat(saying(way, "Done."))), way._replace(window=2_048)
    )

    async def all_turns() -> None:
        async with talking(model, root) as agent:
            for number, (words, _, _) in enumerate(turns):
                await turn(agent, f"turn {number}: {'look ' * words}")

    asyncio.run(all_turns())
    assert max(sizes) <= 2_048


def reading(way: Abilities, start: int) -> Said:
    """A call that reads a part of a file, as this way has it."""
    arguments = {"path": "long.txt", "start": start}
    if way.tools:
        return RawCall("read", json.dumps(arguments), str(start))
    if way.grammar:
        return call("read", **arguments)
    return json.dumps({"say": "I look.", "call": {"tool": "read", **arguments}})


def saying(way: Abilities, text: str) -> Said:
    return text if way.tools or way.grammar else json.dumps({"say": text, "call": None})


def sent_tokens(prompt: Prompt, constraint: Constraint | None) -> int:
    """The tokens of a request as a server counts them whose template writes out the functions or
    the schema.
    """
    beside = [*constraint.tools, constraint.schema] if constraint else []
    texts = [
        one.content + "".join(call.name + call.arguments for call in one.calls) for one in prompt
    ]
    return sum(map(count, [*texts, *(json.dumps(one) for one in beside if one)]))
