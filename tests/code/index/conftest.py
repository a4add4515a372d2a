"""Trees of files to index."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.extract import extract

# Extraction raises the limit for good, which a search by hypothesis must not see happen in its
# middle.
extract(b"", LANGUAGES["python"])

Plant = Callable[[Mapping[str, str | bytes]], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty directory without links in its path."""
    directory = tmp_path.resolve() / "root"
    directory.mkdir()
    return directory


@pytest.fixture
def plant(root: Path) -> Plant:
    """Write files below the root."""

    def write(files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


@pytest.fixture
def git(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in the root with nobody's settings."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text(
        '[user]\nname = a\nemail = a@example.org\n[protocol "file"]\nallow = always\n[init]\ndefaultBranch = main\n'
    )

    def run(*arguments: str, cwd: Path = root) -> str:
        command = ["git", *arguments]
        return subprocess.run(
            command, cwd=cwd, check=True, capture_output=True, text=True, timeout=60
        ).stdout

    return run
