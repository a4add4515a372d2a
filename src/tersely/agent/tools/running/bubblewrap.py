"""Confinement by bubblewrap (`bwrap(1)`), for systems whose kernel has no Landlock: a program that
runs the command.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAM = "bwrap"


def found(root: Path) -> str:
    """The program, "" if it is not installed; one of the repository's own is not taken for it."""
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    outside = [
        folder for folder in folders if not Path(os.path.realpath(folder)).is_relative_to(root)
    ]
    return shutil.which(PROGRAM, path=os.pathsep.join(outside)) or ""


def words(program: str, given: Mapping[str, Any]) -> list[str]:
    """The words before those of a command; `given` is what the supervisor is told of it."""
    shown = {
        path: ["--bind", path] for path in (given["root"], given["temporary"], *given["writable"])
    }
    shown |= {
        path: ["--tmpfs"] if os.path.isdir(path) else ["--ro-bind", os.devnull]
        for path in given["hidden"]
    }
    shown |= {
        path: ["--ro-bind", path]
        for path in (*given["readable"], *given["guarded"])
        if path not in shown
    }
    shown |= {path: ["--ro-bind", os.devnull] for path in given["closed"]}
    # what lies in another comes after it
    layers = sorted(shown.items(), key=lambda one: one[0].count("/"))
    apart = ["--unshare-pid", "--unshare-ipc", *([] if given["network"] else ["--unshare-net"])]
    return [
        program, "--die-with-parent", *apart, "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev",
        "--proc", "/proc", *(word for path, layer in layers for word in (*layer, path)), "--chdir", given["root"], "--",
    ]  # fmt: skip
