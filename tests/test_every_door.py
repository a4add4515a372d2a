"""Every capability through every door that offers it: the same question has the same answer."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client as ToolClient
from mcp import MCPError
from msgspec import to_builtins
from tests.cli.asking import as_repository, planted
from tests.cli.relay_home import Home, home_of
from tests.cli.test_commands import PATCH, QUESTIONS
from tests.daemon.asking import Talk
from tests.doors.mcp.conversing import converse, text_of
from tests.every_door import AGENT, BUDGET, asked_by_declaration, words_for

from tersely.agent.opening import Choices
from tersely.agent.tools.table import TOOLS
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities import catalogue
from tersely.capabilities.declaration.binding import read_words
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.toolset import OFFERED, tool_name
from tersely.capabilities.relay.answers.results import error_text
from tersely.capabilities.relay.contract.operations import HttpOperation, operations
from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.cli.commands import COMMANDS, Command
from tersely.cli.relay import table
from tersely.cli.services import RelayServices
from tersely.client import Client, ask
from tersely.client.cassettes import referred
from tersely.client.outbox import Outbox
from tersely.client.peer import Peer
from tersely.client.request import RelayRequest
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.identity import program_identity
from tersely.foundation.text.escape import visible
from tersely.integrations.adoption import figures
from tersely.relay.wire.home import home_directory
from tersely.wrap.child_processes import Spawned
from tersely.wrap.command_executor import Speech
from tersely.wrap.inline.arguments import ServiceQuestion, asked
from tersely.wrap.inline.commands import read_message
from tersely.wrap.inline.reading import START, ScreenLine, read
from tersely.wrap.mail import RunMail, Who

# What each capability of the relay is asked, in the words of the command line where it has some.
# THREAD and REF are replaced by what is there.
RELAY_QUESTIONS: dict[str, dict[str, Any]] = {
    "mail.inbox": {"name": "bob", "waiting": False},
    "mail.box": {"name": "bob"},
    "mail.search": {"query": "hello"},
    "mail.dead": {},
    "agent.list": {"connected": True},
    "agent.introduction": {},
    "claim.list": {"target": "a.py"},
    "board.show": {"thread": "THREAD"},
    "board.ready": {"thread": "THREAD"},
    "channel.list": {},
    "thread.list": {"limit": 1},
    "thread.get": {"thread": "THREAD"},
    "thread.show": {"thread": "THREAD"},
    "state.header": {"thread": "THREAD"},
    "state.get": {"thread": "THREAD", "version": "v1"},
    "state.history": {"thread": "THREAD"},
    "event.list": {"thread": "THREAD", "limit": 2},
    "artifact.get": {"ref": "REF", "lines": "2-3"},
    "artifact.list": {"thread": "THREAD"},
    "artifact.search": {"query": "samovar"},
    "service.list": {},
    "cap.list": {},
    "token.savings": {"thread": "THREAD"},
    "relay.config": {},
    "relay.status": {},
}
# What each capability that changes something refuses, or finds done, so that asking changes
# nothing.
UNKNOWN = {"thread": "no-such-thread"}
NO_ITEM = {"thread": "THREAD", "item": "b99"}
REFUSED: dict[str, dict[str, Any]] = {
    "mail.send": {"to": "nobody", "body": "hello"},
    "mail.receipt": {"message_id": "00000000-1"},
    "mail.resend": {"message_id": "00000000-1"},
    "agent.retire": {"name": "nobody"},
    "permission.ask": {"id": "none", "tool": "Bash", "what": "make"},
    "claim.take": {"targets": ["held.py"], "project": "tea"},
    "claim.release": {"targets": ["held.py"], "project": "tea"},
    "board.add": {"thread": "THREAD", "step": "a step", "needs": ["b99"]},
    "board.take": NO_ITEM,
    "board.done": NO_ITEM,
    "board.block": NO_ITEM,
    "board.reopen": NO_ITEM,
    "channel.join": {"channel": "no channel"},
    "channel.leave": {"channel": "no channel"},
    "thread.new": {"name": "n" * 1_000},
    "thread.spend": UNKNOWN,
    "thread.report": UNKNOWN,
    "thread.checkpoint": UNKNOWN,
    "thread.replay": UNKNOWN,
    "thread.mirror": UNKNOWN,
    "state.patch": {**UNKNOWN, "patch": []},
    "artifact.put": {**UNKNOWN, "content": "x"},
    "artifact.remove": {**UNKNOWN, "ref": "00000000"},
    "service.call": {"service": "nobody", "method": "none"},
}
# What a capability without a question above is asked is what its declaration says that it needs.
READING = {
    name: catalogue.load(name).effect is Effect.READ or name in RELAY_QUESTIONS
    for name in catalogue.RELAY_NAMES
}
QUESTIONED = [name for name, reads in READING.items() if reads]
CHANGED = [name for name, reads in READING.items() if not reads]
# One line of 5 MB in another thread, whose last word is looked for.
LONG_TEXT = f'["{"a line of a log, " * 310_000} samovar"]'
REPORT = "SF:src/shop/money.py\nDA:17,1\nDA:20,0\nDA:26,3\nend_of_record\n"
# Beside what is asked of code alone, in the words of the command line.
WORDS = {
    **{name: words for name, (words, _) in QUESTIONS.items()},
    "diff-context": [PATCH, "--budget", "600"],
    "packet": ["format a price in `format_cents`"],
    "coverage-context": ["--coverage-file", "lcov.info"],
    "coverage-slice": ["src/shop/money.py", "--coverage-file", "lcov.info"],
    "rank-files": ["--coverage-file", "lcov.info"],
}
# Questions about code that have no answer, as they are typed.
UNANSWERED = [
    ["impact", "nobody"],
    ["tree", "nowhere"],
    ["imports", "../outside.py"],
    ["importers", "nowhere"],
    ["dead", "nowhere"],
]
# Names that are slightly wrong, as a client of the Model Context Protocol writes them, and what is
# meant.
SLIPS: list[tuple[str, dict[str, Any], str]] = [
    ("impct", {"symbol": "f"}, "impact"),
    ("impact", {"symbl": "f"}, "symbol"),
    ("send", {"too": "bob", "body": "x"}, "to"),
    ("call", {"tool": "duplcates"}, "duplicates"),
    ("call", {"tool": "deps"}, "symbol_deps"),
    ("call", {"tool": "symbol_deps", "arguments": {"symbl": "f"}}, "symbol"),
    ("call", {"tol": "symbol_deps"}, "tool"),
    ("relay", {"tool": "thread_nw"}, "thread_new"),
    ("relay", {"tool": "thread_list", "arguments": {"limt": 1}}, "limit"),
]
REST = [
    one
    for one in operations()
    if not one.writes and one.capability in RELAY_QUESTIONS and one.name != "stats"
]
# of no thread, and refused by the schema of what is sent
APART = {"cassette_put", "thread_new"}
BY_NAME = {command.name: command for command in COMMANDS}
CHANGING = [
    one
    for one in operations()
    if one.writes and one.capability in REFUSED and one.name not in APART
]


class Place(NamedTuple):
    """A repository with a relay that has something to tell."""

    home: Home
    thread: str
    ref: str

    def arguments(self, name: str) -> dict[str, Any]:
        known = {"THREAD": self.thread, "REF": self.ref}
        known_question = {**RELAY_QUESTIONS, **REFUSED}.get(name)
        asked = asked_by_declaration(name) if known_question is None else known_question
        return {
            key: known.get(value, value) if isinstance(value, str) else value
            for key, value in asked.items()
        }


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp(prefix="tersely-"))
    root = planted(directory / "repository")
    as_repository(root)
    (root / "lcov.info").write_text(REPORT, "utf-8")
    with pytest.MonkeyPatch.context() as patched, home_of(directory / "home", root) as home:
        for name, value in {
            "XDG_RUNTIME_DIR": str(directory),
            "TERSELY_AGENT": AGENT,
            **home.environment,
        }.items():
            patched.setenv(name, value)
        patched.chdir(root)
        home.environment["TERSELY_AGENT"] = AGENT
        home.up()
        with Client.local("bob") as relay:
            relay.ask("agent.introduction")
            relay.ask("claim.take", targets=["held.py"], project="tea")
        with Client.local(AGENT) as relay:
            thread = relay.ask("thread.new", name="tea").thread_id
            note = relay.ask(
                "artifact.put", content="one\ntwo kettle\nthree\n", name="n.md", thread=thread
            )
            fact = {
                "op": "add",
                "path": "/facts/-",
                "value": {"id": "f1", "key": "note", "value": note.ref},
            }
            relay.ask("state.patch", thread=thread, patch=[fact])
            relay.ask("mail.send", to="bob", body="hello")
            relay.upload(
                relay.ask("thread.new", name="other").thread_id,
                BytesIO(LONG_TEXT.encode()),
                name="long.json",
            )
        with Client.local("bob") as relay:
            relay.ask("mail.inbox")
        yield Place(home, thread, note.short)
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def tools(place: Place) -> dict[str, str]:
    """What the tools of the Model Context Protocol answer, by capability; of code, by the name of
    the command.
    """
    answers: dict[str, str] = {}

    async def work(client: ToolClient) -> None:
        for name in QUESTIONED:
            if name in OFFERED:
                arguments = {**place.arguments(name)}
                called = {"tool": tool_name(name), "arguments": arguments, "budget": BUDGET}
                caller = "call" if catalogue.load(name).effect is Effect.READ else "relay"
                answers[name] = text_of(await client.call_tool(caller, called))
        for name in [one for one in CHANGED if one in OFFERED]:
            called = {"tool": tool_name(name), "arguments": place.arguments(name)}
            answers[name] = text_of(await client.call_tool("relay", called))
        for command in COMMANDS:
            called = {
                "tool": tool_name(command.capability_name),
                "arguments": arguments_of(command),
                "budget": BUDGET,
            }
            answers[command.name] = text_of(await client.call_tool("call", called))
        for slip in SLIPS:
            answers[str(slip)] = await refusal(client, *slip[:2])

    converse(work, cwd=place.home.root)
    return answers


async def refusal(client: ToolClient, tool: str, arguments: dict[str, Any]) -> str:
    """Why a call is not made: an unknown tool is an error of the protocol, all else one of the
    tool.
    """
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return str(error)
    assert result.is_error
    return text_of(result)


@pytest.fixture(scope="module")
def daemon(place: Place) -> Iterator[None]:
    """What the code service asks."""
    place.home.ok("daemon", "start")
    yield
    place.home.ok("daemon", "stop")


@pytest.fixture(scope="module")
def lines(place: Place, daemon: None) -> dict[str, str]:
    """What is typed into a program that says the question of each command to the code service."""
    typed = asyncio.run(typed_in({name: rows_of(command) for name, command in BY_NAME.items()}))
    # who says it comes first
    return {name: text.partition("] ")[2] for name, text in typed.items()}


@pytest.fixture(scope="module")
def requests(place: Place, daemon: None) -> dict[str, str]:
    """What the socket of the daemon answers in words, by the name of the command."""
    with Talk(place.home.root) as talk:
        root = str(place.home.root)
        return {name: in_words(talk, root, command) for name, command in BY_NAME.items()}


def in_words(talk: Talk, root: str, command: Command) -> str:
    """An answer of the daemon as a command prints it, and what is said beside it."""
    question = {
        "root": root,
        "program_identity": program_identity(),
        "command": command.capability_name,
        "arguments": without_session(arguments_of(command)),
        "environment": {},
        "whole": True,
    }
    talk.send(cmd="text", **question)
    talk.skip_receipt()
    while "progress" in (told := talk.receive()):
        pass
    return "".join([told["text"], *told["asides"]])


def rows_of(command: Command) -> list[str]:
    """The question of a command as rows that say it to the code service."""
    preset = [word for name, value in command.preset.items() for word in (f"--{name}", str(value))]
    method = command.capability_name.removeprefix(catalogue.CODE)
    body = shlex.join([method, *WORDS[command.name], *preset])
    return ["->relay:tldr <<<", *body.split("\n"), ">>>"]


async def typed_in(said: Mapping[str, list[str]]) -> dict[str, str]:
    """What is typed into a program once it has shown some rows, and all that they ask for is done."""
    who, told = Who("liner", home_directory(), "cat"), list[str]()
    mail, outbox = await RunMail.open(who), Outbox(home_directory(), who.name, read_message)
    speech = Speech(
        mail, outbox, Spawned((), (), lambda: None), lambda who, text: told.append(f"{who} {text}")
    )
    running = asyncio.create_task(speech.run())
    typed: dict[str, str] = {}
    for name, rows in said.items():
        state = START
        for number, row in enumerate(rows):
            state, found = read(state, ScreenLine(row, number))
            for one in found:
                speech.hear(one.command)
        await speech.finish()
        typed[name] = "".join(told)
        told.clear()
    running.cancel()
    await mail.close()
    return typed


@pytest.fixture(scope="module")
def agent_tools(place: Place) -> dict[str, str]:
    """What the coding agent's own tool answers, by capability."""
    questions = [name for name in catalogue.RELAY_NAMES if name in OFFERED]
    asked = {name: json.dumps(place.arguments(name)) for name in questions}
    relay = RelayServices(AGENT, place.home.root)

    async def answers() -> dict[str, str]:
        run = next(tool for tool in TOOLS if tool.name == "relay").run
        choices = Choices(relay=relay.answer, observation_tokens=BUDGET)
        with Toolbox.open(
            place.home.root, place.home.root.parent / "kept", "session", ANSWER_WORDS, choices
        ) as box:
            observed = {
                name: await run(box, {"tool": tool_name(name), "arguments": given})
                for name, given in asked.items()
            }
        assert {observed[name].status for name in RELAY_QUESTIONS if name in OFFERED} == {"ok"}
        return {name: one.text for name, one in observed.items()}

    return asyncio.run(answers())


