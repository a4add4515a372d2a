"""Who is let in under which name, who is reached by which address, and what is said to those who
ask wrongly.
"""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.doors.socket.served import Raw, served, take, until

from tersely.client.peer import Peer
from tersely.foundation.activity import PERMISSION
from tersely.foundation.errors import TerselyError
from tersely.relay.wire.envelopes import ServiceFailure
from tersely.relay.wire.home import socket_path


async def refusal(waits: Any) -> str:
    with pytest.raises(TerselyError) as refused:
        await waits
    return refused.value.code


async def test_a_name_is_its_users_alone_while_it_is_in_use(home: Path) -> None:
    async with served(home) as relay:
        ann = await relay.peer("ann")
        assert await refusal(relay.peer("ann")) == "name_taken"
        assert "ann" in relay.router.clients.connected()
        await ann.close()
        await until(lambda: "ann" not in relay.router.clients.connected())
        await (await relay.peer("ann")).close()


async def test_a_bound_name_needs_its_token_ever_after(home: Path) -> None:
    async with served(home) as relay:
        first = await relay.peer("ann", binds=True)
        assert first.token
        token = first.token
        await first.close()
        await until(lambda: "ann" not in relay.router.clients.connected())
        assert await refusal(relay.peer("ann")) == "unauthorized"
        assert await refusal(relay.peer("ann", token="guess")) == "unauthorized"
    async with served(home) as relay:
        assert await refusal(relay.peer("ann")) == "unauthorized"
        second = await relay.peer("ann", token=token)
        # The owner may connect again though the last connection is still there; that one is told.
        third = await relay.peer("ann", token=token)
        with pytest.raises(TerselyError):
            await take(second, 1)
        await third.close()
        content = b"".join(path.read_bytes() for path in home.glob("relay.db*"))
        assert token.encode() not in content


async def test_from_is_what_the_relay_knows(home: Path) -> None:
    async with served(home) as relay:
        eve, ben = await relay.hello("eve"), await relay.peer("ben")
        eve.say("SEND", {"kind": "message", "body": "it is me"}, **{"from": "ann", "to": "ben"})
        [got] = await take(ben, 1)
        assert got.sender == "eve"
        eve.close()


async def test_a_resume_token_goes_on_with_the_session_across_a_restart(home: Path) -> None:
    async with served(home) as relay:
        ann = await relay.peer("ann")
        session, token = ann.session_id, ann.resume_token
        ann.drop()
    async with served(home) as relay:
        ann = Peer("ann", home, {"agent": "ann", "auth": {}})
        ann.resume_token = token
        await ann.resume()
        assert ann.session_id == session
        assert ann.resume_token != token  # each is used once
        raw = await relay.raw()
        raw.say("RESUME", {"resume_token": ann.resume_token})
        told = await raw.hear()
        assert (told["type"], told["to"], told["payload"]["session_id"]) == (
            "WELCOME",
            "ann",
            session,
        )
        raw.close()
        stale = await relay.raw()
        stale.say("RESUME", {"resume_token": token})
        assert [one["payload"]["code"] for one in await stale.rest()] == ["RESUME_TOO_OLD"]
        new = await relay.raw()
        new.say("HELLO", {"agent": "cleo", "session": {"resume_token": "of long ago"}})
        assert [(await new.hear())["type"] for _ in range(2)] == ["ERROR", "WELCOME"]
        new.close()


async def test_everybody_reaches_agents_and_users_that_are_connected_but_the_sender(
    home: Path,
) -> None:
    async with served(home) as relay:
        ann, ben, cleo = [await relay.peer(name) for name in ("ann", "ben", "cleo")]
        dan = await relay.peer("dan", kind="user")
        await relay.peer("search", kind="service")
        await (await relay.peer("gone")).close()
        await until(lambda: "gone" not in relay.router.clients.connected())
        assert (await ann.send("*", "all")).recipients == 3
        for peer in (ben, cleo, dan):
            [got] = await take(peer, 1)
            assert (got.body, got.to) == ("all", "*")
        await ben.subscribe("builds")
        assert (await ann.send("*", "green", topic="builds")).recipients == 1
        assert [one.topic for one in await take(ben, 1)] == ["builds"]
        await ben.unsubscribe("builds")
        assert (await ann.send("*", "red", topic="builds")).recipients == 0


