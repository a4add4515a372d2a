"""The diff lens: pieces of code, the trees that weigh them, and the choice among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tersely
from tersely.context.lenses.diff.changed_symbols import side_of
from tersely.context.lenses.diff.evidence import FIELDS
from tersely.context.lenses.diff.rank import EVIDENCE
from tersely.context.lenses.diff.regions import MOST_PIECE_LINES, WHOLE_LINES, Region, regions_of
from tersely.context.lenses.diff.relevance import FUSED_OFFSET, LISTS, fused
from tersely.context.lenses.diff.selection import FILE_TOKENS, GAP_TOKENS, SYMBOL_TOKENS, chosen
from tersely.context.lenses.diff.trees import shipped

SOURCES = sorted(Path(tersely.__file__).parent.rglob("*.py"))
SIDE = side_of(
    "made.py", b"".join(b"def f%d():\n    return %d\n\n\n" % (one, one) for one in range(30))
)
LINES = {"made.py": SIDE.text.decode().split("\n")}
REGIONS = regions_of(SIDE.symbols, LINES["made.py"])


@pytest.mark.parametrize("path", SOURCES[::23], ids=lambda path: str(path.name))
def test_pieces_share_no_lines_and_leave_none_of_a_function_out(path: Path) -> None:
    text = path.read_bytes()
    side = side_of("made.py", text)
    lines = text.decode().split("\n")
    found = regions_of(side.symbols, lines)
    numbers = [number for one in found for number in range(one.first, one.last + 1)]
    assert len(numbers) == len(set(numbers))
    functions = {one.id for one in side.symbols if one.kind.value in {"function", "method"}}
    owners = side.owners(len(lines))
    assert {number for number, owner in enumerate(owners) if owner.id in functions} <= set(numbers)
    assert all(one.last - one.first < max(WHOLE_LINES, MOST_PIECE_LINES + 4) for one in found)


def test_pieces_begin_where_statements_do() -> None:
    body = "".join(f"    call(\n        {number},\n    )\n" for number in range(20))
    side = side_of("made.py", f"def long():\n{body}".encode())
    lines = side.text.decode().split("\n")
    found = regions_of(side.symbols, lines)
    assert len(found) > 3
    assert all(lines[one.first - 1].strip() in {"call(", "def long():"} for one in found)


def test_what_changed_is_no_piece() -> None:
    gone = SIDE.symbols[3].id
    assert {one.symbol.id for one in REGIONS} - {gone} == {
        one.symbol.id for one in regions_of(SIDE.symbols, LINES["made.py"], {gone})
    }


def test_the_trees_ask_about_the_figures_that_are_gathered() -> None:
    assert shipped().fields == FIELDS
    assert {name for names in EVIDENCE.values() for name in names} <= set(FIELDS)


@given(st.integers(0, 2**32 - 1))
def test_what_is_told_of_each_figure_adds_up_to_the_odds(seed: int) -> None:
    trees = shipped()
    rows = np.random.default_rng(seed).gamma(1.0, 2.0, (5, len(FIELDS)))
    base = float(trees.value[trees.roots].sum(dtype=np.float64))
    assert trees.told(rows).sum(axis=1) + base == pytest.approx(trees.odds(rows), abs=1e-4)
    assert np.array_equal(trees.odds(rows)[::-1], trees.odds(rows[::-1]))


@given(st.integers(0, 2**32 - 1))
def test_a_piece_with_more_of_everything_ranks_higher_however_much_more(seed: int) -> None:
    chance = np.random.default_rng(seed)
    # the first has the most
    rows = np.sort(chance.integers(0, 3, (8, len(FIELDS))), axis=0)[::-1].astype(float)
    order = chance.permutation(len(rows))
    found = fused(rows[order])
    assert found == pytest.approx(fused(1_000 * rows)[order])
    assert found.max() == 1.0
    assert found[np.argsort(order)].tolist() == sorted(found, reverse=True)


def test_pieces_that_nothing_speaks_for_share_their_ranks() -> None:
    rows = np.zeros((5, len(FIELDS)))
    assert fused(rows).tolist() == [1.0] * 5
    rows[3, FIELDS.index("words")] = 0.5
    assert fused(rows)[3] == 1.0
    tied = len(LISTS) - 1
    expected = (1 / (FUSED_OFFSET + 2.5) + tied / (FUSED_OFFSET + 2)) / (
        1 / FUSED_OFFSET + tied / (FUSED_OFFSET + 2)
    )
    assert fused(rows)[0] == pytest.approx(expected)
    assert fused(rows[:0]).size == 0


@given(
    chances=st.lists(st.floats(0, 1), min_size=len(REGIONS), max_size=len(REGIONS)),
    budget=st.integers(0, 1_000),
    least=st.floats(0, 1),
)
def test_a_choice_keeps_to_its_budget_and_leaves_out_what_is_unlikely(
    chances: list[float], budget: int, least: float
) -> None:
    taken = chosen(REGIONS, np.array(chances), LINES, budget, least, ())
    assert len(taken) == len(set(taken))
    assert all(chances[at] >= least for at in taken)
    assert (
        len(taken) * (SYMBOL_TOKENS + GAP_TOKENS) + FILE_TOKENS * bool(taken) <= budget or not taken
    )
    left = [at for at in range(len(REGIONS)) if at not in taken and chances[at] >= least]
    same = [(a, b) for a in taken for b in left if _size(REGIONS[a]) == _size(REGIONS[b])]
    assert all(chances[a] >= chances[b] for a, b in same)


def _size(region: Region) -> int:
    return sum(map(len, LINES["made.py"][region.first - 1 : region.last]))
