"""The proposal of a code service at the relay, from its first page to its last, over the relay's
socket.

Other tests have the rest of it: `test_services.py` the time of a request that names none;
`test_bridge.py` tries again, ids, times, sizes and caches; `tests/daemon/test_appendix.py` all
commands of the appendix; `tests/relay/test_services_configuration.py` the settings;
`tests/wrap/test_conversations.py` and `tests/docs/test_agents_page.py` lines and answers in a
terminal; `tests/wrap/handoff/test_brief.py` the context at the start of a session.
"""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.bridging import ANSWER_WORDS, APPENDIX, bridged, listening, refused, with_id
from tests.doors.socket.served import Raw, Served, served

from tersely.capabilities.relay.answers.results import result_text
from tersely.daemon import lifecycle
from tersely.relay.services.configuration import Bridged, configuration_path, load
from tersely.relay.wire.home import socket_path
from tersely.wrap.inline import reading
from tersely.wrap.inline.arguments import asked
from tersely.wrap.inline.commands import OutgoingMessage

pytestmark = pytest.mark.usefixtures("runtime")

OWNER_ONLY = 0o600
HELLO: dict[str, Any] = {
    "entityType": "service",
    "capabilities": {"ack": True, "resume": False, "max_inflight": 10, "supports_topics": False},
    "service": {
        "name": "tldr",
        "version": "1.0.0",
        "capabilities": ["semantic", "context", "impact", "calls"],
    },
}
REQUEST = {"service": "tldr", "method": "impact", "params": {"target": "handleLogin"}}
LINES: Mapping[str, dict[str, Any]] = {
    '->relay:tldr semantic "validate authentication tokens"': {
        "cmd": "semantic", "query": "validate authentication tokens",
    },
    "->relay:tldr context src/auth/jwt.ts --depth 3": {"cmd": "context", "target": "src/auth/jwt.ts", "depth": 3},
    "->relay:tldr impact handleLogin": {"cmd": "impact", "target": "handleLogin"},
    "->relay:tldr calls processPayment --direction callers": {
        "cmd": "calls", "target": "processPayment", "direction": "callers",
    },
}  # fmt: skip
FALLBACKS = {"semantic": "grep -r", "context": "cat ", "impact": "grep -r", "calls": "grep -r"}
HITS = [
    {
        "file": "src/auth/jwt.ts",
        "line": 14,
        "signature": "function validateToken(token)",
        "score": 0.871,
    }
]


@asynccontextmanager
async def connected(relay: Served) -> AsyncIterator[tuple[Raw, Raw]]:
    """The code service as it introduces itself, and an agent; the tests write what both send."""
    service, agent = await relay.hello("tldr", **HELLO), await relay.hello("ann")
    yield service, agent
    service.close()
    agent.close()


# Protocol extension


async def test_a_service_introduces_itself_with_its_capabilities(home: Path) -> None:
    async with served(home) as relay, connected(relay):
        [told] = relay.relay.services.listed()
        assert (told.name, told.version, list(told.methods)) == (
            "tldr", "1.0.0", ["semantic", "context", "impact", "calls"],
        )  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        {"success": True, "result": {"callers": ["login"]}},
        {"success": False, "error": {"code": "SERVICE_ERROR", "message": "no index"}},
    ],
)
async def test_a_request_is_passed_on_and_its_response_comes_back(
    home: Path, answer: dict[str, Any]
) -> None:
    async with served(home) as relay, connected(relay) as (service, ann):
        ann.say("SERVICE_REQUEST", REQUEST, id="q1")
        request = await service.hear()
        assert (request["v"], request["type"], request["from"], request["to"]) == (
            1,
            "SERVICE_REQUEST",
            "ann",
            "tldr",
        )
        assert request["payload"] == REQUEST
        service.say("SERVICE_RESPONSE", {"request_id": request["id"], **answer})
        response = await ann.hear()
        assert {"v", "type", "id", "ts", "from", "to", "payload"} <= response.keys()
        assert (response["type"], response["from"], response["to"]) == (
            "SERVICE_RESPONSE",
            "tldr",
            "ann",
        )
        assert response["payload"] == {"request_id": "q1", **answer}


