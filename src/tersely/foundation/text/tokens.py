"""The tokens that a text costs a model: byte-pair encoding with the vocabulary o200k_base, exact
and offline.

A text is cut into pieces by a pattern, and each piece is merged by itself, so the count of a text
is the sum over its pieces. The count of two texts together is *not* always the sum of their counts,
nor bounded by it: where they meet, other pieces may arise. Whoever keeps to a budget therefore
counts the final text.

Counts are those of `tiktoken` with `encode_ordinary`: what looks like a special token is plain
text, and a surrogate that stands alone counts as U+FFFD.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from os.path import dirname

from tersely.foundation.errors import TerselyError
from tersely.foundation.text.vocabulary import LONGEST_TOKEN_BYTES, NO_RANK, Vocabulary

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from typing import TypeVar

    PartT = TypeVar("PartT")

PIECE_CACHE_PIECES = 65_536  # distinct pieces of text whose token count is remembered
PIECE_WINDOW_BYTES = 256  # longer pieces are merged window by window: merging is quadratic
PIECE_OVERLAP_BYTES = 128  # what a window sees beyond the tokens taken from it: the longest token
WINDOW_CACHE_WINDOWS = 64  # merged windows that are remembered, for text that repeats itself
ESTIMATE_FILL_PERCENT = 97  # how far a budget is filled when the vocabulary is only estimated

# Tokens of other vocabularies for one of o200k_base, measured on code. Right to 1 or 2 %.
FACTOR_OF_VOCABULARY = {
    "o200k": 1.0,
    "cl100k": 0.996,
    "qwen": 1.005,
    "tekken": 1.057,
    "deepseek": 1.071,
}
DEFAULT_VOCABULARY = "o200k"

# The pattern of o200k_base, over ASCII. Every other character is first replaced by one that stands
# for its class:
#     A  \p{Lu} \p{Lt}      a  \p{Ll}     \x80  \p{Lm} \p{Lo}     \x81  \p{M}
#     0  \p{N}             \t  other \s      !  everything else
# U+017F alone becomes `s`: without regard to case it is one, and the pattern's `'s` has none.
_PIECE = re.compile(
    r"""
    [^\r\nA-Za-z\x800-9]? [A-Z\x80\x81]* [a-z\x80\x81]+ (?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?
    | [^\r\nA-Za-z\x800-9]? [A-Z\x80\x81]+ (?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?
    | [0-9]{1,3}
    | [ ]? [^\t-\r A-Za-z\x800-9]+ [\r\n/]*
    | [\t-\r ]* [\r\n]+
    | [\t-\r ]+ (?![^\t-\r ])
    | [\t-\r ]+
    """,
    re.VERBOSE,
)
_LONG_S = 0x17F


class Tokenizer:
    """Counts tokens of one vocabulary.

    For a vocabulary other than o200k the count is an estimate from above: the tokens of o200k_base
    times the `factor`, and a margin, so that a text within a budget by this count is within it by
    the model's.
    """

    __slots__ = ("_grown", "_shrunk", "factor", "vocabulary")

    def __init__(self, vocabulary: str = DEFAULT_VOCABULARY) -> None:
        """`vocabulary` is one of FACTOR_OF_VOCABULARY; raises `invalid_setting` for any other."""
        if vocabulary not in FACTOR_OF_VOCABULARY:
            hint = f"Known: {', '.join(FACTOR_OF_VOCABULARY)}."
            raise TerselyError("invalid_setting", f"unknown vocabulary {vocabulary!r}", hint)
        self.vocabulary = vocabulary
        self.factor = FACTOR_OF_VOCABULARY[vocabulary]
        # One token of o200k_base is `_grown / _shrunk` of this vocabulary: whole numbers, as
        # rounding may not make a text that was cut to a limit exceed it.
        numerator, denominator = self.factor.as_integer_ratio()
        self._grown, self._shrunk = (
            (1, 1) if self.exact else (numerator * 100, denominator * ESTIMATE_FILL_PERCENT)
        )

    @property
    def exact(self) -> bool:
        """True if counts are a model's own rather than estimates."""
        return self.vocabulary == DEFAULT_VOCABULARY

    def count(self, text: str) -> int:
        """The tokens of a text; for an estimated vocabulary at least as many as it has, as far as
        one can know.
        """
        return -(-_pieces().count(text) * self._grown // self._shrunk)

    def truncate(self, text: str, limit: int) -> str:
        """As much of the (well-formed) text from its start as `limit` tokens pay for, cut where a
        token ends.
        """
        allowance = max(0, limit * self._shrunk // self._grown)
        pieces = _pieces()
        within = well_formed(text[: allowance * LONGEST_TOKEN_BYTES])
        ends = [0]
        spent = 0
        for end, tokens in pieces.ends(within):
            if spent + tokens > allowance:
                break
            spent += tokens
            ends.append(end)
        else:
            return within
        # The piece that was too much may still fit in part. Cutting a text can change how its end
        # is merged, so what comes out is counted again; when it no longer fits, a little more goes.
        start = ends[-1]
        ends += [start + part for part in pieces.token_ends(within[start:end])[: allowance - spent]]
        return next(
            within[:end]
            for end in reversed(ends)
            if end == 0 or pieces.count(within[:end]) <= allowance
        )


def count(text: str) -> int:
    """The tokens of a text in o200k_base, exactly."""
    return _pieces().count(text)


class _Pieces(dict[str, int]):
    """Pieces of text and their token counts, found out when first asked for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._rank = vocabulary.rank
        self._classes = _Classes(vocabulary)
        self._merge_full_window = lru_cache(WINDOW_CACHE_WINDOWS)(self._merge_window)

    def __missing__(self, piece: str) -> int:
        data = piece.encode()
        tokens = 1 if self._rank(data) != NO_RANK else len(self._merge(data))
        if len(self) >= PIECE_CACHE_PIECES:
            self.clear()
        if len(data) <= PIECE_WINDOW_BYTES:
            self[piece] = tokens
        return tokens

    def count(self, text: str) -> int:
        if text.isascii():
            return sum(map(self.__getitem__, _PIECE.findall(text)))
        return sum(tokens for _, tokens in self.ends(well_formed(text)))

    def ends(self, text: str) -> Iterator[tuple[int, int]]:
        """The pieces of a well-formed text, each as the place where it ends and its tokens. No text
        is between.
        """
        classes = text if text.isascii() else text.translate(self._classes)
        start = 0
        for match in _PIECE.finditer(classes):
            end = match.end()
            yield end, self[text[start:end]]
            start = end

    def token_ends(self, piece: str) -> list[int]:
        """The places in a piece where a token ends, but none inside a character."""
        data = piece.encode()
        return [
            len(data[:end].decode())
            for end in self._merge(data)
            if end == len(data) or data[end] & 0xC0 != 0x80
        ]

    def _merge(self, data: bytes) -> list[int]:
        """The ends of the tokens of a piece, in bytes.

        A long piece is merged through windows, as merging is quadratic. Each begins where the
        tokens taken from the one before end. What is the longest token away from a window's end is
        as it would be in the whole piece.
        """
        ends: list[int] = []
        start = 0
        while len(data) - start > PIECE_WINDOW_BYTES:
            window = self._merge_full_window(data[start : start + PIECE_WINDOW_BYTES])
            settled = [end for end in window if end <= PIECE_WINDOW_BYTES - PIECE_OVERLAP_BYTES]
            ends += [start + end for end in settled]
            start += settled[-1]
        ends += [start + end for end in self._merge_window(data[start:])]
        return ends

    def _merge_window(self, data: bytes) -> list[int]:
        rank = self._rank
        size = len(data)
        bounds = list(range(size + 1))  # of the parts, first and last included
        # ranks[i]: of parts i and i + 1, merged
        ranks = [rank(data[at : at + 2]) for at in range(size - 1)]
        while ranks and (lowest := min(ranks)) != NO_RANK:
            at = ranks.index(lowest)
            del bounds[at + 1], ranks[at]
            if at < len(ranks):
                ranks[at] = rank(data[bounds[at] : bounds[at + 2]])
            if at:
                ranks[at - 1] = rank(data[bounds[at - 1] : bounds[at + 1]])
        return bounds[1:]


class _Classes(dict[int, str]):
    """For `str.translate`: ASCII as it is, every other character as the one that stands for its
    class.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(
            {code_point: chr(code_point) for code_point in range(128)} | {_LONG_S: "s"}
        )
        self._vocabulary = vocabulary

    def __missing__(self, code_point: int) -> str:
        found = self[code_point] = self._vocabulary.character_class(code_point)
        return found


def well_formed(text: str) -> str:
    """The text with U+FFFD for surrogates that stand alone, which UTF-8 cannot express."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@lru_cache(maxsize=1)
def _pieces() -> _Pieces:
    return _Pieces(Vocabulary(f"{dirname(__file__)}/o200k.bin"))


def filled(
    parts: Sequence[PartT], tokens: Callable[[Sequence[PartT]], int], budget: int, tries: int = 0
) -> list[PartT]:
    """The longest beginning of some parts that `budget` tokens pay for, and of the next `tries`
    after it those that still have room.

    `tokens` says what an answer with some of them takes; a part never makes it smaller.
    """
    numbers = range(1, len(parts) + 1)
    begun = bisect_right(numbers, budget, key=lambda number: tokens(parts[:number]))
    chosen = list(parts[:begun])
    for part in parts[begun : begun + tries]:
        if tokens([*chosen, part]) <= budget:
            chosen.append(part)
    return chosen


def too_small(budget: int, least: int) -> TerselyError:
    """The refusal of a budget in which not even the `least` tokens of an answer have room."""
    return TerselyError(
        "budget_too_small",
        f"the least answer takes {least} tokens; the budget is {budget}",
        f"Give a budget of {least} or more, or ask for less.",
    )
