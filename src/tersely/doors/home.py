"""The home directory of a user's relay, and the names of what it keeps there."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_PORT = 7_474
LOCK = "relay.lock"
LOG = "relay.log"
PORT = "port"  # at which the relay of the home last listened
NO_PORT = "none"  # in the place of a port: TCP stays closed


def home_directory() -> Path:
    """`$TERSELY_HOME`, else `~/.tersely`."""
    return Path(os.environ.get("TERSELY_HOME") or "~/.tersely").expanduser()
