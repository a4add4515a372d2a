"""The places where each agent may write: in the working tree that it has registered, by `hello` or
as it was started.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tersely.foundation.git.repository import work_tree
from tersely.foundation.storage.roots import enclosing_root, is_within
from tersely.relay.mail.identities import DIRECTORY, Identities
from tersely.relay.teams.projects import KnownProjects


class WorkingTrees:
    """The working trees of all agents. May be used from any thread, but not from the loop: git may
    be asked.
    """

    def __init__(self, identities: Identities, projects: KnownProjects) -> None:
        self._identities = identities
        self._projects = projects

    def why_not(self, agent: str, path: str) -> str:
        """The reason for which an agent may not write to an absolute path, "" where it may, or has
        registered no tree.

        No agent may write to other trees of its project. One that has a linked worktree was given a
        place of its own: it may write there alone, and where programs keep what is theirs.
        """
        own, place = self._tree_of(agent), os.path.realpath(path)
        if not own or not os.path.isabs(path) or is_within(place, own):
            return ""
        other = work_tree(os.path.dirname(place))
        if other and self._projects.project_of(other) == self._projects.project_of(own):
            where = f"it is in {other}"
        elif os.path.isfile(f"{own}/.git") and (other or not _is_of_programs(place)):
            where = "it is outside of it"
        else:
            return ""
        return f"{path} is not in your working tree {own}: {where}. `tersely hello` says that you work elsewhere now"

    def _tree_of(self, agent: str) -> str:
        """The working tree of an agent, "" for none."""
        known = self._identities.get(agent)
        directory = str(known.details.get(DIRECTORY, "")) if known is not None else ""
        own = os.path.realpath(enclosing_root(directory)) if directory else ""
        return own if os.path.exists(f"{own}/.git") else ""


def _is_of_programs(place: str) -> bool:
    """True if programs keep what is theirs there: for the time being, or in hidden directories of
    the user.
    """
    home = os.path.realpath(Path.home())
    is_hidden = os.path.relpath(place, home).startswith(".") if is_within(place, home) else False
    return is_hidden or is_within(place, os.path.realpath(tempfile.gettempdir()))
