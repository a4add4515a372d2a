"""Frames, however they arrive and whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.messages import (
    MAX_HEADER_BYTES,
    MAX_MESSAGE_BYTES,
    TYPES,
    Message,
    TalkFrame,
    cut,
    encode,
    frame_of,
    malformed,
    message_of,
    stored,
)

CONTENTS = st.lists(st.tuples(st.binary(max_size=40), st.booleans()), max_size=5)
LINES = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20)


def read(parts: list[bytes], max_bytes: int = MAX_MESSAGE_BYTES) -> list[TalkFrame]:
    """The frames in bytes that come in parts."""
    held, found = bytearray(), []
    for part in parts:
        held += part
        while (frame := cut(held, max_bytes)) is not None:
            found.append(frame)
    if held:
        raise malformed()
    return found


def test_a_bare_frame_is_as_it_is_written() -> None:
    assert encode(b"Hello, World!") == b"13:Hello, World!"
    assert read([b"13:Hello, World!0:"]) == [
        TalkFrame(b"Hello, World!", False),
        TalkFrame(b"", False),
    ]


def test_a_frame_that_has_come_in_part_is_waited_for_again() -> None:
    data = encode("grüße: 1:2".encode()) + encode(b"{}\nx", is_envelope=True)
    for place in range(1, len(data)):
        found = read([data[:place], data[place:]])
        assert [frame.is_envelope for frame in found] == [False, True]


@given(CONTENTS)
def test_frames_do_not_depend_on_how_they_arrive(contents: list[tuple[bytes, bool]]) -> None:
    frames = [TalkFrame(content, mark and bool(content)) for content, mark in contents]
    assert read([encode(one.content, is_envelope=one.is_envelope) for one in frames]) == frames


@pytest.mark.parametrize(
    "data", [b":x", b"x", b"-1:x", b"+1:x", b" 1:x", b"1 :x", b"1x:y", b"\xb2:x", b"1" * 10, b"5"]
)
def test_what_is_no_length_is_malformed(data: bytes) -> None:
    with pytest.raises(TalkError, match="MALFORMED_FRAME"):
        read([data])


def test_what_is_too_large_is_refused_before_it_has_come() -> None:
    assert read([b"10:0123456789"], 10) == [TalkFrame(b"0123456789", False)]
    with pytest.raises(TalkError, match="MESSAGE_TOO_LARGE") as caught:
        read([b"11:"], 10)
    assert caught.value.details == {"size": 11, "max_size": 10}
    with pytest.raises(TalkError, match="MESSAGE_TOO_LARGE"):
        read([b"0%d:" % (11 + MAX_HEADER_BYTES)], 10)


@given(st.text(st.characters(codec="utf-8")), LINES, LINES, st.integers(1, 65_535), st.booleans())
def test_an_envelope_says_what_was_put_into_it(
    text: str, thread: str, name: str, port: int, wants: bool
) -> None:
    header = {"from_port": port, "from": name, "id": "a", "thread": thread, "receipt": wants}
    message = Message(text.encode(), header)
    (frame,) = read([frame_of(message)])
    assert message_of(frame) == message
    assert stored(message)["message"] == text


@given(st.binary(max_size=200), st.booleans())
def test_any_content_is_a_message_or_an_invalid_one(content: bytes, is_envelope: bool) -> None:
    try:
        message = message_of(TalkFrame(content, is_envelope))
    except TalkError as error:
        assert error.code == "INVALID_MESSAGE"
    else:
        assert message.header.get("type", "text") in TYPES


@pytest.mark.parametrize(
    "header",
    [
        '{"v": 1, "from_port": "9001"}',
        '{"v": 1, "from_port": true}',
        '{"v": 1, "id": "two\\nlines"}',
        '{"v": 1, "id": "' + "x" * 201 + '"}',
        '{"v": 1, "type": "picture"}',
        '{"v": 1, "receipt": "yes"}',
    ],
)
def test_a_header_with_a_wrong_field_is_refused(header: str) -> None:
    with pytest.raises(TalkError, match="INVALID_MESSAGE"):
        message_of(TalkFrame(header.encode() + b"\nx", True))


@pytest.mark.parametrize(
    "content", [b"Hello", b"{}\nHello", b'{"v": 2}\nHello', b"[1]\nHello", b"[" * 9_000 + b"\n"]
)
def test_a_zero_before_the_length_of_plain_text_changes_nothing(content: bytes) -> None:
    assert message_of(TalkFrame(content, True)) == Message(content, {})


@pytest.mark.parametrize("body", [b"{", b"NaN", b"1e999", b'"\\ud800"', b"[" * 90_000, b"\xff"])
def test_json_that_cannot_be_stored_is_refused(body: bytes) -> None:
    with pytest.raises(TalkError, match="INVALID_MESSAGE"):
        stored(Message(body, {"type": "json"}))
