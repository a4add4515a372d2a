"""Artifacts of no thread, threads as files, envelopes, and the figures of everybody."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Web

ENVELOPE = {
    "msg_id": "m1", "from": "ann", "to_capability": "retrieval.search", "type": "request",
    "schema": "com.relay.a2a.envelope.v1", "payload": {"query": "kettle"},
}  # fmt: skip


def test_a_text_of_no_thread_is_found_by_the_beginning_of_its_hash(web: Web) -> None:
    content = "a pack about kettles"
    stored = web.ask("POST", "/cassettes", {"content": content, "name": "pack", "type": "code"})
    ref = hashlib.sha256(content.encode()).hexdigest()
    assert (stored.status, stored.json["uri"]) == (201, f"cass://{ref}")
    assert web.ask("POST", "/cassettes", {"content": content, "name": "pack"}).json["ref"] == ref
    found = web.ask("GET", f"/cassettes/{ref[:6]}").json
    assert (found["ref"], found["preview"]["text"]) == (ref, content)
    sent = web.ask("GET", f"/threads/{found['thread_id']}/artifacts/{ref}/content")
    assert sent.content.decode() == content


def test_a_text_of_a_thread_is_found_as_well(web: Web) -> None:
    thread = web.thread()
    ref = web.ask("POST", f"/threads/{thread}/artifacts", {"content": "of a thread"}).json["ref"]
    assert web.ask("GET", f"/cassettes/{ref}").json["thread_id"] == thread
    web.ask("DELETE", f"/threads/{thread}/artifacts/{ref}")
    assert web.ask("GET", f"/cassettes/{ref}").json["code"] == "artifact_not_found"


@pytest.mark.parametrize(("ref", "status"), [("0" * 64, 404), ("abc", 400), ("z" * 10, 400)])
def test_a_reference_that_means_nothing_is_refused(web: Web, ref: str, status: int) -> None:
    assert web.ask("GET", f"/cassettes/{ref}").status == status


def test_an_envelope_is_a_call(web: Web) -> None:
    thread = web.thread()
    web.ask(
        "POST", f"/threads/{thread}/artifacts", {"content": "the kettle is hot", "name": "note"}
    )
    # a whole number in JSON
    answer = web.ask("POST", "/cap/invoke", {**ENVELOPE, "thread_id": thread, "hops": 0.0})
    assert (answer.status, json.loads(answer.json["text"])["count"]) == (200, 1)
    events = web.ask("GET", f"/threads/{thread}/events").json["events"]
    assert events[-1]["payload"]["by"] == "ann"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"type": "event"}, "invalid_envelope"),
        ({"type": "tea"}, "invalid_envelope"),
        ({"schema": "com.relay.a2a.envelope.v2"}, "invalid_envelope"),
        ({"schema": None}, "invalid_envelope"),
        ({"payload": []}, "invalid_envelope"),
        ({"from": "<ann>"}, "invalid_envelope"),
        ({"from": ""}, "invalid_envelope"),
        ({"from": 1}, "invalid_envelope"),
        ({"msg_id": ""}, "invalid_envelope"),
        ({"notes": "x" * 281}, "invalid_envelope"),
        ({"ttl": 0}, "invalid_envelope"),
        ({"ttl": True}, "invalid_envelope"),
        ({"hops": -1}, "invalid_envelope"),
        ({"hops": True}, "invalid_envelope"),
        ({"more": 1}, "invalid_envelope"),
        ({"hops": 51}, "hop_limit"),
        ({"payload": {"query": "x" * 20_000}}, "payload_too_large"),
        ({"to_capability": "nothing"}, "unknown_command"),
    ],
)
def test_an_envelope_that_is_none_says_why(web: Web, change: dict[str, Any], code: str) -> None:
    answer = web.ask("POST", "/cap/invoke", {**ENVELOPE, "thread_id": web.thread(), **change})
    assert (answer.json["code"], answer.status < 500) == (code, True)


@pytest.mark.parametrize("missing", sorted(set(ENVELOPE) - {"schema"}))
def test_an_envelope_is_whole(web: Web, missing: str) -> None:
    whole = {**ENVELOPE, "thread_id": web.thread()}
    answer = web.ask(
        "POST", "/cap/invoke", {name: value for name, value in whole.items() if name != missing}
    )
    assert (answer.json["code"], missing in answer.json["message"]) == ("invalid_envelope", True)


@pytest.mark.parametrize(
    "body", [{}, {"capability": "x"}, {"capability": 1, "thread_id": "t"}, [], None, {"x": 1}]
)
def test_a_call_that_is_none_says_why(web: Web, body: object) -> None:
    answer = web.ask("POST", "/cap/invoke", body)
    assert (answer.status, answer.json["code"]) == (400, "invalid_argument")


def test_a_thread_as_files_is_what_the_database_knows(web: Web) -> None:
    thread = web.thread("a mirror")
    names = ["../../etc/passwd", "notes.md", "notes.md", ".hidden", "x" * 200, "\u202etxt.exe", ""]
    for number, name in enumerate(names):
        web.ask(
            "POST", f"/threads/{thread}/artifacts", {"content": f"content {number}", "name": name}
        )
    web.ask(
        "POST",
        f"/threads/{thread}/state/patch",
        [{"op": "add", "path": "/facts/-", "value": {"id": "f"}}],
    )
    told = web.ask("POST", f"/threads/{thread}/mirror", {}).json
    folder = Path(told["path"])
    assert folder == web.relay.home / "threads" / thread
    assert (
        json.loads((folder / "state.json").read_text())
        == web.ask("GET", f"/threads/{thread}/state").json
    )
    events = [json.loads(line) for line in (folder / "events.log").read_text().splitlines()]
    assert events == web.ask("GET", f"/threads/{thread}/events").json["events"]
    files = sorted(folder.glob("artifacts/*"))
    assert sorted(file.read_text() for file in files) == [
        f"content {number}" for number in range(len(names))
    ]
    assert all(file.name.isascii() and len(file.name) < 100 for file in files)
    (folder / "state.json").write_text("changed by hand")
    (folder / "stray").touch()
    again = web.ask("POST", f"/threads/{thread}/mirror", {}).json
    assert again == {**told, "events": len(events)}
    assert json.loads((folder / "state.json").read_text())["facts"] == [{"id": "f"}]
    assert sorted(path.name for path in folder.iterdir()) == [
        "artifacts",
        "events.log",
        "state.json",
    ]
    assert sorted(path.name for path in folder.parent.iterdir()) == [thread]


def test_figures_are_told_of_everybody(web: Web) -> None:
    before = web.ask("GET", "/stats").json
    thread = web.thread()
    web.ask("POST", f"/threads/{thread}/artifacts", {"content": "word " * 5_000})
    after = web.ask("GET", "/stats").json
    of_thread = web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]
    assert (before["scope"], of_thread["naive_tokens"] > 4_000) == ("all", True)
    gained = after["token_savings"]["naive_tokens"] - before["token_savings"]["naive_tokens"]
    assert gained == of_thread["naive_tokens"]
