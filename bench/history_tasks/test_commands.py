"""The files that hold tests, and the line for a shell that runs them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tersely.code.languages.registry import language_of_path
from tersely.code.languages.runners.runner import SelectedTest
from tersely.code.places import is_test
from tersely.context.lenses.test_impact.command import command

__all__ = ["is_source", "is_test", "test_command"]


def is_source(path: str) -> bool:
    """True if a file is in a language that the index reads."""
    return language_of_path(path) is not None


def test_command(root: Path, paths: Iterable[str]) -> str:
    """One line that runs all tests of some files below a root; "" where no runner is known for any."""
    return command(
        [SelectedTest(path) for path in paths], lambda path: language_of_path(path) or "", root
    )
