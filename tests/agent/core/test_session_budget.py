"""A request that may exceed the tokens of a session is not sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agent.core.command_line import ran
from tests.agent.core.talking import Scripted, of_kind, reason_of, talking, turn
from tests.agent.core.test_without_a_screen import result_of
from tests.agent.model_servers import Scripted as Servers
from tests.depth import examples

from tersely.agent.events import EndReason, Event, Notice, TurnEnded, Usage
from tersely.agent.models.protocol import Chunk, Constraint, Prompt, Thinking
from tersely.agent.opening import AgentOptions
from tersely.foundation.errors import TerselyError

SPENT = "session_budget_spent"


def test_a_turn_ends_before_the_request_that_may_be_too_much(root: Path) -> None:
    async def talked() -> tuple[Scripted, list[list[Event]]]:
        model = Scripted(["One.", "Two."])
        async with talking(model, root) as agent:
            turns = [await turn(agent, "hello")]
            agent.budget.limit_tokens = agent.budget.spent() + agent.conversation.budget.reply
            turns.append(await turn(agent, "hello again"))
            agent.budget.limit_tokens = 0
            turns.append(await turn(agent, "and now?"))
        return model, turns

    model, (first, second, third) = asyncio.run(talked())
    assert [reason_of(events) for events in (first, second, third)] == [
        EndReason.ANSWERED,
        EndReason.LIMIT,
        EndReason.ANSWERED,
    ]
    ended = second[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.code == SPENT
    assert len(of_kind(second, Notice)) == 1
    assert len(model.prompts) == 2


@pytest.mark.slow
@settings(
    max_examples=examples(fast=10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(limit=st.integers(1_000, 9_000))
def test_no_more_than_the_budget_is_used(root: Path, limit: int) -> None:
    async def talked() -> list[Event]:
        async with talking(
            Scripted(["Well."] * 8), root, options=AgentOptions(session_tokens=limit)
        ) as agent:
            return [event for number in range(8) for event in await turn(agent, f"hello {number}")]

    usages = of_kind(asyncio.run(talked()), Usage)
    assert sum(usage.prompt_tokens + usage.completion_tokens for usage in usages) <= limit


class Breaking(Scripted):
    """Breaks off some times before it answers."""

    async def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncIterator[Chunk]:
        for _ in range(4):
            yield Chunk("one two ")
            yield Chunk(notice="it broke off", begins_attempt=True)
        async for chunk in super().stream(prompt, constraint, most_tokens, thinking):
            yield chunk


@pytest.mark.parametrize("limit", range(1_000, 9_000, 800))
def test_attempts_that_break_off_are_counted_and_kept_within_the_budget(
    root: Path, limit: int
) -> None:
    async def talked() -> tuple[int, EndReason, int]:
        model = Breaking(["Well."])
        async with talking(model, root, options=AgentOptions(session_tokens=limit)) as agent:
            events = await turn(agent, "hello")
            return agent.budget.spent(), reason_of(events), len(model.prompts)

    spent, reason, answers = asyncio.run(talked())
    assert spent <= limit
    assert reason is (EndReason.ANSWERED if answers else EndReason.LIMIT)


def test_an_answer_that_fails_in_the_middle_has_been_paid_for(root: Path) -> None:
    async def talked() -> int:
        model = Scripted([TerselyError("model_failed", "it broke off")])
        async with talking(model, root) as agent:
            await turn(agent, "hello")
            return agent.budget.spent()

    assert asyncio.run(talked()) > 0


@pytest.mark.slow
def test_without_a_screen_it_says_so_and_goes_on_with_more(root: Path, scripted: Servers) -> None:
    url = scripted(["One.", "Two.", "Three."]).url
    words = ["-p", "hello", "--json", "--no-retrieval"]
    first = result_of(ran(root, url, [*words, "--keep-session", "--session-tokens", "9000"]).stdout)
    assert first["ok"]
    limit = str(first["usage"]["prompt_tokens"] + first["usage"]["completion_tokens"])
    stopped = ran(root, url, [*words, "--continue", "--session-tokens", limit])
    result = result_of(stopped.stdout)
    assert (stopped.returncode, result["ok"], result["reason"], result["code"]) == (
        1,
        False,
        "limit",
        SPENT,
    )
    assert result["usage"]["requests"] == 0
    in_words = ran(root, url, ["-p", "hello", "--continue", "--session-tokens", limit])
    (told,) = (line for line in in_words.stderr.decode().splitlines() if SPENT in line)
    assert told.startswith(f"error: {SPENT}: the session has used ")
    assert result_of(ran(root, url, [*words, "--continue", "--session-tokens", "9000"]).stdout)[
        "ok"
    ]
