"""The editor that the user is in: Neovim around this process, else a window that has the repository
open.
"""

from __future__ import annotations

import os
from pathlib import Path

from tersely.agent.tools.editors.connection import is_own_socket
from tersely.agent.tools.editors.editor import EditorBridge
from tersely.agent.tools.editors.neovim import Neovim
from tersely.agent.tools.editors.vscode import window
from tersely.daemon.place import runtime_directory
from tersely.foundation.storage.private import is_private
from tersely.foundation.types import Environment

MAX_ASKED_WINDOWS = 32  # that are asked what they have open
NEOVIM = "NVIM"  # is set by Neovim in the terminals and programs that it starts
_PREFIX, _SUFFIX = "editor-", ".sock"  # as the extension names its socket


def found_editor(root: Path, environment: Environment) -> EditorBridge | None:
    """The editor for a resolved root, None where there is none. Of several windows that in use
    counts.
    """
    place = environment.get(NEOVIM, "")
    if place.startswith("/") and is_own_socket(place):
        return Neovim(place, root)
    asked = (window(place, root) for place in _places(runtime_directory(environment)))
    windows = sorted((each for each in asked if each), key=lambda each: not each[0])
    return windows[0][1] if windows else None


def _places(directory: str) -> list[str]:
    """The sockets of windows in a directory that has to be this user's alone."""
    if not is_private(directory):
        return []
    names = [
        name
        for name in os.listdir(directory)
        if name.startswith(_PREFIX) and name.endswith(_SUFFIX)
    ]
    return [f"{directory}/{name}" for name in sorted(names)[:MAX_ASKED_WINDOWS]]
