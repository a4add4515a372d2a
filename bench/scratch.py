"""Copies of code that may be written to, and git."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
NOT_COPIED = (".git", ".tersely", "__pycache__", "site-packages", "node_modules")


@contextmanager
def copied(code: Path, *left_out: str) -> Iterator[Path]:
    """A copy in a folder of its own, without entries of these names, by default those of
    `NOT_COPIED`. What is asked about it is found anew each time: no answer is kept.
    """
    with (
        patch.dict(os.environ, TERSELY_KEPT_ANSWERS="off"),
        tempfile.TemporaryDirectory(prefix="tersely-bench-", ignore_cleanup_errors=True) as scratch,
    ):
        tree = Path(scratch).resolve() / code.resolve().name
        shutil.copytree(
            code, tree, ignore=shutil.ignore_patterns(*(left_out or NOT_COPIED)), symlinks=True
        )
        yield tree


def git(repository: Path, *words: str, given: bytes = b"") -> bytes:
    """What git says, `given` on its standard input; raises `CalledProcessError` when it fails."""
    command = ["git", "-C", str(repository), *IDENTITY, *words]
    return subprocess.run(command, input=given, check=True, capture_output=True).stdout


def clone_of(folder: Path, name: str) -> Path | None:
    """The clone of `owner/repository` below a folder, named `owner+repository` or `repository`;
    None without one.
    """
    places = (folder / name.replace("/", "+"), folder / name.rpartition("/")[2])
    return next((place for place in places if place.is_dir()), None)
