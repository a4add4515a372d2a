"""The token vocabulary o200k_base as a file that is used where it lies: mapped into memory, never
parsed.

Building a dictionary of its 200,000 tokens takes a third of a second, more than most commands take
altogether. So the file holds an open-addressing hash table over the tokens, and looking one up
touches a few words of it. `tools/build_vocabulary.py` writes the file; its parts, all integers
little-endian and 32 bits wide:

    header    MAGIC, then the number of tokens, of slots (a power of two), of character runs, and of
              bytes in all
    slots     EMPTY, or the token's rank in the low RANK_BITS and the high bits of its CRC-32 above
              them;
              a token is in the first slot at or after its CRC-32 (modulo the slots) that was free
    starts    where each token's bytes start, by rank, and where the last one ends
    runs      the first code point of each run of characters of one class, ascending from 0
    classes   one byte a run: the class, as the character that stands for it (see `tokens`)
    bytes     the tokens, by rank
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from zlib import crc32

from tersely.foundation.errors import TerselyError

MAGIC = b"tersely1"
WORD_BYTES = 4
HEADER_WORDS = 4
HEADER_BYTES = len(MAGIC) + HEADER_WORDS * WORD_BYTES
RANK_BITS = 18
RANK_MASK = (1 << RANK_BITS) - 1
LONGEST_TOKEN_BYTES = 128
EMPTY = 0xFFFF_FFFF
NO_RANK = 1 << RANK_BITS  # ranks above every token's: "these bytes are no token"


class Vocabulary:
    """Byte strings and their ranks: the lower the rank, the earlier two tokens are merged into that
    one.
    """

    __slots__ = ("_bytes", "_classes", "_runs", "_slot_mask", "_slots", "_starts", "size")

    def __init__(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
        except (OSError, ValueError) as error:
            raise _damaged(path) from error
        if mapped[: len(MAGIC)] != MAGIC or len(mapped) < HEADER_BYTES:
            raise _damaged(path)
        self.size, slots, runs, total_bytes = _words(mapped, len(MAGIC), HEADER_WORDS)
        if len(mapped) != total_bytes:
            raise _damaged(path)
        self._slot_mask = slots - 1
        at = HEADER_BYTES
        self._slots = _words(mapped, at, slots)
        at += slots * WORD_BYTES
        self._starts = _words(mapped, at, self.size + 1)
        at += (self.size + 1) * WORD_BYTES
        self._runs = _words(mapped, at, runs)
        at += runs * WORD_BYTES
        self._classes = mapped[at : at + runs]
        self._bytes = memoryview(mapped)[at + runs :]

    def rank(self, token: bytes) -> int:
        """The rank of a token, NO_RANK when these bytes are none."""
        crc = crc32(token)
        slots, mask = self._slots, self._slot_mask
        slot = crc & mask
        while (entry := slots[slot]) != EMPTY:
            if (entry ^ crc) >> RANK_BITS == 0:
                rank = entry & RANK_MASK
                if self._bytes[self._starts[rank] : self._starts[rank + 1]] == token:
                    return rank
            slot = (slot + 1) & mask
        return NO_RANK

    def token(self, rank: int) -> bytes:
        """The bytes of the token of this rank."""
        return bytes(self._bytes[self._starts[rank] : self._starts[rank + 1]])

    def character_class(self, code_point: int) -> str:
        """The character that stands for the class of a character."""
        return chr(self._classes[bisect_right(self._runs, code_point) - 1])


def _words(mapped: mmap, at: int, count: int) -> Sequence[int]:
    part = memoryview(mapped)[at : at + count * WORD_BYTES]
    if sys.byteorder == "little":
        return part.cast("I")
    words = array("I", part.tobytes())
    words.byteswap()
    return words


def _damaged(path: str) -> TerselyError:
    from tersely.foundation.installation import damaged

    return damaged(f"{path} is not the token vocabulary")