async def test_every_failure_has_a_code(home: Path) -> None:
    async with served(home) as relay, connected(relay) as (service, ann):

        async def failure(**change: Any) -> str:
            ann.say("SERVICE_REQUEST", {**REQUEST, **change}, id="q2")
            payload = (await ann.hear())["payload"]
            assert (payload["request_id"], payload["success"]) == ("q2", False)
            assert payload["error"]["message"]
            code: str = payload["error"]["code"]
            return code

        assert await failure(service="none") == "SERVICE_NOT_FOUND"
        assert await failure(timeout_ms=100) == "TIMEOUT"
        await service.hear()
        ann.say("SERVICE_REQUEST", REQUEST, id="q3")
        await service.hear()
        service.close()
        assert (await ann.hear())["payload"]["error"]["code"] == "SERVICE_ERROR"


# Agent-facing interface


@pytest.mark.parametrize("line", LINES)
async def test_a_line_of_an_agent_is_a_command_of_the_protocol(
    home: Path, shop: Path, runtime: Path, line: str
) -> None:
    _, [found] = reading.read(reading.START, reading.ScreenLine(line, 0))
    assert isinstance(found.command, OutgoingMessage)
    question = asked(found.command.to, found.command.body)
    socket = runtime / "t.sock"
    async with (
        listening(socket, with_id(success=True, result=HITS)) as other,
        bridged(home, shop, socket=str(socket)) as (_, ann),
    ):
        assert await ann.ask(*question) == HITS
        [request] = other.requests
        assert LINES[line].items() <= request.items()
        assert isinstance(request["id"], str)


def test_words_without_a_name_and_flags_become_parameters() -> None:
    given = 'look "two words" second third --depth 3 --deep true --wide false'
    assert asked("custom", given).parameters == {
        "query": "two words", "target": "second", "path": "third", "depth": 3, "deep": True, "wide": False,
    }  # fmt: skip


def test_results_are_shown_as_they_are_read() -> None:
    assert result_text("a text") == "a text"
    assert result_text(HITS) == "src/auth/jwt.ts:14 function validateToken(token) (87%)"
    assert json.loads(result_text({"callers": 3})) == {"callers": 3}


# Configuration and startup


async def test_the_environment_names_the_socket_of_the_service(
    home: Path, shop: Path, runtime: Path
) -> None:
    socket = runtime / "t.sock"
    environment = {
        "HOME": str(home),
        "AGENT_RELAY_TLDR_ENABLED": "true",
        "AGENT_RELAY_TLDR_SOCKET": str(socket),
    }
    [settings] = load(environment)
    assert settings == Bridged("tldr", is_enabled=True, socket=str(socket), starts=False)
    async with (
        listening(socket, with_id(success=True, result=7)),
        bridged(home, shop, **asdict(settings)) as (_, ann),
    ):
        assert await ann.ask("tldr", "structure", {}) == 7


def test_the_file_names_the_services(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    assert configuration_path(environment) == tmp_path / ".config" / "agent-relay" / "services.json"
    configuration_path(environment).parent.mkdir(parents=True)
    service = {"name": "tldr", "type": "tldr", "enabled": True, "socketPath": "/tmp/tldr.sock"}
    for is_enabled, starts in [(True, False), (False, True)]:
        told = {"services": [{**service, "enabled": is_enabled, "autoStart": starts}]}
        configuration_path(environment).write_text(json.dumps(told))
        assert load(environment) == [
            Bridged("tldr", is_enabled=is_enabled, socket="/tmp/tldr.sock", starts=starts)
        ]


async def test_a_daemon_that_runs_is_found_and_both_sockets_are_their_owners(
    home: Path, shop: Path
) -> None:
    socket = Path(lifecycle.start(str(shop), ANSWER_WORDS, 600).status["socket"])
    async with bridged(home, shop) as (_, ann):
        assert (await ann.ask("tldr", "extract", APPENDIX["extract"]))["path"] == "auth.py"
        for one in (socket, socket_path(home)):
            assert stat.S_IMODE(one.stat().st_mode) == OWNER_ONLY


# Error handling


@pytest.mark.parametrize("method", FALLBACKS)
async def test_where_there_is_no_service_a_command_to_try_is_said(
    home: Path, shop: Path, method: str
) -> None:
    async with bridged(home, shop, socket=str(shop / "none.sock"), starts=False) as (_, ann):
        _, message = await refused(ann.ask("tldr", method, APPENDIX[method]))
        assert message.startswith("tldr unavailable: ")
        assert message.partition(" Try: ")[2].startswith(FALLBACKS[method])