async def test_a_channel_is_its_members_connected_or_not(home: Path) -> None:
    async with served(home) as relay:
        ann, ben, cleo = [await relay.peer(name) for name in ("ann", "ben", "cleo")]
        news: list[Any] = []
        ann.on_envelope = news.append
        for peer in (ann, ben, cleo):
            await peer.join("#dev")
        assert [one["from"] for one in news] == ["ben", "cleo"]
        await cleo.leave("#dev")
        await ben.close()
        await until(lambda: "ben" not in relay.router.clients.connected())
        assert (await ann.post("#dev", "first", thread="t")).recipients == 1
        assert (await cleo.send("#dev", "second")).recipients == 2
        assert [(one.kind, one.to) for one in await take(ann, 1)] == [("message", "#dev")]
        who = {one["name"]: one["status"] for one in await ann.who("#dev")}
        assert who == {"ann": "online", "ben": "offline"}
    async with served(home) as relay:
        ben = await relay.peer("ben")
        got = await take(ben, 2)
        assert [(one.body, one.kind, one.to, one.thread) for one in got] == [
            ("first", "channel", "#dev", "t"), ("second", "message", "#dev", ""),
        ]  # fmt: skip
        assert await refusal(ben.send("#nobody", "x")) == "channel_not_found"


async def test_a_client_that_does_not_acknowledge_channels_is_asked_whether_it_has_read(
    home: Path,
) -> None:
    async with served(home) as relay:
        ann, old = await relay.peer("ann"), await relay.hello("old")
        old.say("CHANNEL_JOIN", {"channel": "#dev"})
        await old.hear()
        await ann.post("#dev", "hello")
        assert (await old.hear())["type"] == "CHANNEL_MESSAGE"
        ping = await old.hear()
        assert relay.mail.load("old")[0] == 1
        old.say("PONG", ping["payload"])
        await until(lambda: relay.mail.load("old")[0] == 0)
        old.close()


async def test_an_agent_is_reached_through_its_project(home: Path) -> None:
    async with served(home) as relay:
        ann = await relay.peer("ann")
        lead = await relay.peer("lead", directory="/src/shop")
        other = await relay.peer("shop:aide")
        for to in ("lead", "shop:lead", "shop:aide"):
            await ann.send(to, to)
        assert [one.body for one in await take(lead, 2)] == ["lead", "shop:lead"]
        assert [one.body for one in await take(other, 1)] == ["shop:aide"]
        assert await refusal(ann.send("bank:lead", "x")) == "recipient_not_found"
        assert (await ann.send("shop:*", "all of the shop")).recipients == 2


async def test_what_is_logged_is_seen_by_who_wants_to(home: Path) -> None:
    async with served(home) as relay:
        ann, watcher = await relay.peer("ann"), await relay.peer("watcher")
        seen: list[Any] = []
        watcher.on_envelope = seen.append
        ann.log("unseen")
        await ann.sync({})
        await watcher.subscribe("logs:ann")
        ann.log("compiling")
        await until(lambda: bool(seen))
        assert [(one["type"], one["from"], one["payload"]["data"]) for one in seen] == [
            ("LOG", "ann", "compiling")
        ]