def arguments_of(command: Command) -> dict[str, Any]:
    words = WORDS[command.name]
    given = {**command.preset, **read_words(command.parameters(), words)}
    declared = {parameter.name for parameter in command.parameters()}
    # A connection is a reader, who is sent nothing twice: each question here is of another.
    whole = {"session": command.name.replace(" ", "-")} if "session" in declared else {}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in {**given, **whole}.items()
    }


def without_session(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a question that no reader asks in particular."""
    return {name: value for name, value in arguments.items() if name != "session"}


def test_the_end_of_a_long_artifact_of_another_thread_is_found(tools: dict[str, str]) -> None:
    assert "«samovar»" in tools["artifact.search"]


def test_questions_are_of_what_there_is() -> None:
    assert {*RELAY_QUESTIONS, *REFUSED} <= set(catalogue.RELAY_NAMES)
    assert {command.capability_name for command in COMMANDS} == set(catalogue.CODE_NAMES)


@pytest.mark.parametrize("name", QUESTIONED)
def test_what_the_relay_knows_is_the_same_at_every_door(
    place: Place, tools: dict[str, str], agent_tools: dict[str, str], name: str
) -> None:
    arguments = place.arguments(name)
    with Client.local(AGENT) as relay:
        answered = relay.answer(name, arguments, budget=BUDGET)
    if name in OFFERED:
        assert untimed(tools[name]) == untimed(answered.text)
        assert untimed(agent_tools[name]) == untimed(visible(answered.text)).rstrip("\n")
    if name in catalogue.RELAY_WORDS.values() or name == "artifact.get":
        words = words_for(name, arguments)
        assert untimed(place.home.ok(*words)) == untimed(answered.text)
        assert lasting(place.home.ask(*words)) == lasting(answered.result)


def untimed(text: str) -> str:
    """An answer without the time that it says it took, or that a relay has been up."""
    return re.sub(r"\d[\d.,]* s\b", "… s", text)


def lasting(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without its words, and without how long the relay has been up."""
    return {key: value for key, value in result.items() if key not in {"text", "uptime"}}


def printed(error: TerselyError) -> str:
    """A refusal in words, as doors print it."""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    return f"{error.code}: {error.message}{hint}"


def said_to_client(name: str, arguments: dict[str, Any]) -> str:
    """What the client is answered, or refused with."""
    with Client.local(AGENT) as relay:
        try:
            return relay.answer(name, arguments, budget=BUDGET).text.rstrip("\n")
        except TerselyError as error:
            return printed(error)


def without_commands(said: str) -> str:
    """A refusal as models are told it, who may have no shell: without a hint that names a command."""
    message, _, hint = said.partition("\nhint: ")
    return message if "tersely " in hint else said


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_refused_is_refused_alike_at_every_door(
    place: Place, tools: dict[str, str], agent_tools: dict[str, str], name: str
) -> None:
    arguments = place.arguments(name)
    said = said_to_client(name, arguments)
    if name in OFFERED:
        assert tools[name].rstrip("\n") == without_commands(said)
        assert agent_tools[name].partition("\n")[0] == said.partition("\n")[0]
    if name in catalogue.RELAY_WORDS.values():
        typed = place.home.run(*words_for(name, arguments))
        assert (typed.err or typed.out).rstrip("\n") == said


@pytest.mark.parametrize("operation", CHANGING, ids=lambda operation: operation.name)
def test_a_path_of_its_own_refuses_the_same(place: Place, operation: HttpOperation) -> None:
    arguments = place.arguments(operation.capability)
    path = {name: arguments.pop(name) for name in [*arguments] if f"{{{name}}}" in operation.path}
    body = arguments.get(operation.body, arguments) if operation.asks else None
    with Client.local(AGENT) as relay, pytest.raises(TerselyError) as caught:
        relay(RelayRequest(operation, path=path, body=body))
    assert printed(caught.value) == said_to_client(
        operation.capability, place.arguments(operation.capability)
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_code_is_answered_alike_at_every_door(
    place: Place,
    tools: dict[str, str],
    lines: dict[str, str],
    requests: dict[str, str],
    command: Command,
) -> None:
    words = [*command.name.split(), *WORDS[command.name]]
    printed = place.home.run(*words)
    assert printed.status == 0, printed
    typed, all_typed = untimed(printed.out), untimed(printed.out + printed.err)
    assert untimed(tools[command.name]) == typed
    assert untimed(lines[command.name]) == all_typed
    assert untimed(requests[command.name]) == all_typed
    arguments = without_session(arguments_of(command))
    with Client.local(AGENT) as relay:
        made = relay(
            ask(
                "cap_invoke",
                thread_id=place.thread,
                capability=command.capability_name,
                args=arguments,
            )
        )
        assert untimed(referred(relay, made.artifact_ref).text) == typed
        stored = place.home.ok(*words, "--output", "cassette").strip()
        assert untimed(referred(relay, stored).text) == typed


@pytest.mark.parametrize("operation", REST, ids=lambda operation: operation.name)
def test_a_path_of_its_own_gives_the_same(place: Place, operation: HttpOperation) -> None:
    arguments = place.arguments(operation.capability)
    places = {**arguments, "thread": place.thread, "ref": place.ref.removeprefix("cass://")}
    path = {name: value for name, value in places.items() if f"{{{name}}}" in operation.path}
    query = {
        name: int(value) if isinstance(value, bool) else value for name, value in arguments.items()
    }
    with Client.local(AGENT) as relay:
        told = relay(
            RelayRequest(operation, path, {key: query[key] for key in query.keys() - path})
        )
        answered = relay.answer(operation.capability, arguments)
    assert lasting(to_builtins(told)) == lasting(answered.result)


def code_of(do: Callable[[], object]) -> str:
    """The code by which something is refused."""
    with pytest.raises(TerselyError) as caught:
        do()
    return caught.value.code


def refused_to_client(place: Place, names: list[str]) -> list[str]:
    with Client.local(AGENT) as relay:
        return [code_of(partial(relay.answer, name, {})) for name in names]


def refused_to_calls(place: Place, names: list[str]) -> list[str]:
    with Client.local(AGENT) as relay:
        calls = [
            ask("cap_invoke", thread_id=place.thread, capability=name, args={}) for name in names
        ]
        return [code_of(partial(relay, call)) for call in calls]


def refused_to_words(place: Place, names: list[str]) -> list[str]:
    typed = [place.home.run("relay", *catalogue.words_of(name).split()) for name in names]
    return [printed.err.partition(":")[0] for printed in typed]


def refused_to_socket(place: Place, names: list[str]) -> list[str]:
    with Talk(place.home.root) as talk:
        return [str(talk.ask(cmd=name)["code"]) for name in names]


def refused_to_lines(place: Place, names: list[str]) -> list[str]:
    async def codes() -> list[str]:
        async with await Peer.connect(AGENT) as peer:
            return [
                await refused_code(peer.ask(*asked("tldr", name), in_words=True)) for name in names
            ]

    return asyncio.run(codes())


def refused_to_tools(place: Place, names: list[str]) -> list[str]:
    found: list[str] = []

    async def work(client: ToolClient) -> None:
        for name in names:
            found.append(await refusal(client, "relay", {"tool": tool_name(name)}))

    converse(work, cwd=place.home.root)
    return [text.partition(":")[0] for text in found]


def refused_to_agent(place: Place, names: list[str]) -> list[str]:
    run = next(tool for tool in TOOLS if tool.name == "relay").run
    relay = RelayServices(AGENT, place.home.root)

    async def codes() -> list[str]:
        with Toolbox.open(
            place.home.root, place.home.root.parent / "kept", "session", ANSWER_WORDS,
            Choices(relay=relay.answer, observation_tokens=BUDGET),
        ) as box:  # fmt: skip
            told = [await run(box, {"tool": tool_name(name), "arguments": "{}"}) for name in names]
        return [one.text.partition(":")[0] for one in told]

    return asyncio.run(codes())


async def refused_code(asking: Awaitable[object]) -> str:
    with pytest.raises(TerselyError) as caught:
        await asking
    return caught.value.code


TYPED = set(table.NAMES)
# For each door, what it offers of the catalogue, and how it refuses the rest.
OFFERS: dict[Callable[[Place, list[str]], list[str]], set[str]] = {
    refused_to_client: set(catalogue.RELAY_NAMES),
    refused_to_calls: set(catalogue.CODE_NAMES),
    refused_to_words: {name for name in catalogue.NAMES if catalogue.words_of(name) in TYPED},
    refused_to_socket: set(catalogue.CODE_NAMES),
    refused_to_lines: set(catalogue.CODE_NAMES),
    refused_to_tools: set(OFFERED),
    refused_to_agent: {name for name in OFFERED if name in catalogue.RELAY_NAMES},
}


@pytest.mark.parametrize("door", OFFERS, ids=lambda door: door.__name__)
def test_what_a_door_does_not_offer_has_one_code(
    place: Place, daemon: None, door: Callable[[Place, list[str]], list[str]]
) -> None:
    names = [name for name in catalogue.NAMES if name not in OFFERS[door]]
    assert names
    codes = dict(zip(names, door(place, names), strict=True))
    assert codes == dict.fromkeys(names, "unknown_command")


@pytest.mark.parametrize("slip", SLIPS, ids=str)
def test_a_slip_of_a_client_is_answered_with_what_is_meant(
    tools: dict[str, str], slip: tuple[str, dict[str, Any], str]
) -> None:
    assert f"did you mean {slip[2]}?" in tools[str(slip)]


def test_a_service_is_asked_alike_at_every_door(place: Place, daemon: None) -> None:
    """A question of the code service costs and says what the command line says."""
    said = place.home.ok("impact", "checkout")
    assert place.home.ok("services", "call", "tldr", "impact", "checkout") == said
    question = {
        "service": "tldr",
        "method": "impact",
        "params": {"target": "checkout"},
        "format": "text",
    }
    with Client.local(AGENT) as relay:
        assert relay.answer("service.call", question).text == said

    async def work(client: ToolClient) -> None:
        called = {"tool": "service_call", "arguments": question}
        assert text_of(await client.call_tool("relay", called)) == said

    converse(work, cwd=place.home.root)


@pytest.mark.parametrize("words", UNANSWERED, ids=" ".join)
def test_the_code_service_refuses_as_the_command_line_does(
    place: Place, daemon: None, words: list[str]
) -> None:
    typed = place.home.run(*words).err
    method = words[0]
    called = place.home.run("services", "call", "tldr", *words).err
    assert called == typed
    rows = asyncio.run(typed_in({method: [f"->relay:tldr {shlex.join(words)}"]}))
    assert rows[method].startswith("[tldr error] ")
    assert rows[method].removeprefix("[tldr error] ").split(" (")[0] in typed
    with Client.local(AGENT) as relay:
        question = asked("tldr", shlex.join(words))
        code = code_of(partial(relay.answer, "service.call", {**named(question), "format": "text"}))
    assert code == typed.partition(":")[0]


def named(question: ServiceQuestion) -> dict[str, Any]:
    """A question to a service, by the names of the capability that asks it."""
    return {
        "service": question.service,
        "method": question.method,
        "params": question.parameters,
    }


def test_a_line_sends_as_every_door_does(place: Place) -> None:
    """What is written behind a name is the message that the client sends, or refused as its is."""
    rows = {"bob": ["->relay:bob Grüße ✓"], "nobody": ["->relay:nobody hello"]}
    typed = asyncio.run(typed_in(rows))
    assert typed["bob"] == ""
    with Client.local(AGENT) as relay:
        relay.ask("mail.send", to="bob", body="Grüße ✓")
        by_line, by_client = relay.ask("mail.search", query="Grüße").messages[-2:]
        with pytest.raises(TerselyError) as caught:
            relay.ask("mail.send", to="nobody", body="hello")
    varying = {"message_id": "", "number": 0, "id": "", "sender": "", "sent_at": ""}
    assert replace(by_line, **varying) == replace(by_client, **varying)
    assert typed["nobody"] == error_text("relay", caught.value)


def test_a_session_that_asked_about_code_is_counted(place: Place, tools: dict[str, str]) -> None:
    before = figures()
    assert 0 < before.asked <= before.sessions

    async def silent(client: ToolClient) -> None:
        await client.list_tools()

    converse(silent, cwd=place.home.root)
    after = figures()
    assert (after.sessions - before.sessions, after.asked - before.asked) == (1, 0)


def test_an_unknown_capability_is_refused_alike(place: Place) -> None:
    with Client.local(AGENT) as relay, pytest.raises(TerselyError) as caught:
        relay.answer("thread.lst", {})
    assert caught.value.hint == "did you mean thread.list?"
    assert "did you mean show?" in place.home.run("relay", "shwo").err
