"""Tokens of the same tenant that are good for less ask everything that can be asked about what they
are not good for, at every door: nothing is read, and nothing changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.doors.http.far import Far, serving
from tests.doors.http.things import CHANNEL, SECRET, Red, arguments_of, body_of, envelope, told_of

from tersely.capabilities import catalogue
from tersely.capabilities.relay.contract.operations import operations
from tersely.doors.socket.router import _DO

InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus

# what whoever may write may always make, of their own
OWN = {"permission.ask", "thread.new"}
LISTS = {"agent.list", "thread.list"}  # which show it


class Subject:
    """A tenant with what one has in it, and the token of another for a thread of its own."""

    def __init__(self, far: Far, level: str) -> None:
        self.red = Red(far, tenant=f"red-{level}")
        self.level = level
        own = self.red.do("thread.new", name="own")["thread_id"]
        scopes = {"threads": [own], "projects": ["none"], "channels": ["#none"]}
        self.token = far.token("other", tenant=f"red-{level}", level=level, **scopes)
        assert far.capability(self.token, "thread.get", thread=own).status == 200
        envelope(far, self.token, "HELLO", agent="other")

    def may_have(self, capability: str) -> bool:
        return self.level == "write" and capability in OWN


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with serving(tmp_path_factory.mktemp("far")) as served:
        yield served


@pytest.fixture(scope="module", params=["read", "write"])
def subject(far: Far, request: pytest.FixtureRequest) -> Subject:
    return Subject(far, request.param)


@pytest.fixture
def unchanged(subject: Subject) -> Iterator[Subject]:
    """What is there is afterwards as it was; one who may write may have made what is its own, one
    who may only read has not even another name.
    """
    before = subject.red.everything()
    yield subject
    after = subject.red.everything()
    assert {name for name, value in before.items() if after[name] != value} <= LISTS
    if subject.level == "read":
        assert after["thread.list"] == before["thread.list"]
        assert names_of(after) == names_of(before)


def names_of(everything: Mapping[str, Any]) -> list[str]:
    """Who is known."""
    return [one["name"] for one in everything["agent.list"]["agents"]]


AGENTS: Mapping[str, dict[str, str]] = {
    "itself": {},
    "whose it is": {"X-Relay-Agent": "red"},
    "somebody new": {"X-Relay-Agent": "new"},
}


@pytest.mark.parametrize("agent", AGENTS)
def test_every_operation(unchanged: Subject, far: Far, agent: str) -> None:
    red = unchanged.red
    values = {**red.given(), "kind": "thread"}
    headers = {"Authorization": f"Bearer {unchanged.token}", **AGENTS[agent]}
    connection = far.connect()
    for operation in operations():
        path = operation.path.format(**values)
        query = f"?query={SECRET}" if any(one.required for one in operation.query) else ""
        connection.request(operation.method, path + query, body_of(operation, red), headers)
        response = connection.getresponse()
        content = response.read()
        assert SECRET.encode() not in content, operation.name
        if response.status < 300 and operation.writes:
            assert unchanged.may_have(operation.capability) or operation.name == "cassette_upload"
    connection.close()


@pytest.mark.parametrize("agent", AGENTS)
def test_every_capability(unchanged: Subject, far: Far, agent: str) -> None:
    name = AGENTS[agent].get("X-Relay-Agent", "")
    for asked in catalogue.RELAY_NAMES:
        arguments = arguments_of(asked, unchanged.red.given())
        answer = far.capability(unchanged.token, asked, name, **arguments)
        assert SECRET not in json.dumps(answer.json), asked


def test_every_stream_and_envelope(unchanged: Subject, far: Far) -> None:
    red, token = unchanged.red, unchanged.token
    for path in (f"/threads/{red.thread}/events/stream", "/events/stream"):
        with pytest.raises(InvalidStatus):
            far.socket(token, path).__enter__()
    payloads = {
        "SEND": {"kind": "message", "body": "blue", "thread": red.thread},
        "CHANNEL_MESSAGE": {"channel": CHANNEL, "body": "blue"},
        "SYNC": {"session_id": red.session["session_id"], "streams": []},
        "LOG": {"data": "blue"},
    }
    for asked in sorted(_DO.keys() - {"BYE", "PING"}):
        payload = payloads.get(asked, {"channel": CHANNEL, "nonce": "n", "ack_id": red.message})
        assert SECRET not in told_of(far, token, "other", asked, payload), asked
