"""Everything that changes what agents share, through every door that offers it: the same work in a
home of its own is answered alike.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from anyio.from_thread import start_blocking_portal
from msgspec import to_builtins
from tests.cli.relay_home import Home
from tests.doors.http.conftest import serve
from tests.doors.mcp.conversing import talking, text_of
from tests.every_door import AGENT, BUDGET, asked_by_declaration, words_for

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.toolset import OFFERED, tool_name
from tersely.capabilities.relay.contract.operations import HttpOperation, operations
from tersely.cli.services import RelayServices
from tersely.client import Client
from tersely.client.request import RelayRequest
from tersely.foundation.errors import TerselyError

PEER = "bob"


class Told(NamedTuple):
    """An answer, in the forms that a door gives it in."""

    text: str | None
    result: Any = None


class Kitchen:
    """What is there in one home, for questions about it."""

    def __init__(self, relay: Client, root: Path) -> None:
        self.relay = relay
        self.root = str(root)

    def thread(self) -> str:
        return str(self.relay.ask("thread.list", limit=1).threads[0].thread_id)

    def ref(self) -> str:
        return str(self.relay.ask("artifact.list", thread=self.thread()).artifacts[0].ref)

    def received(self) -> str:
        return str(self.relay.ask("mail.box", name=AGENT).messages[-1].message_id)

    def dead(self) -> str:
        return str(self.relay.ask("mail.dead").messages[-1].message_id)


Step = tuple[str, Callable[[Kitchen], dict[str, Any]]]


def in_thread(**given: Any) -> Callable[[Kitchen], dict[str, Any]]:
    return lambda kitchen: {**given, "thread": kitchen.thread()}


def in_project(**given: Any) -> Callable[[Kitchen], dict[str, Any]]:
    return lambda kitchen: {**given, "project": "tea", "root": kitchen.root}


def plainly(**given: Any) -> Callable[[Kitchen], dict[str, Any]]:
    return lambda kitchen: given


FACT = {"op": "add", "path": "/facts/-", "value": {"id": "f1", "key": "note", "value": "Grüße ✓"}}
STEPS: list[Step] = [
    ("thread.new", plainly(name="tea")),
    ("artifact.put", in_thread(content="one\ntwo kettle\n", name="n.md")),
    ("state.patch", in_thread(patch=[FACT])),
    ("agent.introduction", plainly()),
    ("mail.send", plainly(to=PEER, body="hello, Grüße ✓")),
    ("mail.receipt", lambda kitchen: {"message_id": kitchen.received()}),
    ("mail.inbox", plainly()),
    ("permission.ask", plainly(tool="Bash", what="make")),
    ("claim.take", in_project(targets=["a.py"], why="new grammar")),
    ("claim.release", in_project(targets=["a.py"])),
    ("board.add", in_thread(step="grow tea")),
    ("board.add", in_thread(step="boil water", needs=["b1"])),
    ("board.take", in_thread(item="b1")),
    ("board.block", in_thread(item="b1", why="no rain")),
    ("board.reopen", in_thread(item="b1")),
    ("board.take", in_thread()),
    ("board.done", in_thread(item="b1")),
    ("channel.join", plainly(channel="#kitchen")),
    ("channel.leave", plainly(channel="#kitchen")),
    ("thread.spend", in_thread(programs=1)),
    ("thread.checkpoint", in_thread(name="before")),
    ("thread.report", in_thread()),
    ("thread.replay", in_thread()),
    ("thread.mirror", in_thread()),
    ("artifact.remove", lambda kitchen: {"ref": kitchen.ref(), "thread": kitchen.thread()}),
    ("agent.retire", plainly(name=PEER)),
    ("mail.resend", lambda kitchen: {"message_id": kitchen.dead()}),
]
WRITING = [one.name for one in catalogue.every() if one.effect is not Effect.READ]
# What is not listed above is asked as its declaration has it.
WORK: list[Step] = [
    *STEPS,
    *(
        (name, partial(lambda name, kitchen: asked_by_declaration(name), name))
        for name in WRITING
        if name not in dict(STEPS)
    ),
]
PATHS = {one.capability: one for one in operations() if one.writes and one.capability}
Door = Callable[[Home], AbstractContextManager[Callable[[str, dict[str, Any]], Told]]]


def refused(error: TerselyError) -> Told:
    return Told(f"{error.code}: {error.message}")


@contextmanager
def by_client(home: Home) -> Iterator[Callable[[str, dict[str, Any]], Told]]:
    with Client.local(AGENT) as relay:

        def ask(name: str, arguments: dict[str, Any]) -> Told:
            try:
                answered = relay.answer(name, arguments, budget=BUDGET)
            except TerselyError as error:
                return refused(error)
            return Told(answered.text, answered.result)

        yield ask


@contextmanager
def by_path(home: Home) -> Iterator[Callable[[str, dict[str, Any]], Told]]:
    """By the path that a capability has of its own."""
    with Client.local(AGENT) as relay:

        def ask(name: str, arguments: dict[str, Any]) -> Told:
            operation: HttpOperation = PATHS[name]
            given = dict(arguments)
            path = {one: given.pop(one) for one in [*given] if f"{{{one}}}" in operation.path}
            body = given.get(operation.body, given) if operation.asks else None
            try:
                told = relay(RelayRequest(operation, path=path, body=body))
            except TerselyError as error:
                return refused(error)
            return Told(None, to_builtins(told))

        yield ask


@contextmanager
def by_words(home: Home) -> Iterator[Callable[[str, dict[str, Any]], Told]]:
    def ask(name: str, arguments: dict[str, Any]) -> Told:
        printed = home.run(*words_for(name, arguments), "--json")
        told = json.loads(printed.out)
        if not told["ok"]:
            return Told(f"{told['error']['code']}: {told['error']['message']}")
        return Told(told["result"]["text"], told["result"])

    yield ask


@contextmanager
def by_agent(home: Home) -> Iterator[Callable[[str, dict[str, Any]], Told]]:
    """As the tool of the coding agent asks."""
    services = RelayServices(AGENT, home.root)

    def ask(name: str, arguments: dict[str, Any]) -> Told:
        try:
            return Told(asyncio.run(services.answer(name, arguments, BUDGET)))
        except TerselyError as error:
            return refused(error)

    yield ask


@contextmanager
def by_tool(home: Home) -> Iterator[Callable[[str, dict[str, Any]], Told]]:
    """As a client of the Model Context Protocol."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(talking(cwd=home.root, mode="legacy")) as client,
    ):

        def ask(name: str, arguments: dict[str, Any]) -> Told:
            called = {"tool": tool_name(name), "arguments": arguments, "budget": BUDGET}
            result = portal.call(client.call_tool, "relay", called)
            text = text_of(result)
            return Told(text.partition("\n")[0] if result.is_error else text)

        yield ask


