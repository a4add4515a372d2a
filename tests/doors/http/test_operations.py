"""The relay over HTTP as its clients use it."""

from __future__ import annotations

import hashlib
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, Semaphore

import pytest
from tests.doors.http.conftest import Web

from tersely.doors.http import request_parsing
from tersely.doors.http.app import WEB_CALL_THREADS
from tersely.relay.services.calls import Call, Given, Offer


def test_a_walk_through(web: Web) -> None:
    made = web.ask("POST", "/threads", {"name": "first"})
    assert made.status == 201
    thread = made.json["thread_id"]
    stored = web.ask(
        "POST",
        f"/threads/{thread}/artifacts",
        {"name": "notes.md", "type": "markdown", "content": "# Hello\n"},
    )
    assert (stored.status, stored.json["ref"]) == (201, hashlib.sha256(b"# Hello\n").hexdigest())
    operations = [
        {
            "op": "add",
            "path": "/artifacts/-",
            "value": {"ref": stored.json["ref"], "type": "markdown"},
        },
        {"op": "add", "path": "/facts/-", "value": {"id": "f1", "key": "phase", "value": "done"}},
    ]
    assert web.ask("POST", f"/threads/{thread}/state/patch", operations).json["state_ref"] == "v2"
    header = web.ask("GET", f"/threads/{thread}/state/header").json
    assert [fact["value"] for fact in header["top_facts"]] == ["done"]
    call = {"capability": "retrieval.search", "thread_id": thread, "args": {"query": "hello"}}
    answers = [web.ask("POST", "/cap/invoke", call).json for _ in range(2)]
    assert [answer["cache_hit"] for answer in answers] == [False, True]
    assert json.loads(answers[0]["text"])["results"][0]["snippet"] == "notes.md\n# «Hello»\n"
    report = web.ask("POST", f"/reports/{thread}", {"format": "md"}).json
    assert report["text"].startswith("# first\n")
    kinds = [event["type"] for event in web.ask("GET", f"/threads/{thread}/events").json["events"]]
    assert kinds == [
        "thread.created", "artifact.created", "state.patch.applied", "artifact.created", "capability.invoked",
        "capability.invoked", "artifact.created", "report.generated",
    ]  # fmt: skip
    detail = web.ask("GET", f"/threads/{thread}").json
    assert (detail["name"], detail["state_version"]) == ("first", 2)
    assert thread in [one["thread_id"] for one in web.ask("GET", "/threads").json["threads"]]
    assert web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]["cache_hits"] == 1


def test_content_comes_back_as_it_was(web: Web) -> None:
    thread = web.thread()
    content = bytes(range(256)) * 2_000
    stored = web.ask(
        "PUT",
        f"/threads/{thread}/artifacts?name=all.bin",
        content,
        Content_Type="application/octet-stream",
    )
    assert (stored.status, stored.json["type"], stored.json["size"]) == (
        201,
        "binary",
        len(content),
    )
    sent = web.ask("GET", f"/threads/{thread}/artifacts/{stored.json['ref'][:12]}/content")
    assert (sent.status, sent.content) == (200, content)
    assert sent.headers["content-type"] == "application/octet-stream"
    removed = web.ask("DELETE", f"/threads/{thread}/artifacts/{stored.json['ref']}")
    assert removed.json == {"ref": stored.json["ref"]}
    assert web.ask("GET", f"/threads/{thread}/artifacts").json == {
        "artifacts": [],
        "next_after": None,
    }


def test_a_page_of_somebody_else_is_never_sent_as_one(web: Web) -> None:
    thread = web.thread()
    page = {
        "name": "x.html",
        "type": "html",
        "mime": "text/html",
        "content": "<script>alert(1)</script>",
    }
    ref = web.ask("POST", f"/threads/{thread}/artifacts", page).json["ref"]
    sent = web.ask("GET", f"/threads/{thread}/artifacts/{ref}/content")
    assert sent.headers["content-type"] == "text/plain; charset=utf-8"
    assert sent.headers["content-security-policy"] == "sandbox"
    assert sent.headers["x-content-type-options"] == "nosniff"


def test_versions_are_guarded_and_stay(web: Web) -> None:
    thread = web.thread()
    patch = [{"op": "add", "path": "/facts/-", "value": {"id": "f"}}]
    assert web.ask("POST", f"/threads/{thread}/state/patch", patch, If_Match='"v1"').status == 200
    conflict = web.ask("POST", f"/threads/{thread}/state/patch", patch, If_Match="1")
    assert (conflict.status, conflict.json["code"]) == (409, "version_conflict")
    assert "is at version 2" in conflict.json["message"]
    assert web.ask("GET", f"/threads/{thread}/state?version=v1").json["facts"] == []
    assert web.ask("GET", f"/threads/{thread}/state?version=9").status == 404
    (latest, first) = web.ask("GET", f"/threads/{thread}/state/history").json["versions"]
    assert (latest["by"], latest["operations"], first["operations"]) == ("ann", patch, [])


