"""Another tenant's administrator asks everything that can be asked, at every remote door, about
what is not theirs: nothing is read, and nothing changed.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.doors.http.far import Far, serving
from tests.doors.http.things import CHANNEL, SECRET, Red, arguments_of, body_of, envelope, told_of

from tersely.capabilities import catalogue
from tersely.capabilities.relay.contract.operations import Content, operations
from tersely.doors.socket.router import _BEFORE, _DO

InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus

# of those who ask for what is there already, or is not theirs to have
SAID_NO = ("_not_found", "denied", "no_open_item", "not_ready", "not_permitted")


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with serving(tmp_path_factory.mktemp("far")) as served:
        yield served


@pytest.fixture(scope="module")
def red(far: Far) -> Red:
    return Red(far)


@pytest.fixture(scope="module")
def blue(far: Far) -> str:
    """The token of an administrator of the other tenant."""
    return far.token("blue", tenant="blue", level="admin")


@pytest.fixture
def unchanged(red: Red) -> Iterator[Red]:
    """The tenant, which is afterwards as it was."""
    before = red.everything()
    assert SECRET in json.dumps(before)
    yield red
    assert red.everything() == before


def test_every_capability(unchanged: Red, far: Far, blue: str) -> None:
    given = unchanged.given()
    for agent in ("blue", "red"):  # whose name is free among those of the other tenant
        for name in catalogue.RELAY_NAMES:
            answer = far.capability(blue, name, agent, **arguments_of(name, given))
            assert SECRET not in json.dumps(answer.json), (name, agent)
            assert answer.status == 200 or answer.json["code"].endswith(SAID_NO), (name, answer)


@pytest.mark.parametrize("agent", ["blue", "red"])
def test_every_operation(unchanged: Red, far: Far, blue: str, agent: str) -> None:
    values = {**unchanged.given(), "kind": "thread"}
    connection = far.connect()
    for operation in operations():
        path = operation.path.format(**values)
        query = f"?query={SECRET}" if any(one.required for one in operation.query) else ""
        if operation.gives is Content.EVENTS and operation.name == "event_stream_all":
            continue
        headers = {"Authorization": f"Bearer {blue}", "X-Relay-Agent": agent}
        connection.request(operation.method, path + query, body_of(operation, unchanged), headers)
        response = connection.getresponse()
        content = response.read()
        assert SECRET.encode() not in content, operation.name
        told = json.loads(content)["code"] if response.status >= 400 else ""
        assert response.status < 300 or told.endswith((*SAID_NO, "unauthorized", "invalid_bundle")), (
            operation.name, response.status, content,
        )  # fmt: skip
    connection.close()


def test_every_stream(unchanged: Red, far: Far, blue: str) -> None:
    for path in (f"/threads/{unchanged.thread}/events/stream", "/events/stream?after=0-0-x"):
        assert SECRET.encode() not in streamed(far, blue, path), path
    with pytest.raises(InvalidStatus) as refused:
        far.socket(blue, f"/threads/{unchanged.thread}/events/stream").__enter__()
    assert refused.value.response.status_code == 404
    with far.socket(blue, "/events/stream?after=0-0-x") as events:
        name = far.capability(blue, "thread.new", name="azure socket").json["result"]["name"]
        came = ""
        while name not in came:
            came += events.recv(60)
    assert SECRET not in came


def streamed(far: Far, token: str, path: str) -> bytes:
    """What comes of a stream of events until one comes that is told of afterwards."""
    connection = far.connect()
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        if response.status != 200:
            return response.read()
        far.capability(token, "thread.new", name="azure")
        return b"".join(iter_until(response, b"azure"))
    finally:
        connection.close()


def iter_until(response: http.client.HTTPResponse, last: bytes) -> Iterator[bytes]:
    line = b""
    while last not in line:
        line = response.readline()
        yield line


def test_every_envelope(unchanged: Red, far: Far, blue: str) -> None:
    session = unchanged.session
    payloads: dict[str, Any] = {
        "RESUME": {"resume_token": session["resume_token"], "capabilities": {}},
        "SEND": {"kind": "message", "body": "blue", "thread": unchanged.thread},
        "ACK": {"ack_id": unchanged.message, "seq": 1},
        "NACK": {"ack_id": unchanged.message, "code": "INVALID"},
        "STATE": {"state": "blue"},
        "SYNC": {"session_id": session["session_id"], "streams": [{"peer": "red", "last_seq": 0}]},
        "CHANNEL_MESSAGE": {"channel": CHANNEL, "body": "blue"},
        "LOG": {"data": "blue"},
        "SERVICE_REQUEST": {"service": "tldr", "method": "tree", "params": {}},
        "SERVICE_RESPONSE": {"request_id": "1", "success": True},
    }  # fmt: skip
    answered = envelope(far, blue, "RESUME", payloads["RESUME"])
    assert answered["type"] == "ERROR", answered
    for asked in sorted(_DO.keys() - {"BYE", "PING"}):
        payload = payloads.get(asked, {"channel": CHANNEL, "nonce": "n"})
        assert SECRET not in told_of(far, blue, "red", asked, payload), asked
    assert payloads.keys() <= _DO.keys() | _BEFORE.keys()
