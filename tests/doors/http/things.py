"""What one identity of a relay has, and every request about it that others may come up with."""

from __future__ import annotations

import json
from typing import Any

from tests.doors.http.far import Far, said

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.relay.contract.operations import Content, HttpOperation

SECRET = "crimson"  # is in everything that this one has, and nothing that others say
CHANNEL, PROJECT, TARGET = "#paint", "shop", "till.py"
PATCH = [{"op": "add", "path": "/facts/-", "value": {"id": "f", "key": "k", "value": "blue"}}]


class Red:
    """The identity whose things are meant, in a tenant of its own."""

    def __init__(self, far: Far, tenant: str = "red") -> None:
        self.far = far
        self.token = far.token("red", tenant=tenant, level="admin")
        # before there is mail, which would be delivered in the meantime
        self.session = envelope(far, self.token, "HELLO")["payload"]
        self.thread = self.do("thread.new", name=f"{SECRET} thread")["thread_id"]
        self.ref = self.do(
            "artifact.put", content=f"{SECRET} text", name=f"{SECRET}.txt", thread=self.thread
        )["ref"]
        fact = {"id": "r", "key": "paint", "value": SECRET}
        self.do(
            "state.patch",
            thread=self.thread,
            patch=[{"op": "add", "path": "/facts/-", "value": fact}],
        )
        self.do("channel.join", channel=CHANNEL)
        self.message = self.do("mail.send", to="red", body=f"{SECRET} mail", queue=True)[
            "message_id"
        ]
        self.do("mail.send", to=CHANNEL, body=f"{SECRET} post")
        self.do("claim.take", targets=[TARGET], project=PROJECT, why=SECRET, minutes=60)
        self.item = self.do("board.add", step=f"{SECRET} step", project=PROJECT)["items"][0]["id"]
        self.do("board.take", item=self.item, project=PROJECT)

    def do(self, capability: str, **arguments: Any) -> Any:
        answer = self.far.capability(self.token, capability, **arguments)
        assert answer.status == 200, answer
        return answer.json["result"]

    def everything(self) -> dict[str, Any]:
        """All that this tenant can see of itself."""
        given = self.given()
        reading = [
            one for one in catalogue.RELAY_NAMES if catalogue.load(one).effect is Effect.READ
        ]
        return {
            name: self.do(name, **arguments_of(name, given))
            for name in reading
            if name not in {"relay.status", "relay.config"}
        }

    def given(self) -> dict[str, Any]:
        """Arguments by which any capability means what is this tenant's."""
        return {
            "thread": self.thread, "ref": self.ref, "name": "red", "query": SECRET, "item": self.item,
            "project": PROJECT, "message_id": self.message, "channel": CHANNEL, "targets": [TARGET], "to": "red",
            "body": "blue", "step": "blue", "patch": PATCH, "content": "blue", "service": "tldr", "method": "tree",
            "tool": "Bash", "what": "blue", "seconds": 1,
        }  # fmt: skip


def arguments_of(capability: str, given: dict[str, Any]) -> dict[str, Any]:
    known = {one.name for one in catalogue.load(capability).parameters}
    return {name: value for name, value in given.items() if name in known}


def body_of(operation: HttpOperation, red: Red) -> bytes | None:
    """What a request of an operation may say."""
    given = {**red.given(), "thread_id": red.thread}
    if operation.takes is Content.BYTES:
        return b"blue"
    if operation.body:
        return json.dumps(given[operation.body]).encode()
    if operation.capability:
        named = arguments_of(operation.capability, given)
        inside = {
            name: value for name, value in named.items() if f"{{{name}}}" not in operation.path
        }
        return json.dumps(inside).encode() if operation.asks else None
    return json.dumps(BODIES[operation.name](red)).encode() if operation.asks else None


BODIES = {
    "ask": lambda red: {"capability": "thread.show", "arguments": {"thread": red.thread}},
    "cap_invoke": lambda red: {
        "capability": "retrieval.search", "thread_id": red.thread, "args": {"query": SECRET}
    },
    "session_end": lambda red: {"program": "blue", "description": "blue", "summary": "blue"},
    "permission_answer": lambda red: {"allows": True},
    "token_new": lambda red: {"identity": "red", "tenant": "red", "bearer": True},
    "join": lambda red: {"code": "AAAAA-AAAAA-AAAAA-AAAAA"},
}  # fmt: skip


def envelope(
    far: Far, token: str, asked: str, payload: Any = None, agent: str = "red"
) -> dict[str, Any]:
    """What is answered to the first envelope of a connection."""
    with far.socket(token) as socket:
        return said(socket, asked, payload or {"agent": agent, "capabilities": {"resume": True}})


def told_of(far: Far, token: str, agent: str, asked: str, payload: Any) -> str:
    """All that an agent is told by a connection that asks this about `red`, as JSON."""
    with far.socket(token) as socket:
        told = [said(socket, "HELLO", {"agent": agent, "capabilities": {"ack": True}})]
        for one in (
            {"type": asked, "id": "1", "to": "red", "topic": "logs:red", "payload": payload},
            {"type": "PING", "id": "2", "payload": {"nonce": "last"}},
        ):
            socket.send(json.dumps({"v": 1, **one}))
        while told[-1]["type"] != "PONG":
            told.append(json.loads(socket.recv(60)))
    return json.dumps(told)