async def test_a_service_is_asked_and_answers(home: Path) -> None:
    async with served(home) as relay:
        ann, search = await relay.peer("ann"), await relay.peer("search", kind="service")

        def answer(request_id: str, sender: str, payload: Any) -> None:
            if payload["method"] == "find":
                search.answer(request_id, {"for": sender, "hits": [payload["params"]["query"]]})
            elif payload["method"] == "fail":
                search.answer(request_id, error=ServiceFailure("BROKEN", "no index"))

        search.on_request = answer
        assert await ann.ask("search", "find", {"query": "auth"}) == {
            "for": "ann",
            "hits": ["auth"],
        }
        assert await refusal(ann.ask("search", "fail", {})) == "service_error"
        assert await refusal(ann.ask("search", "silent", {}, timeout_ms=20)) == "timed_out"
        assert await refusal(ann.ask("none", "find", {})) == "service_not_found"
        late = asyncio.ensure_future(ann.ask("search", "silent", {}))
        await ann.sync({})
        await search.close()
        assert await refusal(late) == "service_error"


async def test_a_question_that_comes_before_a_service_listens_is_kept_for_it(home: Path) -> None:
    async with served(home) as relay:
        ann, search = await relay.peer("ann"), await relay.peer("search", kind="service")
        asked = asyncio.ensure_future(ann.ask("search", "find", {}))
        await ann.sync({})
        await search.sync({})  # behind the question, which has come by then
        search.on_request = lambda request_id, sender, payload: search.answer(
            request_id, payload["method"]
        )
        assert await asked == "find"


async def test_only_who_was_asked_can_answer(home: Path) -> None:
    async with served(home) as relay:
        ann, search, eve = [
            await relay.peer("ann"),
            await relay.peer("search", kind="service"),
            await relay.peer("eve"),
        ]
        asked: list[str] = []
        search.on_request = lambda request_id, sender, payload: asked.append(request_id)
        waiting = asyncio.ensure_future(ann.ask("search", "find", {}))
        await until(lambda: bool(asked))
        eve.answer(asked[0], "forged")
        await eve.sync({})
        search.answer(asked[0], "true")
        assert await waiting == "true"


async def hung_up(raw: Raw) -> list[tuple[str, bool]]:
    return [
        (one["payload"]["code"], one["payload"]["fatal"])
        for one in await raw.rest()
        if one["type"] == "ERROR"
    ]


async def test_what_is_no_envelope_is_told_so(home: Path) -> None:
    async with served(home) as relay:
        for body in (b"", b"{", b"[]", b"\xff", b"null", b'{"type":"HELLO"}', b'{"v":1,"type":"HELLO","id":""}',
                     b'{"v":2,"type":"HELLO","id":"1","payload":{"agent":"ann"}}',
                     b'{"v":1,"type":"HELLO","id":"1","payload":{"agent":"two words"}}',
                     b'{"v":1,"type":"SEND","id":"1","to":"ann","payload":{"kind":"message","body":"x"}}'):  # fmt: skip
            raw = await relay.raw()
            raw.put(body)
            assert await hung_up(raw) == [("BAD_REQUEST", True)], body
        raw = await relay.raw()
        raw.writer.write((1 << 31).to_bytes(4, "big"))
        assert await hung_up(raw) == [("BAD_REQUEST", True)]


async def test_an_agent_that_works_on_waits_for_no_permission(home: Path) -> None:
    async with served(home) as relay:
        permissions = relay.relay.permissions
        ann = await relay.hello("ann")
        asked = [permissions.ask(name, "Bash", "make", "").id for name in ("ann", "ben")]
        for state, left in (("working", asked), (PERMISSION, asked), ("working", asked[1:])):
            ann.say("STATE", {"state": state})
            ann.say("nonsense", {}, id=state)
            assert (await ann.hear())["payload"]["ack_id"] == state
            assert [one.id for one in permissions.listed()] == left
        ann.close()


