"""Services that are connected: what they declare is offered everywhere, and each question ends in
one answer.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.served import Raw, Served, served, until

from tersely.capabilities.relay.asking import result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.client.peer import Peer
from tersely.client.service import Service
from tersely.foundation.errors import TerselyError
from tersely.relay.services.calls import Call
from tersely.relay.threads import threads

ROOT = Path(__file__).parents[3]
NOW = {"name": "now", "description": "The sky now", "effect": "read"}
WEATHER = {"name": "weather", "version": "1.2", "capabilities": [NOW, "forecast"]}


@asynccontextmanager
async def weather(relay: Served, **told: Any) -> AsyncIterator[Raw]:
    """A service whose answers the test writes itself."""
    raw = await relay.hello("weather", entityType="service", service={**WEATHER, **told})
    yield raw
    raw.close()


def names(relay: Served) -> set[str]:
    return {offer.name for offer in relay.relay.calls.offers()} & {
        "weather.now",
        "weather.forecast",
        "weather.at",
    }


async def refused(waits: Any) -> tuple[str, str]:
    with pytest.raises(TerselyError) as raised:
        await waits
    return raised.value.code, raised.value.message


def answer_to(request: dict[str, Any], **told: Any) -> dict[str, Any]:
    return {"request_id": request["id"], "success": "error" not in told, **told}


async def test_a_service_is_asked_and_answers_whoever_asked(home: Path) -> None:
    async with served(home) as relay, weather(relay) as service, await relay.peer("ann") as ann:
        asking = asyncio.ensure_future(ann.ask("weather", "now", {"city": "Oslo"}))
        request = await service.hear()
        assert (request["type"], request["from"], request["to"]) == (
            "SERVICE_REQUEST",
            "ann",
            "weather",
        )
        assert request["payload"] == {"service": "weather", "method": "now", "params": {"city": "Oslo"},
                                      "timeout_ms": 30_000}  # fmt: skip
        service.say("SERVICE_RESPONSE", answer_to(request, result={"sky": "clear"}))
        assert await asking == {"sky": "clear"}

        asking = asyncio.ensure_future(ann.ask("weather", "now", {}))
        failure = {"code": "NO_SUCH_CITY", "message": "which city?"}
        service.say("SERVICE_RESPONSE", answer_to(await service.hear(), error=failure))
        assert await refused(asking) == ("service_error", "which city?")


async def test_its_capabilities_are_called_like_any_until_it_leaves(home: Path) -> None:
    async with served(home) as relay:
        thread = threads.create(relay.relay.store, "work", "ann").thread_id
        async with weather(relay) as service:
            assert names(relay) == {"weather.now", "weather.forecast"}
            offers = {offer.name: offer.told() for offer in relay.relay.calls.offers()}
            assert offers["weather.now"].description == "The sky now"
            assert (offers["weather.now"].effect, offers["weather.forecast"].effect) == (
                "read",
                "write",
            )
            call = Call(thread, "weather.now", {"city": "Oslo"}, "ann")
            calling = asyncio.create_task(asyncio.to_thread(relay.relay.calls.invoke, call))
            service.say(
                "SERVICE_RESPONSE", answer_to(await service.hear(), result={"sky": "clear"})
            )
            assert json.loads((await calling).text or "") == {"sky": "clear"}
            [told] = relay.relay.services.listed()
            assert (told.name, told.version, told.how) == ("weather", "1.2", "connected")
        await until(lambda: names(relay) == set())
        assert relay.relay.services.listed() == []


async def test_what_is_wrong_is_refused_at_once(home: Path) -> None:
    async with served(home) as relay, weather(relay), await relay.peer("ann") as ann:
        assert (await refused(ann.ask("nobody", "x", {})))[0] == "service_not_found"
        code, message = await refused(ann.ask("weather", "tomorrow", {}))
        assert (code, message) == ("unknown_command", "weather has no method 'tomorrow'")


@pytest.mark.parametrize(
    "told",
    [
        {"name": "climate"},
        {"capabilities": ["a b"]},
        {"capabilities": [7]},
        {"capabilities": [{"name": "x", "effect": "magic"}]},
        {"capabilities": [{"name": "x", "parameters": {"type": "array"}}]},
        {"capabilities": [{"name": "x", "description": "y" * 1_001}]},
        {"capabilities": [f"x{number}" for number in range(101)]},
    ],
)
async def test_a_service_that_says_nonsense_of_itself_is_not_let_in(
    home: Path, told: dict[str, Any]
) -> None:
    async with served(home) as relay:
        raw = await relay.raw()
        raw.say(
            "HELLO", {"agent": "weather", "entityType": "service", "service": {**WEATHER, **told}}
        )
        [error] = await raw.rest()
        assert (error["payload"]["code"], error["payload"]["fatal"]) == ("UNAUTHORIZED", True)
        assert names(relay) == set()


async def test_a_capability_of_another_stays_what_it_is(home: Path) -> None:
    async with served(home) as relay:
        before = {offer.name: offer for offer in relay.relay.calls.offers()}["http.fetch"]
        hello = {
            "entityType": "service",
            "service": {"name": "http", "capabilities": ["fetch", "post"]},
        }
        raw = await relay.hello("http", **hello)
        told = await raw.hear()
        assert (told["type"], told["payload"]["reason"], told["payload"]["fatal"]) == (
            "ERROR",
            "name_taken",
            False,
        )
        offers = {offer.name: offer for offer in relay.relay.calls.offers()}
        assert offers["http.fetch"] is before
        assert "http.post" in offers
        raw.close()
        await until(lambda: "http.post" not in {offer.name for offer in relay.relay.calls.offers()})
        assert "http.fetch" in {offer.name for offer in relay.relay.calls.offers()}


async def test_answers_of_those_who_were_not_asked_are_refused(home: Path) -> None:
    async with served(home) as relay, weather(relay) as service, await relay.peer("ann") as ann:
        other = await relay.hello("other", entityType="service")
        asking = asyncio.ensure_future(ann.ask("weather", "now", {}))
        request = await service.hear()
        for liar in (other, await relay.hello("eve")):
            liar.say("SERVICE_RESPONSE", answer_to(request, result="a lie"))
            assert (await liar.hear())["payload"]["code"] == "NOT_FOUND"
            liar.close()
        assert not asking.done()
        service.say("SERVICE_RESPONSE", answer_to(request, result="true"))
        assert await asking == "true"
        service.say("SERVICE_RESPONSE", answer_to(request, result="again"))
        assert (await service.hear())["payload"]["code"] == "NOT_FOUND"


async def test_a_slow_service_keeps_nobody_else_waiting(home: Path) -> None:
    async with served(home) as relay, weather(relay) as slow, await relay.peer("ann") as ann:
        quick = Service("quick", home=home)
        quick.method(effect="read")(lambda_named("echo"))
        serving = await started(quick)
        waiting = [asyncio.ensure_future(ann.ask("weather", "now", {})) for _ in range(50)]
        assert await ann.ask("quick", "echo", {"text": "hello"}) == "hello"
        assert await refused(ann.ask("weather", "now", {}, timeout_ms=20)) == (
            "timed_out",
            "weather has not answered in 0.02 s",
        )
        late = [await slow.hear() for _ in range(51)][-1]
        slow.say("SERVICE_RESPONSE", answer_to(late, result="late"))
        assert (await slow.hear())["payload"]["code"] == "NOT_FOUND"
        slow.close()
        gone = [await refused(one) for one in waiting]
        assert set(gone) == {("service_error", "the service weather has gone")}
        serving.cancel()


async def test_nobody_may_ask_without_end(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tersely.doors.socket.services.MAX_ASKED_REQUESTS", 2)
    async with served(home) as relay, weather(relay) as slow, await relay.peer("ann") as ann:
        ben = await relay.peer("ben")
        waiting = [
            asyncio.ensure_future(peer.ask("weather", "now", {})) for peer in (ann, ann, ben)
        ]
        assert len([await slow.hear() for _ in waiting]) == 3
        assert (await refused(ann.ask("weather", "now", {})))[0] == "busy"
        monkeypatch.setattr("tersely.doors.socket.services.MAX_SERVICE_REQUESTS", 3)
        assert (await refused(ben.ask("weather", "now", {})))[0] == "busy"
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await ben.close()


async def test_services_that_ask_in_a_circle_end_whatever_doors_they_take(home: Path) -> None:
    """`one` asks `two` over the socket, which asks `one` as questions of HTTP do, by a name that is
    its own, or by a call for a thread.
    """
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text("hops = 7\n")
    async with served(home) as relay, await relay.peer("ann") as ann:
        thread = threads.create(relay.relay.store, "work", "ann").thread_id
        asked: list[str] = []
        one, two = Service("one", home=home), Service("two", home=home)

        @one.method()
        async def ping() -> Any:
            asked.append("one")
            async with await relay.peer(f"one-asks-{len(asked)}") as peer:
                hops = relay.relay.services.hops_of("one")  # as its request says it
                return await peer.ask("two", "ping", {}, hops=hops)

        @two.method(name="ping")
        def pong() -> Any:
            asked.append("two")
            if len(asked) % 4:
                call = Call(thread, "one.ping", {}, "two")
                return relay.relay.calls.invoke(call).text
            context = RelayContext(relay.relay, "two")
            later = result_of(context, "service.call", {"service": "one", "method": "ping"})
            return later.finish(later.awaited.result(60)).result

        serving = [asyncio.create_task(service.serve()) for service in (one, two)]
        await until(lambda: len(relay.relay.services.listed()) == 2)
        code, message = await refused(ann.ask("one", "ping", {}))
        assert "8 calls led to this one, 7 may" in message, (code, message)
        assert asked == ["one", "two"] * 4
        assert relay.relay.services.held == {"one": 1}
        assert relay.relay.services.hops_of("one") == 0
        listed = {
            one.name: one
            for one in result_of(RelayContext(relay.relay, "ann"), "service.list", {}).services
        }
        assert (listed["one"].held_back, listed["two"].held_back) == (1, 0)
        assert 'tersely_calls_held_back_total{code="hop_limit"} 1' in "".join(relay.relay.figures())
        for task in serving:
            task.cancel()


async def test_who_asks_too_often_is_told_when_to_come_back(home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text("messages_per_minute = 2\n")
    async with served(home) as relay, weather(relay) as service, await relay.peer("ann") as ann:
        for _ in range(2):
            asking = asyncio.ensure_future(ann.ask("weather", "now", {}))
            service.say("SERVICE_RESPONSE", answer_to(await service.hear(), result=1))
            await asking
        assert (await refused(ann.ask("weather", "now", {})))[0] == "rate_limited"
        assert relay.relay.services.held == {"weather": 1}


async def test_a_result_that_is_too_large_is_a_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.doors.socket.services.MAX_SERVICE_RESULT_BYTES", 100)
    async with served(home) as relay, weather(relay) as service, await relay.peer("ann") as ann:
        asking = asyncio.ensure_future(ann.ask("weather", "now", {}))
        service.say("SERVICE_RESPONSE", answer_to(await service.hear(), result="x" * 200))
        assert await refused(asking) == (
            "answer_too_large",
            "the result has 202 bytes, at most 100 are sent",
        )


async def test_the_policy_holds_over_the_socket_as_well(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('[deny]\n"weather.now" = ["eve"]\n')
    risky = [{"name": "run", "effect": "execute"}, "now"]
    async with (
        served(home) as relay,
        weather(relay, capabilities=risky),
        await relay.peer("eve") as eve,
    ):
        assert (await refused(eve.ask("weather", "now", {})))[0] == "denied"
        assert (await refused(eve.ask("weather", "run", {})))[0] == "denied"


async def test_figures_tell_of_answers_and_failures(home: Path) -> None:
    async with served(home) as relay, weather(relay) as service, await relay.peer("ann") as ann:
        codes = ("BUSY", "X", 'Y"}\n')
        answers: list[dict[str, Any]] = [{"result": 1}]
        answers += [{"error": {"code": code, "message": "y"}} for code in codes]
        for told in answers:
            asking = asyncio.ensure_future(ann.ask("weather", "now", {}))
            service.say("SERVICE_RESPONSE", answer_to(await service.hear(), **told))
            await asyncio.gather(asking, return_exceptions=True)
        await refused(ann.ask("weather", "a-method-that-nobody-has", {}))
        series = {
            (service, method): one for service, method, one in relay.relay.services.figures.series()
        }
        assert set(series) == {("weather", "now"), ("weather", "other")}
        assert (series["weather", "now"].total, dict(series["weather", "now"].failures)) == (
            4,
            {"BUSY": 1, "other": 2},
        )
        assert dict(series["weather", "other"].failures) == {"METHOD_NOT_FOUND": 1}


# Services in Python


def lambda_named(name: str) -> Any:
    def echo(text: str) -> str:
        """The same."""
        return text

    echo.__name__ = name
    return echo


async def started(service: Service) -> asyncio.Task[None]:
    """The task of a service that is connected."""
    ready = asyncio.Event()
    serving = asyncio.create_task(service.serve(ready.set))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    return serving


async def test_functions_are_checked_called_and_described(home: Path) -> None:
    service = Service("tools", version="2", home=home)
    threads_seen = set()

    @service.method(effect="read")
    def add(first: int, second: int = 1, *, labels: list[str] | None = None) -> int:
        """The sum."""
        threads_seen.add(threading.get_ident())
        return first + second + len(labels or ())

    @service.method(name="fail.now")
    async def fail(how: str) -> None:
        if how == "known":
            raise TerselyError("not_permitted", "not you")
        raise ValueError(how)

    @service.method(effect="read")
    def everything() -> str:
        return "x" * 2_000_000

    async with served(home) as relay, await relay.peer("ann") as ann:
        serving = await started(service)
        assert await ann.ask("tools", "add", {"first": 2}) == 3
        assert await ann.ask("tools", "add", {"first": 2, "second": 5, "labels": ["a"]}) == 8
        assert threads_seen.isdisjoint({threading.get_ident()})
        for wrong in ({}, {"first": "2"}, {"first": 1, "third": 1}, [1]):
            assert (await refused(ann.ask("tools", "add", wrong)))[0] == "invalid_argument"  # type: ignore[arg-type]
        assert await refused(ann.ask("tools", "fail.now", {"how": "known"})) == (
            "not_permitted",
            "not you",
        )
        assert await refused(ann.ask("tools", "fail.now", {"how": "no"})) == (
            "service_error",
            "ValueError: no",
        )
        assert (await refused(ann.ask("tools", "everything", {})))[0] == "answer_too_large"
        [told] = relay.relay.services.listed()
        assert told.methods["add"].parameters["required"] == ["first"]
        assert told.methods["add"].parameters["properties"]["second"] == {
            "type": "integer",
            "default": 1,
        }
        assert (told.methods["add"].description, str(told.methods["add"].reach)) == (
            "The sum.",
            "read",
        )
        await ann.send("tools", "hello?")
        await until(lambda: len(relay.mail.dead(0, 10)) == 1)
        serving.cancel()


async def test_a_service_comes_back_with_the_relay(home: Path) -> None:
    service = Service("tools", home=home)
    service.method(effect="read")(lambda_named("echo"))
    async with served(home):
        serving = await started(service)
    async with served(home) as relay, await relay.peer("ann") as ann:
        await until(lambda: bool(relay.relay.services.listed()))
        assert await ann.ask("tools", "echo", {"text": "back"}) == "back"
        taken = Service("tools", home=home)
        with pytest.raises(TerselyError) as refusal:
            await taken.serve()
        assert refusal.value.code == "name_taken"
        serving.cancel()


async def test_the_example_answers(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TERSELY_HOME", str(home))
    (tmp_path / "notes.md").write_text("# Notes\n")
    commands = [
        "git init -q",
        "git add notes.md",
        "git -c user.name=Ann -c user.email=a@b commit -q -m Begin",
    ]
    for command in commands:
        subprocess.run(command.split(), cwd=tmp_path, check=True)
    async with served(home) as relay, await Peer.connect("ann", home=home) as ann:
        script = str(ROOT / "examples" / "commits_service.py")
        example = await asyncio.create_subprocess_exec(sys.executable, script)
        try:
            await until(lambda: bool(relay.relay.services.listed()))
            [commit] = await ann.ask("commits", "latest", {"repository": str(tmp_path)})
            assert (commit["author"], commit["subject"]) == ("Ann", "Begin")
            assert (await refused(ann.ask("commits", "latest", {"repository": "/nowhere"})))[
                0
            ] == "invalid_argument"
        finally:
            example.terminate()
            await example.wait()