def test_a_repeated_request_happens_once(web: Web) -> None:
    thread = web.thread()
    patch = [{"op": "add", "path": "/facts/-", "value": {"id": "f"}}]
    for _ in range(2):
        assert (
            web.ask("POST", f"/threads/{thread}/state/patch", patch, Idempotency_Key="one").json[
                "version"
            ]
            == 2
        )
    other = web.ask("POST", f"/threads/{thread}/state/patch", patch[:0], Idempotency_Key="one")
    assert (other.status, other.json["code"]) == (409, "key_reused")


def test_forty_patches_at_once_all_survive(web: Web) -> None:
    thread = web.thread()

    def patch(number: int) -> int:
        operations = [{"op": "add", "path": "/facts/-", "value": {"id": str(number)}}]
        return web.ask("POST", f"/threads/{thread}/state/patch", operations).status

    with ThreadPoolExecutor(10) as pool:
        assert set(pool.map(patch, range(40))) == {200}
    assert len(web.ask("GET", f"/threads/{thread}/state").json["facts"]) == 40


def test_events_come_as_they_happen_and_resume(web: Web) -> None:
    thread = web.thread()
    path = f"/threads/{thread}/events/stream"
    connection = web.connect()
    connection.request("GET", path, headers=web.headers())
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream")
    lines = iter(stream.readline, b"")
    assert next(line for line in lines if line.startswith(b"event:")) == b"event: thread.created\n"
    web.ask(
        "POST", f"/threads/{thread}/state/patch", [{"op": "add", "path": "/facts/-", "value": {}}]
    )
    assert next(line for line in lines if line.startswith(b"id:")) == b"id: 2\n"
    connection.close()
    resumed = web.connect()
    resumed.request("GET", path, headers={**web.headers(), "Last-Event-ID": "1"})
    lines = iter(resumed.getresponse().readline, b"")
    assert next(line for line in lines if line.startswith(b"id:")) == b"id: 2\n"
    resumed.close()


def everything(web: Web, count: int, after: str = "") -> list[tuple[str, str, str]]:
    """Events of all threads as they come: the id of each, its thread and its name."""
    connection = web.connect()
    headers = web.headers() | ({"Last-Event-ID": after} if after else {})
    connection.request("GET", "/events/stream", headers=headers)
    stream, found, name = connection.getresponse(), [], ""
    stream.readline()  # it is open: what happens from here on comes
    if not after:
        for number in range(count):
            web.ask("POST", f"/threads/{web.thread()}/checkpoints", {"name": f"mark {number}"})
    for line in iter(stream.readline, b""):
        if line.startswith(b"id: "):
            name = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            told = json.loads(line[6:])
            found.append((name, told["thread_id"], told["payload"].get("name", "")))
            if told["payload"].get("name") == f"mark {count - 1}":
                break
    connection.close()
    return found


def test_the_events_of_all_threads_come_as_they_happen_and_go_on_behind_any(web: Web) -> None:
    web.ask("POST", f"/threads/{web.thread('earlier')}/checkpoints", {"name": "before"})
    found = everything(web, 5)
    marks = [name for _, _, name in found if name.startswith("mark")]
    assert marks == [f"mark {number}" for number in range(5)]
    assert len({thread for _, thread, _ in found}) >= 5
    for at, (name, _, _) in enumerate(found[:-1]):
        again = everything(web, 5, name)
        assert [one for one in again if one in found[at + 1 :]] == found[at + 1 :]
        assert found[at] not in again
    for wrong in ("1", "x-1-y", "1-1-", "9" * 16 + "-1-y"):
        refused = web.ask("GET", f"/events/stream?after={wrong}")
        assert refused.json["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/threads", b"{", 400, "malformed_request"),
        ("POST", "/threads", b"", 400, "invalid_argument"),
        ("POST", "/threads", [], 400, "invalid_argument"),
        ("POST", "/threads", {"nom": "x"}, 400, "invalid_argument"),
        ("POST", "/threads", {"name": "x" * 201}, 400, "invalid_argument"),
        ("POST", "/threads", b"[" * 100_000, 400, "invalid_argument"),
        ("POST", "/threads", b'{"name": "\xff"}', 400, "malformed_request"),
        ("GET", "/threads?limit=0", None, 400, "invalid_argument"),
        ("GET", "/threads?limit=x", None, 400, "invalid_argument"),
        ("GET", "/threads?more=1", None, 400, "invalid_argument"),
        ("GET", "/threads/none", None, 404, "thread_not_found"),
        ("GET", "/threads/..%2F..%2Fetc", None, 404, "thread_not_found"),
        ("GET", "/nothing", None, 404, "no_route"),
        ("DELETE", "/threads", None, 405, "method_not_allowed"),
        ("GET", "/stats/tea/x", None, 400, "invalid_argument"),
        ("POST", "/cap/invoke", {"capability": "x", "thread_id": "none"}, 404, "unknown_command"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_says_why(
    web: Web, method: str, path: str, body: object, status: int, code: str
) -> None:
    answer = web.ask(method, path, body)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.json["error"] == f"{code}: {answer.json['message']}"


def test_the_internet_is_closed_unless_the_owner_opens_it(web: Web) -> None:
    call = {
        "capability": "http.fetch",
        "thread_id": web.thread(),
        "args": {"url": "http://169.254.169.254/"},
    }
    assert web.ask("POST", "/cap/invoke", call).json["code"] == "denied"


def test_a_tunnel_from_another_port_leads_here(web: Web) -> None:
    assert web.ask("GET", "/threads", Host="localhost:9999").status == 200
    assert (
        web.ask("GET", "/threads", Host="127.0.0.1:9999", Origin="http://127.0.0.1:9999").status
        == 200
    )
    assert (
        web.ask(
            "GET", "/threads", Host="127.0.0.1:9999", Origin=f"http://127.0.0.1:{web.port}"
        ).status
        == 403
    )


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": ""}, 401, "unauthorized"),
        ({"Authorization": "Bearer wrong"}, 401, "unauthorized"),
        ({"Host": "evil.example"}, 403, "forbidden_origin"),
        ({"Host": "127.0.0.1"}, 403, "forbidden_origin"),
        ({"Origin": "https://evil.example"}, 403, "forbidden_origin"),
        ({"Origin": "null"}, 403, "forbidden_origin"),
        ({"X-Relay-Agent": "a b"}, 400, "invalid_argument"),
        ({"X-Relay-Agent": "<script>"}, 400, "invalid_argument"),
    ],
)
def test_nobody_else_may_ask(web: Web, headers: dict[str, str], status: int, code: str) -> None:
    answer = web.ask("GET", "/threads", **headers)
    assert (answer.status, answer.json["code"]) == (status, code)


