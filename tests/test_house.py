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
from typing import Any, NamedTuple

import pytest

import tersely
from tersely.foundation import errors, limits

ROOT = Path(__file__).parents[1]
MAX_FUNCTION_NODES = 660  # syntax nodes: how much there is to read, however it is broken
MAX_MODULE_LINES = 1200
# Modules of a room below that a room imports, for types as well: each is a part of the other that
# cannot be changed alone. These numbers only fall.
KNOWN_MODULES = {("context", "code"): 35, ("capabilities", "context"): 33}
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


class Module(NamedTuple):
    """What the rules ask of a Python file; the tree of all files would fill the memory."""

    name: str  # its path, relative to the root
    is_explained: bool
    classes: list[str]
    long_functions: list[str]
    mentioned: set[str]
    imported: set[str]  # the names of the modules, wherever in the file


@cache
def modules() -> tuple[Module, ...]:
    """Every Python file of the project."""
    paths = [path for path in tracked_files() if path.suffix == ".py"]
    return tuple(
        read(str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))) for path in paths
    )


def read(name: str, tree: ast.Module) -> Module:
    """The facts of a file."""
    module = Module(name, not tree.body or bool(ast.get_docstring(tree)), [], [], set(), set())
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if size(node) > MAX_FUNCTION_NODES:
                module.long_functions.append(f"{name}:{node.lineno} {node.name}")
            case ast.ClassDef():
                module.classes.append(node.name)
            case ast.Name(id=used) | ast.Attribute(attr=used) | ast.Constant(value=str(used)):
                module.mentioned.add(used)
            case ast.ImportFrom(module=str(used)):
                module.imported.add(used)
            case ast.Import(names=aliases):
                module.imported.update(alias.name for alias in aliases)
    return module


def size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file of the project."""
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" not in content:
            yield path.relative_to(ROOT), content.decode("utf-8", "replace")


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_module_says_what_it_is_for() -> None:
    product = [module for module in modules() if not module.name.startswith("tests/")]
    assert [module.name for module in product if not module.is_explained] == []


def test_functions_can_be_taken_in() -> None:
    assert [function for module in modules() for function in module.long_functions] == []


def test_the_tier_says_how_many_examples_a_property_tries() -> None:
    own = re.compile(r"max_examples=(?!examples[(]|tried\b)\w")
    tests = (text for path, text in texts() if path.parts[0] == "tests" and path.suffix == ".py")
    assert [line for text in tests for line in text.splitlines() if own.search(line)] == []


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
    classes = {name for module in modules() for name in module.classes}
    assert files & EMPTY_NAMES == set()
    assert [
        name for name in classes if re.split(r"(?=[A-Z])", name)[-1].lower() in EMPTY_NAMES
    ] == []


@pytest.mark.parametrize("unwanted", UNWANTED)
def test_no_line_says_what_does_not_belong_here(unwanted: str) -> None:
    found = [
        f"{path}: {text[: match.start()].count(chr(10)) + 1} {match[0]}"
        for path, text in texts()
        for match in UNWANTED[unwanted].finditer(text)
    ]
    assert found == []


def test_text_files_end_with_one_newline() -> None:
    contents = {path: path.read_bytes() for path in tracked_files()}
    texts = {
        path: content for path, content in contents.items() if content and b"\0" not in content
    }
    assert [str(path) for path, content in texts.items() if not content.endswith(b"\n")] == []


def test_every_bound_and_every_error_code_is_used() -> None:
    used: set[str] = set()
    for module in modules():
        if module.name.startswith("src/") and not module.name.endswith(
            ("/limits.py", "/errors.py")
        ):
            used |= module.mentioned
    bounds = [name for name in vars(limits) if name.isupper()]
    assert [name for name in [*bounds, *errors.EXIT_OF_CODE] if name not in used] == []


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


@pytest.mark.parametrize(("room", "below"), KNOWN_MODULES)
def test_a_room_knows_few_modules_of_the_one_below(room: str, below: str) -> None:
    known = {
        imported
        for module in modules()
        if module.name.startswith(f"src/tersely/{room}/")
        for imported in module.imported
        if imported.startswith(f"tersely.{below}.")
    }
    limit = KNOWN_MODULES[room, below]
    assert len(known) == limit, f"lower the limit, or import fewer modules: {sorted(known)}"


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
        "tests.depth",
        "tests.own_places",
        "tests.repositories",
        "tests.link",
        "tests.own_postgres",
        *below,
    )
    foreign = [
        f"{module.name}: {imported}"
        for module in modules()
        if module.name.startswith(f"tests/{part}/")
        for imported in module.imported
        if imported.startswith(("bench.", "tersely.", "tests.")) and not imported.startswith(known)
    ]
    assert foreign == []
