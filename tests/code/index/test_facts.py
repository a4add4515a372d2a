"""Facts on the disk: what was written is read, and anything else is refused before it is decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.index.storage.schema import decode_facts, encode_facts
from tersely.code.languages.python import PYTHON
from tersely.code.syntax.extract import extract

SOURCE = b"from a import b\nclass K(b):\n    def m(self, x: int = 1):\n        return [self.m(x), b][0]\n"
FACTS = extract(SOURCE, PYTHON)
ENCODED = encode_facts(FACTS)


def test_what_was_written_is_read() -> None:
    assert decode_facts(ENCODED) == FACTS


@given(st.integers(0, len(ENCODED) - 1), st.integers(1, 255), st.integers(0, 4))
def test_no_other_bytes_are_decoded(place: int, difference: int, cut: int) -> None:
    damaged = bytearray(ENCODED)
    damaged[place] ^= difference
    with pytest.raises(ValueError, match="not those that were written"):
        decode_facts(bytes(damaged[: len(damaged) - cut]))


@given(st.binary(max_size=200))
def test_nothing_of_others_is_decoded(foreign: bytes) -> None:
    with pytest.raises(ValueError, match="not those that were written"):
        decode_facts(foreign)
