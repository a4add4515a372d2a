"""Searching inside files: all that holds a word is found, where it stands, without search files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.search.repositories import lay
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.search.inside import MAX_TERMS, Inside
from tersely.code.search.words import STOP_WORDS
from tersely.code.symbols import Kind

MAIL = "shop/mail.py"
TOKENS = "shop/tokens.py"
SESSION = "shop/web/session.ts"
ALL = 1_000


def inside(
    root: Path, question: str, *paths: str, kinds: frozenset[Kind] = frozenset(), limit: int = 10
) -> Inside:
    """What a process that has just started finds."""
    with Engine.open(root) as engine:
        engine.refresh()
        files = [file for file in engine.store.files() if file.path in paths]
        return engine.search.find_inside(question, files, kinds, limit, engine.symbols_of)


def places(found: Inside) -> list[tuple[str, tuple[int, ...]]]:
    return [(passage.symbol.id, passage.lines) for passage in found.passages]


def test_the_definition_around_each_line_is_found(shop: Path) -> None:
    assert places(inside(shop, "ALGORITHM", TOKENS)) == [
        (f"{TOKENS}:ALGORITHM", (3,)),
        (f"{TOKENS}:issue_token", (19,)),
    ]
    assert places(inside(shop, "backoff", MAIL)) == [(f"{MAIL}:retry.attempt", (9, 10))]


def test_what_holds_more_of_the_words_comes_first(shop: Path) -> None:
    found = inside(shop, "deadline of an expired token", TOKENS)
    assert found.passages[0].symbol.id == f"{TOKENS}:TokenStore.expired"
    assert found.passages[0].share == 1


def test_what_is_called_so_comes_before_longer_names(shop: Path) -> None:
    lay(
        shop,
        {
            TOKENS: "def sign_all(): sign(); sign(); sign()\n\n\ndef sign(): ...\n\n\ndef unsign(): sign()\n"
        },
    )
    assert inside(shop, "sign", TOKENS).passages[0].symbol.id == f"{TOKENS}:sign"


def test_a_line_that_adds_a_word_comes_before_one_that_adds_none(shop: Path) -> None:
    (receipt,) = inside(shop, "send connection smtp", MAIL).passages
    assert receipt.lines[0] in {3, 4}
    assert set(receipt.lines) == {1, 3, 4}


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ('"Content-Type: text/plain"', (4,)),
        ("content-type", (4,)),
        ("CONNECTION", (3, 4)),
        ("connected", (3, 4)),
        ("conn", (3, 4)),
        (r"/open_\w+\(/", (3,)),
    ],
)
def test_text_names_stems_and_expressions_are_found_in_any_case(
    shop: Path, question: str, lines: tuple[int, ...]
) -> None:
    (found,) = (
        one for one in inside(shop, question, MAIL).passages if one.symbol.name == "send_receipt"
    )
    assert tuple(sorted(found.lines)) == lines


def test_a_comment_before_a_definition_belongs_to_it(shop: Path) -> None:
    assert places(inside(shop, "a request", SESSION)) == [
        (f"{SESSION}:HttpSession.readCookie", (2,))
    ]


def test_only_the_kinds_that_are_wanted(shop: Path) -> None:
    found = inside(shop, "token", TOKENS, kinds=frozenset({Kind.CLASS}))
    assert [passage.symbol.name for passage in found.passages] == ["TokenStore"]


def test_what_the_limit_leaves_out_is_counted(shop: Path) -> None:
    found = inside(shop, "token", TOKENS, limit=1)
    assert (len(found.passages), found.total) == (1, inside(shop, "token", TOKENS).total)
    assert found.total > 1


def test_of_a_long_question_what_is_not_looked_for_is_counted(shop: Path) -> None:
    found = inside(shop, " ".join(f"word{at}" for at in range(MAX_TERMS + 20)) + " receipt", MAIL)
    assert found.passages == ()
    assert found.terms_left_out == 22  # with the question as it stands


def test_nothing_is_found_where_no_line_has_a_word(shop: Path) -> None:
    assert inside(shop, "kettle", TOKENS, MAIL) == Inside((), 0)


def test_no_search_files_are_made(shop: Path) -> None:
    inside(shop, "token", TOKENS)
    assert not list(shop.rglob("*.segment")) + list(shop.rglob("search/*"))


WORDS = st.sampled_from(["alpha", "beta_gamma", "Delta", "x1", "of", "épée", "alphabet", "GAMMA"])
LINE = st.lists(WORDS, max_size=3).map(" + ".join)


@settings(deadline=None, max_examples=examples())
@given(
    lines=st.lists(LINE, min_size=1, max_size=8), question=st.lists(WORDS, min_size=1, max_size=3)
)
def test_every_line_with_a_word_is_found(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], question: list[str]
) -> None:
    root = tmp_path_factory.mktemp("lines")
    source = "".join(f"def f{at}():\n    return ({line or 0})\n" for at, line in enumerate(lines))
    lay(root, {"a.py": source})
    telling = [word for word in question if word not in STOP_WORDS] or question
    wanted = {
        at
        for at, line in enumerate(source.split("\n"), 1)
        if any(word.lower() in line.lower() for word in telling if len(word) > 2)
    }
    found = inside(root, " ".join(question), "a.py", limit=ALL)
    assert wanted <= {line for passage in found.passages for line in passage.lines}
    for passage in found.passages:
        assert all(
            passage.symbol.start_line <= line <= passage.symbol.end_line for line in passage.lines
        )
