"""The services that the relay itself brings, and their places: `services.json` of agent-relay, and
the environment.

    {"services": [{"name": "tldr", "type": "tldr", "enabled": true, "socketPath":
    "/tmp/tldr.sock"}]}

Without either there is one, `tldr`, which leads to the code daemon of each workspace.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SERVICE_SECONDS, MAX_SETTINGS_BYTES
from tersely.foundation.storage.private import read_bounded
from tersely.foundation.types import Environment, JsonObject, frozen, replace

# the type of services that speak the code daemon's protocol, and the name of the first
TLDR = "tldr"
ENABLED, SOCKET = "AGENT_RELAY_TLDR_ENABLED", "AGENT_RELAY_TLDR_SOCKET"
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})
_NAME = re.compile(r"\w[\w.-]{0,63}", re.ASCII)


@frozen
class Bridged:
    """A service behind a socket on which JSON is spoken, one object a line."""

    name: str = TLDR
    is_enabled: bool = True
    socket: str = ""  # of one server for all workspaces; empty: the code daemon of each
    starts: bool = True  # a code daemon where none runs
    seconds: float = MAX_SERVICE_SECONDS  # the longest that a question may take, whatever it says

    def told(self) -> JsonObject:
        """The setting as it is shown."""
        return {
            "name": self.name,
            "type": TLDR,
            "enabled": self.is_enabled,
            "socketPath": self.socket,
            "autoStart": self.starts,
            "timeoutMs": round(self.seconds * 1000),
        }


_Milliseconds = Annotated[int, Meta(ge=1, le=MAX_SERVICE_SECONDS * 1000)]


class _Given(Struct):
    """One service as the file has it. Members that are not named here belong to other programs."""

    name: str
    type: str = ""
    enabled: bool = True
    socketPath: str = ""  # noqa: N815 - as it is written
    autoStart: bool | None = None  # noqa: N815 - as it is written
    timeoutMs: _Milliseconds = MAX_SERVICE_SECONDS * 1000  # noqa: N815 - as it is written


class _File(Struct):
    services: list[_Given] = []


def configuration_path(environment: Environment) -> Path:
    """The path of the file."""
    base = environment.get("XDG_CONFIG_HOME", "")
    directory = (
        Path(base) if base.startswith("/") else Path(environment.get("HOME", "/")) / ".config"
    )
    return directory / "agent-relay" / "services.json"


def load(environment: Environment) -> list[Bridged]:
    """The services that the relay brings, the environment before the file; raises
    `invalid_setting`.
    """
    found = {one.name: one for one in _read(configuration_path(environment))}
    if not found:
        found[TLDR] = Bridged()
    if ENABLED in environment or SOCKET in environment:
        found[TLDR] = _decided(found.get(TLDR, Bridged()), environment)
    return list(found.values())


def _decided(bridged: Bridged, environment: Environment) -> Bridged:
    switch = environment.get(ENABLED, "").lower()
    if switch not in _TRUE | _FALSE | {""}:
        raise TerselyError(
            "invalid_setting", f"{ENABLED} cannot be {environment[ENABLED]!r}", "true or false"
        )
    if switch:
        bridged = replace(bridged, is_enabled=switch in _TRUE)
    socket = environment.get(SOCKET, "")
    return replace(bridged, socket=_absolute(SOCKET, socket), starts=False) if socket else bridged


def _read(path: Path) -> list[Bridged]:
    try:
        content = read_bounded(path, MAX_SETTINGS_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        code = "invalid_setting" if error.errno == errno.EFBIG else "unreadable_file"
        raise TerselyError(code, f"{path}: {error.strerror}") from error
    try:
        given = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TerselyError(
            "invalid_setting", f"{path}: {error}", 'it is {"services": [{"name": …}]}'
        ) from error
    return [_bridged(path, one) for one in given.services if one.type == TLDR]


def _bridged(path: Path, given: _Given) -> Bridged:
    if not _NAME.fullmatch(given.name):
        hint = "letters, digits and . _ -, at most 64"
        raise TerselyError(
            "invalid_setting", f"{path}: {given.name[:80]!r} is not a name of a service", hint
        )
    socket = _absolute(str(path), given.socketPath)
    starts = given.autoStart if given.autoStart is not None else not socket
    return Bridged(given.name, given.enabled, socket, starts, given.timeoutMs / 1000)


def _absolute(source: str, socket: str) -> str:
    if socket and not socket.startswith(("/", "~/")):
        raise TerselyError(
            "invalid_setting", f"{source}: {socket[:80]!r} is not an absolute path of a socket"
        )
    return str(Path(socket).expanduser()) if socket else ""
