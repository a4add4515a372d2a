"""The home directory of a user's relay, and the names of what it keeps there."""

from __future__ import annotations

from pathlib import Path

from tersely.foundation.storage.roots import RELAY_LOCK, relay_home

DEFAULT_PORT = 7_474
LOCK = RELAY_LOCK
LOG = "relay.log"
PORT = "port"  # at which the relay of the home last listened
NO_PORT = "none"  # in the place of a port: TCP stays closed


def home_directory() -> Path:
    """`$TERSELY_HOME`, else `~/.tersely`."""
    return Path(relay_home())
