"""Single patterns; `test_scan` compares whole trees with git."""

from __future__ import annotations

import pytest

from tersely.code.index.listing.gitignore import Patterns


@pytest.mark.parametrize(
    ("lines", "ignored", "others"),
    [
        ("a.py", "a.py sub/a.py a.py/", "ba.py a.pyx"),
        ("/a.py", "a.py", "sub/a.py"),
        ("sub/a", "sub/a sub/a/", "deep/sub/a"),
        ("build/", "build/ sub/build/", "build"),
        ("*.py", "a.py .py sub/b.py", "a.pyc"),
        ("sub/*", "sub/a sub/b/", "sub/ sub/a/b"),
        ("a/**", "a/b a/b/ a/b/c", "a/ b/a/c"),
        ("**/a", "a b/a b/c/a", "ba"),
        ("a/**/b", "a/b a/x/b a/x/y/b", "ab a/bb"),
        ("a**b", "ab axb", "a/b"),
        ("?.py", "a.py", "ab.py .py"),
        ("[a-c!].py", "b.py !.py", "d.py"),
        ("[!a-c].py", "d.py", "b.py"),
        ("[]-]", "] -", "a"),
        ("[[:upper:][:digit:]]", "A 1", "a"),
        ("[a", "", "a [a"),
        ("[z-a]", "", "a z -"),
        ("[[:nothing:]]", "", "n :"),
        ("x[/]y", "", "x/y"),
        ("\\!a", "!a", "a"),
        ("\\#a", "#a", "a"),
        ("a\\", "", "a a\\"),
        ("a\\*", "a*", "ab"),
        ("a   ", "a", ""),
        ("# a", "", "a"),
        ("!", "", "a"),
        ("/", "", "a a/"),
        ("a\n!a", "", "a"),
        ("!a\na", "a", ""),
        ("*\n!*/\n!*.py", "x.c", "a/ a.py a/b.py"),
        ("a*b*c", "abc axbxc abbcc", "ab acb abcx"),
        ("*a*b", "ab xaxb aab", "ba"),
        ("**/a*/**/b/c/**/d", "a/b/c/d x/ax/b/b/c/b/c/y/d", "a/b/d a/c/d"),
        ("**/**/a", "a b/a", "ab"),
        ("a/**/**", "a/b a/b/c", "a/"),
        ("\ufeffa\r\nb\r\n", "a b", "c"),
    ],
)
def test_patterns(lines: str, ignored: str, others: str) -> None:
    patterns = Patterns(lines.encode())
    assert [path for path in ignored.split() if not patterns.verdict(path)] == []
    assert [path for path in others.split() if patterns.verdict(path)] == []


def test_an_escaped_space_at_the_end_stays() -> None:
    assert Patterns(b"a\\ ").verdict("a ")
    assert not Patterns(b"a\\ ").verdict("a")


def test_silence_differs_from_a_negation() -> None:
    patterns = Patterns(b"a\n!a.py")
    assert [patterns.verdict(path) for path in ("a", "a.py", "b")] == [True, False, None]


def test_no_pattern_searches_for_long() -> None:
    patterns = Patterns(
        b"*a" * 60
        + b"b\n"
        + b"**/*a*" * 60
        + b"b\n"
        + b"**/" * 300
        + b"x\n"
        + b"**/a/" * 100
        + b"x"
    )
    assert patterns.verdict("a/" * 100 + "a" * 250 + "c") is None
