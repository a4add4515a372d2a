"""Other revisions of this repository, for tools that compare."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def checked_out(revision: str, root: Path = ROOT) -> Iterator[Path]:
    """A work tree at a revision, gone at the end."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "revision")
        git = ("git", "-C", root, "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", made, revision], check=True)
        try:
            yield made
        finally:
            subprocess.run([*git, "remove", "--force", made], check=True)


def exists(revision: str, root: Path = ROOT) -> bool:
    """True if a name means a commit here."""
    words = ("git", "-C", root, "rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