async def test_what_is_not_understood_is_told_so_and_the_connection_stays(home: Path) -> None:
    async with served(home) as relay:
        raw = await relay.hello("ann")
        for kind in (
            "SHADOW_BIND",
            "SHADOW_UNBIND",
            "STATE",
            "DELIVER",
            "WELCOME",
            "HELLO",
            "nonsense",
        ):
            raw.say(kind, {}, id=kind)
            told = (await raw.hear())["payload"]
            assert (told["code"], told["fatal"], told["ack_id"]) == ("BAD_REQUEST", False, kind)
        for kind, payload in (
            ("ACK", {}),
            ("SYNC", {}),
            ("CHANNEL_INFO", {}),
            ("SERVICE_REQUEST", {"params": {}}),
        ):
            raw.say(kind, payload, id=kind)
            assert (await raw.hear())["payload"]["ack_id"] == kind
        for kind, parts in (("SEND", {"to": "ann"}), ("CHANNEL_MESSAGE", {})):
            empty = {"kind": "message", "channel": "#c", "body": " \n"}
            raw.say(kind, empty, id=kind, **parts)
            told = (await raw.hear())["payload"]
            assert (told["code"], told["ack_id"]) == ("INVALID", kind)
            assert "the message is empty" in told["message"]
        for body in (b"{", b"\xff"):
            raw.put(body)
            assert (await raw.hear())["payload"]["code"] == "BAD_REQUEST"
        raw.say("ACK", {"ack_id": "of another home-1", "seq": 1})
        assert (await raw.hear())["payload"]["code"] == "NOT_FOUND"
        raw.say("PING", {"nonce": "7"})
        assert [(told := await raw.hear())["type"], told["payload"]] == ["PONG", {"nonce": "7"}]
        raw.say("BYE", {})
        assert await raw.rest() == []


async def test_what_follows_hello_at_once_waits_for_it(home: Path) -> None:
    async with served(home) as relay:
        raw = await relay.raw()
        raw.say("HELLO", {"agent": "ann"})
        for number in range(5):
            raw.say("SEND", {"kind": "message", "body": "x"}, id=str(number), to="ann")
        assert [(await raw.hear())["type"] for _ in range(1)] == ["WELCOME"]
        types = [(await raw.hear())["type"] for _ in range(10)]
        assert (types.count("ACK"), types.count("DELIVER")) == (5, 5)
        raw.close()


async def test_who_says_nothing_is_left_in_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.doors.socket.router.HELLO_SECONDS", 0)
    monkeypatch.setattr("tersely.doors.socket.router.SOCKET_TICK_SECONDS", 0.01)
    async with served(home) as relay:
        silent = await relay.raw()
        assert await hung_up(silent) == [("BAD_REQUEST", True)]
        monkeypatch.setattr("tersely.doors.socket.router.HELLO_SECONDS", 60)
        monkeypatch.setattr("tersely.doors.socket.router.SOCKET_HEARTBEAT_SECONDS", 0)
        deaf = await relay.hello("deaf")
        assert (await deaf.hear())["type"] == "PING"
        monkeypatch.setattr("tersely.doors.socket.router.SOCKET_SILENCE_SECONDS", 0)
        await deaf.rest()
        await until(lambda: "deaf" not in relay.router.clients.connected())


async def test_the_socket_is_its_owners_alone(home: Path) -> None:
    async with served(home) as relay:
        assert socket_path(home).stat().st_mode & 0o077 == 0
        await (await relay.peer("ann")).close()
    assert not socket_path(home).exists()
    with pytest.raises(TerselyError) as refused:
        await Peer.connect("ann", home=home)
    assert refused.value.code == "daemon_not_running"


async def test_a_home_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 30)
    async with served(home) as relay:
        assert len(str(socket_path(home))) < 100
        await (await relay.peer("ann")).close()


async def test_nobody_else_is_listened_to(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def another(connected: socket.socket) -> bool:
        return False

    monkeypatch.setattr("tersely.doors.socket.connection.is_same_user", another)
    async with served(home) as relay:
        raw = await relay.raw()
        assert await hung_up(raw) == [("UNAUTHORIZED", True)]
