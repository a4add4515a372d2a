"""Write src/tersely/foundation/text/o200k.bin from tiktoken's rank file of o200k_base.

    python tools/build_vocabulary.py o200k_base.tiktoken

The rank file is the one that tiktoken downloads; its SHA-256 is checked. The classes of characters
are taken from tiktoken's own regular expressions, so both agree on the version of Unicode.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from struct import pack
from zlib import crc32

import tiktoken

from tersely.foundation.text.vocabulary import (
    EMPTY,
    HEADER_BYTES,
    LONGEST_TOKEN_BYTES,
    MAGIC,
    RANK_BITS,
)

SOURCE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
TARGET = Path(__file__).parents[1] / "src/tersely/foundation/text/o200k.bin"
SLOTS = 1 << 19  # two and a half for each token: few lookups go beyond the first
CLASSES = {  # the character that stands for a class, as `tersely.foundation.text.tokens` reads it
    "A": r"[\p{Lu}\p{Lt}]",
    "a": r"\p{Ll}",
    "\x80": r"[\p{Lm}\p{Lo}]",
    "\x81": r"\p{M}",
    "0": r"\p{N}",
    "\t": r"\s",
}
OTHER = "!"


def read_tokens(path: Path) -> list[bytes]:
    """The tokens by rank."""
    source = path.read_bytes()
    if sha256(source).hexdigest() != SOURCE_SHA256:
        raise SystemExit(f"{path} is not the rank file of o200k_base")
    tokens = [b64decode(line.split()[0]) for line in source.splitlines()]
    assert max(map(len, tokens)) == LONGEST_TOKEN_BYTES
    return tokens


def hash_table(tokens: list[bytes]) -> list[int]:
    """The slots, as `tersely.foundation.text.vocabulary` describes them."""
    slots = [EMPTY] * SLOTS
    for rank, token in enumerate(tokens):
        crc = crc32(token)
        at = crc % SLOTS
        while slots[at] != EMPTY:
            at = (at + 1) % SLOTS
        slots[at] = crc >> RANK_BITS << RANK_BITS | rank
    return slots


def characters(pattern: str) -> str:
    """All characters that match a pattern of one character, by tiktoken's engine."""
    single_bytes = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "classes", pat_str=pattern, mergeable_ranks=single_bytes, special_tokens={}
    )
    every = "".join(chr(point) for point in range(0x11_0000) if not 0xD800 <= point < 0xE000)
    return encoding.decode_bytes(encoding.encode_ordinary(every)).decode()


def character_runs() -> list[tuple[int, str]]:
    """The first code point and the class of each run of characters."""
    class_of = [OTHER] * 0x11_0000
    for stand_in, pattern in CLASSES.items():
        for character in characters(pattern):
            class_of[ord(character)] = stand_in
    return [
        (next(run)[0], stand_in)
        for stand_in, run in groupby(enumerate(class_of), key=itemgetter(1))
    ]


def main(source: str) -> None:
    """Build the file."""
    tokens = read_tokens(Path(source))
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    runs = character_runs()
    words = [*hash_table(tokens), *starts, *(start for start, _ in runs)]
    body = (
        pack(f"<{len(words)}I", *words)
        + "".join(c for _, c in runs).encode("latin-1")
        + b"".join(tokens)
    )
    header = MAGIC + pack("<4I", len(tokens), SLOTS, len(runs), HEADER_BYTES + len(body))
    TARGET.write_bytes(header + body)


if __name__ == "__main__":
    main(*sys.argv[1:])
