"""Server-sent events by the standard, however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.agent.models.dialects.sse import EventReader
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_EVENT_BYTES

CASES = [
    (b"data: one\n\ndata: two\n\n", ["one", "two"]),
    (b"data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]),
    (b"data: one\r\rdata: two\r\r", ["one", "two"]),
    (b"\xef\xbb\xbfdata: one\n\n", ["one"]),
    (b"data:one\n\ndata:  two\n\n", ["one", " two"]),
    (b"data: a\ndata: b\n\n", ["a\nb"]),
    (b"data\n\n", [""]),
    (b"data: \n\n", [""]),
    (b": ping\n\n: ping\n\ndata: x\n\n", ["x"]),
    (b"event: message\nid: 7\nretry: 10\ndata: x\n\n", ["x"]),
    (b"event: nothing\n\n", []),
    (b"data: never ended\n", []),
    (b"data: x\n\ndata: cut", ["x"]),
    (b"data: a: b\n\n", ["a: b"]),
    (b"datax: no\ndata x\n\n", []),
    ("data: ü✓\x0b\x85\u2028\n\n".encode(), ["ü✓\x0b\x85\u2028"]),
    (b"data: \xff\n\n", ["\ufffd"]),
    (b"\n\n\n", []),
]


@pytest.mark.parametrize(("sent", "events"), CASES)
def test_events_are_read_however_they_are_cut(sent: bytes, events: list[str]) -> None:
    for cut in range(len(sent) + 1):
        reader = EventReader()
        assert [*reader.feed(sent[:cut]), *reader.feed(sent[cut:])] == events
    reader = EventReader()
    assert [event for byte in sent for event in reader.feed(bytes([byte]))] == events


LINES = st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\n")))


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_is_written_comes_back(lines: list[str], end: str) -> None:
    sent = "".join(f"data: {line}{end}{end}" for line in lines).encode()
    assert list(EventReader().feed(sent)) == lines


LONG, MANY = (
    b"data: " + b"x" * MAX_MODEL_EVENT_BYTES,
    b"data: xxxxxxx\n" * (MAX_MODEL_EVENT_BYTES // 8),
)


@pytest.mark.parametrize("line", [LONG, MANY])
def test_an_event_has_a_bound(line: bytes) -> None:
    with pytest.raises(TerselyError, match="more than"):
        list(EventReader().feed(line))


def test_pings_have_none() -> None:
    assert list(EventReader().feed(b": ping\n" * (MAX_MODEL_EVENT_BYTES // 6))) == []
