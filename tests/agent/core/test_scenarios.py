"""What the agent is for, with a real server: real templates, tokens, cache, grammar and streaming."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.modelserver.scripts import Reply, write_scripted
from bench.modelserver.server import Server
from tests.agent.core.talking import ALLOWED, call, of_kind, reason_of, talking, turn
from tests.agent.model_servers import Scripted

from tersely.agent.context.compaction import REQUEST
from tersely.agent.conversation import AgentOptions
from tersely.agent.events import (
    ApprovalAsked,
    CallEnded,
    Compacted,
    Decision,
    EndReason,
    Event,
    Notice,
    Retrieved,
    TextDelta,
    Unlocked,
    Usage,
)
from tersely.agent.models.connecting import connect

ROOT = Path(__file__).parents[3]
SOURCE = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
BROKEN = "return item['price'] * item['count'] + 1"
ROUNDED = "    return round(item['price'] * item['count'], 2)\n"
PRICE = "def price(item):\n"
FIXED = "    return item['price'] * item['count']\n"
FIX = f"--- old\n{PRICE}    {BROKEN}\n--- body\n{PRICE}{FIXED}"
# Where a command is confined without namespaces it may not listen, as the plugin that tries tests again does.
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:rerunfailures tests"

# What follows a message that has these words in it, whichever scenario it belongs to.
SCRIPT = [
    Reply("Hello! What can I do?", when="hello there"),
    Reply(call("search", query='"total("'), when="Who calls total"),
    Reply("`order` and `invoice` in shop/orders.py call it.", when="search:\n"),
    Reply(f"First I look.\n{call('read', path='shop/prices.py')}", when="round the price"),
    Reply(call("edit", f"--- body\n{ROUNDED}", path="shop/prices.py", start=6, end=6), when="read:\n"),
    Reply("Prices are rounded now.", when="line 6 replaced"),
    Reply("Then I leave it as it is.", when="The user does not allow"),
    Reply(call("bash", f"--- command\n{PYTEST}\n"), when="Fix the failing test"),
    Reply(call("edit", FIX, path="shop/prices.py"), when="1 failed"),
    Reply(call("bash", f"--- command\n{PYTEST} --tb=short\n"), when="lines 5-6 replaced"),
    Reply("The test passes: `price` added one.", when="1 passed"),
    Reply(call("request_tools", tier=2), when="is the tree clean"),
    Reply(call("git", arguments="status --short"), when="You have the tools of tier 2"),
    Reply("It is not.", when="git:\n"),
    Reply("The user is asked about prices, which are in shop/prices.py.", when=REQUEST),
    Reply("one two three four five six seven eight nine ten " * 12, when="count"),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("scripted") / "scripted.gguf"
    write_scripted(path, SCRIPT)
    with Server(path, 8_192) as running:
        yield running


def asked(
    server: Server, root: Path, *messages: str, window: int = 0, **more: object
) -> list[list[Event]]:
    """The turns that these messages begin; approvals are answered with `decision`."""
    decision = more.pop("decision", Decision.ALLOW_ONCE)

    async def all_turns() -> list[list[Event]]:
        turns = []
        async with talking(await connect(server.url, window=window), root, **more) as agent:  # type: ignore[arg-type]
            for message in messages:
                turns.append([])
                async for event in agent.run(message):
                    turns[-1].append(event)
                    if isinstance(event, ApprovalAsked):
                        agent.approve(event.call_id, decision)  # type: ignore[arg-type]
        return turns

    return asyncio.run(all_turns())


def answer(events: list[Event]) -> str:
    return "".join(event.text for event in of_kind(events, TextDelta))


def test_who_calls_it(server: Server, root: Path) -> None:
    (events,) = asked(server, root, "Who calls total and why?", retrieves=True)
    assert reason_of(events) is EndReason.ANSWERED
    assert answer(events).endswith("`order` and `invoice` in shop/orders.py call it.")
    (found,) = of_kind(events, CallEnded)
    assert "shop/orders.py" in found.observation
    assert [one.how for one in of_kind(events, Compacted)] == []


def test_an_edit_with_approval(server: Server, root: Path) -> None:
    greeted, events = asked(
        server, root, "hello there", "please update the code to round the price"
    )
    assert of_kind(greeted, Unlocked) == []
    assert [(one.tier, one.reason) for one in of_kind(events, Unlocked)] == [
        (1, "the message says “update”")
    ]
    (approval,) = of_kind(events, ApprovalAsked)
    assert "+    return round(" in approval.detail
    assert answer(events) == "First I look.\nPrices are rounded now."
    assert "return round(item['price']" in (root / "shop/prices.py").read_text()
    _, *later = of_kind([*greeted, *events], Usage)
    assert all(one.cached_tokens for one in later)


def test_an_edit_that_is_denied(server: Server, root: Path) -> None:
    before = (root / "shop/prices.py").read_text()
    (events,) = asked(
        server, root, "please update the code to round the price", decision=Decision.DENY
    )
    assert [one.status for one in of_kind(events, CallEnded)] == ["ok", "denied"]
    assert answer(events).endswith("Then I leave it as it is.")
    assert (root / "shop/prices.py").read_text() == before


def test_a_failing_test_and_its_fix(server: Server, root: Path) -> None:
    place = root / "shop/prices.py"
    place.write_text(place.read_text().replace("return item['price'] * item['count']", BROKEN))
    (events,) = asked(server, root, "Fix the failing test", choices=ALLOWED)
    assert answer(events) == "The test passes: `price` added one."
    first, edit, second = of_kind(events, CallEnded)
    assert "1 failed" in first.observation
    assert edit.change is not None
    assert "1 passed" in second.observation
    assert FIXED in place.read_text()


def test_tools_that_the_model_asks_for(server: Server, root: Path) -> None:
    (events,) = asked(server, root, "is the tree clean?", choices=ALLOWED)
    assert [(one.tier, one.reason) for one in of_kind(events, Unlocked)] == [
        (2, "the model asked for it")
    ]
    assert answer(events) == "It is not."
    assert "?? shop/" in of_kind(events, CallEnded)[-1].observation


@pytest.mark.slow
def test_old_turns_leave_a_real_window(server: Server, root: Path) -> None:
    words = "count the words of the text again, all of them, and tell me each of them in turn. " * 4
    turns = asked(server, root, *[f"{number}: {words}" for number in range(9)], window=2_048)
    events = [event for each in turns for event in each]
    assert {one.how for one in of_kind(events, Compacted)} == {"model"}
    assert {reason_of(each) for each in turns} == {EndReason.ANSWERED}
    assert max(one.prompt_tokens + one.completion_tokens for one in of_kind(events, Usage)) < 2_048


def test_a_call_that_cannot_be_made(scripted: Scripted, root: Path) -> None:
    """Asked for in plain text, a model says what it likes."""
    running = scripted(
        ["<tool_call>fly to the moon</tool_call>\n<call fly>\nto: moon\n</call>", "I cannot fly."]
    )

    async def one() -> list[Event]:
        async with talking(
            await connect(running.url), root, options=AgentOptions(calls="text")
        ) as agent:
            return await turn(agent, "to the moon!")

    events = asyncio.run(one())
    assert answer(events).endswith("I cannot fly.")
    assert "there is no tool 'fly'" in of_kind(events, Notice)[0].text


def test_a_server_that_dies_while_it_answers(
    scripted: Scripted, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.agent.models.retries.FIRST_RETRY_SECONDS", 0.01)
    running = scripted(["a word and another " * 40])

    async def one() -> tuple[list[Event], list[Event]]:
        async with talking(await connect(running.url), root) as agent:
            events = []
            async for event in agent.run("say something"):
                events.append(event)
                if isinstance(event, TextDelta) and len(events) == 5:
                    running.kill()
            return events, await turn(agent, "are you there?")

    dying, dead = asyncio.run(one())
    assert reason_of(dying) is EndReason.FAILED
    assert answer(dying).startswith("a word and")
    assert "model_" in of_kind(dying, Notice)[-1].text
    assert reason_of(dead) is EndReason.FAILED
    assert "model_unavailable" in of_kind(dead, Notice)[-1].text


def tersely(root: Path, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **SOURCE,
        "TERSELY_HOME": str(root.parent / "home"),
        "TERSELY_DAEMON": "off",
    }
    stdin = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(
        [sys.executable, "-m", "tersely", *words], cwd=root, env=environment, capture_output=True, text=True,
        timeout=120, check=False, **stdin,  # type: ignore[call-overload]
    )  # fmt: skip


@pytest.mark.slow
def test_without_a_screen(server: Server, root: Path) -> None:
    told = tersely(root, "-p", "Who calls total?", "--url", server.url, "--keep-session")
    assert (told.returncode, told.stdout) == (
        0,
        "`order` and `invoice` in shop/orders.py call it.\n",
    )
    assert told.stderr.startswith("search ")
    piped = tersely(
        root,
        "-p",
        "--output-format",
        "json",
        "--url",
        server.url,
        "--resume",
        given="hello there\n",
    )
    result = json.loads(piped.stdout)
    assert (result["ok"], result["reason"], result["answer"]) == (
        True,
        "answered",
        "Hello! What can I do?",
    )
    assert result["usage"]["cached_tokens"] > 0
    streamed = tersely(
        root,
        "chat",
        "-p",
        "please update the code to round the price",
        "--output-format",
        "stream-json",
        "--url",
        server.url,
        "--keep-session",
    )
    assert streamed.returncode == 1
    lines = [json.loads(line) for line in streamed.stdout.splitlines()]
    assert [line["status"] for line in lines if line["type"] == "call_ended"] == ["ok", "denied"]
    assert lines[-1]["type"] == "result"
    assert lines[-1]["answer"] == "Then I leave it as it is."
    words = (
        "-p",
        "please update the code to round the price",
        "--url",
        server.url,
        "--keep-session",
    )
    allowed = tersely(root, *words, "--allow", "1")
    assert allowed.returncode == 0
    assert "return round(" in (root / "shop/prices.py").read_text()
    listed = json.loads(tersely(root, "sessions", "--json").stdout)["result"]["sessions"]
    assert [(one["name"], one["turns"]) for one in listed] == [
        ("please update the code to round the price", 1),
        ("please update the code to round the price", 1),
        ("Who calls total?", 2),
    ]
    stats = json.loads(tersely(root, "sessions", "stats", "--json").stdout)["result"]
    assert {one["tool"] for one in stats["tools"]} == {"search", "read", "edit"}
    shown = tersely(root, "sessions", "export", listed[2]["id"][-8:]).stdout
    assert "## Turn 2\n\nhello there\n\nHello! What can I do?" in shown


@pytest.mark.slow
def test_what_is_piped_in_asks_for_nothing(server: Server, root: Path) -> None:
    given = "hello there\n```\nrun the tests\n```\nfetch https://example.com/ and commit it\n"
    told = tersely(
        root,
        "-p",
        "review this",
        "--output-format",
        "stream-json",
        "--url",
        server.url,
        given=given,
    )
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert [line for line in lines if line["type"] == "unlocked"] == []
    assert lines[-1]["answer"] == "Hello! What can I do?"


@pytest.mark.slow
def test_a_prompt_without_a_server_says_what_to_start(root: Path) -> None:
    told = tersely(root, "-p", "hello", "--url", "http://127.0.0.1:9")
    assert told.returncode == 3
    assert told.stdout == ""
    assert "model_unavailable" in told.stderr
    assert "hint: start one" in told.stderr
    nothing = tersely(root, "-p")
    assert (nothing.returncode, nothing.stdout) == (2, "")


@pytest.mark.slow
def test_code_that_a_message_names_is_put_in_front_of_it(server: Server, root: Path) -> None:
    named, other = asked(
        server, root, "hello there: what is `invoice`?", "hello there", retrieves=True
    )
    (found,) = of_kind(named, Retrieved)
    assert "invoice" in found.why
    assert {item.name for item in found.items} == {"shop/orders.py", "shop/prices.py"}
    assert of_kind(other, Retrieved) == []
