"""The page on adding a language suffices: its code, as it stands, teaches a copy of Tersely the
language it adds.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-language.md").read_text("utf-8")
LANGUAGES = "src/tersely/code/languages"
MAX_VALUE_LINES = 400


class Taught(NamedTuple):
    """A language that the page adds: a file with its value, lines of the registry, a test, the table of the order of
    its statements, and commands with what they print.
    """

    value: str
    known: str
    test: str
    table: str
    shown: list[tuple[str, str]]


def lessons(page: str) -> dict[str, Taught]:
    """The languages that a page adds, by name. A block goes on with the file of the last one that names a file."""
    found: dict[str, Taught] = {}
    for kind, block in re.findall(
        r"^```(python|console|json)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    ):
        named = re.match(rf"# {LANGUAGES}/(\w+)\.py\n", block)
        if named:
            found[named[1]] = Taught(block, "", "", "", [])
            continue
        name, last = next(reversed(found.items()))
        if kind == "console":
            command, _, printed = block.removeprefix("$ tersely ").partition("\n")
            last.shown.append((command, printed))
        elif kind == "json":
            found[name] = last._replace(table=block)
        elif block.startswith("    "):
            found[name] = last._replace(known=block)
        elif block.startswith("# tests/"):
            found[name] = last._replace(test=block)
        else:
            found[name] = last._replace(value=f"{last.value}\n\n{block}")
    return found


LESSONS = lessons(PAGE)
SHOWN = [(name, *shown) for name, lesson in LESSONS.items() for shown in lesson.shown]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the page has been followed; beside it a repository in each of the new
    languages.
    """
    home = tmp_path_factory.mktemp("taught")
    shutil.copytree(ROOT / "src", home / "src", ignore=shutil.ignore_patterns("__pycache__"))
    registry = home / LANGUAGES / "registry.py"
    text = registry.read_text("utf-8")
    known = "".join(lesson.known for lesson in LESSONS.values())
    registry.write_text(text.replace("\nBY_RULES = {\n", f"\nBY_RULES = {{\n{known}"), "utf-8")
    for name, lesson in LESSONS.items():
        (home / LANGUAGES / f"{name}.py").write_text(lesson.value, "utf-8")
        if lesson.table:
            (home / LANGUAGES / "rules" / f"{name}.json").write_text(lesson.table, "utf-8")
        (home / f"test_{name}.py").write_text(lesson.test, "utf-8")
        for path, content in files_of(lesson.test).items():
            target = home / "repositories" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, "utf-8")
    return home


def files_of(test: str) -> dict[str, str]:
    """The repository that the page's test works on."""
    for node in ast.parse(test).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FILES":
            files: dict[str, str] = ast.literal_eval(node.value)
            return files
    raise AssertionError("the page's test has no FILES")


def run(taught: Path, *arguments: str, where: str = ".") -> subprocess.CompletedProcess[str]:
    """A command of the copy."""
    paths = os.pathsep.join((str(taught / "src"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command,
        cwd=taught / where,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_page_holds_values_with_their_registration_and_their_tests() -> None:
    assert list(LESSONS) == ["bash", "dart"]
    for name, lesson in LESSONS.items():
        assert lesson.known.startswith(f'    "{name}": Known("{name}", "{name.upper()}", (".')
        assert lesson.test.startswith(f"# tests/code/languages/test_{name}.py\n")
        lines = len(lesson.value.splitlines()) + len(lesson.table.splitlines())
        assert lines <= MAX_VALUE_LINES + 1  # and the line with its path
    assert {command.split()[0] for _, command, _ in SHOWN} == {
        "structure", "symbol", "context", "impact", "cfg",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_the_test_of_the_page_passes(taught: Path, name: str) -> None:
    done = run(taught, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", f"test_{name}.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "command", "shown"), SHOWN, ids=[command for _, command, _ in SHOWN]
)
def test_the_commands_answer_as_the_page_shows(
    taught: Path, name: str, command: str, shown: str
) -> None:
    done = run(taught, "tersely", *command.split(), where=f"repositories/{name}")
    assert (done.stdout, done.stderr, done.returncode) == (shown, "", 0)


@pytest.mark.slow
def test_the_values_of_the_page_have_types(taught: Path) -> None:
    files = [f"{LANGUAGES}/{name}.py" for name in LESSONS]
    done = run(taught, "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files)
    assert done.returncode == 0, done.stdout
