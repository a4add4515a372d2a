"""The extension for VS Code and what was made from it: where its file is, and having an editor take
it in.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible

EXTENSION = "tersely.tersely"  # publisher and name
FILE = "tersely.vsix"
EDITOR_SECONDS = 120  # for an editor to take an extension in, or to let it go
MAX_TOLD_CHARACTERS = 500  # of what an editor says about that
_REMEDY = "`make vsix` in a checkout of Tersely builds it, --vsix FILE names it"


class EditorStep(NamedTuple):
    """A command of the editor that changes its extensions, or why there is none."""

    words: Sequence[str]
    problem: str = ""
    remedy: str = ""  # of a problem for which `install` fails

    @property
    def told(self) -> str:
        """The text that is shown before it is done."""
        return f"would run: {shlex.join(self.words)}\n" if self.words else ""


def adding(program: str, given: str) -> EditorStep:
    """The step by which an editor takes the extension in; `given` is the path of its file, "" for
    the one beside the package. Raises `path_not_found` where none is at a path that is given.
    """
    path = (
        Path(given).absolute()
        if given
        else Path(str(files("tersely.integrations") / "files" / FILE))
    )
    if path.is_file():
        return _step(program, "--install-extension", str(path))
    if given:
        raise TerselyError("path_not_found", f"there is no file {given}", _REMEDY)
    return EditorStep((), "the extension is not in this copy", _REMEDY)


def removing(program: str) -> EditorStep:
    """The step by which an editor lets go of it."""
    return _step(program, "--uninstall-extension", EXTENSION)


def carry_out(step: EditorStep) -> None:
    """Do it; raises `unwritable_output`."""
    try:
        ended = subprocess.run(
            step.words, capture_output=True, text=True, errors="replace", timeout=EDITOR_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TerselyError(
            "unwritable_output",
            f"{step.words[0]} did not run: {error}",
            "install the extension in the editor by hand",
        ) from error
    if ended.returncode:
        said = visible((ended.stderr or ended.stdout).strip()[-MAX_TOLD_CHARACTERS:])
        raise TerselyError(
            "unwritable_output",
            f"{step.words[0]} did not change its extensions: {said}",
            "change them in the editor by hand",
        )


def _step(program: str, option: str, what: str) -> EditorStep:
    found = shutil.which(program)
    if found is None:
        return EditorStep(
            (),
            f"the extension: {program} is not on the PATH; in the editor, install {what} by hand",
        )
    return EditorStep((found, option, what))
