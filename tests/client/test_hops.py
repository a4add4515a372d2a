"""Services that ask in a circle under other names than their own end where the policy says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Web, serve

from tersely.client import AsyncClient, Client, ask
from tersely.client.peer import Peer
from tersely.client.service import Service
from tersely.doors.socket.serve import serving
from tersely.foundation.errors import TerselyError
from tersely.relay.relay import Relay
from tersely.relay.wire.home import HTTP_SOCKET, listen, socket_path

HOPS = 5  # that the policy of the relay allows
WAIT_SECONDS = 60


def circling(home: Path, numbers: dict[str, int]) -> Service:
    """A service whose methods ask themselves again, each time as somebody else; `numbers` are told
    how often.
    """
    service = Service("circle", home=home)
    socket = socket_path(home, HTTP_SOCKET)

    def name(way: str) -> str:
        numbers[way] = numbers.get(way, 0) + 1
        assert numbers[way] < 3 * HOPS  # a circle that nobody ends fails here
        return f"{way}-{numbers[way]}"

    @service.method(effect="read")
    async def peer() -> Any:
        async with await Peer.connect(name("peer"), home=home) as one:
            return await one.ask("circle", "peer", {})

    @service.method(effect="read")
    async def events() -> Any:
        async with AsyncClient(socket, name("events")) as one:
            return (await one.ask("service.call", service="circle", method="events")).result

    @service.method(effect="read")
    def thread() -> Any:
        with Client(socket, name("thread")) as one:
            return one.answer("service.call", {"service": "circle", "method": "thread"}).result

    @service.method(effect="read")
    def call(thread: str) -> Any:
        with Client(socket, name("call")) as one:
            return one(
                ask(
                    "cap_invoke",
                    thread_id=thread,
                    capability="circle.call",
                    args={"thread": thread},
                )
            ).text

    return service


@asynccontextmanager
async def served(relay: Relay, service: Service) -> AsyncIterator[None]:
    """The socket of a relay, with a service."""
    async with serving(relay, listen(relay.home)):
        ready = asyncio.Event()
        answering = asyncio.create_task(service.serve(ready.set))
        await ready.wait()
        yield
        answering.cancel()
        await asyncio.wait([answering])


@pytest.fixture(scope="module")
def numbers() -> dict[str, int]:
    return {}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, numbers: dict[str, int]) -> Iterator[Web]:
    """A relay over HTTP, whose socket is on a loop beside it."""
    home = tmp_path_factory.mktemp("home")
    (home / "config.toml").write_text(f"hops = {HOPS}\n")
    loop = asyncio.new_event_loop()
    looping = threading.Thread(target=loop.run_forever)
    looping.start()
    stack = AsyncExitStack()

    def prepare(relay: Relay) -> None:
        opening = stack.enter_async_context(served(relay, circling(home, numbers)))
        asyncio.run_coroutine_threadsafe(opening, loop).result(WAIT_SECONDS)

    try:
        yield from serve(home, prepare)
    finally:
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(WAIT_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        looping.join()
        loop.close()


@pytest.mark.parametrize("way", ["peer", "events", "thread", "call"])
def test_a_circle_under_other_names_ends(web: Web, numbers: dict[str, int], way: str) -> None:
    with Client(web.socket, "ann") as ann:
        params = {"thread": ann.ask("thread.new", name="work").thread_id} if way == "call" else {}
        with pytest.raises(TerselyError) as refused:
            ann.ask("service.call", service="circle", method=way, params=params)
    assert refused.value.code == "hop_limit"
    assert numbers[way] == HOPS + 1
