"""Frames come out as they went in, however they were split on the way, and envelopes are all that
is let through.
"""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.limits import MAX_JSON_LEVELS
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import MalformedError
from tersely.relay.wire.frames import Frames, FrameTooLargeError, framed

BODIES = st.lists(st.binary(max_size=300), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(BODIES)
def test_every_split_point_gives_the_same(bodies: list[bytes]) -> None:
    stream = b"".join(map(framed, bodies))
    for at in range(len(stream) + 1):
        frames = Frames(300)
        assert frames.feed(stream[:at]) + frames.feed(stream[at:]) == bodies


@given(BODIES, st.data())
def test_any_splits_give_the_same(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(framed, bodies))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    frames, found = Frames(300), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += frames.feed(stream[start:end])
    assert found == bodies


@given(st.integers(301, 2**32 - 1), BODIES)
def test_a_length_that_no_frame_has_is_refused_before_its_bytes_come(
    length: int, before: list[bytes]
) -> None:
    with pytest.raises(FrameTooLargeError):
        Frames(300).feed(b"".join(map(framed, before)) + length.to_bytes(4, "big"))


@given(st.binary(max_size=400))
def test_any_bytes_are_an_envelope_or_malformed(body: bytes) -> None:
    with suppress(MalformedError):
        read = envelopes.read(body)
        assert json.loads(body)["type"] == read.type


@given(
    st.dictionaries(
        st.sampled_from(
            ["v", "type", "id", "ts", "from", "to", "topic", "payload", "payload_meta"]
        ),
        JSON,
    )
)
def test_any_json_is_an_envelope_or_malformed(value: object) -> None:
    with suppress(MalformedError):
        read = envelopes.read(json.dumps(value).encode())
        for kind in (
            envelopes.Hello,
            envelopes.Send,
            envelopes.Acknowledged,
            envelopes.Sync,
            envelopes.ServiceRequest,
        ):
            with suppress(MalformedError):
                envelopes.payload_of(read, kind)


@given(JSON)
def test_what_is_forwarded_stays_as_it_came(value: object) -> None:
    payload = json.dumps({"body": "x", "data": value}, ensure_ascii=False, indent=1)
    sent = f'{{"v":1,"type":"SEND","id":"1","payload":{payload}}}'.encode()
    read = envelopes.read(sent)
    body = envelopes.write("DELIVER", "2", 3, read.payload)
    assert payload.encode() in body
    assert json.loads(body)["payload"] == {"body": "x", "data": value}


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded_whatever_texts_say(opening: str, closing: str) -> None:
    def sent(levels: int) -> bytes:
        deep = opening * levels + '"[[[{{{\\"[["' + closing * levels
        return f'{{"v":1,"type":"SEND","id":"[","payload":{deep}}}'.encode()

    envelopes.read(sent(MAX_JSON_LEVELS - 1))
    for levels in (MAX_JSON_LEVELS, 5_000, 100_000):
        with pytest.raises(MalformedError):
            envelopes.read(sent(levels))


@given(st.text(alphabet='[]{}"\\a', max_size=200))
def test_brackets_in_texts_are_no_levels(text: str) -> None:
    wide = json.dumps([text] * 40)
    assert envelopes.read(f'{{"type":"SEND","id":"1","payload":{wide}}}'.encode()).type == "SEND"
