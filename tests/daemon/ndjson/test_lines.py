"""Lines come out as they were written, however the bytes arrive."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tersely.daemon.ndjson.lines import Lines

MOST = 12
LINES = st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=8)


@given(LINES, st.lists(st.integers(1, 9), min_size=1))
def test_lines_do_not_depend_on_how_they_arrive(written: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in written)
    cutter, found, at = Lines(MOST), [], 0
    while at < len(stream):
        size = sizes[at % len(sizes)]
        found += cutter.feed(stream[at : at + size])
        at += size
    assert found == [line if len(line) <= MOST else None for line in written]


def test_of_a_long_line_nothing_is_kept() -> None:
    cutter = Lines(MOST)
    for _ in range(1_000):
        assert list(cutter.feed(b"x" * 1_000)) == []
        assert len(cutter._begun) <= MOST
    assert list(cutter.feed(b"\nok\n")) == [None, b"ok"]
