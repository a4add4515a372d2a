"""The client against a relay that listens, from one thread, from many, and from an event loop."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, closing
from pathlib import Path

import pytest
from tests.doors.http.conftest import Web, serve
from tests.foundation.serving import serving

from tersely.capabilities.relay.contract.operations import operations
from tersely.client import AsyncClient, Client, ask
from tersely.client.peer import Peer
from tersely.client.service import Service
from tersely.doors.http.app import WEB_CALL_THREADS
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import http
from tersely.relay.teams.permissions import MAX_AGENT_PERMISSIONS


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    yield from serve(tmp_path_factory.mktemp("home"))


@pytest.fixture
def relay(web: Web) -> Iterator[Client]:
    with Client(web.socket, "ann") as client:
        yield client


def test_every_operation_is_asked_by_its_name() -> None:
    for one in operations():
        in_path = {parameter.name: "a" for parameter in one.in_path}
        assert ask(one.name, **in_path).target == re.sub(r"{\w+}", "a", one.path)
    assert ask("audit", limit=3).target == "/audit?limit=3"
    assert ask("token_revoke", name="a/b").target == "/tokens/a%2Fb"
    assert ask("join", code="x", machine="m").content() == b'{"code":"x","machine":"m"}'
    assert ask("thread_import", b"PK").content() == b"PK"
    with pytest.raises(TypeError, match="health takes no limit"):
        ask("health", limit=3)


def test_a_service_says_once_that_it_waits_for_a_relay(tmp_path: Path) -> None:
    said: list[str] = []

    async def wait() -> None:
        told = asyncio.Event()
        service = Service("weather", home=tmp_path)

        def waits(error: TerselyError) -> None:
            said.append(error.code)
            told.set()

        serving = asyncio.create_task(service.serve(waits=waits))
        await told.wait()
        serving.cancel()

    asyncio.run(wait())
    assert said == ["daemon_not_running"]


@pytest.mark.parametrize("name", ["日本x", "two words", "", "-x", "x" * 65, "ann\r\nHost: x"])
@pytest.mark.parametrize("made", [Client, AsyncClient])
def test_what_is_no_name_of_an_agent_is_refused_before_anything_is_sent(
    made: type[Client | AsyncClient], name: str, web: Web
) -> None:
    with pytest.raises(TerselyError, match="is not a name of an agent") as raised:
        made(web.socket, name)
    assert raised.value.code == "invalid_argument"
    assert "\n" not in str(raised.value)
    assert "letters" in raised.value.hint


def test_those_who_wait_for_messages_keep_nobody_else_waiting(web: Web) -> None:
    names = [f"reader-{number}" for number in range(WEB_CALL_THREADS + 6)]

    async def read(name: str) -> int:
        async with AsyncClient(web.socket, name, 60.0) as reader:
            return len((await reader.ask("mail.inbox", wait=50.0)).messages)

    async def asking() -> list[int]:
        reading = [asyncio.create_task(read(name)) for name in names]
        async with AsyncClient(web.socket, "ann") as ann:
            for name in names:
                await ann.ask("mail.send", to=name, body="hello", queue=True)
        return await asyncio.gather(*reading)

    assert asyncio.run(asking()) == [1] * len(names)


def test_those_who_wait_for_permission_keep_nobody_else_waiting(web: Web) -> None:
    """More than the relay has threads wait until the last of them has asked."""
    names = [f"asker-{number}" for number in range(WEB_CALL_THREADS + 6)]

    async def wait(name: str) -> str:
        question = {"tool": "Bash", "what": "make"}
        async with AsyncClient(web.socket, name, 60.0) as asker:
            told = await asker.ask("permission.ask", **question)
            while not told.decision:
                told = await asker.ask("permission.ask", **question, id=told.id, seconds=5)
        return str(told.decision)

    async def asking() -> list[str]:
        waiting = [asyncio.create_task(wait(name)) for name in names]
        async with AsyncClient(web.socket, "ann") as ann:
            while len(asked := (await ann.ask("agent.list")).permissions) < len(names):
                await asyncio.sleep(0)
        for one in asked:
            web.relay.permissions.answer(one.id, allows=True)
        return await asyncio.gather(*waiting)

    assert asyncio.run(asking()) == ["allow"] * len(names)


def test_who_waits_for_many_permissions_keeps_no_other_from_asking(web: Web) -> None:
    question = {"tool": "Bash", "what": "make"}
    with Client(web.socket, "greedy") as greedy, Client(web.socket, "modest") as modest:
        for _ in range(MAX_AGENT_PERMISSIONS):
            greedy.ask("permission.ask", **question)
        with pytest.raises(TerselyError) as refused:
            greedy.ask("permission.ask", **question)
        assert refused.value.code == "busy"
        assert modest.ask("permission.ask", **question).id


def test_answers_are_values(relay: Client) -> None:
    thread = relay.ask("thread.new", name="first").thread_id
    note = relay.ask("artifact.put", thread=thread, content="# Notes\n", name="notes.md")
    assert (note.type, note.preview.text) == ("markdown", "# Notes\n")
    fact = {"id": "f1", "key": "note", "value": note.ref}
    patch = [{"op": "add", "path": "/facts/-", "value": fact}]
    assert (
        relay.ask(
            "state.patch", thread=thread, patch=patch, version="v1", idempotency_key="k"
        ).version
        == 2
    )
    assert (
        relay.ask(
            "state.patch", thread=thread, patch=patch, version="v1", idempotency_key="k"
        ).version
        == 2
    )
    assert relay.ask("state.header", thread=thread).top_facts == [fact]
    assert relay.ask("state.get", thread=thread, version="1").facts == []
    assert relay.ask("state.history", thread=thread).versions[0].operations == patch
    upload = relay(ask("artifact_upload", b"\0\1", thread=thread, name="two"))
    assert relay(ask("artifact_content", thread=thread, ref=upload.ref)) == b"\0\1"
    assert [one.ref for one in relay.ask("artifact.list", thread=thread).artifacts] == [
        note.ref,
        upload.ref,
    ]
    answer = relay(
        ask("cap_invoke", thread_id=thread, capability="retrieval.search", args={"query": "notes"})
    )
    assert (answer.cache_hit, answer.text is not None) == (False, True)
    assert relay.ask("token.savings", thread=thread).invocations == 1
    assert relay.ask("thread.report", thread=thread).text.startswith("# first")
    assert relay.ask("artifact.remove", thread=thread, ref=upload.ref).ref == upload.ref
    assert relay.ask("thread.get", thread=thread).state_version == 2
    assert thread in {one.thread_id for one in relay.ask("thread.list").threads}


def test_what_the_relay_refuses_is_raised(relay: Client) -> None:
    thread = relay.ask("thread.new").thread_id
    with pytest.raises(TerselyError) as caught:
        relay.ask("state.patch", thread=thread, patch=[], version="v7")
    assert caught.value.code == "version_conflict"
    with pytest.raises(TerselyError, match="thread_not_found"):
        relay.ask("state.header", thread="a b?#")


def test_events_are_followed(relay: Client) -> None:
    thread = relay.ask("thread.new").thread_id
    with closing(relay.tail(thread)) as events:
        assert next(events).type == "thread.created"
        relay.ask("artifact.put", thread=thread, content="tea")
        assert next(events).type == "artifact.created"
    with pytest.raises(TerselyError, match="thread_not_found"):
        next(relay.tail("none"))


def test_many_threads_use_one_client(relay: Client) -> None:
    thread = relay.ask("thread.new").thread_id

    def add(number: int) -> int:
        return relay.ask(
            "state.patch",
            thread=thread,
            patch=[{"op": "add", "path": "/facts/-", "value": {"id": str(number)}}],
        ).version

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(add, range(30))) == list(range(2, 32))


def test_an_event_loop_asks_too(web: Web) -> None:
    async def walk() -> list[str]:
        async with AsyncClient(web.socket) as relay:
            thread = (await relay.ask("thread.new", name="loop")).thread_id
            await asyncio.gather(
                *(
                    relay.ask("artifact.put", thread=thread, content=str(number))
                    for number in range(5)
                )
            )
            kinds = []
            async with aclosing(relay.tail(thread)) as events:
                async for event in events:
                    kinds.append(event.type)
                    if len(kinds) == 6:
                        break
            return kinds

    assert asyncio.run(walk()) == ["thread.created", *["artifact.created"] * 5]


def test_who_finds_no_relay_is_told_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(TerselyError, match="daemon_not_running"):
        Client.local(home=tmp_path)
    with pytest.raises(TerselyError, match="daemon_not_running"):
        Client(tmp_path / "http.sock")(ask("health"))


FOREIGN = [
    b"SSH-2.0-OpenSSH\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n[]",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"[" * 2_000,
]


NOBODY = 65_534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can listen as another user")
def test_nothing_is_sent_to_a_socket_at_which_another_user_listens(tmp_path: Path) -> None:
    with ExitStack() as stack:
        listeners = []
        for name in ("http.sock", "relay.sock"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(tmp_path / name))
            os.seteuid(NOBODY)  # whose socket it is, the system notes when it listens
            try:
                listener.listen()
            finally:
                os.seteuid(0)
            listeners.append(listener)
        with (
            Client.local("ann", tmp_path) as relay,
            pytest.raises(TerselyError, match="another user listens") as caught,
        ):
            relay.ask("thread.list")
        assert caught.value.code == "not_a_relay"
        with pytest.raises(TerselyError, match="another user listens") as caught:
            asyncio.run(Peer.connect("ann", home=tmp_path))
        assert caught.value.code == "not_a_relay"
        for listener in listeners:
            connection, _ = listener.accept()
            with connection:
                assert connection.recv(1) == b""


@pytest.mark.parametrize("place", ["foundation.network.http", "doors.http.connecting.connections"])
def test_neither_end_speaks_with_another_user(
    web: Web, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(f"tersely.{place}.is_same_user", lambda connected: False)
    with Client(web.socket) as relay, pytest.raises(TerselyError) as caught:
        relay.ask("thread.list")
    assert caught.value.code == (
        "not_a_relay" if place == "foundation.network.http" else "daemon_unavailable"
    )


@pytest.mark.parametrize("answer", FOREIGN)
def test_a_foreign_answer_is_an_error_with_a_code(tmp_path: Path, answer: bytes) -> None:
    with serving(answer, at=tmp_path / "sock") as server, Client(tmp_path / "sock") as relay:
        with pytest.raises(TerselyError) as caught:
            relay.ask("thread.list")
        assert caught.value.code in {"not_a_relay", "daemon_unavailable"}
        with pytest.raises(TerselyError):
            next(relay.tail("thread"))
    assert b"uthorization" not in b"".join(server.heads)


def test_threads_are_carried_as_bundles_and_their_calls_made_again(relay: Client) -> None:
    thread = relay.ask("thread.new", name="carried").thread_id
    relay.ask("artifact.put", thread=thread, content="tea at five", name="tea.txt")
    relay(ask("cap_invoke", thread_id=thread, capability="retrieval.search", args={"query": "tea"}))
    assert relay.ask("thread.checkpoint", thread=thread, name="before").state_ref == "v1"
    assert [call.outcome for call in relay.ask("thread.replay", thread=thread).calls] == ["same"]
    relay.ask("artifact.put", thread=thread, content="tea at six", name="more.txt")
    (call,) = relay.ask("thread.replay", thread=thread).calls
    assert (call.outcome, "more.txt" in call.changes) == ("differs", True)
    copy = relay(ask("thread_import", relay(ask("thread_export", thread=thread)))).thread_id
    assert copy != thread
    names = [one.name for one in relay.ask("artifact.list", thread=copy).artifacts]
    assert names == ["tea.txt", "retrieval.search", "more.txt"]
    with pytest.raises(TerselyError, match="invalid_bundle"):
        relay(ask("thread_import", b"nothing"))


ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def test_a_kept_connection_that_ends_under_a_question_is_asked_again_on_another(
    tmp_path: Path,
) -> None:
    with serving(ANSWERED, b"", at=tmp_path / "sock") as server, Client(tmp_path / "sock") as relay:
        assert relay(ask("metrics")) == b"ok"
        assert relay(ask("metrics")) == b"ok"
    assert (len(server.heads), len(server.connections)) == (3, 2)


def test_a_relay_that_hangs_up_at_once_is_asked_once(tmp_path: Path) -> None:
    with serving(b"", at=tmp_path / "sock") as server, Client(tmp_path / "sock") as relay:
        with pytest.raises(TerselyError) as caught:
            relay(ask("metrics"))
        assert caught.value.code == "daemon_unavailable"
    assert len(server.heads) == 1


def test_a_tail_without_an_end_of_its_line_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(http, "MAX_LINE_BYTES", 1_000)
    endless = b"HTTP/1.1 200 OK\r\n\r\ndata: " + b"x" * 5_000
    refused = pytest.raises(TerselyError, match="a line of more than 1,000 bytes")
    with serving(endless, at=tmp_path / "sock"), Client(tmp_path / "sock") as relay, refused:
        next(relay.tail("thread"))
