"""Keys of providers: each goes to its own host, and to nobody else.

They come from what the user has set for Tersely, from `model-keys.toml`, or from the variables that
providers name. Commands of the agent see neither: their environment has no such variables, and the
file lies where they cannot read.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tersely.agent.models.known_servers.model_table import host_of
from tersely.agent.models.wire import Endpoint
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SETTINGS_BYTES
from tersely.foundation.storage.private import READING
from tersely.foundation.types import Environment

FILE = "model-keys.toml"  # a line for each host: "api.example.org" = "key"


def with_key(place: Endpoint, environment: Environment) -> Endpoint:
    """The server with the key that it is to be sent: one that was given, that of the file, or that
    of its provider.

    Raises `invalid_setting` for a file that others can read, or that is none.
    """
    host = host_of(place.host)
    if host is not None:
        place = place._replace(key_header=host.key_header)
    if place.key:
        return place
    kept = _read_keys(environment)
    key = kept.get(f"{place.host}:{place.port}", "")
    # a provider's key, in clear text
    is_readable_on_the_way = host is not None and place.scheme != "https"
    if not key and not is_readable_on_the_way:
        key = kept.get(place.host, "")
        if not key and host is not None:
            key = environment.get(host.variable, "")
    return place._replace(key=key.strip())


def _read_keys(environment: Environment) -> Mapping[str, str]:
    """The keys in the user's file, by host."""
    path = Path(environment.get("TERSELY_HOME") or os.path.expanduser("~/.config/tersely")) / FILE
    try:
        with open(os.open(path, READING), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(MAX_SETTINGS_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise TerselyError("invalid_setting", f"{path} cannot be read: {error.strerror}") from error
    if not _is_private(status):
        raise TerselyError(
            "invalid_setting", f"others can read {path}, which has keys", f"chmod 600 {path}"
        )
    if len(content) > MAX_SETTINGS_BYTES:
        raise TerselyError("invalid_setting", f"{path} is larger than {MAX_SETTINGS_BYTES:,} bytes")
    try:
        keys = tomllib.loads(content.decode())
    except ValueError as error:
        raise TerselyError("invalid_setting", f"{path} is not TOML") from error  # its text has keys
    return {name: key for name, key in keys.items() if isinstance(key, str)}


def _is_private(status: os.stat_result) -> bool:
    is_own_file = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return is_own_file and not status.st_mode & 0o077
