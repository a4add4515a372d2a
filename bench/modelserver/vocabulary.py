"""A byte-level BPE tokenizer of a few thousand tokens: the first ones of o200k_base, with its order
of merges.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import tersely.foundation.text.vocabulary as shipped

END = "<|end|>"  # of a message
MARKS = ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
CLOCK = "<|clock|>"  # see `weights`
MOST_REPLIES = 96


class Tokens(NamedTuple):
    """What a GGUF file says of a tokenizer: texts in the alphabet of GPT-2, merges, and how many
    tokens are plain.
    """

    texts: tuple[str, ...]
    merges: tuple[str, ...]
    plain: int

    def id_of(self, special: str) -> int:
        """The id of a special token."""
        return self.texts.index(special, self.plain)


@cache
def tokens(plain: int, unmerged: tuple[str, ...] = ()) -> Tokens:
    """The tokenizer with so many plain tokens, and one special token for each mark and for each
    reply.

    No text is read as one of the `unmerged` ones, but a model may say them.
    """
    source = source_vocabulary()
    alphabet = _alphabet()
    parts = [source.token(rank) for rank in range(plain)]
    merges = [_split(part, rank, source) for rank, part in enumerate(parts) if len(part) > 1]
    texts = ["".join(map(alphabet.__getitem__, part)) for part in parts]
    written = [
        " ".join("".join(map(alphabet.__getitem__, half)) for half in pair) for pair in merges
    ]
    texts += ["".join(map(alphabet.__getitem__, text.encode())) for text in unmerged]
    special = [END, *MARKS, CLOCK, *(reply_mark(number) for number in range(MOST_REPLIES))]
    return Tokens((*texts, *special), tuple(written), plain + len(unmerged))


def reply_mark(number: int) -> str:
    """The special token after which the scripted model gives its reply of this number."""
    return f"<|reply {number}|>"


def _alphabet() -> dict[int, str]:
    """A printable character for every byte, as GPT-2 has it: itself where it can be seen, else one
    above U+0100.
    """
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {
        byte: chr(256 + at) for at, byte in enumerate(hidden)
    }


def _split(token: bytes, rank: int, source: shipped.Vocabulary) -> tuple[bytes, bytes]:
    """The two tokens that were merged into this one: what merging its bytes by lower ranks alone
    leaves.
    """
    left, right = merged(token, source, rank)
    return left, right


def merged(piece: bytes, source: shipped.Vocabulary, limit: int) -> list[bytes]:
    """Merge neighbours, lowest rank first, as long as the result is a token whose rank is below the
    limit.
    """
    parts = [piece[at : at + 1] for at in range(len(piece))]
    while len(parts) > 1:
        ranks = [source.rank(left + right) for left, right in pairwise(parts)]
        lowest = min(ranks)
        if lowest >= limit:
            break
        at = ranks.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def source_vocabulary() -> shipped.Vocabulary:
    """All of o200k_base."""
    return shipped.Vocabulary(str(Path(shipped.__file__).with_name("o200k.bin")))
