"""A service of the relay behind the other doors: the command line, and the tools of the Model
Context Protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.cli.relay_home import Home, home_of
from tests.doors.mcp.conversing import converse, text_of

from tersely.client.hops import passed_on
from tersely.client.service import Service

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def weather(home: Path) -> Service:
    service = Service("weather", version="1.0", home=home)

    @service.method(effect="read")
    def now(city: str, days: int = 1) -> dict[str, Any]:
        """The sky above a city"""
        return {"city": city, "days": days, "sky": "clear"}

    @service.method(effect="read")
    def led() -> dict[str, Any]:
        """What a question from here would say has led to it"""
        return passed_on()

    @service.method()
    def forget(city: str) -> str:
        """Forget a city"""
        return f"forgot {city}"

    return service


@contextmanager
def serving(home: Path) -> Iterator[None]:
    """The service for as long as the block runs."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    task = loop.create_task(weather(home).serve(ready.set))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(60)
    yield
    loop.call_soon_threadsafe(task.cancel)
    thread.join()
    loop.close()


@pytest.fixture
def relay(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("HOME", str(tmp_path))
    with home_of(tmp_path / "home", shop) as home:
        monkeypatch.setenv("TERSELY_HOME", str(home.home))
        yield home


def test_a_service_is_behind_every_door(shop: Path, relay: Home) -> None:
    relay.up()

    async def work(client: Client) -> None:
        async def said(name: str, **arguments: Any) -> str:
            return text_of(await client.call_tool(name, arguments))

        listed = await said("more_tools", budget=4_000)
        assert "weather_now(city, days?)  The sky above a city\n" in listed
        assert "weather_forget" not in listed  # a client would call it without asking
        assert "tldr_" not in listed
        assert '"city"' in await said("more_tools", tool="weather_now")
        answer = await said("call", tool="weather.now", arguments={"city": "Oslo"}, budget=500)
        assert '"sky": "clear"' in answer
        wrong = await client.call_tool(
            "call", {"tool": "weather_now", "arguments": {"town": "Oslo"}}
        )
        assert wrong.is_error
        assert "invalid_argument" in text_of(wrong)
        for name in ("weather_forget", "weather_none"):
            missing = await client.call_tool("call", {"tool": name, "arguments": {}})
            assert missing.is_error
            assert "unknown_command" in text_of(missing)
        assert "format_cents" in await said(
            "call", tool="symbol_find", arguments={"queries": ["format_cents"]}
        )

    with serving(relay.home):
        converse(work)
        assert "now(city, days)" in relay.ok("services")
        names = {one["name"]: one["how"] for one in relay.ask("services")["services"]}
        assert names == {"tldr": "bridge", "weather": "connected"}
        printed = relay.run(
            "--json", "services", "call", "weather", "now", "--city", "Oslo", "--days", "2"
        )
        assert '"days":2' in printed.out.replace(" ", "")
        assert relay.ok("services", "call", "weather", "forget", "--city", "a b") == "forgot a b\n"
        assert (
            relay.refused("services", "call", "weather", "now", "--days", "x") == "invalid_argument"
        )
        assert {"weather.now", "weather.forget"} <= {
            one["name"] for one in relay.ask("relay", "cap", "list")["capabilities"]
        }
    assert relay.refused("services", "call", "weather", "now") == "service_not_found"
    assert (
        relay.refused("services", "call", "tldr", "semantic", "x", "--limit", "many")
        == "invalid_argument"
    )


def test_settings_of_services_are_shown_and_errors_in_them_are_one_line(
    relay: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".config" / "agent-relay" / "services.json"
    file.parent.mkdir(parents=True)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    file.write_text('{"services": [{"name": "code", "type": "tldr", "enabled": "yes"}]}')
    printed = relay.run("up", "--port", "0")
    assert printed.status == 2
    assert printed.err.count("\n") <= 2
    assert "services.json: Expected `bool`, got `str`" in printed.err
    assert "services.json" in relay.run("doctor").out
    file.write_text(
        '{"services": [{"name": "code", "type": "tldr", "socketPath": "/nowhere/t.sock"}]}'
    )
    relay.up()
    assert "socketPath /nowhere/t.sock" in relay.ok("config")
    told = relay.run("services", "call", "code", "semantic", "it's", "--root", str(relay.root)).err
    assert "Try: grep " in told


def test_without_a_relay_there_are_no_services_and_nothing_else_changes(
    shop: Path, relay: Home
) -> None:
    async def work(client: Client) -> None:
        assert "symbol_find" in text_of(await client.call_tool("more_tools", {}))
        assert (await client.call_tool("call", {"tool": "weather_now"})).is_error
        refused = text_of(await client.call_tool("agents", {}))
        assert refused.startswith("daemon_not_running: ")
        # a model may have no shell, and is told no place of this machine
        assert "tersely up" not in refused
        assert str(relay.home) not in refused

    converse(work)
    assert relay.refused("services") == "daemon_not_running"


@pytest.mark.parametrize(("said", "passed"), [(TRACE, TRACE), ("00-no trace-01", ""), (7, "")])
def test_the_trace_of_a_call_is_passed_on_to_a_service(
    relay: Home, said: object, passed: str
) -> None:
    relay.up()

    async def work(client: Client) -> None:
        call = {"tool": "weather_led", "arguments": {}}
        answer = await client.call_tool("call", call, meta={"traceparent": said})
        assert json.loads(text_of(answer)) == {
            "hops": 1,
            **({"traceparent": passed} if passed else {}),
        }

    with serving(relay.home):
        converse(work)
