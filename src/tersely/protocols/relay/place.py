"""Where the relay of a user is: its home directory, and what is written there by the one that runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.process.lockfile import read_record

DEFAULT_PORT = 7_474
LOCK = "relay.lock"
LOG = "relay.log"


class Owner(NamedTuple):
    """What a running relay says of itself in its lock."""

    pid: int
    port: int
    version: str
    program: str  # the identity of the code that runs
    started: int  # seconds since 1970
    workspace: str  # the repository that calls are about which name none

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.port}"


def home_directory(environment: Mapping[str, str] | None = None) -> Path:
    """`$TERSELY_HOME`, else `~/.tersely`."""
    given = (os.environ if environment is None else environment).get("TERSELY_HOME", "")
    return Path(given or "~/.tersely").expanduser()


def owner(home: Path) -> Owner | None:
    """What the lock file says, whether or not that process still runs; None if it cannot be read."""
    try:
        return Owner(**read_record(str(home / LOCK)))
    except TypeError:
        return None
