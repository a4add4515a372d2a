"""One turn, whatever the model says: bounded, refused where it must be, ended by whoever wants it
ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
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

from tersely.agent.conversation import AgentOptions
from tersely.agent.events import (
    ApprovalAsked,
    CallEnded,
    CallProgress,
    CallStarted,
    Decision,
    EndReason,
    Event,
    Notice,
    NoticeLevel,
    TextDelta,
    Unlocked,
    Usage,
)
from tersely.agent.loop import MAX_TURN_STEPS
from tersely.agent.models.protocol import Abilities, Chunk, Prompt, RequestUsage
from tersely.agent.tools.approvals import Verdict
from tersely.agent.tools.toolbox import Choices
from tersely.agent.turn.repeats import HINTS, SAME, Repeated
from tersely.foundation.errors import TerselyError

READ = call("read", path="shop/prices.py")
TEXT_WAY = GRAMMAR._replace(grammar=False, schema=False)
SCHEMA = GRAMMAR._replace(grammar=False)
EDIT = call("edit", "--- body\ndef price(item):  # one\n", path="shop/prices.py", start=5, end=5)


def talk(
    root: Path, replies: list[Said], *messages: str, **more: object
) -> tuple[Scripted, list[list[Event]]]:
    """The turns that these messages begin."""
    model = Scripted(replies, more.pop("abilities", GRAMMAR))  # type: ignore[arg-type]

    async def all_turns() -> list[list[Event]]:
        async with talking(model, root, **more) as agent:  # type: ignore[arg-type]
            return [await turn(agent, message) for message in messages]

    return model, asyncio.run(all_turns())


def last_said(prompt: Prompt) -> str:
    return prompt[-1].content


def test_a_turn_is_told_from_its_beginning_to_its_end(root: Path) -> None:
    _, (events,) = talk(root, [f"I look.\n{READ}", "It adds up."], "what does shop.prices do?")
    kinds = [type(event).__name__ for event in events if not isinstance(event, TextDelta)]
    assert kinds == ["Usage", "CallStarted", "CallEnded", "Usage", "TurnEnded"]
    assert "".join(event.text for event in of_kind(events, TextDelta)) == "I look.\nIt adds up."
    assert {event.turn for event in events} == {1}
    (ended,) = of_kind(events, CallEnded)
    assert ended.status == "ok"
    assert "def price(item)" in ended.observation
    assert [event.window for event in of_kind(events, Usage)] == [8_192, 8_192]


def test_the_same_call_with_the_same_result_ends_in_a_question(root: Path) -> None:
    model, (events,) = talk(root, [READ] * 9, "what does shop.prices do?")
    assert reason_of(events) is EndReason.STUCK
    assert len(of_kind(events, CallStarted)) == 3
    hints = [HINTS[Repeated.TWICE] in last_said(prompt) for prompt in model.prompts]
    assert hints == [False, False, True, False, False]
    assert HINTS[Repeated.EXCLUDED] in last_said(model.prompts[3])
    assert [SAME in last_said(prompt) for prompt in model.prompts[1:4]] == [False, True, True]
    whole = "\n".join(message.content for message in model.prompts[3])
    assert whole.count("def price(item)") == 1  # the result stands in the prompt once
    assert "again and again" in of_kind(events, Notice)[0].text


@pytest.mark.parametrize("abilities", [TEXT_WAY, GRAMMAR, NATIVE, SCHEMA])
@pytest.mark.parametrize("stuck", [[READ] * 4, ["", ""], ["and so on " * 3_000]])
def test_where_the_model_does_not_get_on_it_is_asked_for_an_answer_once(
    root: Path, abilities: Abilities, stuck: list[Said]
) -> None:
    model, (events,) = talk(root, [*stuck, "It adds up."], "what does it do?", abilities=abilities)
    assert reason_of(events) is EndReason.ANSWERED
    assert "".join(event.text for event in of_kind(events, TextDelta)).endswith("It adds up.")
    assert last_said(model.prompts[-1]).startswith("Call no more tools.")
    assert last_said(model.prompts[-1]).endswith("You were asked: what does it do?")
    asked = model.constraints[-1]
    assert asked is None or asked.tools  # which stand before all messages


def test_a_call_may_be_made_again_when_something_has_changed(root: Path) -> None:
    edits = [
        call("edit", f"--- body\ndef price(item):  # {n}\n", path="shop/prices.py", start=5, end=5)
        for n in range(4)
    ]
    listed = call("list", path="shop")
    replies: list[Said] = [READ]
    for edit in edits:
        replies += [edit, READ, listed]
    _, (events,) = talk(root, [*replies, "Done."], "change the comment", choices=ALLOWED)
    assert reason_of(events) is EndReason.ANSWERED
    assert len(of_kind(events, CallStarted)) == 13


def test_a_file_that_was_made_in_a_turn_is_known_in_it(root: Path) -> None:
    made = call("create", "--- body\nx = 1\n", path="shop/new.py")
    read = call("read", path="shop/new.py")
    _, (events,) = talk(root, [made, read, "Done."], "please change it", choices=ALLOWED)
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "ok"]


def test_results_that_differ_in_durations_are_the_same(root: Path) -> None:
    replies: list[Said] = [
        call("bash", command=f"echo in $(cat n) s; printf {n}.5 > n") for n in "1"
    ]
    (root / "n").write_text("0.1")
    model, _ = talk(root, [*(replies * 2), "Done."], "run it", choices=ALLOWED)
    assert SAME in last_said(model.prompts[2])


@pytest.mark.slow
def test_commands_that_take_turns_and_change_nothing_end_in_a_question(root: Path) -> None:
    replies: list[Said] = [call("bash", command=f"echo {'ab'[number % 2]}") for number in range(20)]
    _, (events,) = talk(root, replies, "run both", choices=ALLOWED)
    assert reason_of(events) is EndReason.STUCK
    assert len(of_kind(events, CallStarted)) < 12


def test_calls_that_cannot_be_made_are_answered_and_bounded(root: Path) -> None:
    model, (events,) = talk(
        root, [call("reed", query="x"), call("fly"), *[call("fly")] * 9], "go", abilities=TEXT_WAY
    )
    assert reason_of(events) is EndReason.STUCK
    assert "there is no tool 'fly'" in last_said(model.prompts[2])
    assert len(model.prompts) <= 6


def test_a_locked_tool_that_is_called_is_unlocked_in_the_same_step(root: Path) -> None:
    replies: list[Said] = [call("bash", command="true"), call("request_tools", tier=2), "ok"]
    model, (events,) = talk(root, replies, "is it true?", abilities=TEXT_WAY, choices=ALLOWED)
    assert last_said(model.prompts[1]).startswith("bash:\n")
    assert "bash(command)" in last_said(model.prompts[1])
    assert "You have the tools of tier 2 already." in last_said(model.prompts[2])
    assert [(event.tier, event.reason) for event in of_kind(events, Unlocked)] == [
        (2, "the model called bash")
    ]
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "ok"]


def test_a_locked_tool_is_still_asked_about(root: Path) -> None:
    replies: list[Said] = [call("bash", command="true"), "no"]
    _, (events,) = talk(
        root, replies, "is it true?", abilities=TEXT_WAY, options=AgentOptions(can_ask=False)
    )
    assert [event.status for event in of_kind(events, CallEnded)] == ["denied"]


def test_a_denied_tier_is_never_unlocked(root: Path) -> None:
    denied = Choices(policy={2: Verdict.DENY})
    replies: list[Said] = [call("request_tools", tier=3), call("bash", command="true"), "I cannot."]
    model, (events,) = talk(root, replies, "run the tests", abilities=TEXT_WAY, choices=denied)
    assert [event.tier for event in of_kind(events, Unlocked)] == [1]
    assert [event.status for event in of_kind(events, CallEnded)] == ["denied", "denied"]
    assert "does not allow tier 3" in last_said(model.prompts[1])
    assert "which the user does not allow" in last_said(model.prompts[2])


def test_a_turn_has_a_bounded_number_of_steps(root: Path) -> None:
    (root / "long.txt").write_text("".join(f"{number}\n" for number in range(99)))
    replies: list[Said] = [
        call("read", path="long.txt", start=n + 1, end=n + 1) for n in range(MAX_TURN_STEPS + 1)
    ]
    _, (events,) = talk(root, replies, "what does it do?")
    assert reason_of(events) is EndReason.LIMIT
    assert len(of_kind(events, CallStarted)) == MAX_TURN_STEPS


def test_a_stream_that_repeats_itself_is_stopped(root: Path) -> None:
    _, (events,) = talk(root, ["and so on " * 3_000] * 2, "what does it do?")
    assert reason_of(events) is EndReason.STUCK
    assert len("".join(event.text for event in of_kind(events, TextDelta))) < 6_000


def test_a_server_that_counts_more_than_its_window_is_not_believed(root: Path) -> None:
    class Lies(Scripted):
        async def stream(self, *asked: Any) -> AsyncIterator[Chunk]:
            async for chunk in super().stream(*asked):
                yield chunk._replace(usage=chunk.usage and RequestUsage(2**53, 0, 1))

    async def said() -> list[EndReason]:
        async with talking(Lies(["One.", "Two."]), root) as agent:
            return [reason_of(await turn(agent, message)) for message in ("hello", "and now?")]

    assert asyncio.run(said()) == [EndReason.ANSWERED, EndReason.ANSWERED]


@pytest.mark.parametrize(
    "said", ["", " \n\n", call("respond", text="  "), call("respond", "text:\n")]
)
def test_an_answer_without_a_word_is_none(root: Path, said: str) -> None:
    _, (events,) = talk(root, [said] * 3, "what does it do?")
    assert reason_of(events) is EndReason.STUCK
    assert [notice.text for notice in of_kind(events, Notice)][-2:] == [
        "the model does not get on: asked to answer from what it knows",
        "the model said nothing: say it in other words",
    ]


def test_a_model_that_says_nothing_is_asked_to_go_on(root: Path) -> None:
    model, (events,) = talk(root, [READ, "", READ, "It adds up."], "what does it do?")
    assert reason_of(events) is EndReason.ANSWERED
    assert last_said(model.prompts[2]).startswith("You said nothing.")
    assert last_said(model.prompts[2]).endswith("You were asked: what does it do?")


def test_a_server_that_dies_leaves_what_was_shown_and_the_next_turn_works(root: Path) -> None:
    dies = TerselyError("model_failed", "the server broke off")
    model, (events, after) = talk(root, [dies, "Here I am."], "hello", "and now?")
    assert reason_of(events) is EndReason.FAILED
    (notice,) = of_kind(events, Notice)
    assert (notice.level, notice.text) == (NoticeLevel.ERROR, "model_failed: the server broke off")
    assert reason_of(after) is EndReason.ANSWERED
    assert [message.role for message in model.prompts[1]] == ["system", "user", "assistant", "user"]
    assert model.prompts[1][2].content == "broken "


def test_respond_is_an_answer(root: Path) -> None:
    _, (events,) = talk(root, [call("respond", "--- text\nIt adds up.\n")], "what does it do?")
    assert reason_of(events) is EndReason.ANSWERED
    assert "".join(event.text for event in of_kind(events, TextDelta)) == "It adds up.\n"


def test_two_turns_cannot_run_at_once(root: Path) -> None:
    async def both() -> None:
        async with talking(Scripted(["a", "b"]), root) as agent:
            running = agent.run("hello")
            await anext(running)
            with pytest.raises(TerselyError, match="busy"):
                await turn(agent, "and me?")
            await running.aclose()  # type: ignore[attr-defined]
            assert reason_of(await turn(agent, "hello again")) is EndReason.ANSWERED

    asyncio.run(both())


def approved(
    root: Path, decisions: list[tuple[Decision, str]], replies: list[Said], message: str
) -> list[Event]:
    """A turn in which approvals are answered one after the other; asking more often fails."""
    left = list(decisions)

    async def one() -> list[Event]:
        events = []
        async with talking(Scripted(replies), root) as agent:
            async for event in agent.run(message):
                events.append(event)
                if isinstance(event, ApprovalAsked):
                    agent.approve(event.call_id, *left.pop(0))
        return events

    return asyncio.run(one())


def test_an_edit_is_shown_and_made_when_it_is_approved(root: Path) -> None:
    events = approved(
        root, [(Decision.ALLOW_ONCE, "")], [READ, EDIT, "Done."], "add a comment to price"
    )
    (asked,) = of_kind(events, ApprovalAsked)
    assert asked.what == "edit shop/prices.py"
    assert "+def price(item):  # one" in asked.detail
    assert asked.pattern == "shop/*"
    (change,) = [event.change for event in of_kind(events, CallEnded) if event.change]
    assert (change.path, change.added_lines, change.removed_lines) == ("shop/prices.py", 1, 1)
    assert "def price(item):  # one" in (root / "shop/prices.py").read_text()


def test_an_edit_is_not_made_when_it_is_denied(root: Path) -> None:
    before = (root / "shop/prices.py").read_text()
    events = approved(
        root, [(Decision.DENY, "")], [READ, EDIT, "I left it."], "add a comment to price"
    )
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "denied"]
    assert (root / "shop/prices.py").read_text() == before
    assert reason_of(events) is EndReason.ANSWERED


@pytest.mark.parametrize(
    "decision", [(Decision.ALLOW_SESSION, ""), (Decision.ALLOW_PATTERN, "shop/*")]
)
def test_an_approval_can_be_given_for_more_than_once(
    root: Path, decision: tuple[Decision, str]
) -> None:
    second = call(
        "edit", "--- body\ndef price(item):  # two\n", path="shop/prices.py", start=5, end=5
    )
    events = approved(
        root, [decision], [READ, EDIT, READ, second, "Done."], "add a comment to price"
    )
    assert len(of_kind(events, ApprovalAsked)) == 1
    assert "def price(item):  # two" in (root / "shop/prices.py").read_text()


def test_with_nobody_to_ask_a_call_is_denied(root: Path) -> None:
    replies: list[Said] = [READ, EDIT, "I may not."]
    _, (events,) = talk(
        root, replies, "add a comment to price", options=AgentOptions(can_ask=False)
    )
    assert [event.status for event in of_kind(events, CallEnded)] == ["ok", "denied"]


def test_with_nobody_to_ask_it_is_said_that_an_allowed_tier_does_not_help(root: Path) -> None:
    choices = Choices(policy=dict.fromkeys(range(4), Verdict.ALLOW), browser=("browser-server",))
    opens = call("browser", action="open", url="http://localhost:9/")
    _, (events,) = talk(
        root, [opens, "No."], "open http://localhost:9/", options=AgentOptions(can_ask=False), choices=choices
    )  # fmt: skip
    (told,) = (each.text for each in of_kind(events, Notice) if "denied" in each.text)
    assert told.endswith(
        "browser http://localhost:9/ is asked about also where its tier is allowed"
    )


@pytest.mark.parametrize("moment", ["text", "approval", "command"])
def test_a_turn_can_be_cancelled_at_any_await(root: Path, moment: str) -> None:
    replies: dict[str, list[Said]] = {
        "text": ["a long answer " * 9],
        "approval": [READ, EDIT],
        "command": [call("bash", command="sleep 60")],
    }
    wanted = {"text": TextDelta, "approval": ApprovalAsked, "command": CallStarted}[moment]
    choices = Choices(policy={2: Verdict.ALLOW})

    async def cancelled() -> None:
        model = Scripted([*replies[moment], "Here I am."])
        async with talking(model, root, choices=choices) as agent:
            async for event in agent.run("run the change"):
                if isinstance(event, wanted):
                    agent.cancel()
                last = event
            assert reason_of([last]) is EndReason.CANCELLED
            agent.cancel()
            assert reason_of(await turn(agent, "hello")) is EndReason.ANSWERED
            roles = [message.role for message in model.prompts[-1][1:]]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
            history = agent.conversation.store.history(agent.session.id)
            assert {row.status for row in history.calls} <= {"completed", "interrupted"}

    asyncio.run(cancelled())


def test_what_a_command_prints_is_told_while_it_runs(root: Path) -> None:
    command = "echo \x1b[31mone; while [ ! -e seen ]; do sleep 0.02; done; rm seen; echo two"
    model = Scripted([call("bash", command=command), "It ran."])

    async def one_turn() -> list[Event]:
        events = []
        async with talking(model, root, choices=ALLOWED) as agent:
            async for event in agent.run("run it"):
                events.append(event)
                if isinstance(event, CallProgress):
                    (root / "seen").touch()
        return events

    events = asyncio.run(one_turn())
    told = of_kind(events, CallProgress)
    (started,), (ended,) = of_kind(events, CallStarted), of_kind(events, CallEnded)
    assert told[0].tail == "one"
    assert {event.call_id for event in told} == {started.call_id}
    assert ended.observation == "one\ntwo"
    assert events.index(told[-1]) < events.index(ended)


def test_when_the_disk_is_full_the_turn_fails_and_the_next_one_can_be_kept(root: Path) -> None:
    model = Scripted(["One.", "Two."])

    async def turns() -> list[list[Event]]:
        async with talking(model, root) as agent:
            database = agent.conversation.store.database
            database.value("pragma max_page_count = 1")  # as many as there are
            full = [await turn(agent, "word " * 20_000) for _ in range(2)]
            database.value("pragma max_page_count = 1000000")
            return [*full, await turn(agent, "again")]

    first, second, last = asyncio.run(turns())
    for events in (first, second):
        assert reason_of(events) is EndReason.FAILED
        assert "the disk is full" in of_kind(events, Notice)[-1].text
    assert reason_of(last) is EndReason.ANSWERED
