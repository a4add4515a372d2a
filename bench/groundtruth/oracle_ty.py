"""ty's call hierarchy, asked over the language server protocol. `ty` is a PyPI wheel."""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from bench.groundtruth.language_server import LanguageServer, started
from bench.groundtruth.oracle import Ask, Place, Target

MODULE, CLASS = 2, 5  # symbol kinds of the protocol
ANONYMOUS = "(lambda)"


def command() -> str:
    """The executable: $TY, else `ty`."""
    return os.environ.get("TY", "ty")


def available() -> bool:
    """Whether the executable is there."""
    return shutil.which(command()) is not None


def targets(root: Path, scope: str) -> Iterator[Target]:
    """Every function and method below the scope, by Python's own parser."""
    for path in sorted((root / scope).rglob("*.py")):
        relative = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue  # templates of modules, which ty cannot read either
        lines = text.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                column = lines[node.lineno - 1].index(f"def {node.name}") + len("def ")
                yield Target(relative, node.lineno, column, node.name)


@contextmanager
def asking(root: Path) -> Iterator[Ask]:
    """A running server that answers who calls a function."""
    real = root.resolve()
    opened: set[str] = set()
    with started([command(), "server"], real) as server:
        yield lambda target: _callers(server, real, target, opened)


def _callers(server: LanguageServer, root: Path, target: Target, opened: set[str]) -> Iterator[Place]:
    path = root / target.path
    document = {"uri": path.as_uri()}
    if target.path not in opened:
        opened.add(target.path)
        text = path.read_text(encoding="utf-8")
        opening = {**document, "languageId": "python", "version": 1, "text": text}
        server.notify("textDocument/didOpen", {"textDocument": opening})
    position = {"line": target.line - 1, "character": target.column}
    items = server.request("textDocument/prepareCallHierarchy", {"textDocument": document, "position": position})
    for item in items or []:
        for call in server.request("callHierarchy/incomingCalls", {"item": item}) or []:
            yield _place(root, call["from"])


def _place(root: Path, item: dict[str, Any]) -> Place:
    path = Path(unquote(urlparse(item["uri"]).path))
    relative = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    if item["kind"] == MODULE:
        return Place(relative, 0, named=False)
    named = item["kind"] != CLASS and item["name"] != ANONYMOUS
    return Place(relative, item["selectionRange"]["start"]["line"] + 1, named)
