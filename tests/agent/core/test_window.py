"""A window never overflows, and nothing goes round in circles to see to it."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.core.talking import (
    ALLOWED,
    GRAMMAR,
    Said,
    Scripted,
    call,
    of_kind,
    reason_of,
    talking,
    turn,
)

from tersely.agent.context.compaction import (
    EXTRACTIVE,
    HEADING,
    REQUEST,
    extracts,
    first_kept,
    first_kept_step,
)
from tersely.agent.context.window import Budget, Gauge
from tersely.agent.conversation import AgentOptions
from tersely.agent.events import CallStarted, Compacted, EndReason, Event, Notice, Usage
from tersely.agent.models.protocol import Abilities, ModelMessage, Prompt, RawCall, RequestUsage
from tersely.agent.sessions.session import Stored
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MIN_WINDOW_TOKENS
from tersely.foundation.text.tokens import Tokenizer

SUMMARY = "The user wants prices rounded. `price` is in shop/prices.py:5; nothing was changed yet."
WORDS = "the price of an item is added up "
SMALL = GRAMMAR._replace(window=2_048)


def size(prompt: Prompt) -> int:
    return sum(Tokenizer().count(message.content) for message in prompt)


def says(prompt: Prompt) -> str:
    """A summary when it is asked for one, else an answer of some length."""
    return SUMMARY if prompt[-1].content == REQUEST else WORDS * 12


def turns(root: Path, model: Scripted, messages: list[str], **more: object) -> list[Event]:
    async def all_turns() -> list[Event]:
        async with talking(model, root, **more) as agent:  # type: ignore[arg-type]
            return [event for message in messages for event in await turn(agent, message)]

    return asyncio.run(all_turns())


def test_old_turns_leave_and_their_summary_comes_with_the_next_message(root: Path) -> None:
    model = Scripted([says] * 99, SMALL)
    events = turns(root, model, [f"turn {number}: {WORDS * 8}" for number in range(20)])
    compacted = of_kind(events, Compacted)
    assert {event.how for event in compacted} == {"model"}
    assert len({event.turn for event in compacted}) == len(compacted) >= 2
    assert all(event.after < event.before for event in compacted)
    asked = [prompt for prompt in model.prompts if prompt[-1].content == REQUEST]
    assert len(asked) == len(compacted)
    broken = 0
    for before, after in zip(model.prompts, model.prompts[1:], strict=False):
        assert size(after) < SMALL.window
        if after[: len(before)] != before and before[-1].content != REQUEST:
            raise AssertionError("a prompt does not begin with the one before")
        if before[-1].content == REQUEST:
            broken += 1
            assert after[0] == before[0]
            assert after[-1].content.startswith(f"{HEADING}\n{SUMMARY}\n\nturn ")
            kept = after[1:-1]
            assert kept == before[-1 - len(kept) : -1]
    assert broken == len(compacted)


@pytest.mark.parametrize("fails", ["no", "error", "call"])
def test_a_summary_is_made_of_extracts_where_the_model_fails(root: Path, fails: str) -> None:
    bad: dict[str, Said] = {
        "no": "", "error": TerselyError("model_failed", "gone"), "call": call("read", path="README.md"),
    }  # fmt: skip
    model = Scripted(
        [lambda prompt: bad[fails] if prompt[-1].content == REQUEST else WORDS * 12] * 99, SMALL
    )
    events = turns(root, model, [f"turn {number}: {WORDS * 8}" for number in range(8)])
    assert {event.how for event in of_kind(events, Compacted)} == {EXTRACTIVE}
    summary = next(prompt for prompt in model.prompts if HEADING in prompt[-1].content)[-1].content
    assert "user: turn 0: the price" in summary
    assert "you: the price of an item" in summary
    assert reason_of(events) is EndReason.ANSWERED


@pytest.mark.parametrize(
    "way", [SMALL, SMALL._replace(grammar=False, schema=False, tools=True)], ids=["own", "native"]
)
def test_a_summary_leaves_the_beginning_of_the_prompt_as_it_was_and_is_counted(
    root: Path, way: Abilities
) -> None:
    model = Scripted([says] * 99, way)
    events = turns(root, model, [f"turn {number}: {WORDS * 8}" for number in range(10)])
    assert of_kind(events, Compacted)
    assert len(of_kind(events, Usage)) == len(model.prompts)
    asked = [
        constraint for constraint in model.constraints if constraint is None or constraint.tools
    ]
    assert asked == ([model.constraints[0]] * len(model.prompts) if way.tools else [None])


def test_a_summary_in_an_envelope_is_taken_out_of_it(root: Path) -> None:
    def enveloped(prompt: Prompt) -> str:
        return json.dumps({"say": says(prompt), "call": None})

    model = Scripted([enveloped] * 99, SMALL._replace(grammar=False))
    turns(root, model, [f"turn {number}: {WORDS * 8}" for number in range(10)])
    told = next(prompt for prompt in model.prompts if HEADING in prompt[-1].content)[-1].content
    assert told.startswith(f"{HEADING}\n{SUMMARY}\n\nturn ")


def test_the_last_turn_stays_even_where_it_is_long(root: Path) -> None:
    long = " ".join(map(str, range(150)))
    model = Scripted(
        [lambda prompt: SUMMARY if prompt[-1].content == REQUEST else long] * 99, SMALL
    )
    events = turns(root, model, [f"turn {number}" for number in range(8)])
    assert of_kind(events, Compacted)
    told = next(prompt for prompt in model.prompts if HEADING in prompt[-1].content)
    assert [message.role for message in told] == ["system", "user", "assistant", "user"]


def test_unlocked_tools_are_told_again_after_the_turn_has_left_that_told_of_them(
    root: Path,
) -> None:
    model = Scripted([says] * 99, SMALL)
    turns(root, model, ["add something", *[f"turn {number}: {WORDS * 8}" for number in range(9)]])
    assert [
        sum("edit(path" in message.content for message in prompt) for prompt in model.prompts
    ] == [1] * len(model.prompts)


def test_a_turn_that_outgrows_the_window_loses_its_oldest_steps_once_and_then_ends(
    root: Path,
) -> None:
    (root / "long.txt").write_text("".join(f"{number} {WORDS}\n" for number in range(2_000)))
    reads: list[Said] = [
        call("read", path="long.txt", start=number * 20 + 1) for number in range(60)
    ]
    model = Scripted(reads, SMALL)
    events = turns(root, model, [f"summarise long.txt {WORDS}"])
    assert reason_of(events) is EndReason.LIMIT
    assert len(of_kind(events, Compacted)) == 1
    assert len(of_kind(events, CallStarted)) > 8
    assert all(size(prompt) < SMALL.window for prompt in model.prompts)
    folded = next(prompt for prompt in model.prompts if HEADING in prompt[-1].content)[-1].content
    assert f"The task: summarise long.txt {WORDS.strip()}" in folded
    assert "\n  read: long.txt" in folded


def test_a_server_that_says_that_the_window_is_full_is_believed_once(root: Path) -> None:
    full = TerselyError("window_exceeded", "too long")
    (root / "long.txt").write_text("".join(f"{number} {WORDS}\n" for number in range(99)))
    read = call("read", path="long.txt")
    model = Scripted([read, call("list"), full, "Done."])
    events = turns(root, model, ["look"])
    assert reason_of(events) is EndReason.ANSWERED
    assert len(of_kind(events, Compacted)) == 1
    assert size(model.prompts[-1]) < size(model.prompts[-2])
    assert [event.text for event in of_kind(events, Notice)] == [
        "too long; asked again without the oldest steps"
    ]
    events = turns(root, Scripted([read, call("list"), full, full]), ["look"])
    assert reason_of(events) is EndReason.FAILED


def test_the_middle_of_a_long_message_is_kept_where_it_can_be_read(root: Path) -> None:
    lines = "".join(f"line {number} {WORDS}\n" for number in range(5_000))
    model = Scripted(["I see."], SMALL)
    events = turns(root, model, [lines])
    assert reason_of(events) is EndReason.ANSWERED
    (notice,) = of_kind(events, Notice)
    assert "ref" in notice.text
    sent = model.prompts[0][-1].content
    assert "line 0 " in sent
    assert "line 4999 " in sent
    assert "read ref " in sent
    assert size(model.prompts[0]) < SMALL.window


def test_a_window_that_is_too_small_is_refused(root: Path) -> None:
    with pytest.raises(TerselyError, match="window_exceeded"):
        turns(root, Scripted([], GRAMMAR._replace(window=MIN_WINDOW_TOKENS - 1)), ["hello"])


def test_a_limit_on_answers_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(TerselyError, match="invalid_setting"):
        Budget.of(8_192, 6_000)


@given(st.integers(MIN_WINDOW_TOKENS, 200_000), st.booleans())
def test_the_largest_message_always_fits_with_its_reply(window: int, is_set: bool) -> None:
    budget = Budget.of(window, window // 5 if is_set else 0)
    largest = (
        500
        + budget.agents
        + budget.retrieval
        + budget.message
        + budget.summary
        + budget.observation
    )
    assert largest <= budget.room
    assert budget.threshold < budget.room


STORED = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 900)), min_size=1, max_size=12)


def stored(sizes: list[tuple[int, int]]) -> list[Stored]:
    """Turns of as many steps, each message of as many tokens."""
    messages = []
    for turn_number, (steps, tokens) in enumerate(sizes):
        for step in range(steps):
            for role in ("user", "assistant"):
                shown = f"wish {turn_number}" if role == "user" and step == 0 else None
                number = str(len(messages))
                text = f"text {number}"
                row = Stored(
                    number, None, role, text, tokens, 0, turn_number, shown, None, "[]", "", 1
                )
                messages.append(row)
    return messages


@given(STORED, st.integers(0, 5_000))
def test_whole_turns_stay_as_far_as_they_have_room(sizes: list[tuple[int, int]], most: int) -> None:
    messages = stored(sizes)
    at = first_kept(messages, most)
    assert sum(one.tokens for one in messages[at:]) <= most
    assert at in {0, len(messages)} or messages[at].turn != messages[at - 1].turn
    if at > 0:
        earlier = next(
            place for place, one in enumerate(messages) if one.turn == messages[at - 1].turn
        )
        assert sum(one.tokens for one in messages[earlier:]) > most


@given(STORED, st.integers(0, 5_000))
def test_steps_stay_from_a_result_on(sizes: list[tuple[int, int]], most: int) -> None:
    messages = stored(sizes)[:-1]
    at = first_kept_step(messages, most)
    assert 0 <= at < len(messages)
    assert messages[at].role == "user"


@given(STORED, st.integers(60, 400))
def test_extracts_keep_to_their_bound_and_begin_with_the_first_wish(
    sizes: list[tuple[int, int]], most: int
) -> None:
    text = extracts(stored(sizes), most, Tokenizer())
    assert Tokenizer().count(text) <= most
    assert text.startswith("user: wish 0")


def test_one_limit_holds_for_every_answer_and_for_summaries(root: Path) -> None:
    model = Scripted([says] * 99, SMALL)
    turns(
        root,
        model,
        [f"turn {number}: {WORDS * 8}" for number in range(10)],
        options=AgentOptions(reply_tokens=90),
    )
    assert REQUEST in {prompt[-1].content for prompt in model.prompts}
    assert set(model.limits) == {90}


def test_turns_stay_until_the_window_is_full_where_compacting_is_off(root: Path) -> None:
    model = Scripted([says] * 99, SMALL)
    options = AgentOptions(compacts=False)
    events = turns(
        root, model, [f"turn {number}: {WORDS * 8}" for number in range(20)], options=options
    )
    assert not of_kind(events, Compacted)
    assert all(after[: len(before)] == before for before, after in pairwise(model.prompts))
    assert max(map(size, model.prompts)) > SMALL.window * 7 // 10
    assert reason_of(events) is EndReason.LIMIT
    assert "/compact" in of_kind(events, Notice)[-1].text


def test_compacting_by_hand_leaves_the_last_turn(root: Path) -> None:
    model = Scripted([says] * 9)

    async def one() -> None:
        async with talking(model, root, choices=ALLOWED) as agent:
            assert await agent.compact() is None
            for number in range(3):
                await turn(agent, f"turn {number}")
            done = await agent.compact()
            assert done is not None
            assert done.after < done.before
            assert await agent.compact() is None
            await turn(agent, "turn 3")

    asyncio.run(one())
    contents = [message.content for message in model.prompts[-1][1:]]
    assert contents[0] == "turn 2"
    assert contents[-1] == f"{HEADING}\n{SUMMARY}\n\nturn 3"


def test_reasoning_that_is_sent_back_counts_with_its_calls() -> None:
    gauge, calls = Gauge(Tokenizer()), (RawCall("read", '{"path": "a.py"}', "1"),)
    prompt = (ModelMessage("user", "Look at a.py, please."),)
    gauge.told(prompt, RequestUsage(20, None, 900))
    later = (
        *prompt,
        ModelMessage("assistant", "", calls),
        ModelMessage("tool", "x = 1", call_id="1"),
    )
    without = gauge.tokens(later)
    gauge.reasoned(calls, 800)
    assert without + 790 <= gauge.tokens(later) <= without + 800
    assert gauge.tokens(prompt) == 20


@pytest.mark.parametrize("returns", [False, True])
def test_a_request_with_reasoning_behind_it_is_counted_where_it_goes_back(
    root: Path, returns: bool
) -> None:
    class Thinking(Scripted):
        async def stream(self, *words, **more):  # type: ignore[no-untyped-def]
            async for chunk in super().stream(*words, **more):
                usage = chunk.usage and chunk.usage._replace(thought_tokens=500)
                yield chunk._replace(usage=usage)

    abilities = GRAMMAR._replace(grammar=False, schema=False, tools=True, returns_reasoning=returns)
    model = Thinking([RawCall("list", '{"path": "."}', "1"), "Done."], abilities)

    async def counted() -> int:
        async with talking(model, root) as agent:
            await turn(agent, "what is here?")
            fresh = Gauge(Tokenizer())
            return agent.conversation.gauge._estimated(model.prompts[1][-2]) - fresh._estimated(
                model.prompts[1][-2]
            )

    assert (asyncio.run(counted()) > 0) is returns
