"""The commands of the socket: the capability that each means, with which arguments; and those about
the daemon itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import PLACES, Parameter, Role
from tersely.daemon.ndjson.answers import Shape
from tersely.daemon.ndjson.spellings import PREFIX, SPELLINGS, Spelling, spelling_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping, JsonObject, frozen

# What the daemon answers about itself, with the parameters that it takes.
OWN_COMMANDS: Mapping[str, frozenset[str]] = {
    "ping": frozenset(),
    "status": frozenset(),
    "shutdown": frozenset(),
    "invalidate": frozenset({"path"}),
    "notify": frozenset({"file"}),
    "warm": frozenset(),
    "cancel": frozenset({"request"}),
    "revision": frozenset({"program_identity", "root"}),
}
WORDS_COMMAND = "words"  # what the command line asks: its words, answered as they would be printed
# what doors that draw the answer ask: any command, of the program that they belong to
VALUE_COMMAND = "value"
# what doors that show text ask: any command, answered in words within a token budget
TEXT_COMMAND = "text"

_PATH_ROLES = PLACES | {Role.SYMBOL}


@frozen
class Call:
    """A question to a capability, and how its answer is written."""

    capability: str
    arguments: JsonObject
    shape: Shape


def commands() -> list[str]:
    """Every command, for whoever mistypes one."""
    short = [name.removeprefix(PREFIX) for name in catalogue.CODE_NAMES]
    return sorted({*OWN_COMMANDS, *SPELLINGS, *short})


def call(command: str, given: JsonMapping, root: str) -> Call:
    """The capability and the arguments that a request means; raises `unknown_command` or
    `invalid_argument`.

    Absolute paths below `root` are taken for what they are in the repository.
    """
    spelling = spelling_of(command)
    if spelling is None:
        raise TerselyError(
            "unknown_command",
            f"there is no command {command!r}",
            suggestion(command, commands()),
        )
    spelling = spelling.about(given, root)
    declared = catalogue.load(spelling.capability).parameters
    roles = {parameter.name: parameter.role for parameter in declared}
    arguments: JsonObject = {}
    for own, value in _named(spelling, given, set(roles)):
        meant = _from_root(value, root) if roles.get(own) in _PATH_ROLES else value
        if arguments.setdefault(own, meant) != meant:
            raise TerselyError(
                "invalid_argument",
                f"{command} is given {spelling.shown.get(own, own)} twice",
                "once",
            )
    _check_names(command, spelling, declared, {**spelling.preset, **arguments})
    return Call(spelling.capability, {**spelling.preset, **arguments}, spelling.shape)


def _named(
    spelling: Spelling, given: JsonMapping, declared: set[str]
) -> Iterator[tuple[str, object]]:
    """The arguments of a request, under the names of the capability."""
    parts = {name for names in spelling.parts.values() for name in names}
    for name, value in given.items():
        own = spelling.renames.get(name, name)
        if own in declared or not (name in parts or name in spelling.unused):
            yield own, value
    yield from spelling.joined(given).items()


def _check_names(
    command: str, spelling: Spelling, declared: Sequence[Parameter], arguments: JsonMapping
) -> None:
    names = spelling.shown
    known = {parameter.name for parameter in declared}
    for name in arguments:
        if name not in known:
            listed = sorted(names.get(own, own) for own in known - set(spelling.preset))
            raise TerselyError(
                "invalid_argument", f"{command} has no parameter {name!r}", suggestion(name, listed)
            )
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
