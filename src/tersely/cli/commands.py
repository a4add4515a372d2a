"""The capabilities as commands."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Capability, Parameter
from tersely.cli.help.overview import OWN_COMMANDS, RELAY, RELAY_COMMANDS, SECTIONS
from tersely.cli.options import DRAWING_OPTIONS, DRAWN
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping, Strings, replace


class Command(NamedTuple):
    """A capability under the words that ask for it; what `preset` fixes is no option of the
    command.
    """

    words: Strings
    capability_name: str
    preset: JsonMapping = MappingProxyType({})
    summary: str = ""  # where the command is narrower than its capability
    required: frozenset[str] = frozenset()  # parameters that the command cannot do without

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)

    def capability(self) -> Capability:
        """The capability that the command asks; imports its module."""
        return catalogue.load(self.capability_name)

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that are left to say."""
        declared = self.capability().parameters
        if self.capability_name in DRAWN:
            declared += DRAWING_OPTIONS
        return tuple(
            _needed(parameter) if parameter.name in self.required else parameter
            for parameter in declared
            if parameter.name not in self.preset
        )

    def line(self) -> str:
        """The summary of the command, one line."""
        return self.summary or self.capability().summary


def _needed(parameter: Parameter) -> Parameter:
    """A parameter of a command that cannot do without it, with what it means then."""
    return replace(parameter, required=True, help=parameter.help.partition("; without it")[0])


def _asking(name: str) -> Command:
    """The command that asks a capability, by the words that the catalogue has for it."""
    return Command(tuple(catalogue.words_of(name).split()), name)


def _one_way(direction: str) -> Command:
    """A command that shows the callers or the callees of one symbol."""
    summary = f"{direction.title()} of a symbol"
    return Command(
        ("symbol", direction),
        "code.calls",
        {"direction": direction},
        summary,
        frozenset({"symbol"}),
    )


_DECLARED = (*map(_asking, catalogue.CODE_NAMES), _one_way("callers"), _one_way("callees"))
_BY_NAME = {command.name: command for command in _DECLARED}

# What a repository is asked, in the order of help.
COMMANDS: tuple[Command, ...] = tuple(
    _BY_NAME[name] for section in SECTIONS.values() for name in section
)

# Spellings that help does not list a second time, such as `callers` for `symbol callers`.
_TAKEN = {"find", *_BY_NAME}
ALIASES: tuple[Command, ...] = (
    Command(("symbol",), "code.symbol.find"),
    Command(("semantic",), "code.search"),
    Command(("find",), "code.search"),
    *(
        command._replace(words=command.words[1:])
        for command in COMMANDS
        if len(command.words) > 1 and command.words[1] not in _TAKEN
    ),
)

# What the relay answers, as capabilities of the catalogue.
RELAY_QUESTIONS: tuple[Command, ...] = tuple(map(_asking, catalogue.RELAY_WORDS.values()))


def find_command(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that `words` begin with, the longest spelling first, and the words after it; the
    whole name of a capability is a spelling as well. Raises `unknown_command`.
    """
    if words[0] in catalogue.CODE_NAMES:
        words = [*catalogue.words_of(words[0]).split(), *words[1:]]
    for command in sorted((*COMMANDS, *ALIASES), key=lambda command: -len(command.words)):
        length = len(command.words)
        if tuple(words[:length]) == command.words:
            return command, words[length:]
    raise TerselyError("unknown_command", f"there is no command {words[0]!r}", meant_by(words[0]))


def _relay_groups() -> set[str]:
    """The first words of the commands that are typed behind `relay`."""
    from tersely.cli.relay.table import NAMES  # which imports this module

    return {name.split()[0] for name in NAMES}


def meant_by(word: str) -> str:
    """The hint for somebody who wrote an unknown command: what may have been meant."""
    known = (
        {command.words[0] for command in (*COMMANDS, *ALIASES)}
        | set(OWN_COMMANDS)
        | set(RELAY_COMMANDS)
    )
    if word in _relay_groups():
        return f"did you mean {RELAY} {word}? `tersely help {RELAY} {word}` lists what there is"
    return suggestion(word, sorted(known), "tersely help lists the commands")
