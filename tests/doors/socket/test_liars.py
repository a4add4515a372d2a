"""Clients that lie, or send what others could not read: nobody else is the worse for it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.doors.socket.served import Raw, served, take, until

from tersely.doors.socket.connection import SocketConnection
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_JSON_LEVELS
from tersely.relay.wire import envelopes

SAID = b'{"v":1,"type":"%s","id":"%s","ts":1,"to":"ann","payload":%s}'


async def answer_to(raw: Raw, type: bytes, payload: bytes) -> tuple[str, str]:
    raw.put(SAID % (type, b"7", payload))
    told = await raw.hear()
    return told["type"], told["payload"]["ack_id"]


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5_000])
async def test_a_message_that_nobody_could_read_is_refused(home: Path, number: bytes) -> None:
    async with served(home) as relay, await relay.peer("ann") as ann:
        eve = await relay.hello("eve")
        for member in (b"data", b"more"):
            for size in (1, 100_000):
                payload = b'{"body":"%s","channel":"#dev","%s":{"a":%s}}' % (
                    b"1e999 " * size,
                    member,
                    number,
                )
                for kind in (b"SEND", b"CHANNEL_MESSAGE"):
                    assert await answer_to(eve, kind, payload) == ("NACK", "7")
        assert await answer_to(eve, b"SEND", b'{"body":"%s"}' % (rb"\"1e999 " * 100_000)) == (
            "ACK",
            "7",
        )
        await ann.send("ann", "still here")
        assert [one.body[-6:] for one in await take(ann, 2)] == ["1e999 ", "l here"]
        eve.close()


@pytest.mark.parametrize(
    "half", [rb"\ud800", rb"\udfff", rb"\udc00\ud800", rb"\\\ud83d", b"\xed\xa0\x80"]
)
@pytest.mark.parametrize("filled", [1, 10_000])
async def test_half_a_surrogate_pair_is_refused_under_its_id(
    home: Path, half: bytes, filled: int
) -> None:
    async with served(home) as relay, await relay.peer("ann"):
        eve = await relay.hello("eve")
        for payload in (
            b'{"body":"%s"}',
            b'{"body":"x","data":{"a":"%s"}}',
            b'{"body":"x","%s":1}',
        ):
            said = payload % (half + b"y" * filled)
            assert await answer_to(eve, b"SEND", said) == ("NACK", "7")
            assert await answer_to(eve, b"ACK", said) == ("ERROR", "7")
        whole = rb'{"body":"\ud83d\ude00 \\ud800 %s"}' % (b"y" * filled)
        assert await answer_to(eve, b"SEND", whole) == ("ACK", "7")
        eve.close()


@pytest.mark.parametrize(
    "meta",
    [
        '{"ttl_ms":0}',
        '{"ttl_ms":-1}',
        '{"ttl_ms":1e30}',
        '{"queue":1}',
        '{"durability":"x"}',
        "[]",
        "7",
    ],
)
async def test_a_message_that_cannot_be_treated_as_it_says_is_refused_under_its_id(
    home: Path, meta: str
) -> None:
    async with served(home) as relay:
        eve = await relay.hello("eve")
        eve.put(SAID[:-1] % (b"SEND", b"7", b'{"body":"x"}') + f',"payload_meta":{meta}}}'.encode())
        told = await eve.hear()
        assert (told["type"], told["payload"]["ack_id"], told["payload"]["code"]) == (
            "NACK",
            "7",
            "INVALID",
        )
        eve.close()


@pytest.mark.parametrize("stage", ["delivered", "injected", "seen"])
async def test_an_acknowledgement_of_no_message_that_can_be_keeps_nobody_from_writing(
    home: Path, stage: str
) -> None:
    async with served(home) as relay, await relay.peer("ann") as ann:
        eve = await relay.hello("eve")
        home_id = (await ann.send("ann", "one")).message_id.rpartition("-")[0]
        for digits in (18, 19, 20, 100):
            eve.say("ACK", {"ack_id": f"{home_id}-{'9' * digits}", "seq": 1, "stage": stage})
        eve.say("PING", {})
        while (await eve.hear())["type"] != "PONG":
            pass
        await ann.send("ann", "two")
        assert [one.body for one in await take(ann, 2)] == ["one", "two"]
        eve.close()


async def test_only_what_was_posted_in_a_channel_says_to_have_been(home: Path) -> None:
    async with served(home) as relay, await relay.peer("ann") as ann:
        eve = await relay.hello("eve")
        for channel in (b'"#dev"', b'{"a":1}'):
            assert await answer_to(eve, b"SEND", b'{"body":"x","channel":%s}' % channel) == (
                "ACK",
                "7",
            )
            eve.close()
            eve = await relay.hello("eve2")
        assert {(one.to, one.kind) for one in await take(ann, 2)} == {("ann", "message")}
        eve.close()


@pytest.mark.parametrize("name", ["ann\n", "a b", "\u202eann", "a\x1b[0m", "#ann", "*", ""])
async def test_names_are_one_plain_word(home: Path, name: str) -> None:
    async with served(home) as relay:
        raw = await relay.raw()
        raw.say("HELLO", {"agent": name})
        assert [one["type"] for one in await raw.rest()] == ["ERROR"]
        raw = await relay.hello("ann")
        for payload in ({"channel": f"#{name}\n"}, {"channel": "#dev", "member": name}):
            raw.say("CHANNEL_JOIN", payload)
            assert (await raw.hear())["type"] == "NACK"
        raw.close()


@pytest.mark.parametrize("to", ["two words", "shop:ann", "ann\n", "x" * 65, "-ann", "\u202eann"])
async def test_nothing_waits_for_somebody_who_cannot_come(home: Path, to: str) -> None:
    async with served(home) as relay, await relay.peer("eve") as eve:
        with pytest.raises(TerselyError) as refused:
            await eve.send(to, "for later", queue=True)
        assert refused.value.code == "recipient_not_found"


async def test_nobody_takes_the_name_by_which_another_is_addressed(home: Path) -> None:
    async with served(home) as relay, await relay.peer("ann", project="shop") as ann:
        with pytest.raises(TerselyError, match="ann") as refused:
            await relay.peer("shop:ann")
        assert refused.value.code == "name_taken"
        await ann.send("shop:ann", "for ann alone")
        assert [one.body for one in await take(ann, 1)] == ["for ann alone"]


async def test_connections_that_are_taken_over_and_do_not_read_take_up_a_place_until_they_end(
    home: Path,
) -> None:
    async with served(home) as relay, await relay.peer("sender") as sender:
        ann = await relay.raw()
        ann.say("HELLO", {"agent": "ann", "auth": {"bind": True}})
        token = (await ann.hear())["payload"]["token"]
        for _ in range(8):
            await sender.send("ann", "x" * 500_000)
        readers = [ann]

        def is_another_full(before: SocketConnection) -> bool:
            now = relay.router.clients.connected().get("ann")
            return now is not None and now is not before and now.is_full

        for _ in range(6):
            raw, before = await relay.raw(), relay.router.clients.connected()["ann"]
            raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
            raw.say("HELLO", {"agent": "ann", "auth": {"token": token}})
            readers.append(raw)
            await until(partial(is_another_full, before))
        # those alone are let go of that are in there
        assert len(relay.router._all) == 1 + len(readers)
        for raw in readers:
            raw.writer.transport.abort()
        await until(lambda: len(relay.router._all) == 1)


async def test_there_is_room_for_so_many_clients(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.doors.socket.router.MAX_SOCKET_CLIENTS", 3)
    async with served(home) as relay:
        inside = [await relay.hello(f"a{number}") for number in range(3)]
        surplus = await relay.raw()
        surplus.say("HELLO", {"agent": "late"}, id="h1")
        told = [(one["type"], one["payload"]) for one in await surplus.rest()]
        assert [(kind, said["reason"], said["fatal"], said["ack_id"]) for kind, said in told] == [
            ("ERROR", "busy", True, "h1")
        ]
        with pytest.raises(TerselyError) as refused:
            await relay.peer("late")
        assert refused.value.code == "busy"
        inside[0].close()
        await until(lambda: len(relay.router.clients.connected()) == 2)
        inside[0] = await relay.hello("late")
        for raw in inside:
            raw.close()


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('[{"]}":', "}]")])
def test_so_many_levels_and_no_more_are_read(opens: str, closes: str) -> None:
    levels = opens.count("[") + opens.count("{")
    for wanted, is_read in ((MAX_JSON_LEVELS, True), (MAX_JSON_LEVELS + levels, False)):
        deep = (wanted - 2) // levels  # the envelope and its payload are two
        body = f'{{"v":1,"type":"LOG","id":"1","payload":{{"a":{opens * deep}"{{[\\"["{closes * deep}}}}}'.encode()
        try:
            envelopes.read(body)
        except envelopes.MalformedError:
            assert not is_read
        else:
            assert is_read


def test_brackets_that_never_close_are_no_envelope() -> None:
    for body in (b"[" * 1_000_000, b'{"a":' * 200_000, b"]" * 1_000_000, b'"[' * 300_000):
        with pytest.raises(envelopes.MalformedError):
            envelopes.read(body)
