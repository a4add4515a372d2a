"""A talk listener on the relay: both ways, and what happens when either side cannot take a message."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ai_talk.talking import ENOUGH_SECONDS, told
from tests.cli.relay_home import Home, home_of

from tersely.ai_talk import lifecycle, place
from tersely.ai_talk.messages import Message, frame_of
from tersely.ai_talk.place import Place
from tersely.client.peer import Delivery, Peer

Talk = Callable[..., dict[str, Any]]


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A relay, and `~/.ai-talk`, of this test alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "root").mkdir()
    talk_home = place.home()
    with (
        tempfile.TemporaryDirectory(prefix="tersely-") as directory,
        home_of(Path(directory), tmp_path / "root") as home,
    ):
        home.up()
        yield home
        for one in place.live(talk_home):
            lifecycle.stop(Place.of(talk_home, one["port"]))


@pytest.fixture
def talk(relay: Home) -> Talk:
    def asked(*words: object, status: int = 0) -> dict[str, Any]:
        printed = relay.run("talk", *map(str, words), "--json")
        assert printed.status == status, printed
        said: dict[str, Any] = json.loads(printed.out)
        return said

    return asked


def as_peer(relay: Home, name: str, do: Callable[[Peer], Coroutine[Any, Any, Any]]) -> Any:
    """What somebody on the relay gets who does something there."""

    async def run() -> Any:
        async with await Peer.connect(name, home=relay.home) as peer:
            return await asyncio.wait_for(do(peer), ENOUGH_SECONDS)

    return asyncio.run(run())


async def first(peer: Peer) -> Delivery:
    async for delivery in peer.deliveries():
        await peer.ack(delivery)
        return delivery
    raise AssertionError("nothing has come")


def waited_for(talk: Talk, name: str, count: int) -> list[dict[str, Any]]:
    """The inbox of a listener once it has so many messages."""
    while (said := talk("check", "--name", name))["message_count"] < count:
        pass
    messages: list[dict[str, Any]] = said["messages"]
    return messages


def test_an_agent_of_the_relay_is_reached_by_name_and_answers(relay: Home, talk: Talk) -> None:
    ann = talk("join", "--name", "ann")
    assert talk("discover")["listeners"][0]["relay"] is True
    as_peer(relay, "ben", lambda ben: ben.send("ann", "who is there?", thread="t", data={"n": 1}))
    (message,) = waited_for(talk, "ann", 1)
    assert (message["from"], message["thread"], message["sender_port"]) == ("ben", "t", None)
    assert message["message"] == {"body": "who is there?", "data": {"n": 1}}
    words = (
        "send",
        "--to",
        "ben",
        "--from",
        "ann",
        "--message",
        "ann",
        "--thread",
        "t",
        "--reply-to",
        message["id"],
    )
    sent = talk(*words)
    assert (sent["status"], sent["acknowledged"], sent["to"]) == ("sent", True, "ben")
    assert sent["relay"]["recipients"] == 1
    got = as_peer(relay, "ben", first)
    assert (got.id, got.sender, got.body, got.thread) == (sent["relay"]["id"], "ann", "ann", "t")
    assert got.reply_to == message["id"]
    outbox = (place.home() / str(ann["port"]) / "outbox.jsonl").read_text()
    assert "key" not in outbox


def test_a_name_that_nobody_has_is_refused(talk: Talk) -> None:
    words = ("send", "--to", "nobody", "--message", "x", "--from-port")
    assert talk(*words, 9001, status=1)["error_code"] == "UNKNOWN_NAME"
    port = talk("join", "--name", "ann")["port"]
    assert talk(*words, port, status=3)["error_code"] == "RELAY_REFUSED"
    assert talk(*words, port, "--type", "binary", status=2)["error_code"] == "INVALID_MESSAGE"


def test_who_cannot_read_the_key_cannot_speak_through_a_listener(relay: Home, talk: Talk) -> None:
    port = talk("join", "--name", "ann")["port"]
    as_peer(relay, "ben", lambda ben: ben.send("ben", "so that ben is known"))
    (answer,) = told(port, frame_of(Message(b"x", port, to="ben", key="guessed")))
    assert answer["error_code"] == "RELAY_REFUSED"
    assert told(port, frame_of(Message(b"x", port, to="ben")))[0]["message_count"] == 1
    assert (place.home() / str(port) / "listener.json").stat().st_mode & 0o077 == 0


def test_what_a_full_inbox_cannot_take_waits_on_the_relay(relay: Home, talk: Talk) -> None:
    (place.home() / "config.json").write_text('{"max_inbox_messages": 1}')
    talk("join", "--name", "ann")

    async def two(ben: Peer) -> None:
        for body in ("one", "two"):
            await ben.send("ann", body)

    as_peer(relay, "ben", two)
    assert [one["message"] for one in waited_for(talk, "ann", 1)] == ["one"]
    talk("check", "--name", "ann", "--clear")
    assert [one["message"] for one in waited_for(talk, "ann", 1)] == ["two"]


def test_a_listener_finds_its_relay_again(relay: Home, talk: Talk) -> None:
    talk("join", "--name", "ann")
    relay.ok("down")
    refused = talk("send", "--to", "ben", "--from", "ann", "--message", "x", status=3)
    assert refused["error_code"] == "RELAY_REFUSED"
    relay.up()
    as_peer(relay, "ben", lambda ben: ben.send("ann", "back", queue=True))
    assert [one["message"] for one in waited_for(talk, "ann", 1)] == ["back"]


def test_without_a_relay_nothing_is_started(relay: Home, talk: Talk) -> None:
    relay.ok("down")
    assert talk("join", "--name", "ann", status=3)["error_code"] == "CONNECTION_REFUSED"
    assert talk("discover") == {"listeners": []}
    assert talk("join", status=2)["error_code"] == "INVALID_ARGUMENT"
    assert os.listdir(place.home())  # its files may stay: nobody holds them
