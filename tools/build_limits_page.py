"""Write docs/limits.md: every bound of the program, its value, and what it bounds.

    python tools/build_limits_page.py

A bound is a number that a module names in capitals with a unit at the end, or `MAX_` in front; its
comment, on the same line or just above, says what it bounds. A bound that one module uses stands in
that module, one that several use in `foundation/limits.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "tersely"
PAGE = ROOT / "docs" / "limits.md"
_UNITS = (
    "SECONDS|MS|MINUTES|HOURS|DAYS|BYTES|TOKENS|CHARACTERS|WORDS|LINES|FILES|"
    "STEPS|HOPS|LEVELS|ROUNDS|PROCESSES|COMMITS"
)
_NAME = re.compile(rf"_?(MAX_[A-Z0-9_]+|MOST_[A-Z0-9_]+|[A-Z0-9_]+_({_UNITS}))")
_STATED = re.compile(rf"^{_NAME.pattern} = ", re.MULTILINE)
_NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Load)
_HEAD = """# Limits

Every bound of the program, by module. Made by `python tools/build_limits_page.py`; a test compares it with the sources.
"""


class Limit(NamedTuple):
    """One bound as its module states it."""

    name: str
    value: str  # as it is written
    about: str  # its comment


def limits_of(path: Path) -> list[Limit]:
    """The bounds that a module states, in the order of the file."""
    text = path.read_text("utf-8")
    if not _STATED.search(text):
        return []  # most modules state none, and need not be parsed
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and _is_limit(node):
            name = ast.unparse(node.targets[0]).lstrip("_")
            found.append(Limit(name, _value(node.value, text), _comment_of(node, lines)))
    return found


def _comment_of(node: ast.Assign, lines: list[str]) -> str:
    """The comment on the last line of an assignment, else the lines of comment just above it."""
    _, _, beside = lines[(node.end_lineno or node.lineno) - 1].partition("#")
    if beside:
        return beside.strip()
    first = node.lineno - 1
    start = first
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return " ".join(line.lstrip("# ") for line in lines[start:first])


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    room = ""
    for path in sorted(SOURCES.rglob("*.py")):
        module = path.relative_to(SOURCES)
        for limit in limits_of(path):
            if module.parts[0] != room:
                room = module.parts[0]
                yield f"\n## {room}\n\n| limit | value | of what | module |\n|---|--:|---|---|\n"
            about = limit.about.replace("|", "\\|")
            yield f"| `{limit.name}` | {limit.value} | {about} | `{module}` |\n"


def _is_limit(node: ast.Assign) -> bool:
    (target, *others) = node.targets
    is_named = isinstance(target, ast.Name) and _NAME.fullmatch(target.id) is not None
    is_number = all(isinstance(part, _NUMBERS) for part in ast.walk(node.value))
    return is_named and is_number and not others and not _is_text(node.value)


def _is_text(value: ast.expr) -> bool:
    constants = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
    return any(
        isinstance(constant, str | bytes | bool) or constant is None for constant in constants
    )


def _value(value: ast.expr, text: str) -> str:
    written = ast.get_source_segment(text, value) or ""
    return (
        f"{value.value:,}"
        if isinstance(value, ast.Constant) and isinstance(value.value, int)
        else written
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
