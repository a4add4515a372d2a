"""Shell completion: thin scripts for the shells, and the one function that knows what can follow."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.declaration.declaration import PLACES, Parameter, Role
from tersely.cli.commands import COMMANDS, Command, find_command
from tersely.cli.help.manual import TOPICS, spelling
from tersely.cli.help.overview import OWN_COMMANDS, RELAY, RELAY_COMMANDS, TALK
from tersely.cli.options import OPTIONS
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.cli.own_command import OwnCommand

MAX_COMPLETED_SYMBOLS = 60  # offered to a shell

# Words that ask the shell for candidates of its own.
FILES = ":files"
DIRECTORIES = ":directories"


class Shell(StrEnum):
    """The shells that can learn the commands."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def script(program: str, shell: Shell) -> str:
    """The script to load into a shell."""
    return _SCRIPTS[shell].replace("PROGRAM", program)


def candidates(line: str) -> list[str]:
    """The words that the last word of a line, typed up to the cursor, may become."""
    words = _words(line)
    before, current = words[1:-1], words[-1]
    return [
        candidate
        for candidate in _following(before, current)
        if candidate.startswith((current, ":"))
    ]


def _words(line: str) -> list[str]:
    """The words of a line that may end inside quotes; the last is the one to complete, perhaps
    empty.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.replace('"', " ").replace("'", " ").split()
    return words if words and not line[-1].isspace() else [*words, ""]


def _following(before: Sequence[str], current: str) -> list[str]:
    places = _split(before, OPTIONS).places
    if not places:
        return _after_options(OPTIONS, before, current) or _first_words()
    if places[0] in OWN_COMMANDS:
        return _own_arguments(places[0])
    if places[0] in RELAY_COMMANDS:
        return _of_relay(places, before, current)
    try:
        command, _ = find_command(places)
    except TerselyError:
        return []
    groups = [other.words[1:] for other in COMMANDS if list(other.words[:1]) == places]
    return [*chain.from_iterable(groups), *_arguments(command, before, current)]


def _of_relay(places: Sequence[str], before: Sequence[str], current: str) -> list[str]:
    """The words that may follow the first words of a command of the relay."""
    from tersely.cli.relay import table

    if places[0] == RELAY:
        at = before.index(RELAY)
        places, before = places[1:], [*before[:at], *before[at + 1 :]]
    names = [name.split() for name in table.NAMES]
    begun = [words for words in names if words[: len(places)] == list(places)]
    following = sorted({words[len(places)] for words in begun if len(words) > len(places)})
    meant = [words for words in names if words == list(places[: len(words)])]
    longest = max(meant, key=len, default=None)
    if longest is None:
        return following
    return following + _arguments(table.load(" ".join(longest)), before, current)


def _arguments(command: Command | OwnCommand, before: Sequence[str], current: str) -> list[str]:
    declared = (*command.parameters(), *OPTIONS)
    found = _after_options(declared, before, current)
    if found:
        return found
    positionals = [parameter for parameter in declared if parameter.positional]
    index = len(_split(before, declared).places) - len(command.words)
    if index < len(positionals):
        return _values(positionals[index], current)
    return _values(positionals[-1], current) if positionals and positionals[-1].many else []


def _after_options(declared: Sequence[Parameter], before: Sequence[str], current: str) -> list[str]:
    """Flags where one has been begun, values after a flag that takes one."""
    if current.startswith("-"):
        return _flags(declared)
    option = _split(before, declared).option
    return _values(option, current) if option else []


class _Split(NamedTuple):
    """Those of some words that are neither options nor their values, and the option that the next
    word may be a value of.
    """

    places: list[str]
    option: Parameter | None


def _split(before: Sequence[str], declared: Sequence[Parameter]) -> _Split:
    valued = {parameter.flag: parameter for parameter in declared if parameter.type is not bool}
    places: list[str] = []
    option: Parameter | None = None
    for word in before:
        if word.startswith("-"):
            option = valued.get(word)
        elif option is None:
            places.append(word)
        elif not option.greedy:
            option = None
    return _Split(places, option)


def _values(parameter: Parameter, current: str) -> list[str]:
    if parameter.choices:
        return list(parameter.choices)
    if parameter.role is Role.SYMBOL:
        return _symbols(current)
    if parameter.role in PLACES:
        return [FILES]
    return [DIRECTORIES] if parameter.role is Role.DIRECTORY else []


def _symbols(current: str) -> list[str]:
    """Symbols of the index as it is: a completion never waits for a refresh."""
    from tersely.foundation.storage.roots import find_root
    from tersely.workspace import Workspace

    with Workspace.open(find_root(Path.cwd()), refresh=False) as workspace:
        found = workspace.engine.lookup(f"{current}*", limit=MAX_COMPLETED_SYMBOLS)
    return sorted(
        {symbol.id if ":" in current or "/" in current else symbol.qualname for symbol in found}
    )


def _first_words() -> list[str]:
    return sorted(
        {command.words[0] for command in COMMANDS} | set(OWN_COMMANDS) | set(RELAY_COMMANDS)
    )


def _own_arguments(name: str) -> list[str]:
    from tersely.cli.builtin.builtin_commands import own_parameters  # which imports this module

    if name == TALK:
        from tersely.ai_talk.commands import COMMANDS as TALK_COMMANDS

        return [*TALK_COMMANDS]
    if name == "help":
        return [*_first_words(), *TOPICS]
    return [
        choice
        for parameter in own_parameters(name) or ()
        if parameter.positional
        for choice in parameter.choices
    ]


def _flags(declared: Sequence[Parameter]) -> list[str]:
    words = [word.rstrip(",") for parameter in declared for word in spelling(parameter).split()]
    return [*(word for word in words if word.startswith("--")), "--help"]


_BASH = """\
# Completion of PROGRAM for bash: eval "$(PROGRAM completion bash)"
_PROGRAM_complete() {
    local line="${COMP_LINE:0:COMP_POINT}" word prefix="" candidate
    word="${line##*[[:space:]]}"
    # bash completes only what follows a word break, and takes the colon of a symbol id for one.
    [[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && prefix="${word%"${word##*:}"}"
    COMPREPLY=()
    while IFS= read -r candidate; do
        case "$candidate" in
            :files) compopt -o default 2>/dev/null ;;
            :directories) compopt -o dirnames 2>/dev/null ;;
            *) COMPREPLY+=("${candidate#"$prefix"}") ;;
        esac
    done < <(PROGRAM complete "$line" 2>/dev/null)
}
complete -F _PROGRAM_complete PROGRAM
"""

_ZSH = """\
#compdef PROGRAM
# Completion of PROGRAM for zsh: eval "$(PROGRAM completion zsh)", or this script as _PROGRAM in a folder of fpath.
_PROGRAM_complete() {
    local line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    local -a found
    found=(${(f)"$(PROGRAM complete "$line" 2>/dev/null)"})
    case "${found[1]}" in
        :files) _files ;;
        :directories) _files -/ ;;
        *) compadd -a found ;;
    esac
}
if [[ ${funcstack[1]} == _PROGRAM ]]; then _PROGRAM_complete; else compdef _PROGRAM_complete PROGRAM; fi
"""

_FISH = """\
# Completion of PROGRAM for fish: PROGRAM completion fish | source
function __PROGRAM_complete
    for candidate in (PROGRAM complete (commandline --cut-at-cursor --current-process | string collect) 2>/dev/null)
        switch $candidate
            case ':files' ':directories'
                __fish_complete_path (commandline --current-token)
            case '*'
                echo $candidate
        end
    end
end
complete --command PROGRAM --no-files --arguments '(__PROGRAM_complete)'
"""

_SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}
