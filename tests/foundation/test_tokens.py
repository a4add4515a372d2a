"""Token counts are the reference's, on any text, and budgets made of them hold."""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.foundation.text import tokens
from tersely.foundation.text.tokens import FACTOR_OF_VOCABULARY, PIECE_WINDOW_BYTES, Tokenizer

SOURCES = sorted(Path(tokens.__file__).parents[1].rglob("*.py"))
STANDARD_LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]

# Mostly what code is made of, so that examples meet the pattern's branches where they meet each
# other.
code = st.text(
    st.sampled_from(
        "aZ_09 \t\n\r/'(){}[]=-#\"stredvml\u017fSTREDVMLéÉßǅʰ中日́ \u2003\x85\x1c²½😀İK\U0001f1e9"
    )
)
text = st.one_of(
    code,
    st.text(),
    st.text(st.characters(categories=["Lu", "Lt", "Ll", "Lm", "Lo", "Mn", "Nl", "Zs"])),
)
runs = st.lists(
    st.tuples(st.sampled_from("abeA=-*#_ \n\t中é/"), st.integers(1, 3 * PIECE_WINDOW_BYTES)),
    max_size=4,
).map(lambda parts: "".join(character * times for character, times in parts))
long_pieces = st.text(
    st.sampled_from("abcdeinorst"), min_size=PIECE_WINDOW_BYTES, max_size=6 * PIECE_WINDOW_BYTES
)
long_han = st.text(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=PIECE_WINDOW_BYTES // 3
)
with_surrogates = st.text(st.sampled_from("a é\n'\ud800\udbff\udc00\udfff"))
tokenizers = st.sampled_from(sorted(FACTOR_OF_VOCABULARY)).map(Tokenizer)


def reference_count(reference: tiktoken.Encoding, counted: str) -> int:
    return len(reference.encode_ordinary(counted))


@given(st.one_of(text, runs, long_pieces, long_han, with_surrogates))
def test_counts_are_the_reference_s(reference: tiktoken.Encoding, counted: str) -> None:
    assert tokens.count(counted) == reference_count(reference, counted)


@pytest.mark.parametrize("path", [*SOURCES, *STANDARD_LIBRARY], ids=lambda path: path.name)
def test_counts_of_real_source_are_the_reference_s(
    reference: tiktoken.Encoding, path: Path
) -> None:
    source = path.read_text("utf-8", errors="replace")
    assert tokens.count(source) == reference_count(reference, source)


@pytest.mark.parametrize(
    "counted",
    [
        "",
        "<|endoftext|>",
        "I'm you'RE it'S they'\u017f o'clock",
        "a\r\n\r\n  b",
        "   \n   x",
        "ﬀ ǅ x́y",
        "\ufeff# -*-",
    ],
)
def test_counts_of_awkward_texts_are_the_reference_s(
    reference: tiktoken.Encoding, counted: str
) -> None:
    assert tokens.count(counted) == reference_count(reference, counted)


def test_the_token_ends_of_a_piece_are_the_reference_s(reference: tiktoken.Encoding) -> None:
    piece = "internationalisierungsfreundlichkeit" * 40
    end, expected = 0, []
    for token in reference.encode_ordinary(piece):
        end += len(reference.decode_single_token_bytes(token))
        expected.append(end)
    assert tokens._pieces().token_ends(piece) == expected


@pytest.mark.parametrize("unit", ["a", "ab", " ", "=", "\n", "中", "A1", "x = 1\n"])
def test_a_megabyte_of_anything_takes_no_more_than_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        tokens.count(unit * (size // len(unit)))
        return time.process_time() - started

    seconds(10_000)
    # Quadratic would be a hundredfold for the tenfold size; the constant swallows the timer's
    # grain.
    assert seconds(1_000_000) < 30 * seconds(100_000) + 0.5


def test_the_cache_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "PIECE_CACHE_PIECES", 50)
    pieces = tokens._Pieces(tokens.Vocabulary(str(Path(tokens.__file__).with_name("o200k.bin"))))
    words = " ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26)}x" for i in range(500))
    assert pieces.count(words) == tokens.count(words)
    assert len(pieces) <= 50
    pieces.count("a" * (PIECE_WINDOW_BYTES + 1))
    assert max(map(len, pieces), default=0) <= PIECE_WINDOW_BYTES


@given(st.one_of(text, runs, with_surrogates), st.integers(-1, 60), tokenizers)
def test_a_truncated_text_is_a_prefix_within_the_limit(
    whole: str, limit: int, tokenizer: Tokenizer
) -> None:
    cut = tokenizer.truncate(whole, limit)
    assert tokens.well_formed(whole).startswith(cut)
    assert tokenizer.count(cut) <= max(limit, 0)
    if tokenizer.count(whole) <= limit:
        assert cut == tokens.well_formed(whole)


@given(st.text(st.sampled_from("abc _()=\n"), min_size=200), st.integers(1, 60))
def test_truncating_leaves_little_of_the_limit_unused(whole: str, limit: int) -> None:
    cut = Tokenizer().truncate(whole, limit)
    assert cut == whole or tokens.count(cut) >= limit - 2


def test_truncating_does_not_read_what_cannot_fit() -> None:
    started = time.process_time()
    cut = Tokenizer().truncate("x" * 50_000_000, 10)
    assert 0 < len(cut) < 2000
    assert time.process_time() - started < 1


def test_estimates_are_from_above_and_o200k_is_exact() -> None:
    counted = "def f(x): return x\n" * 500
    exact = tokens.count(counted)
    assert Tokenizer().exact
    assert Tokenizer().count(counted) == exact
    for vocabulary, factor in FACTOR_OF_VOCABULARY.items():
        assert Tokenizer(vocabulary).exact == (vocabulary == "o200k")
        assert Tokenizer(vocabulary).count(counted) >= exact * factor


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(TerselyError, match="unknown vocabulary 'klingon'") as caught:
        Tokenizer("klingon")
    assert "qwen" in caught.value.hint
