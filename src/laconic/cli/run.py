"""One command, from its words to its exit status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from laconic.capabilities.binding import bind, read_words
from laconic.capabilities.invoke import Failure, Outcome, invoke
from laconic.cli.commands import CANDIDATES_COMMAND, OWN_COMMANDS, Command, find_command
from laconic.cli.options import OPTIONS, Options
from laconic.cli.output import Output
from laconic.cli.paths import from_root
from laconic.foundation.errors import LaconicError


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody typed, understood."""

    options: Options
    command: Command
    arguments: dict[str, object]


def run(program: str, words: Sequence[str]) -> int:
    """Do what the words say; the exit status."""
    leading, rest = _split(words)
    try:
        if not rest or asks_for_help(words) or rest[0] in (*OWN_COMMANDS, CANDIDATES_COMMAND):
            from laconic.cli.own import run_own

            return run_own(program, leading, rest)
        request = _read(leading, rest)
    except LaconicError as error:
        # The options could not be read, so the one that matters here is looked for by itself.
        output = Output(program, Options(json="--json" in words))
        return output.print_failure(Outcome("", None, Failure.of(error)))
    return _answer(program, request)


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether `--help` or `-h` stands among the options."""
    options = words[: words.index("--")] if "--" in words else words
    return "--help" in options or "-h" in options


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The options before the command, and the command with all that follows."""
    valued = {parameter.flag for parameter in OPTIONS if parameter.type is not bool}
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in valued else 1
    return words[:index], words[index:]


def _read(leading: Sequence[str], words: Sequence[str]) -> Request:
    command, rest = find_command(words)
    read = read_words((*OPTIONS, *command.parameters()), [*leading, *rest])
    names = {parameter.name for parameter in OPTIONS}
    options = bind(Options, {name: value for name, value in read.items() if name in names})
    arguments = {name: value for name, value in read.items() if name not in names}
    return Request(options, command, {**command.preset, **arguments})


def _answer(program: str, request: Request) -> int:
    from laconic.workspace import Workspace, find_root

    output = Output(program, request.options)
    capability = request.command.capability()
    try:
        root = Path(request.options.root) if request.options.root else find_root(Path())
        workspace = Workspace.open(root, refresh=request.options.refresh, progress=output.progress())
    except LaconicError as error:
        return output.print_failure(Outcome("", None, Failure.of(error)))
    with workspace:
        arguments = from_root(workspace.root, request.command.parameters(), request.arguments)
        outcome = invoke(capability, workspace, arguments)
    if outcome.failure:
        return output.print_failure(outcome)
    return output.print_answer(outcome, capability)
