"""Every construct of every grammar is read, and what a rule cannot read costs no more than its
node.

`constructs/` has for each language snippets that reach the node types its rules are for. They are
told apart by lines of four dashes, and each is read between two definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.depth import mostly_slow
from tree_sitter import Node

from tersely.code.engine import Engine
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import FileFacts
from tersely.code.syntax import extract as extraction
from tersely.code.syntax.cfg.read import read_routines
from tersely.code.syntax.extract import extract, parse, tools_for
from tersely.code.syntax.isolation import MAX_NODES_WITHOUT_RULE, TOO_DEEP
from tersely.code.syntax.trace import trace

NAMES = ("before_it", "after_it")
BESIDE = {
    "c": "int NAME(void) { return 1; }\n",
    "cpp": "int NAME() { return 1; }\n",
    "csharp": "class NAME {}\n",
    "elixir": "defmodule Of.NAME do\n  def NAME, do: 1\nend\n",
    "go": "func NAME() {}\n",
    "java": "class NAME {}\n",
    "javascript": "function NAME() {}\n",
    "kotlin": "fun NAME() {}\n",
    "lua": "function NAME() end\n",
    "php": "function NAME() {}\n",
    "python": "def NAME():\n    pass\n",
    "ruby": "def NAME\nend\n",
    "rust": "fn NAME() {}\n",
    "scala": "class NAME {}\n",
    "swift": "func NAME() {}\n",
    "tsx": "function NAME() {}\n",
    "typescript": "function NAME() {}\n",
}
FIRST = {
    "go": "package a\n",
    "kotlin": "package a.b\nimport c.d.*\nimport e.f as g\n",
    "php": "<?php\n",
}
# node types that end or begin a file, so that nothing stands beside them
AT_THE_ENDS = {"lua": {"hash_bang_line"}, "ruby": {"uninterpreted"}}
SYNTAX_PROBLEMS = ("missing", "not understood")

each_language = pytest.mark.parametrize("language", sorted(BESIDE))


class Sample(NamedTuple):
    """A snippet with its surroundings; it has the bytes from `start` to `end`."""

    source: bytes
    start: int
    end: int


def placed(language: str, snippet: bytes) -> Sample:
    above, below = (BESIDE[language].replace("NAME", name).encode() for name in NAMES)
    above = FIRST.get(language, "").encode() + above
    return Sample(above + snippet + below, len(above), len(above + snippet))


@cache
def snippets(language: str) -> list[bytes]:
    text = (Path(__file__).with_name("constructs") / f"{language}.txt").read_bytes()
    return text.split(b"----\n")


def nodes_of(language: str, source: bytes) -> Iterator[Node]:
    pending = [parse(source, LANGUAGES[language]).root_node]
    while pending:
        node = pending.pop()
        yield node
        pending += node.children


def type_of(node: Node) -> str:
    return node.type if node.is_named else f"={node.type}"


def names_in(facts: FileFacts) -> set[str]:
    return {one.name for one in facts.definitions}


def routines_in(language: str, source: bytes) -> set[str]:
    return {one.name for one in read_routines(source, LANGUAGES[language]).routines}


def failed_rules(facts: FileFacts) -> list[str]:
    return [one.message for one in facts.problems if not one.message.startswith(SYNTAX_PROBLEMS)]


def test_every_language_that_is_read_by_rules_has_constructs() -> None:
    # what has a walk of its own is read by queries, or its parts by the rules of another
    by_rules = {name for name in LANGUAGES if LANGUAGES[name].walk is None}
    assert by_rules <= BESIDE.keys()


@each_language
def test_what_stands_beside_a_construct_is_kept(language: str) -> None:
    met = set()
    for snippet in snippets(language):
        sample = placed(language, snippet)
        facts = extract(sample.source, LANGUAGES[language])
        assert failed_rules(facts) == []
        assert names_in(facts) >= set(NAMES), snippet
        met |= {type_of(node) for node in nodes_of(language, sample.source)}
    assert set(LANGUAGES[language].rules) - met == AT_THE_ENDS.get(language, set())


@pytest.mark.parametrize("language", mostly_slow(sorted(BESIDE), "python", "tsx"))
def test_a_rule_that_fails_costs_its_node(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, handlers, rules = tools_for(LANGUAGES[language])
    for snippet in snippets(language):
        sample = placed(language, snippet)
        inside = {
            node.kind_id: node
            for node in nodes_of(language, sample.source)
            if node.start_byte >= sample.start and node.end_byte <= sample.end
        }
        for kind, node in inside.items():
            rule = handlers[kind]
            if rule is None:
                continue

            def fail(walk: object, at: Node, rule=rule, node=node):  # type: ignore[no-untyped-def]
                if at.start_byte == node.start_byte and at.end_byte == node.end_byte:
                    raise ZeroDivisionError("oh")
                return rule(walk, at)

            broken = [fail if number == kind else one for number, one in enumerate(handlers)]
            monkeypatch.setattr(
                extraction, "tools_for", lambda _, broken=broken: (parser, broken, rules)
            )
            facts = extract(sample.source, LANGUAGES[language])
            assert names_in(facts) >= set(NAMES), node
            assert set(failed_rules(facts)) <= {"ZeroDivisionError: oh"}


@each_language
@given(data=st.data())
def test_constructs_in_places_of_others_are_read(language: str, data: st.DataObject) -> None:
    """Whatever stands where: all three walks over a file end, and none of their rules fails."""
    snippet = data.draw(st.sampled_from(snippets(language)))
    taken = data.draw(st.sampled_from(snippets(language)))
    parts = [node for node in nodes_of(language, taken) if node.is_named]
    places = [node for node in nodes_of(language, snippet) if node.is_named]
    part, place = data.draw(st.sampled_from(parts)), data.draw(st.sampled_from(places))
    text = taken[part.start_byte : part.end_byte]
    mixed = snippet[: place.start_byte] + text + snippet[place.end_byte :]
    sample = placed(language, mixed)
    facts = extract(sample.source, LANGUAGES[language])
    assert failed_rules(facts) == []
    trace(sample.source, LANGUAGES[language], range(sample.start, sample.end, 5))
    assert routines_in(language, sample.source) >= {""}


DEEP = {
    "calls": ("python", b"x = " + b"f(" * 4_000 + b")" * 4_000 + b"\n"),
    "members": ("javascript", b"x = a" + b".b()" * 4_000 + b";\n"),
    "operators": ("go", b"var x = 1" + b" + f(2)" * 6_000 + b"\n"),
    "lists": ("ruby", b"x = " + b"[" * 4_000 + b"]" * 4_000 + b"\n"),
    "several": ("python", (b"x = " + b"[" * 2_500 + b"]" * 2_500 + b"\n") * 3),
}


@pytest.mark.parametrize("name", mostly_slow(DEEP, "lists"))
def test_what_is_nested_too_deeply_costs_what_is_deep(name: str) -> None:
    language, snippet = DEEP[name]
    sample = placed(language, snippet)
    facts = extract(sample.source, LANGUAGES[language])
    assert names_in(facts) >= set(NAMES)
    assert failed_rules(facts) == [TOO_DEEP]
    alone = placed(language, b"").source
    assert routines_in(language, sample.source) >= routines_in(language, alone)
    assert trace(sample.source, LANGUAGES[language]).bindings("after_it")


SUFFIXES = {"python": "py", "javascript": "js", "go": "go", "ruby": "rb"}


@pytest.mark.slow
def test_what_is_nested_too_deeply_can_be_stored(tmp_path: Path) -> None:
    for name, (language, snippet) in DEEP.items():
        path = tmp_path / f"{name}.{SUFFIXES[language]}"
        path.write_bytes(placed(language, snippet).source)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = [symbol.name for symbol in engine.store.symbols()]
    assert {name: found.count(name) for name in NAMES} == dict.fromkeys(NAMES, len(DEEP))


def test_a_kind_whose_rule_often_fails_is_read_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    python = LANGUAGES["python"]
    parser, handlers, rules = tools_for(python)
    walks = []

    def fail(walk: object, node: Node) -> None:
        if not walks or walks[-1] is not walk:
            walks.append(walk)
        raise ZeroDivisionError("oh")

    call = next(node for node in nodes_of("python", b"f()") if node.type == "call").kind_id
    broken = [fail if number == call else one for number, one in enumerate(handlers)]
    monkeypatch.setattr(extraction, "tools_for", lambda _: (parser, broken, rules))
    facts = extract(placed("python", b"f(g())\n" * 10 * MAX_NODES_WITHOUT_RULE).source, python)
    assert names_in(facts) >= set(NAMES)
    assert len(walks) <= MAX_NODES_WITHOUT_RULE + 1
