"""Whatever bytes come, the relay goes on: others are served, and who is understood at all is
answered.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.doors.socket.served import Raw, Served, served

from tersely.relay.wire.frames import framed

TYPES = [
    "HELLO", "RESUME", "SEND", "ACK", "NACK", "PING", "PONG", "BYE", "SYNC", "SUBSCRIBE", "UNSUBSCRIBE", "LOG",
    "CHANNEL_JOIN", "CHANNEL_LEAVE", "CHANNEL_MESSAGE", "CHANNEL_INFO", "CHANNEL_MEMBERS", "CHANNEL_TYPING",
    "SERVICE_REQUEST", "SERVICE_RESPONSE", "SHADOW_BIND", "",
]  # fmt: skip
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    ["agent", "body", "kind", "ack_id", "seq", "channel", "member", "streams", "service", "method", "params",
     "request_id", "success", "cumulative_seq", "sack", "stage", "nonce", "thread", "data", "capabilities", "auth"]
)  # fmt: skip
PAYLOADS = st.dictionaries(
    MEMBERS, ANY | st.sampled_from(["ann", "#dev", "message", "1", "seen", True]), max_size=5
)
ENVELOPES = st.builds(
    lambda kind, payload, to, topic, meta: json.dumps(
        {"v": 1, "type": kind, "id": "1", "ts": 1, "to": to, "topic": topic, "payload": payload, "payload_meta": meta}
    ).encode(),
    st.sampled_from(TYPES), PAYLOADS | ANY, st.sampled_from(["ann", "*", "#dev", "nobody", "", "p:*"]) | ANY,
    st.none() | st.text(max_size=5),
    st.none() | st.dictionaries(st.sampled_from(["ttl_ms", "queue", "durability"]), ANY),
)  # fmt: skip
STREAMS = st.lists(
    ENVELOPES.map(framed) | st.binary(max_size=40).map(framed) | st.binary(max_size=20)
    | ENVELOPES.map(lambda body: framed(body)[: len(body) // 2]),
    max_size=6,
)  # fmt: skip


async def attack(relay: Served, pieces: list[bytes], *, greets: bool) -> None:
    raw = await (relay.hello("eve") if greets else relay.raw())
    raw.writer.write(b"".join(pieces))
    raw.writer.write_eof()
    told = await raw.rest()
    assert all(one["type"] != "ERROR" or one["payload"]["code"] != "INTERNAL" for one in told), told


async def probe(relay: Served) -> None:
    raw: Raw = await relay.hello("probe")
    raw.say("PING", {"nonce": "n"})
    assert (await raw.hear())["type"] == "PONG"
    raw.say("BYE", {})
    await raw.rest()


def test_any_bytes_leave_the_relay_as_it_was(tmp_path: Path) -> None:
    """One relay for all examples: what one leaves behind meets the next."""
    with asyncio.Runner() as runner:
        context = served(tmp_path / "home")
        relay = runner.run(context.__aenter__())

        @settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
        @given(STREAMS, st.booleans())
        def attacked(pieces: list[bytes], greets: bool) -> None:
            async def example() -> None:
                await attack(relay, pieces, greets=greets)
                await probe(relay)

            runner.run(example())

        try:
            attacked()
        finally:
            runner.run(context.__aexit__(None, None, None))


async def test_every_byte_by_itself_is_as_good_as_all_at_once(home: Path) -> None:
    async with served(home) as relay:
        raw = await relay.raw()
        told: list[dict[str, Any]] = []
        for kind, payload in (("HELLO", {"agent": "ann"}), ("PING", {"nonce": "é"})):
            sent = {"v": 1, "type": kind, "id": "1", "ts": 1, "payload": payload}
            for byte in framed(json.dumps(sent, ensure_ascii=False).encode()):
                raw.writer.write(bytes([byte]))
                await raw.writer.drain()
            told.append(await raw.hear())
        assert [one["type"] for one in told] == ["WELCOME", "PONG"]
        assert told[1]["payload"] == {"nonce": "é"}
        raw.close()


async def test_many_that_come_and_go_leave_nothing_behind(home: Path) -> None:
    async with served(home) as relay:
        for _ in range(20):
            raws = [await relay.raw() for _ in range(10)]
            for number, raw in enumerate(raws):
                raw.say("HELLO", {"agent": f"a{number}"})
            for raw in raws:
                raw.writer.transport.abort()
        await asyncio.sleep(0)
        await probe(relay)
        async with asyncio.timeout(60):
            while relay.router._all or relay.router.clients.names:
                await asyncio.sleep(0.01)
