"""Languages are values: no code outside `languages/` names one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tersely.code
from tersely.code.languages.registry import DOCUMENTS, LANGUAGES

CODE = Path(tersely.code.__file__).parent

# `go`, `swift` and `dart` are words too, `svelte` is in the name of a folder: alone they are a language. A lone
# letter says nothing.
AMBIGUOUS = {"go", "swift", "rust", "dart", "svelte"}
WORDS = {name.lower() for name in LANGUAGES.keys() - DOCUMENTS.keys() if len(name) > 1} | {
    "csharp",
    "cpp",
    "ecmascript",
    "golang",
}
WORDS -= {"make", "sql"}  # what code does, and how it asks its database


def modules() -> list[Path]:
    return sorted(
        path for path in CODE.rglob("*.py") if "languages" not in path.relative_to(CODE).parts
    )


def words_of_code(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Identifiers and texts of a module with their lines, docstrings and comments aside."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr):
            node.body[0] = ast.Pass(lineno=node.body[0].lineno, col_offset=0)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for text in texts(node):
            yield line, text


def texts(node: ast.AST) -> Iterator[str]:
    """The texts that one node holds."""
    for name in ("id", "attr", "name", "arg", "asname", "module"):
        value = getattr(node, name, None)
        if isinstance(value, str):
            yield value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.sub(r"\s#.*", "", node.value)  # patterns have comments of their own


def languages_in(text: str) -> set[str]:
    """The languages that a text names as a word, `python` in `PYTHON_FILES` and `"python"`
    included.
    """
    parts = {part.lower() for part in re.split(r"[^A-Za-z#+]+|(?<=[a-z])(?=[A-Z])", text)}
    found = parts & (WORDS - AMBIGUOUS)
    return found | ({text.lower()} & AMBIGUOUS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(CODE)))
def test_no_code_names_a_language(path: Path) -> None:
    named = [
        f"{path.relative_to(CODE)}:{line}: {text}"
        for line, text in words_of_code(ast.parse(path.read_text("utf-8")))
        if languages_in(text)
    ]
    assert named == []


def test_names_of_languages_are_recognised() -> None:
    assert languages_in("PYTHON_FILES") == {"python"}
    assert languages_in("tersely.code.languages.ruby") == {"ruby"}
    assert languages_in("isGo") == set()
    assert languages_in("go") == {"go"}
