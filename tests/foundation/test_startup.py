"""What the foundation makes a command pay before it has done anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "apsw",
    "argparse",
    "asyncio",
    "dataclasses",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "tomllib",
    "typing",
}


def imported_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded because of a statement."""
    program = (
        f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(found.stdout.split())


def test_the_package_itself_imports_nothing() -> None:
    assert imported_by("import tersely") == {"tersely"}


@pytest.mark.parametrize("module", ["clock", "errors", "limits", "text.tokens"])
def test_what_every_command_needs_is_light(module: str) -> None:
    assert imported_by(f"import tersely.foundation.{module}") & HEAVY == set()


def test_the_vocabulary_is_not_touched_before_it_is_needed() -> None:
    program = "from tersely.foundation.text import tokens; assert tokens._pieces.cache_info().currsize == 0"
    assert "tersely.foundation.text.vocabulary" in imported_by(program)
