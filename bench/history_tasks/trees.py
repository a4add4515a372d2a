"""Folders with the files of one commit, and the tests of another. The repository itself is only
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import GitUnavailableError, environment, run

# An index that is written has a hook, and one that is split leaves a part of it in the repository.
_WITHOUT_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "core.splitIndex=false")
_SCOPES_OF_REPOSITORY = frozenset({"local", "worktree"})
_NO_FILTER = (("smudge", ""), ("process", ""), ("required", "false"))
INDEX = "index"  # of git, for files that are written; beside the folder that they are written to


class Trees:
    """Writes files of one repository's commits into folders elsewhere."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = str(root)
        self._index = scratch / INDEX

    def write(self, folder: Path, commit: str, paths: Iterable[str] | None = None) -> None:
        """Write all files of a commit, or those of `paths` that it has, over what is there.

        A path of `paths` that the commit does not have is removed. Raises `git_unavailable`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._git("read-tree", commit)
            if paths is None:
                self._git("checkout-index", "--all", "--force", f"--prefix={folder}/")
                return
            wanted = list(paths)
            there = set(self._git("ls-files", "-z", "--", *wanted).split("\0"))
            present = [path for path in wanted if path in there]
            self._git("checkout-index", "--force", f"--prefix={folder}/", "--", *present)
        except (OSError, GitUnavailableError) as error:
            raise TerselyError(
                "git_unavailable", f"{commit[:10]} cannot be written: {error}"
            ) from error
        for path in set(wanted) - there:
            _remove(folder, path)

    def paths(self, commit: str, among: Iterable[str]) -> list[str]:
        """Those of some paths that a commit has; raises `git_unavailable`."""
        try:
            self._git("read-tree", commit)
            there = set(self._git("ls-files", "-z", "--", *among).split("\0"))
        except (OSError, GitUnavailableError) as error:
            raise TerselyError(
                "git_unavailable", f"{commit[:10]} cannot be read: {error}"
            ) from error
        return sorted(there - {""})

    def _git(self, *words: str) -> str:
        variables = environment(self._root)
        variables |= {"GIT_INDEX_FILE": str(self._index), "GIT_LITERAL_PATHSPECS": "1"}
        variables |= _without_filters(self._root, variables)
        return run(self._root, [*_WITHOUT_HOOKS, *words], variables).decode("utf-8", "replace")


def _without_filters(root: str, variables: dict[str, str]) -> dict[str, str]:
    """Variables by which git runs no program that the repository's settings name for contents of
    files.

    Filters of the user's own settings stay.
    """
    listed = run(root, ["config", "--list", "--show-scope", "--name-only", "-z"], variables).decode(
        "utf-8", "replace"
    )
    fields = listed.split("\0")
    names: dict[str, None] = {}
    for scope, name in zip(fields[::2], fields[1::2], strict=False):
        if scope in _SCOPES_OF_REPOSITORY and name.startswith("filter."):
            names[name.rpartition(".")[0]] = None
    settings = [(f"{name}.{setting}", value) for name in names for setting, value in _NO_FILTER]
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _remove(folder: Path, path: str) -> None:
    """Remove a file below a folder, unless a link leads out of it."""
    place = folder / path
    if place.parent.resolve().is_relative_to(folder.resolve()):
        place.unlink(missing_ok=True)
