"""The folder of a session's browser, with its pictures: it is held by a lock, so that what an agent
has left that was killed is told from what another one is using.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack, suppress

from tersely.foundation.clock import wall_seconds
from tersely.foundation.process.lockfile import held, is_held

LEAST_LEFT_SECONDS = 60  # since a folder has changed, before which its lock may be on its way
_PREFIX = "tersely-browser-"
_LOCK = "lock"


class BrowserFolder:
    """A new folder, `path`, until it is removed. Those of agents that were killed are removed first."""

    def __init__(self) -> None:
        _sweep()
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        self._lock = ExitStack()
        self._lock.enter_context(held(f"{self.path}/{_LOCK}"))

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _sweep() -> None:
    """Remove the folders of this user that nobody holds."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_left(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    is_ours = entry.is_dir(follow_symlinks=False) and status.st_uid == os.geteuid()
    is_old = wall_seconds() - status.st_mtime > LEAST_LEFT_SECONDS
    return is_ours and is_old and not is_held(f"{entry.path}/{_LOCK}")
