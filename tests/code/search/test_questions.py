"""What questions find, in what order, and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.search.repositories import found, ids, lay
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.search import literal
from tersely.code.search.searcher import Filters
from tersely.code.search.storage.segment_store import IndexedText
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("where are tokens validated", "shop/tokens.py:TokenStore.validate"),
        ("send the customer an e-mail with the receipt", "shop/mail.py:send_receipt"),
        ("parse cookies of a http request", "shop/web/session.ts:HttpSession.readCookie"),
        ("retry an action some times", "shop/mail.py:retry"),
        ("http session", "shop/web/session.ts:HttpSession"),
    ],
)
def test_words_find_what_does_it(shop: Path, question: str, answer: str) -> None:
    assert ids(found(shop, question))[0] == answer


def test_methods_of_an_object_have_words_of_their_own(tmp_path: Path) -> None:
    source = "const proto = module.exports = {\n  fail() { say('teapot') },\n  go() { say('pony') },\n}\n"
    lay(tmp_path, {"lib/context.js": source})
    assert ids(found(tmp_path, "teapot"))[0] == "lib/context.js:fail"


@pytest.mark.parametrize(
    "name", ["validate", "TokenStore.validate", "shop/tokens.py:TokenStore.validate", "valid*"]
)
def test_a_name_comes_first(shop: Path, name: str) -> None:
    hit = found(shop, name).hits[0]
    assert hit.symbol.id == "shop/tokens.py:TokenStore.validate"
    assert hit.share == 1
    assert hit.reasons[0] == "exact name"


def test_a_name_among_other_words_counts(shop: Path) -> None:
    assert (
        ids(found(shop, "why does `issue_token` send mail to a customer"))[0]
        == "shop/tokens.py:issue_token"
    )
    assert ids(found(shop, "fix crash in issue_token()"))[0] == "shop/tokens.py:issue_token"


def test_tests_come_last_unless_they_are_asked_for(shop: Path) -> None:
    test = "tests/test_tokens.py:test_validate_token_expired"
    assert ids(found(shop, "validate an expired token")).index(test) > 1
    assert ids(found(shop, "tests that validate an expired token"))[0] == test


def test_quoted_text_must_be_there(shop: Path) -> None:
    answer = found(shop, '"Content-Type" receipt')
    assert [(hit.symbol.id, hit.line) for hit in answer.hits] == [("shop/mail.py:send_receipt", 4)]
    assert answer.total == 1
    assert found(shop, '"content-type"').hits == ()


def test_an_expression_is_tried_on_each_line(shop: Path) -> None:
    answer = found(shop, r"/def \w+_(token|receipt)\(/")
    assert [(hit.symbol.id, hit.line) for hit in answer.hits] == [
        ("shop/mail.py:send_receipt", 1),
        ("shop/tokens.py:issue_token", 17),
    ]
    assert ids(found(shop, "/class httpSESSION/i")) == ["shop/web/session.ts:HttpSession"]


@pytest.mark.parametrize("question", ["", "   ", "?!", "/(/", "/a{99999999999}/", '""'])
def test_a_question_that_says_nothing_is_refused(shop: Path, question: str) -> None:
    with pytest.raises(TerselyError) as refusal:
        found(shop, question)
    assert refusal.value.code == "invalid_argument"


def test_filters_leave_out_the_rest(shop: Path) -> None:
    def paths(filters: Filters) -> set[str]:
        return {hit.symbol.path for hit in found(shop, "token receipt header", filters, 50).hits}

    assert paths(Filters(languages=frozenset({"typescript"}))) == {"shop/web/session.ts"}
    assert paths(Filters(paths=("shop",))) == {
        "shop/tokens.py",
        "shop/mail.py",
        "shop/web/session.ts",
    }
    assert paths(Filters(paths=("tests/", "shop/web/*"))) == {
        "tests/test_tokens.py",
        "shop/web/session.ts",
    }
    kinds = {
        hit.symbol.kind
        for hit in found(shop, "token", Filters(kinds=frozenset({Kind.CLASS})), 50).hits
    }
    assert kinds == {Kind.CLASS}
    assert found(shop, '"token"', Filters(languages=frozenset({"go"}))).hits == ()


def test_reasons_say_which_words_stand_where(shop: Path) -> None:
    reasons = found(shop, "who validates the issued token").hits[0].reasons
    assert "name: validates" in reasons
    assert any(reason.startswith("documentation:") and "issued" in reason for reason in reasons)


def test_redefinitions_are_one_hit(tmp_path: Path) -> None:
    lay(tmp_path, {"a.py": "def load(x): ...\ndef load(x, y): ...\ndef store(x): ...\n"})
    assert sum(found_id.startswith("a.py:load") for found_id in ids(found(tmp_path, "load"))) == 1


def test_an_empty_repository_has_no_hits(tmp_path: Path) -> None:
    for question in ("anything", '"anything"', "/anything/"):
        assert found(tmp_path, question).hits == ()


NAMES = st.from_regex(r"[a-z]{2,8}(_[a-z]{2,8}){0,2}", fullmatch=True).filter(
    lambda name: name not in {"def", "pass"}
)


@settings(max_examples=examples())
@given(st.lists(NAMES, min_size=2, max_size=12, unique=True), st.data())
def test_an_exact_name_always_comes_first(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    """Whatever other functions say of it."""
    sought = data.draw(st.sampled_from(names))
    bodies = [
        f'def f_{name}(x):\n    """{sought} {sought}"""\n    return {sought}(x)\n' for name in names
    ]
    root = tmp_path_factory.mktemp("names")
    files = {f"m{number}.py": body for number, body in enumerate(bodies)}
    lay(
        root,
        {
            **files,
            "z.py": f"def f_{sought}_all(x): pass\n\n\ndef exactly_{sought}(x):\n    return 1\n",
        },
    )
    hits = found(root, f"exactly_{sought}").hits
    assert hits[0].symbol.name == f"exactly_{sought}"
    assert [hit.share for hit in hits] == sorted((hit.share for hit in hits), reverse=True)


def test_the_same_question_has_the_same_answer(shop: Path) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        first = engine.search.find("token of a user")
        assert engine.search.find("token of a user") == first
    assert found(shop, "token of a user") == first


def test_an_expression_that_backtracks_for_ever_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(literal, "EXPRESSION_SECONDS", 0.05)
    (tmp_path / "a.py").write_text(f"x = '{'a' * 100}!'\n")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        with pytest.raises(TerselyError, match=r"0\.05 s of processor time") as raised:
            engine.search.find("/(a+)+$/")
        assert raised.value.code == "timed_out"
        assert engine.search.find("/a+!/").total == 1


ATOMS = st.sampled_from(
    ["ab", "B", ".", "[ab]", r"\w", "(ab|ba)", "(?i:ab)", "(?=a)", "(?!a)", r"\b", "^", "(ab)", "é"]
)
REPEATS = st.sampled_from(["", "+", "*", "?", "{2}", "+?"])
EXPRESSIONS = st.lists(st.tuples(ATOMS, REPEATS).map("".join), min_size=1, max_size=5).map("".join)


@given(EXPRESSIONS, st.booleans(), st.lists(st.text("abABé ", max_size=12), min_size=1, max_size=6))
def test_lines_that_are_not_tried_would_not_match(
    expression: str, folds: bool, lines: list[str]
) -> None:
    try:
        compiled = re.compile(expression.encode(), re.MULTILINE | (re.IGNORECASE if folds else 0))
    except re.error:
        return
    source = [line.encode() for line in lines]
    wanted = [number for number, line in enumerate(source, 1) if compiled.search(line)]
    found = literal.find_expression(
        [IndexedText("a", "python", b"")], lambda _: b"\n".join(source), compiled
    )
    assert [number for matches in found for number in matches.lines] == wanted


def test_what_shares_nothing_with_a_question_is_no_hit(shop: Path) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        assert engine.search.find("xqzvbn").hits == ()
        assert all(hit.share > 0 for hit in engine.search.find("expired token of a customer").hits)


def test_what_nothing_here_is_about_finds_nothing(shop: Path) -> None:
    for question in ("quantum flux capacitor teleport", "zzqx blorp", "knitting wool sweaters"):
        assert not found(shop, question).hits
    assert ids(found(shop, "zzqx tokens"))  # one word of two is known


NOTES = {
    "notes/collect.py": '''def merge_dictionaries(first, second):
    """Values of both; those of the second win."""
    return {**first, **second}


def python_version_text():
    """Which interpreter runs, as text."""
    return "3"


def parse_arguments(line):
    """Split what was typed."""
    return line.split()
''',
    "notes/lower.py": '''def lowercase_in_place(words):
    """Change the case of each."""
    words[:] = [word.lower() for word in words]
''',
}


@pytest.mark.parametrize("question", ["python show version text", "show version Python3 text"])
def test_the_language_of_all_files_says_nothing(tmp_path: Path, question: str) -> None:
    lay(tmp_path, NOTES)
    assert found(tmp_path, question).hits == found(tmp_path, "show version text").hits


@pytest.mark.parametrize(
    ("question", "name", "spelt"),
    [
        ("merge dictionarries", "merge_dictionaries", "dictionaries"),
        ("parse argumetns", "parse_arguments", "arguments"),
        ("mergedictionaries of both", "merge_dictionaries", "dictionaries"),
    ],
)
def test_misspelt_words_are_read_as_they_are_spelt_here(
    tmp_path: Path, question: str, name: str, spelt: str
) -> None:
    lay(tmp_path, NOTES)
    hit = found(tmp_path, question).hits[0]
    assert hit.symbol.qualname == name
    assert any(spelt in reason for reason in hit.reasons), hit.reasons
