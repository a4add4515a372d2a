"""What systems differ in. Imported by every command, so it needs `os` and `sys` alone."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from tersely.foundation.types import Environment

IS_WINDOWS = sys.platform == "win32"

# Flags of `os.open`; 0 where the system has none such. On Windows a descriptor is not inherited
# anyway, and what is read would have its line ends changed without the last one.
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)  # for the other end of a pipe
UNCHANGED: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def need_posix(what: str) -> None:
    """Raise `system_unsupported` on Windows for a part of the program that does without it nowhere."""
    if IS_WINDOWS:
        from tersely.foundation.errors import TerselyError

        hint = "use Linux, macOS, or the Windows Subsystem for Linux"
        raise TerselyError("system_unsupported", f"{what} does not run on Windows", hint)


def user_number() -> int:
    """The number of the user that this process acts for; 0 where users have none, as on Windows."""
    if sys.platform == "win32":
        return 0
    return os.geteuid()


def is_of_user(status: os.stat_result) -> bool:
    """True if a file belongs to this user; on Windows its directory decides who may reach it."""
    return status.st_uid == user_number()


def is_for_user_alone(status: os.stat_result) -> bool:
    """True if a file belongs to this user and nobody else may open it. Windows has no such rights:
    there the user's own directories are closed to others.
    """
    return IS_WINDOWS or (is_of_user(status) and not status.st_mode & 0o077)


def user_state(environment: Environment) -> str:
    """The directory in which the user's programs keep their state; "" where the user has no home."""
    if IS_WINDOWS:
        return environment.get("LOCALAPPDATA", "")
    state, home = environment.get("XDG_STATE_HOME", ""), os.path.expanduser("~")
    if os.path.isabs(state):
        return state
    return f"{home}/.local/state" if os.path.isabs(home) else ""


def temporary_places(environment: Environment) -> list[str]:
    """The absolute directories for temporary files, the best first."""
    if IS_WINDOWS:
        named = [environment.get("TEMP", ""), environment.get("TMP", "")]
    else:
        named = [environment.get("TMPDIR", ""), "/tmp"]  # noqa: S108 - checked before use
    return [place for place in named if os.path.isabs(place)]
