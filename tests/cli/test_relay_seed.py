"""The design of relay from its first page to its last, with a relay process, its commands and HTTP."""

from __future__ import annotations

import hashlib
import json
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from tests.cli.relay_home import Home, home_of

PREVIEW_BYTES = HEADER_BYTES = 2_048
PAYLOAD_BYTES = 16_384
NOTE_CHARACTERS = 280
HOPS = 50
TOKEN_CHARACTERS = 4
SOURCE = "def boil(water):\n    return heat(water)\n\n\ndef heat(water):\n    return water + 1\n"
SEARCH = {"capability": "retrieval.search", "args": {"query": "kettle"}}


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    root = tmp_path_factory.mktemp("root")
    (root / "kettle.py").write_text(SOURCE)
    with home_of(tmp_path_factory.mktemp("home") / "relay", root) as home:
        home.up()
        yield home


@pytest.fixture
def thread(relay: Home) -> str:
    return relay.ok("relay", "thread", "new", "--name", "tea").strip()


def ask(
    relay: Home, method: str, path: str, body: Any = None, *, status: int = HTTPStatus.OK
) -> Any:
    """What HTTP answers, as JSON."""
    url, token = relay.ask("status")["url"], (relay.home / "token").read_text().strip()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "X-Relay-Agent": "ann",
    }
    content = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url + path, content, headers, method=method)
        ) as answer:
            found, said = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        found, said = error.code, error.read()
    assert found == status, said
    return json.loads(said)


def put(relay: Home, thread: str, content: str, name: str = "notes.md") -> dict[str, Any]:
    """Store a text."""
    made: dict[str, Any] = ask(
        relay,
        "POST",
        f"/threads/{thread}/artifacts",
        {"name": name, "content": content},
        status=HTTPStatus.CREATED,
    )
    return made


def events(relay: Home, thread: str, after: int = 0) -> list[str]:
    """The kinds of what happened."""
    return [
        one["type"]
        for one in ask(relay, "GET", f"/threads/{thread}/events?after={after}")["events"]
    ]


# cmd/relay and the home


def test_one_program_starts_asks_and_stops_the_daemon(relay: Home) -> None:
    assert relay.up()["was_running"]
    assert "http://127.0.0.1:" in relay.ok("status")
    assert relay.ok("down") == "stopped\n"
    assert relay.refused("status") == "daemon_not_running"
    assert not relay.up()["was_running"]
    assert "process" in relay.ok("status")


def test_the_home_has_a_database_and_a_folder_for_each_thread(relay: Home, thread: str) -> None:
    ref = put(relay, thread, "# Tea\n")["ref"]
    folder = Path(relay.ok("relay", "mirror", thread).strip())
    assert folder == relay.home / "threads" / thread
    assert json.loads((folder / "state.json").read_text())["thread_id"] == thread
    assert "artifact.created" in (folder / "events.log").read_text()
    assert [
        path.read_text() for path in (folder / "artifacts").iterdir() if ref[:12] in path.name
    ] == ["# Tea\n"]
    assert (relay.home / "relay.db").read_bytes().startswith(b"SQLite format 3")


# internal/state


def test_no_text_of_a_state_makes_a_heading_in_its_report(relay: Home, thread: str) -> None:
    step = {"id": "p1", "step": "go on", "status": "done\n## Forged"}
    patch = json.dumps([{"op": "add", "path": "/plan/-", "value": step}])
    relay.run("relay", "state", "patch", "--thread", thread, "--json", patch)
    assert "\n## Forged" not in relay.ok("relay", "report", thread)


def test_a_state_changes_by_json_patch_and_shows_a_bounded_header(relay: Home, thread: str) -> None:
    patch = '[{"op": "add", "path": "/facts/-", "value": {"id": "f1", "key": "kettle", "value": "hot"}}]'
    assert relay.ok("relay", "state", "patch", "--thread", thread, "--json", patch) == "v2\n"
    assert (
        relay.run("relay", "state", "patch", "--thread", thread, "--patch", "-", input=patch).out
        == "v3\n"
    )
    state = relay.ask("relay", "state", "get", "--thread", thread)
    assert (state["$schema"], state["version"], len(state["facts"])) == ("com.relay.state.v1", 3, 2)
    assert relay.ask("relay", "state", "get", "--thread", thread, "--version", "v1")["facts"] == []
    many = [
        {"op": "add", "path": "/facts/-", "value": {"id": f"f{number}", "value": "x" * 300}}
        for number in range(40)
    ]
    ask(relay, "POST", f"/threads/{thread}/state/patch", many)
    header = ask(relay, "GET", f"/threads/{thread}/state/header")
    assert len(json.dumps(header)) <= HEADER_BYTES
    assert header["version"] == 4
    wrong = [
        {"op": "test", "path": "/facts/0/value", "value": "cold"},
        {"op": "remove", "path": "/facts"},
    ]
    ask(
        relay,
        "POST",
        f"/threads/{thread}/state/patch",
        wrong,
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
    )
    assert ask(relay, "GET", f"/threads/{thread}/state")["version"] == 4


