"""The vocabulary file is o200k_base, whole and unchanged, and finds what is in it."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import PIECE_OVERLAP_BYTES, PIECE_WINDOW_BYTES
from tersely.foundation.text.vocabulary import LONGEST_TOKEN_BYTES, NO_RANK, Vocabulary

# Of the rank file of o200k_base, as tiktoken's own source states it.
PUBLISHED_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
CLASSES = {
    "A": r"[\p{Lu}\p{Lt}]",
    "a": r"\p{Ll}",
    "\x80": r"[\p{Lm}\p{Lo}]",
    "\x81": r"\p{M}",
    "0": r"\p{N}",
    "\t": r"\s",
    "!": r"[^\p{L}\p{M}\p{N}\s]",
}


def test_the_published_rank_file_comes_back_byte_for_byte(vocabulary: Vocabulary) -> None:
    lines = (b64encode(vocabulary.token(rank)) + b" %d\n" % rank for rank in range(vocabulary.size))
    assert sha256(b"".join(lines)).hexdigest() == PUBLISHED_SHA256


def test_every_token_is_found(vocabulary: Vocabulary, ranks: dict[bytes, int]) -> None:
    assert all(vocabulary.rank(token) == rank for token, rank in ranks.items())


@given(st.binary(max_size=6))
def test_what_is_no_token_is_not_found(
    vocabulary: Vocabulary, ranks: dict[bytes, int], data: bytes
) -> None:
    assert vocabulary.rank(data) == ranks.get(data, NO_RANK)


def test_windows_are_wide_enough_for_the_longest_token(ranks: dict[bytes, int]) -> None:
    assert max(map(len, ranks)) == LONGEST_TOKEN_BYTES <= PIECE_OVERLAP_BYTES
    assert PIECE_WINDOW_BYTES - PIECE_OVERLAP_BYTES >= LONGEST_TOKEN_BYTES


@pytest.fixture(scope="module")
def classes(vocabulary: Vocabulary) -> dict[str, str]:
    """The class of every character."""
    every = (chr(point) for point in range(0x11_0000) if not 0xD800 <= point < 0xE000)
    return {one: vocabulary.character_class(ord(one)) for one in every}


@pytest.mark.slow
@pytest.mark.parametrize("stand_in", CLASSES)
def test_every_character_is_in_the_class_that_the_reference_has_it_in(
    classes: dict[str, str], stand_in: str
) -> None:
    single_bytes = {bytes([byte]): byte for byte in range(256)}
    matcher = tiktoken.Encoding(
        "class", pat_str=CLASSES[stand_in], mergeable_ranks=single_bytes, special_tokens={}
    )
    theirs = matcher.decode_bytes(matcher.encode_ordinary("".join(classes))).decode()
    assert theirs == "".join(one for one, found in classes.items() if found == stand_in)


@pytest.mark.parametrize("content", [b"", b"something else", b"tersely1", b"tersely1" + bytes(16)])
def test_a_damaged_file_is_said_to_be_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "o200k.bin"
    path.write_bytes(content)
    with pytest.raises(TerselyError) as caught:
        Vocabulary(str(path))
    assert caught.value.code == "damaged_installation"


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(TerselyError, match="damaged_installation"):
        Vocabulary(str(tmp_path / "none.bin"))
