"""What the relay promises of messages, seen through its socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.doors.socket.served import served, take, until

from tersely.client.peer import Busy, Delivery, Peer, Receipt
from tersely.doors.socket.connection import MAX_UNANSWERED_FRAMES, SOCKET_OUTPUT_BYTES
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.relay.store import mailboxes as boxes
from tersely.relay.store.mailboxes import Stage
from tersely.relay.wire.home import socket_path

T = TypeVar("T")


class Clock:
    seconds = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


async def test_what_is_acknowledged_is_written_as_durably_as_is_said(home: Path) -> None:
    for durable, durability in ((True, "disk"), (False, "process")):
        async with served(home, durable=durable) as relay:
            ann = await relay.peer("ann")
            sent = await ann.send("ben", "hello", queue=True)
            assert sent.durability == durability
            # by a reader of its own
            assert [one.id for one in relay.mail.box("ben", 0, 10)][-1] == sent.id
            await ann.close()


async def test_a_message_comes_until_it_is_acknowledged_with_one_id_and_rising_attempts(
    home: Path,
) -> None:
    seen: list[Delivery] = []
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        await ann.send("ben", "important")
        seen += await take(ben, 1, acks=False)
        ben.drop()
        await until(lambda: "ben" not in relay.router.clients.connected())
        seen += await take(await relay.peer("ben"), 1, acks=False)
    async with served(home) as relay:
        ben = await relay.peer("ben")
        seen += await take(ben, 1)
        assert [one.attempt for one in seen] == [1, 2, 3]
        assert len({(one.id, one.seq, one.body, one.at_ms) for one in seen}) == 1
        await until(lambda: relay.mail.load("ben") == (0, 0))
        await ben.close()
    async with served(home) as relay:
        ben, ann = await relay.peer("ben"), await relay.peer("ann")
        await ann.send("ben", "the next")
        assert [one.body for one in await take(ben, 1)] == ["the next"]


async def test_what_waited_for_too_long_is_a_dead_letter_and_can_be_sent_again(home: Path) -> None:
    clock = Clock()
    async with served(home, clock=clock) as relay:
        ann = await relay.peer("ann")
        await ann.send("ben", "soon", ttl_ms=1_000, queue=True)
        await ann.send("ben", "whenever", queue=True)
        clock.seconds += 2
        await until(lambda: relay.mail.load("ben")[0] == 1)
        [dead] = relay.mail.dead(0, 10)
        assert (dead.stage, dead.note, dead.mailbox) == (Stage.DEAD, "expired", "ben")
        ben = await relay.peer("ben")
        assert [one.body for one in await take(ben, 1)] == ["whenever"]
        await asyncio.to_thread(relay.mail.revive, dead.number, "ben")
        assert [one.body for one in await take(ben, 1)] == ["soon"]
        assert relay.mail.dead(0, 10) == []


async def test_a_refused_message_is_a_dead_letter_and_one_that_is_put_off_comes_again(
    home: Path,
) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        await ann.send("ben", "no")
        await ann.send("ben", "later")
        refused, put_off = await take(ben, 2, acks=False)
        await ben.nack(refused, "INVALID", "not mine")
        await ben.nack(put_off, "BUSY")
        [again] = await take(ben, 1)
        assert (again.id, again.attempt) == (put_off.id, 2)
        [dead] = relay.mail.dead(0, 10)
        assert (relay.mail.message_id(dead.number), dead.note) == (refused.id, "INVALID: not mine")
        await until(lambda: relay.mail.load("ben") == (0, 0))


async def test_what_is_acknowledged_does_not_come_again_with_what_was_put_off(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.doors.socket.handling.acknowledgements.MESSAGE_RETRY_SECONDS", 0)
    # notes stay unwritten
    monkeypatch.setattr("tersely.doors.socket.clients.MARK_REST_SECONDS", 3_600)
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        for number in range(20):
            await ann.send("ben", str(number))
        first = await take(ben, 20, acks=False)
        await ben.nack(first[0], "BUSY")
        for one in first[1:]:
            await ben.ack(one)
        seen = list(first)
        for attempt in (2, 3, 4):
            [again] = await take(ben, 1, acks=False)
            seen.append(again)
            assert (again.body, again.attempt) == ("0", attempt)
            await ben.nack(again, "BUSY")
        assert [one.attempt for one in await take(ben, 1)] == [5]
        await ann.send("ben", "the end")
        assert [one.body for one in await take(ben, 1)] == ["the end"]
        assert len({(one.id, one.attempt) for one in seen}) == len(seen)


async def test_a_message_is_accepted_once_however_often_it_is_sent(home: Path) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        first = await ann.send("ben", "once", id="m1")
        again = await ann.send("ben", "once", id="m1")
        assert (again.message_id, again.seq, first.is_repetition, again.is_repetition) == (
            first.message_id, first.seq, False, True,
        )  # fmt: skip
        others: list[dict[str, Any]] = [
            {"body": "something else"}, {"to": "ann"}, {"topic": "t"}, {"ttl_ms": 60_000}, {"kind": "action"},
        ]  # fmt: skip
        for other in others:
            with pytest.raises(TerselyError) as refused:
                await ann.send(**{"to": "ben", "body": "once", "id": "m1", **other})
            assert refused.value.code == "key_reused"
        # Ids are the sender's own: another's are other messages.
        await ben.send("ben", "mine", id="m1")
        assert [one.body for one in await take(ben, 2)] == ["once", "mine"]
        await until(lambda: relay.mail.load("ben") == (0, 0))
    async with served(home) as relay:
        ann = await relay.peer("ann")
        assert (await ann.send("ben", "once", id="m1")).is_repetition
        assert relay.mail.load("ben") == (0, 0)


async def test_messages_of_one_sender_and_topic_come_in_order_without_gaps(home: Path) -> None:
    async with served(home) as relay:
        ann, cleo = await relay.peer("ann"), await relay.peer("cleo")
        await ann.send("ben", "t0-0", topic="t0", queue=True)
        ben = await relay.peer("ben", max_inflight=7)

        async def flood(peer: Peer, topic: str) -> None:
            sending = [
                peer.send("ben", f"{topic}-{number}", topic=topic) for number in range(1, 120)
            ]
            await asyncio.gather(*sending)

        await asyncio.gather(flood(ann, "t0"), flood(ann, "t1"), flood(cleo, "t0"))
        streams: dict[tuple[str, str], list[Delivery]] = {}
        for one in await take(ben, 1 + 3 * 119):
            streams.setdefault((one.sender, one.topic), []).append(one)
        assert len(streams) == 3
        for (sender, topic), found in streams.items():
            first = 0 if (sender, topic) == ("ann", "t0") else 1
            assert [one.body for one in found] == [
                f"{topic}-{number}" for number in range(first, 120)
            ]
            assert [one.seq for one in found] == list(range(1, len(found) + 1))
        assert await ben.sync({("ann", "t0"): 120, ("cleo", "t0"): 100}) == {
            ("ann", "t0"): 120,
            ("cleo", "t0"): 119,
        }


async def test_sync_has_again_what_a_client_has_lost(home: Path) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        for number in range(5):
            await ann.send("ben", str(number))
        assert len(await take(ben, 5, acks=False)) == 5
        assert await ben.sync({("ann", ""): 2}) == {("ann", ""): 5}
        assert [(one.body, one.attempt) for one in await take(ben, 3)] == [
            ("2", 2),
            ("3", 2),
            ("4", 2),
        ]
        await until(lambda: relay.mail.load("ben") == (0, 0))


async def test_an_acknowledgement_may_stand_for_all_before_it(home: Path) -> None:
    async with served(home) as relay:
        ann = await relay.peer("ann")
        ben = await relay.hello("ben")
        for number in range(4):
            await ann.send("ben", str(number))
        got = [await ben.hear() for _ in range(4)]
        seq = got[2]["delivery"]["seq"]
        ben.say("ACK", {"ack_id": got[2]["id"], "seq": seq, "cumulative_seq": seq})
        await until(lambda: relay.mail.load("ben")[0] == 1)
        ben.close()


async def test_every_send_is_answered(home: Path) -> None:
    async with served(home) as relay:
        raw = await relay.hello("ann")
        large = "x" * (MAX_FRAME_BYTES - 1_000)
        deep: object = "x"
        for _ in range(100):
            deep = [deep]
        sends = {
            "nobody": ({"kind": "message", "body": "x"}, {"to": "nobody"}, "NACK", "recipient_not_found"),
            "queued": ({"kind": "message", "body": "x"}, {"to": "new", "payload_meta": {"queue": True}}, "ACK", None),
            "no to": ({"kind": "message", "body": "x"}, {}, "NACK", "malformed_request"),
            "no body": ({"kind": "message"}, {"to": "ann"}, "NACK", "malformed_request"),
            "kind": ({"kind": "shout", "body": "x"}, {"to": "ann"}, "NACK", "malformed_request"),
            "channel": ({"kind": "message", "body": "x"}, {"to": "#none"}, "NACK", "channel_not_found"),
            "large": ({"kind": "message", "body": large}, {"to": "new"}, "NACK", "payload_too_large"),
            "everybody": ({"kind": "message", "body": "x"}, {"to": "*"}, "ACK", None),
        }  # fmt: skip
        for name, (payload, parts, _, _) in sends.items():
            raw.say("SEND", payload, id=name, **parts)
        answers = {}
        for _ in sends:
            told = await raw.hear()
            answers[told["payload"]["ack_id"]] = [told["type"], told["payload"].get("error")]
        assert answers == {name: expected for name, (_, _, *expected) in sends.items()}
        raw.say(
            "SEND", {"kind": "message", "body": "x", "data": {"deep": deep}}, id="deep", to="ann"
        )
        told = await raw.hear()
        assert (told["type"], told["payload"]["ack_id"]) == ("NACK", "deep")
        raw.close()


async def test_a_full_mailbox_says_when_to_come_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.relay.mail.mail.MAX_MAILBOX_MESSAGES", 3)
    async with served(home) as relay:
        ann = await relay.peer("ann")
        for number in range(3):
            await ann.send("ben", str(number), queue=True)
        with pytest.raises(Busy) as busy:
            await ann.send("ben", "3", id="m3", queue=True)
        assert busy.value.retry_seconds > 0
        cleo = await relay.peer("cleo")
        ben = await relay.peer("ben")
        # Of a message to many, one full mailbox does not get it, and the sender is told whose that
        # is.
        told = await ann.send("*", "all")
        assert (told.recipients, told.refused) == (1, ("ben",))
        assert [one.body for one in await take(cleo, 1)] == ["all"]
        assert [one.body for one in await take(ben, 3)] == ["0", "1", "2"]
        await until(lambda: relay.mail.load("ben") == (0, 0))
        assert not (await ann.send("ben", "3", id="m3", queue=True)).is_repetition
        assert [one.body for one in await take(ben, 1)] == ["3"]


async def test_what_cannot_be_written_now_is_told_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise TerselyError("database_full", "no room")

    async with served(home) as relay, await relay.peer("ann") as ann:
        with monkeypatch.context() as patched:
            patched.setattr("tersely.relay.store.mailboxes.post", full)
            with pytest.raises(Busy) as refused:
                await ann.send("ann", "1", id="m1")
        assert refused.value.retry_seconds > 0
        with monkeypatch.context() as patched:
            patched.setattr("tersely.relay.mail.mail.MAX_WAITING_POSTS", 0)
            with pytest.raises(Busy):
                await ann.send("ann", "1", id="m1")
        assert relay.mail.load("ann") == (0, 0)
        assert not (await ann.send("ann", "1", id="m1")).is_repetition
        assert [one.body for one in await take(ann, 1)] == ["1"]


async def test_stages_of_a_message_are_told_apart(home: Path) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        receipts: list[Receipt] = []
        ann.on_receipt = receipts.append
        sent = await ann.send("ben", "look", receipts=True)
        [got] = await take(ben, 1, acks=False)
        number = relay.mail.number(got.id)
        assert receipts == []

        def stage() -> Stage:
            found = boxes.delivery(relay.relay.store.reader, "ben", number)
            assert found is not None
            return found.stage

        assert stage() is Stage.ACCEPTED
        await ben.ack(got)
        await until(lambda: len(receipts) == 1 and stage() is Stage.DELIVERED)
        await ben.receipt(got, "injected")
        await until(lambda: len(receipts) == 2 and stage() is Stage.INJECTED)
        await ben.receipt(got, "seen")
        await until(lambda: len(receipts) == 3 and stage() is Stage.SEEN)
        await ben.ack(got)  # an earlier stage takes nothing back
        await ben.sync({})
        assert stage() is Stage.SEEN
        assert [one.stage for one in receipts[:3]] == ["delivered", "injected", "seen"]
        assert {(one.sent_id, one.by) for one in receipts} == {(sent.id, "ben")}
        found = boxes.delivery(relay.relay.store.reader, "ben", number)
        assert found is not None
        assert all((found.delivered_ms, found.injected_ms, found.seen_ms))


async def test_who_does_not_read_stops_nobody_and_costs_a_bounded_memory(home: Path) -> None:
    async with served(home) as relay:
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(str(socket_path(home)))
        raw = await relay.hello("probe")
        raw.close()
        deaf.sendall((hello := b'{"v":1,"type":"HELLO","id":"h","ts":1,"payload":{"agent":"deaf"}}') and
                     len(hello).to_bytes(4, "big") + hello)  # fmt: skip
        await until(lambda: "deaf" in relay.router.clients.connected())
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        body = "x" * 100_000
        for _ in range(60):  # six megabytes for who takes none of it
            await ann.send("deaf", body)
        connection = relay.router.clients.connected()["deaf"]
        assert connection.is_full
        assert connection._transport is not None
        assert connection._transport.get_write_buffer_size() < SOCKET_OUTPUT_BYTES + 2 * len(body)
        assert relay.mail.load("deaf")[0] == 60
        await ann.send("ben", "still here")
        assert [one.body for one in await take(ben, 1)] == ["still here"]
        deaf.close()
        await until(lambda: "deaf" not in relay.router.clients.connected())
        late = await relay.peer("deaf")
        assert len(await take(late, 60)) == 60


async def test_a_backlog_is_sent_no_faster_than_it_is_taken(home: Path) -> None:
    async with served(home) as relay, await relay.peer("ann") as ann:
        for _ in range(40):
            await ann.send("ben", "x" * 200_000, queue=True)
        ben = await relay.raw()
        ben.writer.transport.pause_reading()  # type: ignore[attr-defined]
        ben.say("HELLO", {"agent": "ben"})
        await until(
            lambda: (
                "ben" in relay.router.clients.connected()
                and relay.router.clients.connected()["ben"].is_full
            )
        )
        await ann.send("ann", "others go on")
        assert len(relay.router.clients.connected()["ben"].inflight) < 20
        ben.writer.transport.abort()


async def test_no_more_is_on_its_way_than_a_client_wants(home: Path) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben", max_inflight=3)
        for number in range(10):
            await ann.send("ben", str(number))
        assert len(relay.router.clients.connected()["ben"].inflight) == 3
        assert [one.body for one in await take(ben, 10)] == [str(number) for number in range(10)]


async def test_who_sends_faster_than_is_written_is_not_read_and_has_all_answered(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(home) as relay:
        eve = await relay.hello("eve")
        with monkeypatch.context() as patched:
            patched.setattr(relay.mail, "flush", lambda *, rests=False: False)  # the disk is busy
            for number in range(1_500):
                eve.say(
                    "SEND",
                    {"body": "x" * 10_000},
                    id=str(number),
                    to="nobody",
                    payload_meta={"queue": True},
                )
            waiting = relay.mail._sendings
            await until(lambda: len(waiting.get("eve", ())) >= MAX_UNANSWERED_FRAMES)
            assert len(await settled(lambda: list(waiting["eve"]))) == MAX_UNANSWERED_FRAMES
        relay.mail.flush()
        answered = [(await eve.hear())["payload"]["ack_id"] for _ in range(1_500)]
        assert answered == [str(number) for number in range(1_500)]
        eve.close()


async def test_what_waits_for_the_disk_is_written_of_every_sender_in_turn(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.relay.mail.mail.MAX_GROUP_POSTS", 8)
    async with served(home) as relay:
        eve, ann = await relay.hello("eve"), await relay.hello("ann")
        with monkeypatch.context() as patched:
            patched.setattr(relay.mail, "flush", lambda *, rests=False: False)  # the disk is busy
            for number in range(100):
                eve.say(
                    "SEND", {"body": "x"}, id=str(number), to="nobody", payload_meta={"queue": True}
                )
            await until(lambda: len(relay.mail._sendings.get("eve", ())) == 100)
            ann.say("SEND", {"body": "one word"}, id="a", to="nobody", payload_meta={"queue": True})
            await until(lambda: "ann" in relay.mail._sendings)
        relay.mail.flush()
        assert (await ann.hear())["payload"]["ack_id"] == "a"
        answered = [(await eve.hear())["payload"]["ack_id"] for _ in range(100)]
        assert answered == [str(number) for number in range(100)]
        order = [one.sender for one in relay.mail.box("nobody", 0, 200)]
        assert order.index("ann") < 8
        for raw in (eve, ann):
            raw.close()


async def test_who_does_not_take_answers_is_not_read(home: Path) -> None:
    async with served(home) as relay:
        eve = await relay.hello("eve")
        eve.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(1_000):
            eve.say("PING", {"nonce": "x" * 10_000})
        transport = relay.router.clients.connected()["eve"]._transport
        assert transport is not None
        await until(lambda: relay.router.clients.connected()["eve"].is_full)
        size = await settled(transport.get_write_buffer_size)
        assert SOCKET_OUTPUT_BYTES < size < 2 * SOCKET_OUTPUT_BYTES
        eve.writer.transport.abort()


async def settled(value: Callable[[], T]) -> T:
    """What something is once the loop has had many turns."""
    for _ in range(200):
        await asyncio.sleep(0)
    return value()


async def test_what_is_not_to_be_kept_reaches_who_is_here(home: Path) -> None:
    async with served(home) as relay:
        ann, ben = await relay.peer("ann"), await relay.peer("ben")
        sent = await ann.send("ben", "typing …", durability="memory", kind="state")
        assert (sent.durability, sent.seq) == ("memory", 0)
        [got] = await take(ben, 1)
        assert (got.body, got.kind) == ("typing …", "state")
        assert relay.mail.load("ben") == (0, 0)
        await ben.close()
        await until(lambda: "ben" not in relay.router.clients.connected())
        with pytest.raises(Busy):
            await ann.send("ben", "typing …", durability="memory")