# internal/artifacts


def test_artifacts_are_addressed_by_content_shown_in_part_and_found(
    relay: Home, thread: str, tmp_path: Path
) -> None:
    text = "The kettle is hot.\n" + "x\u202e\x1b[2J line\n" * 2_000
    (tmp_path / "notes.md").write_text(text)
    uri = relay.ok(
        "relay", "artifact", "put", str(tmp_path / "notes.md"), "--thread", thread
    ).strip()
    assert uri == f"cass://{hashlib.sha256(text.encode()).hexdigest()}"
    found = ask(relay, "GET", f"/threads/{thread}/artifacts/{uri[7:]}")
    preview = found["preview"]["text"]
    assert 0 < len(preview.encode()) <= PREVIEW_BYTES
    assert preview.startswith("The kettle is hot.")
    assert not {"\x1b", "\u202e"} & set(preview)
    relay.ok(
        "relay", "artifact", "get", uri[:14], "--thread", thread, "--out", str(tmp_path / "back.md")
    )
    assert (tmp_path / "back.md").read_text() == text
    assert uri[7:19] in relay.ok("relay", "artifact", "list", "--thread", thread)
    results = json.loads(
        ask(relay, "POST", "/cap/invoke", {**SEARCH, "thread_id": thread})["text"]
    )["results"]
    assert "«kettle»" in results[0]["snippet"]


# internal/events


def test_everything_that_happens_is_an_event_that_can_be_tailed(relay: Home, thread: str) -> None:
    put(relay, thread, "# Tea\n")
    patch = [{"op": "add", "path": "/facts/-", "value": {"id": "f1"}}]
    ask(relay, "POST", f"/threads/{thread}/state/patch", patch)
    ask(relay, "POST", "/cap/invoke", {**SEARCH, "thread_id": thread})
    assert "| naive |" in relay.ok("relay", "report", thread)
    assert relay.ok("relay", "checkpoint", thread, "--name", "before").startswith("v2, event ")
    kinds = events(relay, thread)
    assert set(kinds) == {
        "thread.created", "state.patch.applied", "artifact.created", "capability.invoked", "report.generated",
        "checkpoint.created",
    }  # fmt: skip
    assert events(relay, thread, after=3) == kinds[3:]
    shown = relay.ok("relay", "tail", thread, "--no-follow")
    assert [line.split()[2] for line in shown.splitlines()] == kinds


# internal/cache, internal/plugins and the data flow of a call


def test_capabilities_are_listed_called_and_remembered(relay: Home, thread: str) -> None:
    listed = {one["name"]: one for one in ask(relay, "GET", "/cap/list")["capabilities"]}
    assert {"retrieval.search", "http.fetch", "code.context"} <= set(listed)
    assert {"description", "args_schema", "cacheable"} <= set(listed["retrieval.search"])
    words = ["relay", "cap", "invoke", "code.symbol.get", "--thread", thread, "--agent", "ann"]
    first, again = (relay.ok(*words, "--json", '{"symbol": "heat"}') for _ in range(2))
    assert first == again
    assert relay.ok("symbol", "get", "heat").rstrip("\n") in first
    call = {"capability": "code.symbol.get", "thread_id": thread, "args": {"symbol": "heat"}}
    hit = ask(relay, "POST", "/cap/invoke", call)
    assert hit["cache_hit"]
    assert hit["artifact_ref"] in {
        one["ref"] for one in ask(relay, "GET", f"/threads/{thread}/artifacts")["artifacts"]
    }
    assert "return water + 1" in hit["preview"]["text"]
    (relay.root / "kettle.py").write_text(SOURCE.replace("+ 1", "+ 2"))
    assert not ask(relay, "POST", "/cap/invoke", call)["cache_hit"]
    assert "differs" in relay.ok("relay", "replay", thread)
    (relay.root / "kettle.py").write_text(SOURCE)
    assert "same" in relay.ok("relay", "replay", thread)
    assert relay.ask("relay", "stats", "--capability", "code.symbol.get")["cache_hits"] >= 1


