"""Services over HTTP: listed, asked, called like any capability, and measured."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Web, serve

from tersely.client import Client, ask
from tersely.client.service import Service
from tersely.doors.socket.serve import serving as routing
from tersely.doors.socket.services import AskedMethod
from tersely.foundation.errors import TerselyError
from tersely.relay.relay import Relay
from tersely.relay.services.declared import BRIDGE, DeclaredService, Method
from tersely.relay.services.figures import BOUNDS_SECONDS
from tersely.relay.wire.home import listen

SERIES = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)'
)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"')
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Mirror:
    """A service that the relay brings: it says what it was asked."""

    declared = DeclaredService(
        "mirror", "1", {"look": Method("look", "What was asked")}, BRIDGE, "here"
    )

    async def answer(self, asked: AskedMethod) -> bytes:
        return b'{"seen":%s}' % asked.parameters


def tools(home: Path, held: threading.Event) -> Service:
    service = Service("tools", version="1.0", home=home)

    @service.method(effect="read")
    def add(first: int, second: int) -> int:
        """The sum."""
        return first + second

    @service.method(effect="read")
    def hold() -> str:
        held.wait(60)
        return "held"

    @service.method(effect="read")
    def break_off() -> None:
        raise ValueError("<script>alert(1)</script>")

    return service


@asynccontextmanager
async def routed(relay: Relay, held: threading.Event) -> AsyncIterator[None]:
    """The socket of a relay, with both kinds of services."""
    async with routing(relay, listen(relay.home), [Mirror()]):
        ready = asyncio.Event()
        serving = asyncio.create_task(tools(relay.home, held).serve(ready.set))
        await ready.wait()
        yield
        serving.cancel()
        await asyncio.wait([serving])


@pytest.fixture(scope="module")
def held() -> threading.Event:
    return threading.Event()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, held: threading.Event) -> Iterator[Web]:
    """A relay over HTTP, whose socket is on a loop beside it."""
    loop = asyncio.new_event_loop()
    looping = threading.Thread(target=loop.run_forever)
    looping.start()
    stack = AsyncExitStack()

    def prepare(relay: Relay) -> None:
        asyncio.run_coroutine_threadsafe(
            stack.enter_async_context(routed(relay, held)), loop
        ).result(60)

    try:
        yield from serve(tmp_path_factory.mktemp("home"), prepare)
    finally:
        held.set()
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        looping.join()
        loop.close()


@pytest.fixture
def relay(web: Web) -> Iterator[Client]:
    with Client(web.socket, "ann") as client:
        yield client


def samples(web: Web) -> Samples:
    """The figures, read by the rules of the format; every line has to be one that it knows."""
    answer = web.ask("GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: Samples = {}
    kinds: dict[str, str] = {}
    for line in answer.content.decode().splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            assert what in {"HELP", "TYPE"}
            if what == "TYPE":
                assert name not in kinds
                kinds[name] = rest
            continue
        sample = SERIES.fullmatch(line)
        assert sample is not None, line
        name = sample[1]
        assert name in kinds or re.sub("_(bucket|sum|count)$", "", name) in kinds
        key = name, frozenset(LABEL.findall(sample[2] or ""))
        assert key not in found
        found[key] = float(sample[3])
    assert answer.content.endswith(b"\n")
    return found


def test_services_are_listed_with_what_they_take(relay: Client) -> None:
    mirror, tool = relay.ask("service.list").services
    assert (mirror.name, mirror.how, mirror.place) == ("mirror", "bridge", "here")
    assert (tool.name, tool.version, tool.how) == ("tools", "1.0", "connected")
    add = tool.methods[0]
    assert (add.name, add.description, add.effect) == ("add", "The sum.", "read")
    assert set(add.args_schema["properties"]) == {"first", "second"}


def test_services_are_asked_and_failures_have_their_codes(relay: Client, web: Web) -> None:
    assert (
        relay.ask(
            "service.call", service="tools", method="add", params={"first": 1, "second": 2}
        ).result
        == 3
    )
    assert relay.ask("service.call", service="mirror", method="look", params={"a": [1]}).result == {
        "seen": {"a": [1]}
    }
    expected = {
        ("nobody", "x"): ("service_not_found", 404),
        ("tools", "none"): ("unknown_command", 404),
        ("tools", "add"): ("invalid_argument", 400),
        ("tools", "break_off"): ("service_error", 502),
    }
    for (service, method), told in expected.items():
        answer = web.ask(
            "POST", "/services/call", {"service": service, "method": method, "params": {}}
        )
        assert (answer.json["code"], answer.status) == told
    large = {"service": "tools", "method": "add", "params": {"first": "x" * 20_000}}
    assert web.ask("POST", "/services/call", large).status == 413
    assert web.ask("POST", "/services/call", {"service": "tools"}).status == 400


def test_capabilities_of_services_are_in_the_catalogue(relay: Client) -> None:
    names = {one.name for one in relay.ask("cap.list").capabilities}
    assert {"tools.add", "tools.hold", "mirror.look"} <= names
    thread = relay.ask("thread.new", name="work").thread_id
    assert (
        relay(
            ask(
                "cap_invoke",
                thread_id=thread,
                capability="tools.add",
                args={"first": 2, "second": 2},
            )
        ).text
        == "4"
    )
    with pytest.raises(TerselyError) as refused:
        relay(
            ask(
                "cap_invoke",
                thread_id=thread,
                capability="tools.add",
                args={"first": "2", "second": 2},
            )
        )
    assert refused.value.code == "invalid_argument"


def test_calls_that_wait_for_services_leave_threads_for_others(
    relay: Client, web: Web, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.clear()
    thread = relay.ask("thread.new", name="work").thread_id
    count = 40

    def hold(_: int) -> Any:
        with Client(web.socket, "ann") as client:
            try:
                return client(
                    ask("cap_invoke", thread_id=thread, capability="tools.hold", args={})
                ).text
            except TerselyError as error:
                return error.code

    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(hold, number) for number in range(count)]
        refused = [one.result() for one in waiting if one.done()]
        assert (
            relay(
                ask(
                    "cap_invoke",
                    thread_id=thread,
                    capability="retrieval.search",
                    args={"query": "x"},
                )
            ).capability
            == "retrieval.search"
        )
        assert relay.ask("service.call", service="mirror", method="look", params={}).result == {
            "seen": {}
        }
        with pytest.raises(TerselyError) as late:
            relay.ask("service.call", service="tools", method="hold", params={}, timeout_ms=10)
        assert late.value.code == "timed_out"
        held.set()
        told = [one.result() for one in waiting]
    assert set(refused) <= {"busy"}
    assert (told.count("held") >= 1, set(told) <= {"held", "busy"}) == (True, True)


def test_the_figures_are_those_of_what_was_asked(relay: Client, web: Web) -> None:
    labels = frozenset({("service", "mirror"), ("method", "look")})
    before = samples(web)
    for number in range(3):
        relay.ask("service.call", service="mirror", method="look", params={"n": number})
    with pytest.raises(TerselyError):
        relay.ask("service.call", service="tools", method="break_off", params={})
    after = samples(web)

    def grown(name: str, *more: tuple[str, str], of: frozenset[tuple[str, str]] = labels) -> float:
        key = name, of | set(more)
        return after[key] - before.get(key, 0)

    assert grown("tersely_service_requests_total") == 3
    assert grown("tersely_service_request_seconds_count") == 3
    assert grown("tersely_service_request_seconds_sum") > 0
    assert grown("tersely_service_request_seconds_bucket", ("le", "+Inf")) == 3
    key = "tersely_service_request_seconds_bucket"
    buckets = [after[key, labels | {("le", f"{bound}")}] for bound in BOUNDS_SECONDS]
    assert buckets == sorted(buckets)
    broken = frozenset({("service", "tools"), ("method", "break_off")})
    assert grown("tersely_service_failures_total", ("code", "SERVICE_ERROR"), of=broken) == 1
    assert after["tersely_services", frozenset()] == 2
    assert (
        "tersely_capability_cache_hits_total",
        frozenset({("capability", "mirror.look")}),
    ) in after


def test_the_figures_are_for_who_shows_the_token(web: Web) -> None:
    assert web.ask("GET", "/metrics", Authorization="").status == 401
    assert web.ask("GET", "/services", Authorization="Bearer wrong").status == 401


def test_the_page_shows_services_as_text(web: Web, relay: Client) -> None:
    relay.ask("service.call", service="tools", method="add", params={"first": 1, "second": 2})
    with pytest.raises(TerselyError):
        relay.ask("service.call", service="tools", method="break_off", params={})
    ticket = web.ask("POST", "/tickets").json["ticket"]
    form = f"ticket={ticket}&next=".encode()
    origin = f"http://127.0.0.1:{web.port}"
    kind = "application/x-www-form-urlencoded"
    entered = web.ask("POST", "/ui/login", form, Authorization="", Origin=origin, Content_Type=kind)
    cookie = entered.headers["set-cookie"].partition(";")[0]
    page = web.ask("GET", "/ui/services", Authorization="", Cookie=cookie)
    assert page.status == 200
    text = page.content.decode()
    for shown in ("mirror", "tools add", "SERVICE_ERROR", "connected"):
        assert shown in text
    assert "<script>alert" not in text
