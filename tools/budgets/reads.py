"""Fields that `code/graph` reads by number: `x[1]` where a class could say what that is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.budgets.limits import ROOT

FOLDER = "code/graph"


def figures() -> dict[str, float]:
    """The reads of the folder, exactly."""
    files = (ROOT / "src/tersely" / FOLDER).rglob("*.py")
    return {f"reads.{FOLDER}": sum(1 for file in files for _ in by_number(file))}


def by_number(file: Path) -> Iterator[ast.Subscript]:
    """What a Python file takes out of something by a number that is written down."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Subscript):
            key = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
            if isinstance(key, ast.Constant) and type(key.value) is int:
                yield node
