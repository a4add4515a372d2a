"""The page on the analysis names what there is, gives bounds as they are, and its example runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tersely.code import expressions
from tersely.code.graph import callgraph, references
from tersely.code.graph.pointsto import containers, evaluate, fixpoint, values
from tersely.code.graph.program import program
from tersely.code.graph.searches import argument_flow, searches

ROOT = Path(__file__).parents[2]
CODE = ROOT / "src" / "tersely" / "code"
PAGE = (ROOT / "docs" / "analysis.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROSE = BLOCK.sub("", PAGE)
MODULES = (
    expressions,
    argument_flow,
    callgraph,
    containers,
    evaluate,
    fixpoint,
    values,
    program,
    references,
    searches,
)


def test_every_constant_is_one_of_the_graph() -> None:
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", PROSE))
    assert {name for name in named if not any(hasattr(one, name) for one in MODULES)} == set()


def test_every_abstract_value_has_a_row() -> None:
    table = PROSE[PROSE.index("| abstract value |") : PROSE.index("The order is")]
    classes = [
        one for one in vars(values).values() if isinstance(one, type) and one.__subclasses__() == []
    ]
    kinds = {one.__name__ for one in classes if issubclass(one, values.Value)}
    assert kinds == set(re.findall(r"`([A-Z]\w+)`", table))


def test_bounds_are_as_they_are() -> None:
    rows = re.findall(r"^\| `(MAX_\w+)` \| ([\d,]+) \|", PROSE, re.MULTILINE)
    assert len(rows) > 1
    for name, value in rows:
        (bound,) = {getattr(module, name) for module in MODULES if hasattr(module, name)}
        assert f"{bound:,}" == value, name
    assert f"`FLOW_LEVELS` is {evaluate.FLOW_LEVELS}" in PROSE


def test_every_file_is_there() -> None:
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", PROSE)
    places = (ROOT, CODE.parent, CODE, CODE / "graph", CODE / "graph" / "pointsto")
    assert [path for path in paths if not any((place / path).exists() for place in places)] == []


def test_the_example_prints_what_it_shows(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    for _, name, text in blocks:
        if name:
            (tmp_path / name).write_text(text, "utf-8")
    run = subprocess.run(
        [sys.executable, "look.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.stdout == blocks[-1][2], run.stderr
