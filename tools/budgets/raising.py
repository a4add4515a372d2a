"""Whether limits were raised in silence: `python -m tools.budgets.raising [REVISION]` looks at the
commits since a revision, else at the latest `MAX_COMMITS` that touch `budgets.toml`.

A commit that raises a limit, or gives one up, begins its subject with `budget:` and says what the
user gets for it. What only moves between rooms of `src` needs none. Where it was forgotten, a later
commit with such a subject says it, and names the limit. A merge raises what is higher in it than the
sides that changed it have it.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.budgets.limits import FILE, ROOT, Figures, raised, read

MAX_COMMITS = 50
SUBJECT = "budget:"


class Commit(NamedTuple):
    """A commit that touches the limits."""

    name: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def in_silence(root: Path, since: str = "") -> list[str]:
    """A line for each commit that raises limits which neither it nor a later one says."""
    lines = []
    said = ""  # by later commits
    for commit in _commits(root, since):
        if commit.subject.startswith(SUBJECT):
            said += commit.message
            continue
        names = [name for name in _raised_by(root, commit.name) if name not in said]
        if names:
            lines.append(f"{commit.name[:10]} ({commit.subject}) raises {', '.join(names)}")
    return lines


def _commits(root: Path, since: str) -> list[Commit]:
    """The merges, and the commits that touch the limits, the latest first."""
    chosen = [f"{since}..HEAD"] if since else [f"--max-count={MAX_COMMITS}"]
    # A merge that takes the limits of one side touches nothing by itself, so all merges are asked for.
    every = ("--full-history", "--parents")
    shown = _git(root, "log", "-z", *every, "--format=%H %B", *chosen, "--", FILE)
    return [Commit(*each.split(" ", 1)) for each in shown.split("\0") if each]


def _raised_by(root: Path, commit: str) -> list[str]:
    return raised(_before(root, commit), _limits(root, commit))


def _before(root: Path, commit: str) -> dict[str, float]:
    """The limits of the parent of a commit, none before the first. Of a merge, each as the side that
    changed it has it, the higher where both did.
    """
    first, *others = _git(root, "rev-parse", f"{commit}^@").split() or [f"{commit}^"]
    limits = _limits(root, first)
    for other in others:
        common = _limits(root, _git(root, "merge-base", first, other).strip())
        limits = _merged(common, limits, _limits(root, other))
    return limits


def _merged(common: Figures, ours: Figures, theirs: Figures) -> dict[str, float]:
    limits: dict[str, float] = {}
    for name in {*ours, *theirs}:
        before, our, their = (side.get(name, math.inf) for side in (common, ours, theirs))
        limits[name] = max((each for each in (our, their) if each != before), default=before)
    return {name: limit for name, limit in limits.items() if math.isfinite(limit)}


def _limits(root: Path, revision: str) -> dict[str, float]:
    """The limits of a revision, none where there was no file of them."""
    shown = subprocess.run(
        ["git", "show", f"{revision}:{FILE}"], cwd=root, capture_output=True, text=True, check=False
    )
    return read(shown.stdout)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def main(words: Sequence[str]) -> int:
    """Print what was raised in silence; the exit status."""
    found = in_silence(ROOT, words[0] if words else "")
    for line in found:
        print(f"{line}: begin the subject with `{SUBJECT}` and say what the user gets for it")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