class Way(NamedTuple):
    """A door, and the names that it offers."""

    door: Door
    offers: Callable[[str], bool]


WAYS: Mapping[str, Way] = {
    "client": Way(by_client, lambda name: True),
    "path": Way(by_path, PATHS.__contains__),
    "words": Way(by_words, set(catalogue.RELAY_WORDS.values()).__contains__),
    "agent": Way(by_agent, OFFERED.__contains__),
    "tool": Way(by_tool, OFFERED.__contains__),
}


def worked(way: Way, directory: Path) -> list[Told | None]:
    """What is answered to all of the work in a new home; None where the door does not offer it, and
    it is asked otherwise.
    """
    home = Home(directory / "home", directory / "repository")
    home.root.mkdir()
    (home.root / ".git").mkdir()
    environment = {**home.environment, "TERSELY_AGENT": AGENT, "HOME": str(directory)}
    home.environment["TERSELY_AGENT"] = AGENT
    with pytest.MonkeyPatch.context() as patched, contextmanager(serve)(home.home):
        for name, value in environment.items():
            patched.setenv(name, value)
        patched.chdir(home.root)
        with Client.local(PEER) as peer:
            peer.ask("agent.introduction")
            peer.ask("mail.send", to=AGENT, body="for you", queue=True)
        with way.door(home) as ask, by_client(home) as otherwise, Client.local("watcher") as side:
            kitchen = Kitchen(side, home.root)
            told: list[Told | None] = []
            for name, given in WORK:
                is_offered = way.offers(name)
                answered = (ask if is_offered else otherwise)(name, given(kitchen))
                told.append(still(answered, directory) if is_offered else None)
            return told


VARYING = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z": "TIME",
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b": "ID",
    r"\b[0-9a-f]{64}\b": "HASH",  # of a report, which names its thread
    r"\b[0-9a-f]{8}-(\d+)\b": r"MESSAGE-\1",
    r"\bp[0-9a-f]{6}\b": "PERMISSION",
}


def still(told: Told, directory: Path) -> Told:
    """An answer without what differs from home to home: times, ids and places."""

    def plain(text: str) -> str:
        text = text.replace(str(directory), "DIRECTORY")
        for pattern, word in VARYING.items():
            text = re.sub(pattern, word, text)
        return text

    result = json.loads(plain(json.dumps(told.result, ensure_ascii=False)))
    return Told(None if told.text is None else plain(told.text).rstrip("\n"), result)


def without_text(result: dict[str, Any]) -> dict[str, Any]:
    """A result without its words, which a command line puts in whatever is asked."""
    return {name: value for name, value in result.items() if name != "text"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Told | None]]:
    return {name: worked(way, tmp_path_factory.mktemp(name)) for name, way in WAYS.items()}


def test_all_of_the_work_is_done(answers: dict[str, list[Told | None]]) -> None:
    assert {name for name, _ in WORK} == set(WRITING)
    for (name, _), told in zip(STEPS, answers["client"], strict=False):
        assert told is not None
        assert told.result is not None, (name, told.text)


@pytest.mark.parametrize("way", [name for name in WAYS if name != "client"])
def test_the_same_work_is_answered_alike(answers: dict[str, list[Told | None]], way: str) -> None:
    for (name, _), expected, told in zip(WORK, answers["client"], answers[way], strict=True):
        if told is None:
            continue
        assert expected is not None
        if told.text is not None:
            assert told.text == expected.text, name
        if told.result is not None:
            assert without_text(told.result) == without_text(expected.result), name
