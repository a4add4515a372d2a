"""Which project a directory is of: worktrees and clones of one repository are one project."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from tersely.foundation.git.runner import GitUnavailableError, run

PROJECT_CHARACTERS = 12


@cache
def project_of(root: str) -> str:
    """A name of the project: of its first commit, which all copies share; of the directory where there is none."""
    try:
        commits = run(root, ["rev-list", "--max-parents=0", "HEAD"]).decode("ascii", "replace").split()
    except GitUnavailableError:
        commits = []
    if commits:
        return min(commits)[:PROJECT_CHARACTERS]
    return sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:PROJECT_CHARACTERS]
