"""One command, from its words to its exit status."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.answers.delta import for_reader
from tersely.capabilities.answers.reply import answer_text
from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.declaration.binding import bind
from tersely.capabilities.declaration.declaration import Capability, Tier
from tersely.capabilities.declaration.references import with_references
from tersely.capabilities.invoke import Failure, Outcome, invoke
from tersely.cli.arguments import from_root, with_content
from tersely.cli.commands import Command, find_command
from tersely.cli.help.overview import CANDIDATES_COMMAND, OWN_COMMANDS, RELAY, RELAY_COMMANDS, TALK
from tersely.cli.options import (
    DRAWING,
    DRAWN,
    OPTIONS,
    Drawing,
    DrawingForm,
    Options,
    read_with_options,
)
from tersely.cli.printing import cassettes
from tersely.cli.printing.output import Output
from tersely.cli.printing.terminal import Terminal
from tersely.foundation.errors import TerselyError
from tersely.foundation.system import need_posix
from tersely.foundation.types import Environment, replace

if TYPE_CHECKING:
    from tersely.workspace import Workspace


_OF_THE_AGENT = frozenset({"chat", "acp", "sessions"})


class TypedRequest(NamedTuple):
    """The request that somebody typed, understood."""

    options: Options
    command: Command
    arguments: dict[str, object]
    drawing: DrawingForm | None = None  # None: in words


def run(program: str, words: Sequence[str], ended: Callable[[int], int] = int) -> int:
    """Do what the words say; the exit status. A question about a repository that is answered ends
    by `ended`, which is given its status.
    """
    terminal = Terminal.own()
    words = with_chat(words)
    leading, rest = split(words)
    try:
        done = _run_other(program, words, leading, rest)
        if done is not None:
            return done
        request = read_request(leading, rest, os.environ)
    except TerselyError as error:
        return print_unread(program, words, error, terminal)
    output = Output(program, request.options, terminal)
    opened: list[Workspace] = []

    def open_workspace() -> Workspace:
        from tersely.foundation.storage.roots import INDEX_DIRECTORY, is_repository
        from tersely.workspace import Workspace

        root = root_of(request.options, Path())
        if not request.options.root and not is_repository(str(root)):
            output.print_note(
                f"{root} is no repository: all below it is read, the index is kept in its {INDEX_DIRECTORY}"
            )
        opened.append(
            Workspace.open(root, refresh=request.options.refresh, progress=output.progress())
        )
        opened[0].patience_seconds = opened[0].settings.answer_seconds
        return opened[0]

    status = answer(request, output, Path(), open_workspace, Tier.SYSTEM)
    if opened and opened[0].settings.daemon == "start":
        from tersely.cli.builtin.daemon import start_unasked

        start_unasked(opened[0].root, opened[0].settings)
    return ended(status)


def _run_other(
    program: str, words: Sequence[str], leading: Sequence[str], rest: Sequence[str]
) -> int | None:
    """Do what is asked of anything but a repository; the exit status, None where it is of one."""
    below = rest[1:] if rest[:1] == [RELAY] else rest
    if below[:1] == [TALK]:
        from tersely.cli.builtin.talk import run_talk

        return run_talk(program, leading, below[1:])
    if program == RELAY or (rest and rest[0] in (RELAY, *RELAY_COMMANDS)):
        if not asks_for_help(words):
            need_posix("the relay")
        from tersely.cli.relay.run import run_relay

        return run_relay(program, leading, below)
    if not is_own(words, rest):
        return None
    if rest and rest[0] in _OF_THE_AGENT and not asks_for_help(words):
        need_posix("the chat agent")
    from tersely.cli.builtin.builtin_commands import run_own

    return run_own(program, leading, rest)


def is_own(words: Sequence[str], rest: Sequence[str]) -> bool:
    """True if a command line, `rest` being what follows its first options, is about the program
    itself.
    """
    return (
        not rest
        or asks_for_help(words)
        or rest[0] in (*OWN_COMMANDS, *RELAY_COMMANDS, CANDIDATES_COMMAND)
    )


def with_chat(words: Sequence[str]) -> Sequence[str]:
    """The words with `-p TEXT` as what it is short for: `chat --prompt TEXT`, wherever it stands."""
    leading, rest = split(words)
    place = words.index("-p") if "-p" in leading or ("-p" in rest and rest[0] == "chat") else -1
    if place < 0:
        return words
    chat = [] if rest[:1] == ["chat"] else ["chat"]
    return [*words[:place], *chat, "--prompt", *words[place + 1 :]]


def asks_for_help(words: Sequence[str]) -> bool:
    """True if `--help` or `-h` stands among the options."""
    options = words[: words.index("--")] if "--" in words else words
    return "--help" in options or "-h" in options


def split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The options before the command, and the command with all that follows."""
    valued = {parameter.flag for parameter in OPTIONS if parameter.type is not bool}
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in valued else 1
    return words[:index], words[index:]


