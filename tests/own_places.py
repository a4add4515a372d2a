"""A repository and a place for sockets that belong to one test alone. A `conftest.py` that wants
them imports them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.asking import planted


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for sockets of these tests alone, with a short name."""
    directory = Path(tempfile.mkdtemp(prefix="tersely-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.setenv("TMPDIR", str(directory))
    yield directory / "tersely"
    shutil.rmtree(directory)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository to ask about, as the current directory."""
    root = planted(tmp_path / "repository")
    monkeypatch.chdir(root)
    return root
