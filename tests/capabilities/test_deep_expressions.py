"""An expression of many parts ends no answer about the file that it stands in."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

MAX_PARTS = 1_000

# by path: a program that calls `run` in an expression, and behind it
PROGRAMS = {
    "m.py": "def run(x):\n    return x\n\n\ndef go(a):\n    run(2)\n    return {}\n",
    "m.js": "function run(x) {{ return x }}\nfunction go(a) {{\n  run(2);\n  return {};\n}}\n",
    "m.go": "package m\n\nfunc run(x int) int {{ return x }}\nfunc go_(a A) int {{\n\trun(2)\n\treturn {}\n}}\n",
    "M.java": "class M {{\n  int run(int x) {{ return x; }}\n  int go(A a) {{\n    run(2);\n    return {};\n  }}\n}}\n",
}


def _sum(parts: int) -> str:
    return " + ".join(["run(1)"] * parts)


def _chain(parts: int) -> str:
    return "a" + ".b()" * parts


@settings(deadline=None, max_examples=examples(fast=4))
@given(parts=st.integers(1, MAX_PARTS), write=st.sampled_from((_sum, _chain)))
def test_of_any_depth(parts: int, write: object) -> None:
    assert callable(write)
    with TemporaryDirectory() as folder:
        for path, program in PROGRAMS.items():
            Path(folder, path).write_text(program.format(write(parts)))
        with Workspace.open(folder) as workspace:
            for path in PROGRAMS:
                called = "M.run" if path == "M.java" else "run"
                answer = ask(workspace, "code.calls", symbol=f"{path}:{called}")
                assert "go" in str(answer)
            ask(workspace, "code.plan", task=["run"])


def test_where_calls_in_calls_would_end_it(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAMS["m.py"].format(_sum(850)))
    with Workspace.open(tmp_path) as workspace:
        assert "m.py:go" in str(ask(workspace, "code.calls", symbol="m.py:run"))
