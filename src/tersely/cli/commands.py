"""How the capabilities are spelled as commands, listed by hand in the order in which help shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration import Capability, Parameter, parameters_of
from tersely.cli.overview import OWN_COMMANDS, RELAY_COMMANDS
from tersely.foundation.errors import TerselyError


@dataclass(frozen=True, slots=True)
class Command:
    """A capability under the words that ask for it; what `preset` fixes is no option of the command."""

    words: tuple[str, ...]
    capability_name: str
    preset: Mapping[str, object] = field(default_factory=dict)
    summary: str = ""  # where the command is narrower than its capability
    required: frozenset[str] = frozenset()  # parameters that the command cannot do without

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)

    def capability(self) -> Capability[Any, Any]:
        """What the command asks; imports its module."""
        return catalogue.load(self.capability_name)

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that are left to say."""
        declared = parameters_of(self.capability().parameters)
        return tuple(
            replace(parameter, required=parameter.required or parameter.name in self.required)
            for parameter in declared
            if parameter.name not in self.preset
        )

    def line(self) -> str:
        """What the command does, in one line."""
        return self.summary or self.capability().summary


_ONE = frozenset({"symbol"})

SECTIONS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "Context",
        (
            Command(("context",), "code.context"),
            Command(("diff-context",), "code.diff_context"),
            Command(("plan",), "code.plan"),
            Command(("coverage-context",), "code.coverage.context"),
            Command(("map",), "code.map"),
            Command(("packet",), "code.packet"),
        ),
    ),
    (
        "Coverage",
        (Command(("rank-files",), "code.coverage.files"), Command(("coverage-slice",), "code.coverage.slice")),
    ),
    ("Search", (Command(("search",), "code.search"), Command(("duplicates",), "code.duplicates"))),
    (
        "Symbols",
        (
            Command(("symbol", "find"), "code.symbol.find"),
            Command(("symbol", "get"), "code.symbol.get"),
            Command(("symbol", "slice"), "code.symbol.slice"),
            Command(("symbol", "deps"), "code.symbol.deps"),
            Command(("symbol", "references"), "code.symbol.references"),
            Command(("definition",), "code.definition"),
        ),
    ),
    (
        "Calls",
        (
            Command(("calls",), "code.calls"),
            Command(("symbol", "callers"), "code.calls", {"direction": "callers"}, "Callers of a symbol", _ONE),
            Command(("symbol", "callees"), "code.calls", {"direction": "callees"}, "Callees of a symbol", _ONE),
            Command(("impact",), "code.impact"),
            Command(("change-impact",), "code.change_impact"),
            Command(("conflicts",), "code.conflicts"),
            Command(("dead",), "code.dead"),
            Command(("cycles",), "code.cycles"),
        ),
    ),
    (
        "Inside functions",
        (
            Command(("slice",), "code.slice"),
            Command(("cfg",), "code.cfg"),
            Command(("dfg",), "code.dfg"),
            Command(("complexity",), "code.complexity"),
        ),
    ),
    (
        "Files",
        (
            Command(("tree",), "code.tree"),
            Command(("structure",), "code.structure"),
            Command(("extract",), "code.extract"),
            Command(("imports",), "code.imports"),
            Command(("importers",), "code.importers"),
        ),
    ),
    (
        "Index",
        (
            Command(("index",), "code.index"),
            Command(("stats",), "code.stats"),
        ),
    ),
)

COMMANDS: tuple[Command, ...] = tuple(command for _, commands in SECTIONS for command in commands)

# Spellings that help does not list a second time.
ALIASES: tuple[Command, ...] = (
    Command(("symbol",), "code.symbol.find"),
    Command(("semantic",), "code.search"),
    Command(("find",), "code.search"),
)

# What the relay answers, as capabilities of the catalogue.
RELAY_QUESTIONS: tuple[Command, ...] = tuple(
    Command(tuple(words.split()), name) for words, name in catalogue.RELAY_WORDS.items()
)


def find_command(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that `words` begin with, the longest spelling first, and the words after it; raises `usage`."""
    for command in sorted((*COMMANDS, *ALIASES), key=lambda command: -len(command.words)):
        length = len(command.words)
        if tuple(words[:length]) == command.words:
            return command, words[length:]
    raise TerselyError("usage", f"there is no command {words[0]!r}", suggestion(words[0]))


def suggestion(word: str) -> str:
    """What somebody who wrote an unknown command may have meant."""
    import difflib  # only who errs pays for it

    known = {command.words[0] for command in COMMANDS} | set(OWN_COMMANDS) | set(RELAY_COMMANDS)
    # A name of a symbol command is an easy slip: `find` for `symbol find`.
    seconds = {command.words[1]: command.name for command in COMMANDS if len(command.words) > 1}
    if word in seconds:
        return f"did you mean {seconds[word]}?"
    near = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else "tersely help lists the commands"
