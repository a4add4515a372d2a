"""Which capability a command of the socket means, under the names that its parameters have there.

A spelling renames; it computes nothing. Parameters that it does not rename are those of the capability itself. Every
capability is also a command under its own name. What the daemon does about itself is listed in `OWN_COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.binding import suggestion
from tersely.capabilities.declaration import Parameter, Role, parameters_of
from tersely.daemon.ndjson import answers
from tersely.daemon.ndjson.answers import Shape
from tersely.foundation.errors import TerselyError

# What the daemon answers about itself, with the parameters that it takes.
OWN_COMMANDS: Mapping[str, frozenset[str]] = {
    "ping": frozenset(),
    "status": frozenset(),
    "shutdown": frozenset(),
    "invalidate": frozenset({"path"}),
    "warm": frozenset(),
    "cancel": frozenset({"request"}),
    "revision": frozenset({"program_identity", "root"}),
}
WORDS_COMMAND = "words"  # what the command line asks: its words, answered as they would be printed
VALUE_COMMAND = "value"  # what doors that draw the answer ask: any command, of the program that they belong to
TEXT_COMMAND = "text"  # what doors that show text ask: any command, answered in words within a token budget

_PATH_ROLES = frozenset({Role.PATH, Role.FILE, Role.PLACE, Role.SOURCE, Role.SYMBOL, Role.MODULE, Role.REPORT})
PREFIX = "code."  # of the names of capabilities, which may be left out


@dataclass(frozen=True, slots=True)
class Spelling:
    """A command that asks for a capability, with parameters under other names and some values already given."""

    capability: str
    renames: Mapping[str, str] = field(default_factory=dict)  # parameter of the command: that of the capability
    preset: Mapping[str, object] = field(default_factory=dict)
    shape: Shape = answers.whole


@dataclass(frozen=True, slots=True)
class Call:
    """A question to a capability, and how its answer is written."""

    capability: str
    arguments: dict[str, object]
    shape: Shape


SPELLINGS: Mapping[str, Spelling] = {
    "semantic": Spelling("code.search", shape=answers.hits),
    "context": Spelling("code.context", {"target": "symbols"}),
    "impact": Spelling("code.impact", {"target": "symbol"}),
    "calls": Spelling("code.calls", {"target": "symbol"}),
    "structure": Spelling("code.structure"),
    "extract": Spelling("code.symbol.get"),
    "cfg": Spelling("code.cfg", {"target": "symbol"}),
    "dfg": Spelling("code.dfg", {"target": "symbol"}),
    "slice": Spelling("code.slice", {"target": "place"}),
    # Names of tools of the Model Context Protocol.
    "difflens.context": Spelling("code.diff_context", {"base_ref": "base"}),
    "difflens.slice": Spelling("code.symbol.slice", {"symbol": "symbols"}),
    "difflens.deps": Spelling("code.calls"),
    "coverage.rank_files": Spelling("code.coverage.files", {"top_n": "limit"}),
    "symbols.search": Spelling("code.symbol.find", {"query": "queries"}),
    "symbols.slice": Spelling("code.symbol.slice", {"symbol_id": "symbols"}),
    "symbols.get": Spelling("code.symbol.get", {"symbol_id": "symbol"}),
    "symbols.callers": Spelling("code.calls", {"symbol_id": "symbol"}, {"direction": "callers"}),
    "symbols.callees": Spelling("code.calls", {"symbol_id": "symbol"}, {"direction": "callees"}),
}


def commands() -> list[str]:
    """Every command, for whoever mistypes one."""
    short = [name.removeprefix(PREFIX) for name in catalogue.CODE_NAMES]
    return sorted({*OWN_COMMANDS, *SPELLINGS, *short})


def spelling_of(command: str) -> Spelling | None:
    """What a command means: a word of its own, or a capability by its name, with or without the prefix."""
    if command in SPELLINGS:
        return SPELLINGS[command]
    names = [name for name in (command, f"{PREFIX}{command}") if name in catalogue.CODE_NAMES]
    return Spelling(names[0]) if names else None


def call(command: str, given: Mapping[str, Any], root: str) -> Call:
    """What a request asks of which capability; raises `unknown_command` or `invalid_argument`.

    Absolute paths below `root` are taken for what they are in the repository.
    """
    spelling = spelling_of(command)
    if spelling is None:
        raise TerselyError("unknown_command", f"there is no command {command!r}", _suggestion(command))
    declared = parameters_of(catalogue.load(spelling.capability).parameters)
    roles = {parameter.name: parameter.role for parameter in declared}
    arguments: dict[str, object] = dict(spelling.preset)
    for name, value in given.items():
        own = spelling.renames.get(name, name)
        arguments[own] = _from_root(value, root) if roles.get(own) in _PATH_ROLES else value
    _check_names(command, spelling, declared, arguments)
    return Call(spelling.capability, arguments, spelling.shape)


def _check_names(
    command: str, spelling: Spelling, declared: Sequence[Parameter], arguments: Mapping[str, object]
) -> None:
    names = {own: name for name, own in spelling.renames.items()}
    known = {parameter.name for parameter in declared}
    for name in arguments:
        if name not in known:
            listed = sorted(names.get(own, own) for own in known - set(spelling.preset))
            raise TerselyError("invalid_argument", f"{command} has no parameter {name!r}", suggestion(name, listed))
    for parameter in declared:
        if parameter.required and parameter.name not in arguments:
            needed = names.get(parameter.name, parameter.name)
            raise TerselyError("invalid_argument", f"{command} needs {needed}", parameter.help)


def _from_root(value: Any, root: str) -> Any:
    if isinstance(value, list):
        return [_from_root(element, root) for element in value]
    if isinstance(value, str) and value.startswith(f"{root}/"):
        return value[len(root) + 1 :]
    return value


def _suggestion(command: str) -> str:
    import difflib  # only who errs pays for it

    near = difflib.get_close_matches(command, commands(), n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(commands())}"
