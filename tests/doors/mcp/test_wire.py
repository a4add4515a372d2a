"""What goes over the wire: every revision's results by its schema, and messages that no official
client sends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_types.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    jsonrpc_message_adapter,
)
from mcp_types.methods import (
    parse_server_notification,
    parse_server_request,
    serialize_server_result,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.doors.mcp.conversing import COMMAND, DEADLINE_SECONDS
from tests.doors.mcp.wire import ENVELOPE, Wire, request, wired

from tersely.doors.mcp.jsonrpc import MAX_MESSAGE_BYTES
from tersely.doors.mcp.session import ENVELOPE_VERSIONS, HANDSHAKE_VERSIONS, MAX_OPEN_REQUESTS

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/call", {"name": "symbol_get", "arguments": {"symbol": "format_cents"}}),
    ("tools/call", {"name": "symbol_get", "arguments": {"symbol": "nobody"}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "tersely://symbol/format_cents"}),
]


def code_of(answer: Any) -> int:
    jsonrpc_message_adapter.validate_python(answer)
    code = answer["error"]["code"]
    assert isinstance(code, int)
    return code


def test_every_released_revision_is_spoken() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert ENVELOPE_VERSIONS == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_results_are_what_a_revision_with_a_handshake_wants(shop: Path, version: str) -> None:
    with wired() as wire:
        hello = wire.shake_hands(version)
        assert hello["protocolVersion"] == version
        assert serialize_server_result("initialize", version, hello) == hello
        for number, (method, params) in enumerate(ASKED):
            result = wire.ask(number, method, **params)["result"]
            assert serialize_server_result(method, version, result) == result
        assert wire.ask("p", "ping") == {"jsonrpc": "2.0", "id": "p", "result": {}}
        assert wire.close() == 0


@pytest.mark.parametrize("version", ENVELOPE_VERSIONS)
def test_results_are_what_a_revision_without_a_handshake_wants(shop: Path, version: str) -> None:
    with wired() as wire:
        for number, (method, params) in enumerate([("server/discover", {}), *ASKED]):
            result = wire.ask(number, method, **params, _meta=ENVELOPE)["result"]
            assert serialize_server_result(method, version, result) == result
        assert code_of(wire.ask(90, "ping", _meta=ENVELOPE)) == METHOD_NOT_FOUND
        other = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        refusal = wire.ask(91, "tools/list", _meta=other)
        assert code_of(refusal) == UNSUPPORTED_PROTOCOL_VERSION
        assert refusal["error"]["data"] == {
            "supported": list(ENVELOPE_VERSIONS),
            "requested": "1999-01-01",
        }
        poor = {"io.modelcontextprotocol/protocolVersion": version}
        assert code_of(wire.ask(92, "tools/list", _meta=poor)) == INVALID_PARAMS


def test_an_unknown_revision_is_answered_with_the_newest(shop: Path) -> None:
    with wired() as wire:
        assert code_of(wire.ask(1, "tools/list")) == INVALID_REQUEST
        assert code_of(wire.ask(2, "initialize")) == INVALID_PARAMS
        assert wire.shake_hands("1999-01-01")["protocolVersion"] == HANDSHAKE_VERSIONS[-1]


@pytest.mark.parametrize(
    ("sent", "code", "answered_id"),
    [
        (b"not json", PARSE_ERROR, None),
        (b"\xff\xfe", PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', PARSE_ERROR, None),
        (b"3", INVALID_REQUEST, None),
        (b"[]", INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0"}', INVALID_REQUEST, None),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', INVALID_REQUEST, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 3}', INVALID_REQUEST, 7),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": [1]}', INVALID_PARAMS, "a"),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "prompts/list"}', METHOD_NOT_FOUND, "a"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}', INVALID_PARAMS, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "map", "arguments": 3}}',
         INVALID_PARAMS, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {}}', INVALID_PARAMS, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}', INVALID_PARAMS, 1),
        (b'"' + b"x" * MAX_MESSAGE_BYTES + b'"', INVALID_REQUEST, None),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else None,
)  # fmt: skip
def test_a_message_that_cannot_be_is_one_error(
    shop: Path, sent: bytes, code: int, answered_id: object
) -> None:
    with wired() as wire:
        wire.shake_hands()
        wire.send_bytes(sent + b"\n\n")
        refusal = wire.receive()
        assert code_of(refusal) == code
        assert refusal["id"] == answered_id
        assert wire.ask(5, "ping") == {"jsonrpc": "2.0", "id": 5, "result": {}}


def test_notifications_and_answers_to_nothing_are_taken_in_silence(shop: Path) -> None:
    with wired() as wire:
        wire.shake_hands()
        wire.send(
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
            {"jsonrpc": "2.0", "id": "tersely-1", "result": {}},
            {"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "no"}},
        )
        assert wire.ask(5, "ping")["id"] == 5


def test_batches_are_of_one_revision(shop: Path) -> None:
    batch = [
        request(1, "ping"),
        {"jsonrpc": "2.0", "method": "notifications/nothing"},
        request(2, "nothing"),
        3,
    ]
    with wired() as wire:
        wire.shake_hands("2025-03-26")
        wire.send(
            batch, [{"jsonrpc": "2.0", "method": "notifications/nothing"}], request(9, "ping")
        )
        answers, alone = sorted(
            [wire.receive(), wire.receive()], key=lambda one: isinstance(one, dict)
        )
        assert [one["id"] for one in answers] == [1, 2, None]
        assert [one.get("error", {}).get("code") for one in answers] == [
            None,
            METHOD_NOT_FOUND,
            INVALID_REQUEST,
        ]
        assert alone["id"] == 9
    with wired() as wire:
        wire.shake_hands("2025-06-18")
        wire.send(batch)
        assert code_of(wire.receive()) == INVALID_REQUEST


def test_the_client_is_asked_for_its_roots_and_told_of_progress(shop: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for number in range(40):
        (elsewhere / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    with wired() as wire:
        wire.shake_hands("2025-11-25", roots={"listChanged": True})
        meta = {"progressToken": "t"}
        wire.send(
            request(1, "tools/call", name="symbol_get", arguments={"symbol": "part7"}, _meta=meta)
        )
        question = wire.receive()
        parse_server_request(question["method"], "2025-11-25", question.get("params"))
        assert question["method"] == "roots/list"
        unusable = [
            {"uri": uri}
            for uri in ("file://[::", f"file:///{'a' * 5_000}", "file:///a%00", "file:///")
        ]
        roots = [*unusable, {"uri": elsewhere.as_uri()}]
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}})
        told = []
        while "id" not in (message := wire.receive()):
            parse_server_notification(message["method"], "2025-11-25", message["params"])
            told.append(message["params"])
        assert "part7" in message["result"]["content"][0]["text"]
        assert {one["progressToken"] for one in told} == {"t"}


def test_too_many_questions_at_once_are_refused_and_the_others_answered(shop: Path) -> None:
    many = range(3 * MAX_OPEN_REQUESTS)
    with wired() as wire:
        wire.shake_hands()
        arguments = {"symbol": "format_cents"}
        wire.send(
            *(
                request(number, "tools/call", name="symbol_get", arguments=arguments)
                for number in many
            )
        )
        answers = [wire.receive() for _ in many]
        assert {one["id"] for one in answers} == set(many)
        refused = [one for one in answers if "error" in one]
        assert {one["error"]["code"] for one in refused} <= {-32_000}
        assert len(answers) - len(refused) >= MAX_OPEN_REQUESTS
        assert all(
            "def format_cents" in one["result"]["content"][0]["text"]
            for one in answers
            if "result" in one
        )


def test_input_may_be_a_file(shop: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions"
    client = {"name": "test", "version": "1"}
    hello = request(
        0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client
    )
    questions.write_text(
        "".join(json.dumps(one) + "\n" for one in (hello, request(1, "tools/list")))
    )
    with questions.open("rb") as file:
        done = subprocess.run(
            [sys.executable, *COMMAND],
            stdin=file,
            capture_output=True,
            timeout=DEADLINE_SECONDS,
            check=True,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers] == [0, 1]
    assert done.stderr == b""


def test_the_first_answer_loads_neither_the_engine_nor_an_sdk(shop: Path) -> None:
    program = (
        "import os, sys; end = os._exit\n"
        "def ended(status):\n"
        "    print(*sys.modules, sep='\\n', file=sys.stderr); sys.stderr.flush(); end(status)\n"
        "os._exit = ended\n"
        "from tersely.cli.main import main; main(['mcp'])"
    )
    client = {"name": "test", "version": "1"}
    hello = request(
        0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client
    )
    asked = "".join(json.dumps(one) + "\n" for one in (hello, request(1, "tools/list")))
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=asked.encode(),
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=True,
    )
    loaded = set(done.stderr.decode().split())
    assert "tersely.doors.mcp.stdio" in loaded
    heavy = {
        "mcp",
        "mcp_types",
        "pydantic",
        "anyio",
        "starlette",
        "uvicorn",
        "msgspec",
        "numpy",
        "apsw",
        "tree_sitter",
    }
    assert loaded & heavy == set()
    unneeded = (
        "tersely.code.engine",
        "tersely.code.index",
        "tersely.code.graph",
        "tersely.daemon.service",
    )
    assert not [name for name in loaded if name.startswith(unneeded)]


def test_what_is_sent_while_a_client_does_not_read_is_bounded(shop: Path) -> None:
    """More answers than the pipe and the queue hold wait for the client, and none is lost."""
    with wired() as wire:
        wire.shake_hands()
        count = 500
        feed(wire, count)
        answers = [wire.receive()["id"] for _ in range(count)]
        assert sorted(answers) == list(range(count))


def feed(wire: Wire, count: int) -> None:
    import threading

    lines = b"".join(
        json.dumps(request(number, "tools/list")).encode() + b"\n" for number in range(count)
    )
    threading.Thread(target=wire.send_bytes, args=(lines,), daemon=True).start()
