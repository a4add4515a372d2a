"""A question in another language in the words of code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.search.glossary import MAX_FOREIGN_CHARACTERS, glossary, in_english


def everything(stem: str) -> int:
    """Of a collection in which every word stands."""
    return 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("登录失败时记录日志", {"login", "failure", "log"}),
        ("アップロードするファイルのサイズを制限する", {"upload", "file", "size", "limit"}),
        ("el usuario no puede descargar los archivos", {"user", "download", "file"}),
        ("Die Suche soll leere Zeilen überspringen", {"search", "empty", "line"}),
        ("le mot de passe est enregistré sans être chiffré", {"password", "save", "encrypt"}),
        ("der Zwischenspeicher wird nicht gelöscht", {"cache", "delete"}),
    ],
)
def test_words_are_found_by_what_they_mean(text: str, words: set[str]) -> None:
    assert words <= set(in_english(text, everything).split())


def test_of_several_meanings_those_that_the_collection_has_are_taken() -> None:
    assert in_english("登录", lambda one: int(one == "authent")) == "authenticate"


def test_words_that_english_begins_alike_are_found_without_the_table() -> None:
    found = in_english("la virtualización del anfitrión", lambda one: int(one == "virtual"))
    assert found == "virtual host"


@pytest.mark.parametrize(
    "text",
    [
        "die when the cache is full",
        "Fix the crash in `parse_args` — it dies",
        "run it again",
        "naïve retries of the café service are lost when a node is down",
    ],
)
def test_english_stays_as_it_is(text: str) -> None:
    assert in_english(text, everything) == text


def test_what_nobody_knows_is_left_out() -> None:
    assert in_english("我们的兔子很可爱", everything) == ""


@given(st.text(max_size=MAX_FOREIGN_CHARACTERS // 10))
def test_any_text_has_words_or_none(text: str) -> None:
    found = in_english(text, lambda one: 0)
    assert found == text or set(found.split()) <= {
        word for words in glossary().meanings.values() for word in words[:1]
    }
