"""Which words of a source are names: not those in strings and comments, of arguments, keys and
members.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.names_alone import names_alone

CASES = [
    ("python", 'f(word=1, other="word {word}")  # word', 0),
    ("python", "f(f'word {word}', word=word)", 2),
    ("python", 'def f(a: "word", b: list["word"]): return a.x.word', 3),
    ("python", "d = {word: 1, 'word': 2}", 1),
    ("javascript", "f({word: 1, [word]: 2}, 'word', `word ${word}`) // word", 2),
    ("typescript", "f(a?.word, this.x.word).word; g({ word })", 4),
    ("go", 'package p\nvar a = T{word: 1}\nvar b = map[string]int{word: 1} // "word"\n', 1),
    ("rust", 'fn f() { T { word: 1 }; println!("word"); g(word) } // word', 1),
    ("ruby", 'f(word: 1, b: :word) # word\nx = "word #{word}"\n@word = 1\n', 1),
    ("php", "<?php f(word: 1, 'word'); // word\ng(word);", 1),
    ("java", 'class A { String s = "word"; /* word */ int x = word; }', 1),
    ("csharp", 'class A { void M() { F(word: 1, "word", word); } }', 1),
    ("kotlin", 'fun f() { g(word = 1, other = "word", word) } // word', 1),
    ("lua", 'f("word", word) -- word', 1),
    ("c", 'int f() { struct t a = { .word = 1 }; g("word", word); return 0; } /* word */', 2),
]


@pytest.mark.parametrize(
    ("language", "source", "number"), CASES, ids=[f"{name}: {text}" for name, text, _ in CASES]
)
def test_only_names_are_left(language: str, source: str, number: int) -> None:
    left = names_alone(source.encode(), LANGUAGES[language], 0, len(source)).decode()
    assert len(re.findall(r"\bword\b", left)) == number, left


@given(
    st.text(max_size=80), st.integers(0, 80), st.integers(0, 80), st.sampled_from(sorted(LANGUAGES))
)
def test_every_line_and_byte_outside_stays(text: str, start: int, end: int, language: str) -> None:
    source = text.encode()
    left = names_alone(source, LANGUAGES[language], start, end)
    assert len(left) == len(source)
    assert [at for at, byte in enumerate(left) if byte == 10] == [
        at for at, byte in enumerate(source) if byte == 10
    ]
