"""Signatures, pairs and clusters of functions, compared with what looking at every pair gives."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tersely.code.engine import Engine
from tersely.code.languages.registry import LANGUAGES
from tersely.code.search.duplicates.clusters import clusters, similar
from tersely.code.search.duplicates.collection import Functions, FunctionTable
from tersely.code.search.duplicates.differences import Difference, differences
from tersely.code.search.duplicates.minhash import candidate_pairs, jaccard, signatures
from tersely.code.search.duplicates.shingles import Sets, shingle_sets
from tersely.foundation.errors import TerselyError

TOKENS = st.lists(st.lists(st.integers(1, 12), max_size=40), min_size=1, max_size=12)


def sets_of(tokens: list[list[int]]) -> Sets:
    return shingle_sets([np.array(one, np.uint32) for one in tokens])


def exact(sets: Sets, one: int, other: int) -> float:
    first, second = set(sets.of(one).tolist()), set(sets.of(other).tolist())
    return len(first & second) / len(first | second)


@given(TOKENS)
def test_a_set_holds_each_run_of_four_tokens(tokens: list[list[int]]) -> None:
    sets = sets_of(tokens)
    for index, one in enumerate(tokens):
        padded = one + [0] * (4 - len(one))
        runs = {tuple(padded[at : at + 4]) for at in range(len(padded) - 3)}
        assert len(sets.of(index)) == len(runs)
        assert sorted(sets.of(index).tolist()) == sets.of(index).tolist()


@given(TOKENS)
def test_the_similarity_of_pairs_is_exact(tokens: list[list[int]]) -> None:
    sets = sets_of(tokens)
    pairs = list(combinations(range(len(tokens)), 2))
    found = jaccard(sets, np.array(pairs, np.int64).reshape(-1, 2))
    assert found.tolist() == pytest.approx([exact(sets, *pair) for pair in pairs])


def test_nearly_all_pairs_of_some_similarity_are_candidates() -> None:
    random = np.random.default_rng(1)
    tokens: list[list[int]] = []
    for _ in range(70):
        base = random.integers(1, 1_000, 60).tolist()
        for changed in (0, 1, 2, 3, 5):
            copy = list(base)
            for at in random.integers(0, 60, changed):
                copy[at] = int(random.integers(1, 1_000))
            tokens.append(copy)
    sets = sets_of(tokens)
    found = set(map(tuple, candidate_pairs(signatures(sets), 0.7).tolist()))
    wanted = {pair for pair in combinations(range(len(tokens)), 2) if exact(sets, *pair) >= 0.7}
    assert len(wanted) > 200
    assert len(wanted & found) / len(wanted) >= 0.999
    assert found == set(map(tuple, candidate_pairs(signatures(sets), 0.7).tolist()))


def functions_of(tokens: list[list[int]]) -> Functions:
    sets = sets_of(tokens)
    lengths = np.array(list(map(len, tokens)), np.uint32)
    first = np.arange(len(tokens) + 1)
    table = FunctionTable(first, np.zeros(len(tokens), np.uint32), lengths, sets, signatures(sets))
    return Functions([f"{index}.py" for index in range(len(tokens))], np.arange(len(tokens)), table)


@given(TOKENS)
@settings(deadline=None)
def test_every_member_of_a_cluster_resembles_its_exemplar(tokens: list[list[int]]) -> None:
    functions = functions_of(tokens)
    found = clusters(functions, np.arange(len(tokens)), 0.6, lambda one, other: False)
    seen = [
        index
        for one in found
        for index in (one.exemplar, *(alike.function for alike in one.members))
    ]
    assert len(seen) == len(set(seen))
    for one in found:
        near = {
            alike.function: alike.similarity
            for alike in similar(functions, one.exemplar, 0.6, lambda a, b: False)
        }
        assert {alike.function for alike in one.members} <= set(near)
        assert all(alike.similarity >= 0.6 for alike in one.members)


def same(one: FunctionTable, other: FunctionTable) -> bool:
    arrays = zip(
        [*one[:3], *one.sets, one.signatures],
        [*other[:3], *other.sets, other.signatures],
        strict=True,
    )
    return all(np.array_equal(*pair) for pair in arrays)


def test_differences_are_the_replaced_texts() -> None:
    one = "def f(a):\n    x = get(a, 'k')\n    return x\n"
    other = "def f(a):\n    x = post(a,  'k')\n    log(x)\n    return x\n"
    assert differences(one, other) == [Difference("get", "post"), Difference("", "log(x)")]
    assert differences(one, one.replace("\n    ", "\n\t")) == []


@given(st.text("ab(=) \n'", max_size=60), st.text("ab(=) \n'", max_size=60))
def test_texts_without_differences_differ_in_space_only(one: str, other: str) -> None:
    if not differences(one, other):
        assert "".join(one.split()) == "".join(other.split())


COPIES = {
    "python": ("a.py", "def {0}({1}, n):\n    {2}\n    for {3} in {1}.rows():\n        send({3}.name, n, 1)\n", "# c"),
    "go": ("a.go", "func {0}({1} T) {{\n\t{2}\n\tfor {3} := range {1}.rows() {{\n\t\tsend({3}.n)\n\t}}\n}}\n", "// c"),
    "lua": ("a.lua", "function {0}({1}, n)\n {2}\n for {3} in {1}.rows() do\n  send({3}.name, n)\n end\nend\n", "-- c"),
}  # fmt: skip


@pytest.mark.parametrize("language", COPIES)
def test_a_copy_with_other_variables_and_comments_is_the_same(
    tmp_path: Path, language: str
) -> None:
    name, pattern, comment = COPIES[language]
    assert language in LANGUAGES
    head = "package a\n" if language == "go" else ""
    first, second = (
        pattern.format("one", "table", "", "row"),
        pattern.format("two", "things", comment, "thing"),
    )
    (tmp_path / name).write_text(head + first + "\n" + second)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [
            alike.similarity for alike in similar(engine.functions, 0, 0.1, lambda a, b: False)
        ] == [1.0]


def test_after_a_refresh_they_are_those_of_a_new_index(tmp_path: Path) -> None:
    body = "def {0}(a):\n    return send(a.b, 1) or get(a.c, 2)\n"
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.py").write_text(body.format(name))
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert len(engine.functions) == 3
        (tmp_path / "one.py").write_text(body.format("uno") + body.format("eins"))
        (tmp_path / "two.py").unlink()
        (tmp_path / "four.py").write_text(body.format("three"))
        engine.refresh()
        refreshed = engine.functions
        assert list(refreshed.paths) == ["four.py", "one.py", "three.py"]
    with Engine.open(tmp_path) as engine:
        assert same(engine.functions.table, refreshed.table)


def test_a_file_that_changes_meanwhile_is_refused_or_said_to_have_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(a):\n    return a + 1\n")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        (tmp_path / "a.py").write_text("def f(a):\n    return a + b\n")
        with pytest.raises(TerselyError, match="has changed since"):
            assert engine.functions
        engine.refuses_changed = False
        functions, findings = engine.answer(lambda: engine.functions)
        assert (len(functions), findings.changed) == (1, {"a.py"})
        (tmp_path / "a.py").unlink()
    with Engine.open(tmp_path) as engine, pytest.raises(TerselyError, match="unreadable_file"):
        assert engine.functions