# internal/policy


def envelope(thread: str, **change: Any) -> dict[str, Any]:
    return {
        "msg_id": "m1", "thread_id": thread, "from": "ann", "to_capability": "retrieval.search", "type": "request",
        "schema": "com.relay.a2a.envelope.v1", "payload": {"query": "kettle"}, "hops": 1, **change,
    }  # fmt: skip


def test_envelopes_and_hops_are_bounded(relay: Home, thread: str) -> None:
    ask(relay, "POST", "/cap/invoke", envelope(thread, hops=HOPS, notes="x" * NOTE_CHARACTERS))
    refusals = [
        (envelope(thread, hops=HOPS + 1), HTTPStatus.TOO_MANY_REQUESTS, "hop_limit"),
        (
            envelope(thread, notes="x" * (NOTE_CHARACTERS + 1)),
            HTTPStatus.BAD_REQUEST,
            "invalid_envelope",
        ),
        (envelope(thread, type="order"), HTTPStatus.BAD_REQUEST, "invalid_envelope"),
        (
            envelope(thread, payload={"query": "x" * PAYLOAD_BYTES}),
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "payload_too_large",
        ),
    ]
    for body, status, code in refusals:
        assert ask(relay, "POST", "/cap/invoke", body, status=status)["code"] == code
    policy = ask(relay, "GET", "/config")["policy"]
    assert (policy["payload_bytes"], policy["note_characters"], policy["hops"]) == (
        PAYLOAD_BYTES, NOTE_CHARACTERS, HOPS,
    )  # fmt: skip


def test_a_capability_is_allowed_or_denied_by_its_name(relay: Home, thread: str) -> None:
    call = {
        "capability": "http.fetch",
        "thread_id": thread,
        "args": {"url": "https://example.org/"},
    }
    assert ask(relay, "POST", "/cap/invoke", call, status=HTTPStatus.FORBIDDEN)["code"] == "denied"


def test_whoever_has_no_token_is_refused(relay: Home) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{relay.ask('status')['url']}/threads")
    assert refused.value.code == HTTPStatus.UNAUTHORIZED
    refused.value.close()


# Token savings accounting


def test_tokens_are_characters_divided_by_four_and_shown_everywhere(
    relay: Home, thread: str
) -> None:
    content = "".join(f"line {number} of a long text\n" for number in range(1_000))
    preview = put(relay, thread, content, "long.txt")["preview"]["text"]
    figures = ask(relay, "GET", f"/stats/thread/{thread}")["token_savings"]
    naive, actual = len(content) // TOKEN_CHARACTERS, len(preview) // TOKEN_CHARACTERS
    estimate = figures["estimate"]
    assert abs(estimate["naive_tokens"] - naive) <= 1
    assert abs(estimate["actual_tokens"] - actual) <= 1
    assert estimate["avoided_tokens"] == estimate["naive_tokens"] - estimate["actual_tokens"]
    assert f"{estimate['avoided_tokens']:,}" in relay.ok("relay", "stats", thread)
    assert "| naive |" in relay.ok("relay", "report", thread)
    assert (
        json.loads(relay.ask("relay", "report", thread, "--format", "json")["text"])["thread"][
            "thread_id"
        ]
        == thread
    )
    assert relay.ask("relay", "stats", "--agent", "ann")["artifacts"] >= 1
    assert relay.refused("relay", "stats", thread, "--agent", "ann") == "usage"


# Extensibility: checkpoints, bundles and replay


def test_a_thread_is_exported_and_imported(relay: Home, thread: str, tmp_path: Path) -> None:
    put(relay, thread, "# Tea\n\nThe kettle is hot.\n")
    patch = '[{"op": "add", "path": "/facts/-", "value": {"id": "f1", "key": "kettle", "value": "hot"}}]'
    relay.ok("relay", "state", "patch", "--thread", thread, "--json", patch)
    assert relay.ask("relay", "runs")["threads"][0]["thread_id"] == thread
    shown = relay.ok("relay", "show", thread)
    assert "kettle" in shown
    assert "notes.md" in shown
    bundle = tmp_path / "tea.zip"
    relay.ok("relay", "export", thread, "--out", str(bundle))
    assert zipfile.ZipFile(bundle).testzip() is None
    again = relay.ok("relay", "import", str(bundle)).strip()
    assert again != thread
    assert relay.ask("relay", "state", "get", "--thread", again)["facts"][0]["value"] == "hot"
