"""The commands that speak about the program itself: which there are, and how one is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from tersely.capabilities.declaration.declaration import Parameter
from tersely.capabilities.invoke import Outcome
from tersely.cli.help.overview import CANDIDATES_COMMAND
from tersely.cli.options import OPTIONS, read_with_options
from tersely.cli.own_command import EXIT_STATUS, CommandCall, OwnCommand, command_named
from tersely.cli.printing.output import Output
from tersely.cli.printing.terminal import Terminal

_HELP_FLAGS = frozenset({"--help", "-h"})
_VERSION_FLAGS = frozenset({"--version", "-V"})
# The module below `builtin` that declares each.
_MODULES: Mapping[str, str] = {
    "help": "about",
    "version": "about",
    "completion": "shells",
    CANDIDATES_COMMAND: "shells",
    "daemon": "serving",
    "warm": "serving",
    "mcp": "serving",
    "lsp": "serving",
    "install": "installing",
    "uninstall": "installing",
    "hook": "installing",
    "tour": "about",
    "chat": "agents",
    "acp": "agents",
    "sessions": "agents",
}


def run_own(program: str, leading: Sequence[str], words: Sequence[str]) -> int:
    """Run a command of our own, `leading` being the options before it; raises `usage`."""
    given = [*leading, *words]
    if _HELP_FLAGS & set(given):
        name, rest = "help", [word for word in given if word not in _HELP_FLAGS]
        rest = _without_options_of_commands(rest)
    elif _VERSION_FLAGS & set(leading):
        name, rest = "version", [word for word in given if word not in _VERSION_FLAGS]
    else:
        name, rest = (words[0], [*leading, *words[1:]]) if words else ("help", list(leading))
    command = _declared(name)
    options, arguments = read_with_options(command.parameters(), rest)
    chosen = command.checked(arguments)
    output = Output(program, options, Terminal.own())
    result = command.run(CommandCall(program, options, output.answer_style()), **chosen)
    status = result.pop(EXIT_STATUS, None)
    return output.print_plain(Outcome("", result)) if status is None else int(status)


def own_parameters(name: str) -> tuple[Parameter, ...] | None:
    """The parameters of a command of our own; None for one that reads its words by itself."""
    return _declared(name).parameters() if name in _MODULES else None


def _declared(name: str) -> OwnCommand:
    return command_named(name, import_module(f"tersely.cli.builtin.{_MODULES[name]}"))


def _without_options_of_commands(words: Sequence[str]) -> list[str]:
    """The words with which somebody asked for help, `context x --budget 5`, as those of a manual
    page.
    """
    flags = {parameter.flag for parameter in OPTIONS}
    return [word for word in words if not word.startswith("-") or word.partition("=")[0] in flags]