def test_health_needs_no_token(web: Web) -> None:
    assert web.ask("GET", "/health", Authorization="").json == {"status": "ok"}


def test_every_operation_is_described(web: Web) -> None:
    described = web.ask("GET", "/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert {"get", "post"} <= set(described["paths"]["/threads"])


def test_calls_that_take_long_keep_no_write_waiting(web: Web) -> None:
    begun, may_end = Semaphore(0), Event()

    def run(call: Call) -> Given:
        begun.release()
        assert may_end.wait(60)
        return Given([b"late"])

    web.relay.calls.offer(Offer("test.slow", "Waits", {"type": "object"}, run))
    thread = web.thread()
    call = {"capability": "test.slow", "thread_id": thread, "args": {}}
    with ThreadPoolExecutor(WEB_CALL_THREADS) as callers:
        try:
            waiting = [
                callers.submit(web.ask, "POST", "/cap/invoke", call)
                for _ in range(WEB_CALL_THREADS)
            ]
            assert all(begun.acquire(timeout=60) for _ in waiting)
            patched = web.ask(
                "POST",
                f"/threads/{thread}/state/patch",
                [{"op": "test", "path": "/facts", "value": []}],
            )
            assert patched.status == 200
        finally:
            may_end.set()
            web.relay.calls.withdraw("test.slow")
        assert {one.result().status for one in waiting} == {200}


@pytest.mark.parametrize(
    "sent",
    [b"hello\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01", b"GET /\xff HTTP/1.1\r\n\r\n"],
)
def test_what_is_no_request_is_refused_with_a_code(web: Web, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", web.port), 20) as connection:
        connection.sendall(sent + b"\r\n\r\n")
        told = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["code"] == "malformed_request"


def test_who_shows_no_token_says_little_and_at_once(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_parsing, "REQUEST_HEAD_SECONDS", 0.1)
    with closing(web.connect()) as connection:
        connection.putrequest("POST", "/join")
        connection.putheader("Content-Length", "9")
        connection.endheaders(b"{")
        assert b"did not come in" in connection.getresponse().read()


def test_an_artifact_is_read_in_parts(web: Web) -> None:
    thread = web.thread()
    text = "".join(f"line {number}\n" for number in range(1, 2_001))
    ref = web.ask("POST", f"/threads/{thread}/artifacts", {"name": "a.log", "content": text}).json[
        "ref"
    ]
    told = web.ask("GET", f"/cassettes/{ref}?lines=40-42").json
    assert told["text"] == "    40  line 40\n    41  line 41\n    42  line 42\n"
    assert ref.startswith(told["short"].removeprefix("cass://"))
    assert (
        web.ask("GET", f"/threads/{thread}/artifacts/{ref}?lines=7").json["text"]
        == "     7  line 7\n"
    )
    assert (
        web.ask("GET", f"/cassettes/{ref}?search=LINE%201999").json["text"] == "  1999  line 1999\n"
    )
    asked = {
        "capability": "artifact.get",
        "arguments": {"ref": f"{told['short']}:1999-"},
        "budget": 200,
    }
    assert web.ask("POST", "/ask", asked).json["text"] == "  1999  line 1999\n  2000  line 2000\n"
    assert web.ask("GET", f"/cassettes/{ref}?lines=3000-").json["text"] == "… no such lines\n"
    assert web.ask("GET", f"/cassettes/{ref}?lines=x").status == 400
    assert web.ask("GET", f"/cassettes/{ref}?lines=5-3").status == 400
    found = web.ask("GET", "/artifacts?query=1234").json["results"]
    assert [(one["ref"], one["thread_id"]) for one in found] == [(ref, thread)]
