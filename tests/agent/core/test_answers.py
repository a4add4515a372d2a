"""Answers that think, are cut off, repeat themselves or begin anew, and what is noted of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.core.talking import GRAMMAR, Scripted, of_kind, reason_of, talking, turn

from tersely.agent.events import (
    AnswerRestarted,
    EndReason,
    Event,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tersely.agent.loop import MAX_CONTINUED_ANSWERS
from tersely.agent.models.protocol import (
    Chunk,
    Constraint,
    Prompt,
    RequestUsage,
    Thinking,
)
from tersely.agent.tool_calling import Repetition, ThoughtReader


class Chunked(Scripted):
    """Says these chunks, one list an answer."""

    def __init__(self, answers: list[list[Chunk]]) -> None:
        super().__init__([], GRAMMAR)
        self._answers = iter(answers)

    async def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncIterator[Chunk]:
        self.prompts.append(prompt)
        self.thinking.append(thinking)
        for chunk in next(self._answers):
            yield chunk


def ended(stop: str = "end") -> Chunk:
    return Chunk(usage=RequestUsage(300, 0, 9), stop=stop)


def talk(root: Path, model: Scripted, message: str = "well?") -> list[Event]:
    async def one() -> list[Event]:
        async with talking(model, root) as agent:
            return await turn(agent, message)

    return asyncio.run(one())


def said(events: list[Event]) -> str:
    return "".join(event.text for event in of_kind(events, TextDelta))


@pytest.mark.parametrize(
    ("answer", "thought"),
    [
        ("<think>\nSo.\n</think>\n\nYes.", "\nSo.\n"),
        ("[THINK]So.[/THINK]Yes.", "So."),
        (
            "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
            "So.",
        ),
        ("Yes.", ""),
        ("<b>Yes.</b> <think> is a tag.", ""),
    ],
)
def test_thoughts_in_the_text_are_no_part_of_the_answer(answer: str, thought: str) -> None:
    for size in (1, 2, 5, 400):
        reader = ThoughtReader()
        parts = [reader.feed(answer[at : at + size]) for at in range(0, len(answer), size)] + [
            reader.rest()
        ]
        assert "".join(part.thought for part in parts) == thought
        said = "".join(part.text for part in parts).strip()
        assert said == (answer.rpartition(">")[2].rpartition("]")[2].strip() if thought else answer)


@given(st.text("<think>/ab\n", max_size=60), st.lists(st.integers(0, 60)))
def test_no_part_of_an_answer_is_lost(answer: str, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)})
    reader, whole = ThoughtReader(), ThoughtReader()
    parts = [reader.feed(answer[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    parts.append(reader.rest())
    once = [whole.feed(answer), whole.rest()]
    assert "".join(part.text for part in parts) == "".join(part.text for part in once)
    assert "".join(part.thought for part in parts) == "".join(part.thought for part in once)


def test_thoughts_are_told_apart_and_not_sent_back(root: Path) -> None:
    model = Chunked(
        [[Chunk("<think>I wond"), Chunk("er</think>Yes."), ended()], [Chunk("No."), ended()]]
    )

    async def two() -> list[Event]:
        async with talking(model, root) as agent:
            return [*await turn(agent, "well?"), *await turn(agent, "and?")]

    events = asyncio.run(two())
    assert "".join(event.text for event in of_kind(events, ThoughtDelta)) == "I wonder"
    assert said(events) == "Yes.No."
    assert "wonder" not in repr(model.prompts[1])


def test_work_is_thought_about_and_chores_are_not(root: Path) -> None:
    model = Scripted(["Done.", "Fine.", "They asked for another name."])

    async def both() -> None:
        async with talking(model, root) as agent:
            await turn(agent, "rename total")
            await turn(agent, "thanks")
            await agent.compact()

    asyncio.run(both())
    assert model.thinking[:2] == [Thinking.ON, Thinking.DEFAULT]
    assert set(model.thinking[2:]) == {Thinking.OFF}


def test_an_answer_that_is_cut_off_goes_on_by_itself(root: Path) -> None:
    model = Chunked([[Chunk("One, two"), ended("length")], [Chunk(", three."), ended()]])
    events = talk(root, model)
    assert reason_of(events) is EndReason.ANSWERED
    assert said(events) == "One, two, three."
    assert model.thinking == [Thinking.DEFAULT, Thinking.OFF]


def test_an_announced_call_that_cannot_be_read_is_no_answer(root: Path) -> None:
    cut = [Chunk('{"name": "read", "arguments": {"path": "a.py'), ended("calls")]
    model = Chunked([cut, [Chunk("There is no such file."), ended()]])
    talk(root, model)
    assert len(model.prompts) == 2
    assert "none can be read" in str(model.prompts[1][-1])


def test_an_answer_goes_on_so_many_times_and_not_more(root: Path) -> None:
    words = ["a way", "of saying", "what was", "never asked", "at all"]
    model = Chunked([[Chunk(f"{word} "), ended("length")] for word in words])
    assert reason_of(talk(root, model)) is EndReason.LIMIT
    assert len(model.prompts) == MAX_CONTINUED_ANSWERS + 1


def test_an_answer_that_begins_anew_is_kept_once(root: Path) -> None:
    model = Chunked(
        [
            [Chunk("It is on"), Chunk(restarts=True), Chunk("It is one."), ended()],
            [Chunk("Two."), ended()],
        ]
    )

    async def two() -> list[Event]:
        async with talking(model, root) as agent:
            return [*await turn(agent, "well?"), *await turn(agent, "and?")]

    events = asyncio.run(two())
    assert len(of_kind(events, AnswerRestarted)) == 1
    assert [one.content for one in model.prompts[1] if one.role == "assistant"] == ["It is one."]


def test_a_stopped_request_is_counted(root: Path) -> None:
    events = talk(root, Chunked([[Chunk("and again " * 10)] * 30] * 2))
    assert reason_of(events) is EndReason.STUCK
    usage, _ = of_kind(events, Usage)
    assert usage.is_estimated
    assert usage.prompt_tokens > 100
    assert usage.completion_tokens > 100


@pytest.mark.parametrize(
    "lines",
    [
        ["```\n", *["0, 0, 0, 0\n"] * 300, "```\n"],
        ["```sql\n", *["insert into t values (0, 'a');\n"] * 200, "```\n"],
        ["| 0 | 0 | 0 |\n"] * 300,
        ["0 0 0 0 0 0 0 0\n"] * 300,
    ],
    ids=["zeros", "rows", "table", "figures"],
)
def test_rows_that_are_equal_are_no_loop(lines: list[str]) -> None:
    watch = Repetition()
    assert not any(watch.feed(line) for line in lines)


def test_a_file_of_equal_rows_may_be_written() -> None:
    watch = Repetition()
    assert not any(watch.feed("the same row\n", is_data=True) for _ in range(600))
    assert any(watch.feed("the same row\n", is_data=True) for _ in range(600))


def test_what_a_server_evaluates_again_is_told(root: Path) -> None:
    cached = [0, 298, 0, None, 698]
    sizes = [300, 400, 500, 600, 700]

    class Reporting(Scripted):
        async def stream(self, prompt, constraint, most_tokens, thinking=Thinking.DEFAULT):  # type: ignore[no-untyped-def]
            figures = RequestUsage(sizes[len(self.prompts)], cached[len(self.prompts)], 9)
            async for chunk in super().stream(prompt, constraint, most_tokens, thinking):
                yield chunk._replace(usage=figures if chunk.usage else None)

    async def turns() -> list[Event]:
        async with talking(Reporting(["Yes."] * len(sizes)), root) as agent:
            return [event for _ in sizes for event in await turn(agent, "Well?")]

    told = of_kind(asyncio.run(turns()), Usage)
    assert [usage.reevaluated_tokens for usage in told] == [0, 2, 400, 0, 0]
