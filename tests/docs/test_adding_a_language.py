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

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-language.md").read_text("utf-8")
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SHOWN = re.findall(r"^```console\n\$ tersely (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LANGUAGES = Path("src/tersely/code/languages")


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the page has been followed; beside it a repository in the new
    language.
    """
    home = tmp_path_factory.mktemp("taught")
    shutil.copytree(ROOT / "src", home / "src", ignore=shutil.ignore_patterns("__pycache__"))
    value, known_line, test = CODE
    (home / LANGUAGES / "bash.py").write_text(value, "utf-8")
    registry = home / LANGUAGES / "registry.py"
    text = registry.read_text("utf-8")
    registry.write_text(text.replace("\nBY_RULES = {\n", f"\nBY_RULES = {{\n{known_line}"), "utf-8")
    (home / "test_bash.py").write_text(test, "utf-8")
    for path, content in files_of(test).items():
        target = home / "repository" / path
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


def test_the_page_holds_the_value_its_registration_and_its_test() -> None:
    assert [block.partition("\n")[0] for block in CODE] == [
        "# src/tersely/code/languages/bash.py",
        '    "bash": Known("bash", "BASH", (".sh", ".bash"), (".bashrc", ".bash_profile"), ("bash", "sh")),',
        "# tests/code/languages/test_bash.py",
    ]
    assert [command.split()[0] for command, _ in SHOWN] == ["structure", "symbol", "context"]


@pytest.mark.slow
def test_the_test_of_the_page_passes(taught: Path) -> None:
    done = run(taught, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "test_bash.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_commands_answer_as_the_page_shows(taught: Path, command: str, shown: str) -> None:
    done = run(taught, "tersely", *command.split(), where="repository")
    assert (done.stdout, done.stderr, done.returncode) == (shown, "", 0)
