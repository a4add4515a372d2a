"""The map of a repository: within its budget, and of what matters."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.asking import Ask

from tersely.cli.main import main
from tersely.code.symbols import Kind, Symbol
from tersely.context.lenses.ranking import rank
from tersely.context.pack.kinds.outline import fit, tree
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count

PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "src", "long_name"]), min_size=1, max_size=4).map(
        lambda parts: "/".join(parts) + ".py"
    ),
    min_size=1,
    max_size=25,
    unique=True,
)


def symbol(path: str, name: str) -> Symbol:
    return Symbol(
        f"{path}:{name}", path, "python", Kind.FUNCTION, name, name, path, 1, 1, 1, 0, 9, 5, 0, 0
    )


@given(PATHS, st.integers(1, 300))
@settings(deadline=None)
def test_a_map_never_exceeds_its_budget(paths: list[str], budget: int) -> None:
    symbols = {
        path: [symbol(path, f"function_{at}") for at in range(len(path) % 5)] for path in paths
    }
    weights = {one.id: len(one.id) % 7 + 1.0 for listed in symbols.values() for one in listed}
    root = tree(paths, symbols, lambda one: weights.get(one, 0.5))
    try:
        outline = fit(root, lambda one: f"def {one.name}(self)", budget, count)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    assert outline.used == count(outline.text) <= budget
    everything = fit(root, lambda one: f"def {one.name}(self)", 100_000, count)
    assert {
        node.id.rpartition("/")[2]
        for node in everything.nodes
        if node.symbol is None and not node.is_directory
    } == {path.rpartition("/")[2] for path in paths}
    shown = {id(node) for node in outline.nodes}
    assert all(id(node) in {id(one) for one in everything.nodes} for node in outline.nodes)
    assert len(shown) == len(outline.nodes)


def test_what_others_use_has_rank() -> None:
    paths = ["core.py", "one.py", "two.py", "tests/test_one.py"]
    symbols = [
        symbol("core.py", "used"),
        symbol("core.py", "unused"),
        symbol("one.py", "step"),
        symbol("two.py", "other"),
    ]
    mentions = [("step", [3]), ("used", [1, 2])]
    imports = {"one.py": ["core.py"], "two.py": ["core.py"], "tests/test_one.py": ["one.py"]}
    ranks = rank(paths, symbols, mentions, imports)
    assert (
        ranks.symbols["core.py:used"]
        > ranks.symbols["one.py:step"]
        > ranks.symbols["core.py:unused"]
        > 0
    )
    assert sum(ranks.symbols.values()) + sum(ranks.files.values()) <= 1 + 1e-9
    near = rank(paths, symbols, mentions, imports, ["two.py"], ["two.py:other"])
    assert max(near.symbols, key=near.symbols.__getitem__) == "two.py:other"
    assert near.symbols["core.py:used"] > near.symbols["one.py:step"]


def test_no_files_no_ranks() -> None:
    ranks = rank([], [], [], {})
    assert not ranks.symbols
    assert not ranks.files


def test_the_map_says_what_it_leaves_out(ask: Ask) -> None:
    small, large = ask("map", "--budget", "20"), ask("map", "--budget", "400")
    assert count(small.out) <= 20
    assert "…" in small.out
    assert "class Price" in large.out
    assert "def checkout(cents: int) -> str" in large.out
    assert "…" not in large.out
    assert ask("map", "--budget", "400").out == large.out


def test_the_map_of_a_part_and_with_a_focus(ask: Ask) -> None:
    part = ask("map", "src/shop/orders.py", "--json").result
    assert [entry["id"] for entry in part["entries"] if entry["id"].endswith(".py")] == [
        "src/shop/orders.py"
    ]
    focused = ask("map", "--focus", "forgotten", "--budget", "60", "--json").result
    assert "src/shop/money.py:forgotten" in [entry["id"] for entry in focused["entries"]]
    assert ask("map", "--focus", "nothing_of_that_name").status == 1
    assert ask("map", "nowhere").status == 1
    assert ask("map", "--budget", "1").status == 2


@pytest.mark.parametrize("budget", [200, 700])
def test_the_budget_is_used_where_there_is_enough_to_say(
    budget: int, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(30):
        body = "".join(
            f"def function_{at}_{n}(first, second):\n    return function_{at - 1}_{n}(first)\n\n\n"
            for n in range(5)
        )
        (tmp_path / f"module_{at}.py").write_text(
            f"from module_{at - 1} import *\n\n\n{body}" if at else body
        )
    monkeypatch.chdir(tmp_path)
    assert main(("map", "--budget", str(budget), "--quiet")) == 0
    used = count(capsys.readouterr().out)
    assert 0.9 * budget <= used <= budget


def test_what_is_in_a_namespace_is_shown(ask: Ask, shop: Path) -> None:
    (shop / "cart.cpp").write_text(
        "namespace shop {\nclass Cart {\n  int total() { return 1; }\n};\n}\n"
    )
    lines = ask("map", "--budget", "2000").out.splitlines()
    at = lines.index("cart.cpp")
    assert lines[at + 1 : at + 4] == [" namespace shop", "  class Cart", "   int total()"]


def test_one_file_is_outlined_at_every_level_of_detail(ask: Ask) -> None:
    path = "src/shop/money.py"
    tree, structure, extract = (
        ask(name, path, "--json").result["entries"]["items"]
        for name in ("tree", "structure", "extract")
    )
    assert tree[-1]["id"] == path
    named = {one["id"]: (one["line"], one["end_line"]) for one in structure}
    assert named.items() <= {one["id"]: (one["line"], one["end_line"]) for one in extract}.items()
    assert [one["signature"] for one in structure] == [""] * len(structure)
    assert all(one["signature"] for one in extract)


def test_a_directory_is_extracted_file_by_file(ask: Ask) -> None:
    whole = ask("extract", "src/shop").out
    for path in ("src/shop/money.py", "src/shop/orders.py"):
        assert ask("extract", path).out in whole


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("map",), "there is no file in a language that Tersely reads"),
        (("plan", "mend it"), "no indexed file or symbol fits"),
    ],
)
def test_of_an_empty_repository_it_is_said_that_nothing_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(list(words)) == 1
    assert capsys.readouterr().out == f"nothing found: {why}\n"
