"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tersely
from tersely.foundation import errors, limits

ROOT = Path(__file__).parents[1]
MAX_FUNCTION_NODES = 660  # syntax nodes: how much there is to read, however it is broken
MAX_MODULE_LINES = 1200
EMPTY_NAMES = {
    "common",
    "handler",
    "handlers",
    "helper",
    "helpers",
    "info",
    "manager",
    "misc",
    "util",
    "utils",
}

# The brackets around single characters keep these lines from matching themselves.
UNFINISHED = re.compile(r"\bTODO\b|\bFIXME\b|\bXXX\b|\bHACK\b")
INDEX_HOSTS = re.compile(r"pypi[.]org|python[h]osted|npm[j]s[.]|proxy[.]golang|index[.]crates")
MACHINE_PATHS = re.compile(r"(?<![\w.)}])/(work|Users|root|home/\w+)/")
AUTHORSHIP = re.compile(
    r"co-authored[-]by|generated (with|by) (an? )?(ai|llm|model)\b|as an[ ]ai\b", re.IGNORECASE
)
UNWANTED = {
    "unfinished": UNFINISHED,
    "index hosts": INDEX_HOSTS,
    "machine paths": MACHINE_PATHS,
    "authorship": AUTHORSHIP,
}


@cache
def tracked_files() -> tuple[Path, ...]:
    """What is in the repository or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return tuple(
        path
        for name in sorted(set(listed.stdout.split("\0")))
        if name and (path := ROOT / name).is_file()
    )


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Every Python file of the project, parsed."""
    paths = [path for path in tracked_files() if path.suffix == ".py"]
    return tuple(
        (str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))) for path in paths
    )


def lines() -> Iterator[tuple[str, str]]:
    """Every line of text of the project, with where it is."""
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" not in content:
            for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
                yield f"{path.relative_to(ROOT)}:{number}", line


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_module_says_what_it_is_for() -> None:
    product = [(name, module) for name, module in modules() if not name.startswith("tests/")]
    assert [name for name, module in product if module.body and not ast.get_docstring(module)] == []


def test_functions_can_be_taken_in() -> None:
    functions = (
        (name, node)
        for name, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    long = [
        f"{name}:{node.lineno} {node.name}"
        for name, node in functions
        if size(node) > MAX_FUNCTION_NODES
    ]
    assert long == []


def size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def test_modules_can_be_read_at_one_sitting() -> None:
    sizes = {
        path: path.read_text("utf-8").count("\n")
        for path in tracked_files()
        if path.suffix == ".py"
    }
    assert [
        f"{path.relative_to(ROOT)}: {size}"
        for path, size in sizes.items()
        if size > MAX_MODULE_LINES
    ] == []


def test_names_say_something() -> None:
    files = {
        part.removesuffix(".py")
        for path in tracked_files()
        for part in path.relative_to(ROOT).parts
    }
    classes = {
        node.name
        for _, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    }
    assert files & EMPTY_NAMES == set()
    assert [
        name for name in classes if re.split(r"(?=[A-Z])", name)[-1].lower() in EMPTY_NAMES
    ] == []


@pytest.mark.parametrize("unwanted", UNWANTED)
def test_no_line_says_what_does_not_belong_here(unwanted: str) -> None:
    assert [
        f"{where}: {line.strip()}" for where, line in lines() if UNWANTED[unwanted].search(line)
    ] == []


def test_text_files_end_with_one_newline() -> None:
    contents = {path: path.read_bytes() for path in tracked_files()}
    texts = {
        path: content for path, content in contents.items() if content and b"\0" not in content
    }
    assert [str(path) for path, content in texts.items() if not content.endswith(b"\n")] == []


def test_every_bound_and_every_error_code_is_used() -> None:
    used: set[str] = set()
    for name, module in modules():
        if name.startswith("src/") and not name.endswith(("/limits.py", "/errors.py")):
            used.update(mentioned(module))
    bounds = [name for name in vars(limits) if name.isupper()]
    assert [name for name in [*bounds, *errors.EXIT_OF_CODE] if name not in used] == []


def mentioned(module: ast.Module) -> Iterator[str]:
    """The names and texts of a module."""
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Constant(value=str(text)):
                yield text


def test_the_version_is_the_same_everywhere() -> None:
    assert project()["project"]["version"] == tersely.__version__


def test_every_dependency_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    }
    table = project()
    needed = [*table["project"]["dependencies"], *table["build-system"]["requires"]]
    for extra in table["project"]["optional-dependencies"].values():
        needed += extra
    names = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in needed}
    assert names - pinned == set()


def test_the_architecture_shows_every_layer() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    contracts = project()["tool"]["importlinter"]["contracts"]
    layers = [
        re.findall(r"\w+", layer) for contract in contracts for layer in contract.get("layers", [])
    ]
    missing = [
        name
        for names in layers
        for name in names
        if not re.search(rf"^ *{name}(/|\.py)", text, re.MULTILINE)
    ]
    assert missing == []


def test_the_commands_of_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    documents = "".join(path.read_text("utf-8") for path in tracked_files() if path.suffix == ".md")
    assert set(re.findall(r"`make ([a-z]+)", documents)) - targets == set()


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize(
    ("part", "below"), [("code", ()), ("context", ("tersely.code", "tests.code")), ("relay", ())]
)
def test_the_tests_of_a_part_run_without_the_others(part: str, below: tuple[str, ...]) -> None:
    known = (
        f"tersely.{part}",
        "tersely.foundation",
        f"tests.{part}",
        "tests.own_places",
        "tests.own_postgres",
        *below,
    )
    foreign = [
        f"{name}: {module}"
        for name, tree in modules()
        if name.startswith(f"tests/{part}/")
        for module in imported(tree)
        if module.startswith(("bench.", "tersely.", "tests.")) and not module.startswith(known)
    ]
    assert foreign == []


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