def read_request(
    leading: Sequence[str],
    words: Sequence[str],
    environment: Environment = MappingProxyType({}),
) -> TypedRequest:
    """Understand the options before a command, and the command with what follows; raises `usage`.

    The environment says which reader the command line answers, where its words do not.
    """
    # a large module that the commands about the program itself can spare
    from tersely.foundation.settings import SESSION_VARIABLE

    command, rest = find_command(words)
    options, arguments = read_with_options(command.parameters(), [*leading, *rest])
    names = {parameter.name for parameter in command.parameters()}
    given = for_reader(
        command.capability_name,
        names,
        {**command.preset, **arguments},
        environment.get(SESSION_VARIABLE, ""),
    )
    if command.capability_name not in DRAWN:
        return TypedRequest(options, command, given)
    drawing = bind(Drawing, {DRAWING: given.pop(DRAWING, None)})
    return TypedRequest(options, command, given, drawing.format)


def print_unread(
    program: str, words: Sequence[str], error: TerselyError, terminal: Terminal
) -> int:
    """Print why a command line cannot be read; the exit status."""
    if "chat" in split(words)[1][:1]:
        from tersely.cli.agent.without_screen.printing import print_unread as print_unread_chat

        return print_unread_chat(words, error, terminal)
    # The options could not be read, so the one that matters here is looked for by itself.
    output = Output(program, Options(json="--json" in words), terminal)
    return output.print_failure(Outcome("", None, Failure.of(error)))


def root_of(options: Options, directory: Path) -> Path:
    """The repository that a command in a directory is about."""
    from tersely.foundation.storage.roots import find_root

    return directory / options.root if options.root else find_root(directory)


def answer(
    request: TypedRequest,
    output: Output,
    directory: Path,
    open_workspace: Callable[[], AbstractContextManager[Workspace]],
    trust: Tier = Tier.READ,
) -> int:
    """Ask and print; the exit status."""
    capability = request.command.capability()
    try:
        given = with_content(request.command.parameters(), request.arguments, directory)
        given = with_references(request.command.parameters(), given, cassettes.fetch)
        opened = open_workspace()
    except TerselyError as error:
        return output.print_failure(Outcome("", None, Failure.of(error)))
    with opened as workspace:
        arguments = from_root(workspace.root, request.command.parameters(), given, directory)
        outcome = invoke(capability, workspace, arguments, trust)
        output_to = given.get(cassettes.OUTPUT) or request.options.output
        if outcome.failure is None and output_to == cassettes.HYBRID:
            outcome = _with_kept_pieces(outcome)
        elif outcome.failure is None and output_to:
            outcome = _kept(capability, workspace, outcome)
            return output.print_failure(outcome) if outcome.failure else output.print_kept(outcome)
    if outcome.failure:
        return output.print_failure(outcome)
    return output.print_answer(outcome, capability, request.drawing)


def _with_kept_pieces(outcome: Outcome) -> Outcome:
    """The outcome of a hybrid pack whose large pieces the relay keeps."""
    pieces = getattr(outcome.result, "pieces", ())
    try:
        for piece in pieces:
            cassettes.keep(piece.text, piece.name, piece.tokens)
    except TerselyError as error:
        return outcome._replace(result=None, failure=Failure.of(error))
    kept = tuple(replace(piece, text="") for piece in pieces)
    return outcome._replace(result=replace(outcome.result, pieces=kept)) if pieces else outcome


def _kept(capability: Capability, workspace: Workspace, outcome: Outcome) -> Outcome:
    """The outcome that tells of an answer that the relay keeps."""
    text = answer_text(capability, outcome, PLAIN)
    try:
        told = cassettes.keep(text, capability.name, workspace.tokenizer.count(text))
    except TerselyError as error:
        return outcome._replace(result=None, failure=Failure.of(error))
    return outcome._replace(result=told)
