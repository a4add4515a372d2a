"""A session that goes on with another model of another server, as the screen has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bench.modelserver.server import Server as Running
from tests.agent.core.talking import wanted
from tests.agent.model_servers import Scripted

from tersely.agent.events import TurnEnded, Usage
from tersely.agent.sessions.session import MessageDraft
from tersely.agent.sessions.store import SessionStore
from tersely.cli.agent.front import FrontAgent, open_front
from tersely.cli.agent.servers import Server, connected
from tersely.foundation.errors import TerselyError

NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def shown(running: Running, root: Path) -> AsyncIterator[FrontAgent]:
    screen = await open_front(
        wanted(root), *await connected(Server(running.url, key="k")), retrieves=False
    )
    try:
        yield screen
    finally:
        await screen.close()


async def said(screen: FrontAgent, message: str) -> list[Usage]:
    """The requests of a turn that is answered."""
    events = [event async for event in screen.run(message)]
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].reason == "answered"
    return [event for event in events if isinstance(event, Usage)]


def test_a_session_goes_on_with_another_server(scripted: Scripted, root: Path) -> None:
    first, second = (
        scripted(["One.", "Two."]),
        scripted(["Never.", "Three.", "Four."], window=4_096),
    )

    async def talked() -> None:
        async with shown(first, root) as screen:
            await said(screen, "hello")
            assert screen.status().window_tokens == 8_192
            (name,) = await screen.models(second.url)
            told = await screen.use_model(name, second.url)
            assert (
                told == f"{name} at {second.url} answers from now on, with a window of 4,096 tokens"
            )
            assert (screen.status().model, screen.status().window_tokens) == (name, 4_096)
            assert screen.status().cached_percent is None
            (usage,) = await said(screen, "hello again")
            assert usage.window == 4_096
            assert screen.status().cached_percent is not None
            assert await screen.models("") == [name]
            history = screen._conversation.store.history(screen.status().session)
            assert [(each.turn, each.server) for each in history.models] == [
                (1, first.url),
                (2, second.url),
            ]

    asyncio.run(talked())


def test_where_the_other_server_is_not_there_all_stays(scripted: Scripted, root: Path) -> None:
    server, tiny = scripted(["One.", "Two."]), scripted(["Never."], window=512)

    async def talked() -> None:
        async with shown(server, root) as screen:
            await said(screen, "hello")
            before = screen.status()
            for url in (NOWHERE, tiny.url):
                with pytest.raises(TerselyError):
                    await screen.use_model("", url)
            assert screen.status() == before
            await said(screen, "hello again")

    asyncio.run(talked())


def test_a_key_goes_to_the_server_that_it_was_given_for_alone(
    scripted: Scripted, root: Path
) -> None:
    server = scripted(["One."])

    async def talked() -> None:
        async with shown(server, root) as screen:
            assert screen._at(f"{server.url}/v1").key == "k"
            assert screen._at(NOWHERE).key == ""

    asyncio.run(talked())


@pytest.mark.parametrize(
    "url", ["models.example.net/v1", "localhost:8443", "https://localhost:8080"]
)
def test_urls_without_a_scheme_are_of_different_servers_too(
    scripted: Scripted, root: Path, url: str
) -> None:
    server = scripted(["One."])

    async def talked() -> None:
        async with shown(server, root) as screen:
            screen._server = Server("localhost:8080", key="k")
            assert screen._at("http://LOCALHOST:8080/v1").key == "k"
            assert screen._at(url).key == ""

    asyncio.run(talked())


def test_notes_of_models_go_with_forks_rewinding_and_deletion(tmp_path: Path) -> None:
    with SessionStore.open(tmp_path) as store:
        session = store.create("/repository", "a", "prefix", "text")
        session.note_model("a", "http://one")
        for turn in (1, 2):
            session.add(MessageDraft("user", "hello", 1, turn))
            session.add(MessageDraft("assistant", "hello", 1, turn))
            session.note_model("b", "http://two")
        fork = store.fork(session.id)
        session.rewind(0)
        session.note_model("b", "http://two")
        assert store.history(session.id).models == ((1, "b", "http://two"),)
        store.delete(session.id)
        assert store.history(fork.id).models == ((1, "a", "http://one"), (2, "b", "http://two"))
