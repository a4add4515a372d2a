"""The commands of the relay, listed by hand: the words of each, and the module that declares it.

Modules are imported when their command is asked for: a command pays for itself and for no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tersely.cli.commands import RELAY_QUESTIONS, Command
from tersely.cli.own_command import OwnCommand, command_named
from tersely.foundation.types import Strings

MODULES = {
    "process": ("agents approve", "agents deny", "init", "up", "down", "doctor"),
    "tokens": ("token new", "token list", "token revoke", "token rotate", "audit"),
    "joining": ("join", "leave"),
    "backups": ("backup", "restore"),
    "wrapped": ("run",),
    "brief": ("brief",),
    "services": ("services call",),
    "content": (
        *("version", "tail", "open", "artifact put", "artifact get"),
        *("cap invoke", "export", "import"),
    ),
}
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
_QUESTIONS = {command.name: command for command in RELAY_QUESTIONS}
_BEHIND_QUESTIONS = (*MODULES["services"], *MODULES["content"])
# In the order in which help lists them.
NAMES: Strings = (
    *(name for name in _MODULE_OF if name not in _BEHIND_QUESTIONS),
    *_QUESTIONS,
    *_BEHIND_QUESTIONS,
)


def load(name: str) -> OwnCommand | Command:
    """The command of a name in `NAMES`."""
    if name in _QUESTIONS:
        return _QUESTIONS[name]
    return command_named(name, import_module(f"tersely.cli.relay.{_MODULE_OF[name]}"))


def every() -> Iterator[OwnCommand | Command]:
    """All commands, in the order of `NAMES`."""
    return map(load, NAMES)
