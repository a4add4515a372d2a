"""Frames, however they arrive and whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.frames import MAX_HEADER_BYTES, MAX_LENGTH_DIGITS, Frame, FrameReader, encode
from tersely.ai_talk.messages import TYPES, Message, frame_of, message_of, value_of

CONTENTS = st.lists(st.tuples(st.binary(max_size=40), st.booleans()), max_size=5)
LINES = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20)


def test_a_bare_frame_is_as_it_is_written() -> None:
    assert encode(b"Hello, World!") == b"13:Hello, World!"
    assert FrameReader().feed(b"13:Hello, World!0:") == [
        Frame(b"Hello, World!", False),
        Frame(b"", False),
    ]


def test_every_split_point_gives_the_same_frame() -> None:
    data = encode("grüße: 1:2".encode()) + encode(b"{}\nx", is_envelope=True)
    for place in range(len(data) + 1):
        reader = FrameReader()
        frames = reader.feed(data[:place]) + reader.feed(data[place:])
        assert [frame.is_envelope for frame in frames] == [False, True]
        assert reader.is_between_frames


@given(CONTENTS, st.lists(st.integers(1, 7)))
def test_frames_do_not_depend_on_how_they_arrive(
    contents: list[tuple[bytes, bool]], sizes: list[int]
) -> None:
    data = b"".join(
        encode(content, is_envelope=mark and bool(content)) for content, mark in contents
    )
    reader, found = FrameReader(), []
    for size in [*sizes, len(data)]:
        found += reader.feed(data[:size])
        data = data[size:]
    assert [frame.content for frame in found] == [content for content, _ in contents]
    assert [frame.is_envelope for frame in found] == [
        mark and bool(content) for content, mark in contents
    ]


@pytest.mark.parametrize(
    "data", [b":x", b"x", b"-1:x", b"+1:x", b" 1:x", b"1 :x", b"1x:y", b"\xb2:x", b"1" * 9, b"\n"]
)
def test_what_is_no_length_is_malformed(data: bytes) -> None:
    with pytest.raises(TalkError, match="MALFORMED_FRAME"):
        FrameReader().feed(data)


def test_what_is_too_large_is_refused_before_it_has_come() -> None:
    assert FrameReader(10).feed(b"10:0123456789") == [Frame(b"0123456789", False)]
    with pytest.raises(TalkError, match="MESSAGE_TOO_LARGE") as caught:
        FrameReader(10).feed(b"11:")
    assert caught.value.details == {"size": 11, "max_size": 10}
    with pytest.raises(TalkError, match="MESSAGE_TOO_LARGE"):
        FrameReader(10).feed(b"0%d:" % (11 + MAX_HEADER_BYTES))


def test_frames_before_a_bad_one_are_given_first() -> None:
    reader = FrameReader()
    assert reader.feed(b"1:a1:b!") == [Frame(b"a", False), Frame(b"b", False)]
    with pytest.raises(TalkError, match="MALFORMED_FRAME"):
        reader.feed(b"")


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_any_bytes_are_frames_or_malformed_and_little_is_held(parts: list[bytes]) -> None:
    reader = FrameReader(20)
    try:
        for part in parts:
            assert all(len(frame.content) <= 20 + MAX_HEADER_BYTES for frame in reader.feed(part))
            assert len(reader._held) <= 20 + MAX_HEADER_BYTES + MAX_LENGTH_DIGITS + 31
    except TalkError as error:
        assert error.code in {"MALFORMED_FRAME", "MESSAGE_TOO_LARGE"}


@given(st.text(st.characters(codec="utf-8")), LINES, LINES, st.integers(1, 65_535), st.booleans())
def test_an_envelope_says_what_was_put_into_it(
    text: str, thread: str, name: str, port: int, wants: bool
) -> None:
    message = Message(
        text.encode(), port, name, id="a", thread=thread, reply_to=name, wants_receipt=wants
    )
    (frame,) = FrameReader().feed(frame_of(message))
    assert message_of(frame) == message
    assert value_of(message) == text


@given(st.binary(max_size=200), st.booleans())
def test_any_content_is_a_message_or_an_invalid_one(content: bytes, is_envelope: bool) -> None:
    try:
        message = message_of(Frame(content, is_envelope))
    except TalkError as error:
        assert error.code == "INVALID_MESSAGE"
    else:
        assert message.type in TYPES


@pytest.mark.parametrize(
    "header",
    [
        '{"v": 1, "from_port": 0}',
        '{"v": 1, "from_port": "9001"}',
        '{"v": 1, "from_port": true}',
        '{"v": 1, "id": "two\\nlines"}',
        '{"v": 1, "id": "' + "x" * 201 + '"}',
        '{"v": 1, "type": "picture"}',
        '{"v": 1, "kind": "order"}',
        '{"v": 1, "receipt": "yes"}',
    ],
)
def test_a_header_with_a_wrong_field_is_refused(header: str) -> None:
    with pytest.raises(TalkError, match="INVALID_MESSAGE"):
        message_of(Frame(header.encode() + b"\nx", True))


@pytest.mark.parametrize(
    "content", [b"Hello", b"{}\nHello", b'{"v": 2}\nHello', b"[1]\nHello", b"[" * 9_000 + b"\n"]
)
def test_a_zero_before_the_length_of_plain_text_changes_nothing(content: bytes) -> None:
    assert message_of(Frame(content, True)) == Message(content)


@pytest.mark.parametrize(
    "body", [b"{", b"NaN", b"1e999", b'"\\ud800"', b"[" * 200 + b"]" * 200, b"[" * 90_000, b"\xff"]
)
def test_json_that_cannot_be_stored_is_refused(body: bytes) -> None:
    with pytest.raises(TalkError, match="INVALID_MESSAGE"):
        value_of(Message(body, type="json"))
