"""From the words of a command of the relay to what it prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.binding import checked
from tersely.capabilities.declaration.declaration import Parameter, option, parameters_of
from tersely.capabilities.invoke import Outcome
from tersely.capabilities.relay.context import PERSON
from tersely.cli.arguments import with_content
from tersely.cli.commands import Command
from tersely.cli.help.manual import parameter_blocks, places
from tersely.cli.help.overview import RELAY, RELAY_COMMANDS
from tersely.cli.options import Options, read_with_options
from tersely.cli.own_command import EXIT_STATUS, CommandCall, OwnCommand
from tersely.cli.printing import cassettes
from tersely.cli.printing.output import Output
from tersely.cli.printing.terminal import Terminal
from tersely.cli.relay import table
from tersely.cli.relay.identity import asker, completed
from tersely.cli.run import asks_for_help
from tersely.foundation.errors import EXIT_OK, TerselyError
from tersely.foundation.limits import MAX_WEB_BODY_BYTES
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonObject, frozen


@frozen
class _Asker:
    agent: str = option(
        "",
        f"who asks (default: the agent that runs this, by {NAME_VARIABLE} or by its process, else {PERSON})",
        metavar="NAME",
    )


_ASKER = parameters_of(_Asker)


def run_relay(program: str, leading: Sequence[str], words: Sequence[str]) -> int:
    """Run a command, `leading` being the options before it; raises `unknown_command` and what goes wrong."""
    if not words or words[0] == "help" or asks_for_help(words):
        named = [word for word in words if not word.startswith("-") and word != "help"]
        output = Output(program, Options(), Terminal.own())
        return output.print_plain(
            Outcome("", {"text": help_text(program, named, output.answer_style())})
        )
    command, rest = _find(words)
    if isinstance(command, Command):
        return _ask(program, command, [*leading, *rest])
    rest = ["--", *rest] if command.is_open else _with_payload(command.payload, rest)
    options, arguments = read_with_options(command.parameters(), [*leading, *rest])
    given = command.checked(arguments)
    output = Output(program, options, Terminal.own())
    agent = given.get("agent") or PERSON
    result = command.run(CommandCall(program, options, output.answer_style(), agent), **given)
    return _print(output, options, command.name, agent, result) or int(
        result.get(EXIT_STATUS, EXIT_OK)
    )


def _ask(program: str, command: Command, words: Sequence[str]) -> int:
    """Ask the relay what a command means, and print the answer."""
    from tersely.client import Client

    declared = command.parameters()
    own = {parameter.name for parameter in declared}
    shared = [parameter for parameter in _ASKER if parameter.name not in own]
    options, arguments = read_with_options((*declared, *shared), _with_json(declared, words))
    named = arguments.pop("agent", "") if shared else ""
    agent = str(named) or asker(os.environ)
    given = with_content(declared, {**command.preset, **arguments}, Path())
    given = completed(declared, given, Path(options.root))
    checked(command.capability().parameters, given)
    output = Output(program, options, Terminal.own())
    with Client.local(agent) as relay:
        answered = relay.answer(
            command.capability_name, given, colored=output.answer_style().colored
        )
    return _print(
        output, options, command.capability_name, agent, {**answered.result, "text": answered.text}
    )


def _print(output: Output, options: Options, name: str, agent: str, result: JsonObject) -> int:
    """Print a result, or the reference under which the relay keeps its text."""
    if options.output is None:
        return output.print_plain(Outcome("", result))
    from tersely.foundation.text.tokens import Tokenizer

    text = result["text"]
    return output.print_kept(
        Outcome("", cassettes.keep(text, name, Tokenizer().count(text), agent))
    )


def help_text(program: str, named: Sequence[str], style: Style) -> str:
    """The page of the command that the words begin with and of those that begin like it, or a list
    of all; raises `unknown_command`.
    """
    exact = _command_of(named)
    stem = exact.words if exact else tuple(named)
    begin = [table.load(name) for name in _begin(stem)]
    if not begin:
        raise _unknown(named)
    only = exact or (begin[0] if len(begin) == 1 else None)
    others = [command for command in begin if command is not only]
    listed = aligned(
        [(_usage(program, command), command.line()) for command in others], [style.symbol]
    )
    blocks = ["\n".join(listed) + "\n"] if listed else []
    if only is not None:
        heading = style.heading(f"{_usage(program, only)} [OPTION]…")
        declared = (*only.parameters(), *_ASKER) if isinstance(only, Command) else only.parameters()
        page = [f"{heading}\n", f"  {only.line()}.\n", *parameter_blocks(declared, style)]
        blocks = [*page, *blocks]
    return "\n".join(blocks)


def _usage(program: str, command: OwnCommand | Command) -> str:
    """The command as it is typed; behind `relay` where it is no command of the program itself."""
    is_own = program == RELAY or command.words[0] in RELAY_COMMANDS
    words = [program, command.name] if is_own else [program, RELAY, command.name]
    return " ".join([*words, *places(command.parameters())])


def _find(words: Sequence[str]) -> tuple[OwnCommand | Command, Sequence[str]]:
    command = _command_of(words)
    if command is None:
        raise _unknown(words)
    rest = words[len(command.words) :]
    takes_words = any(parameter.positional for parameter in command.parameters())
    is_word = bool(rest) and not rest[0].startswith("-")
    if is_word and not takes_words and len(_begin(command.words)) > 1:
        raise _unknown([*command.words, rest[0]])
    return command, rest


def _command_of(words: Sequence[str]) -> OwnCommand | Command | None:
    """The command that the words begin with, the longest spelling first."""
    begun = [name for name in table.NAMES if name.split() == list(words[: len(name.split())])]
    return table.load(max(begun, key=len)) if begun else None


def _begin(stem: Sequence[str]) -> list[str]:
    """The names of the commands that begin with these words."""
    return [name for name in table.NAMES if name.split()[: len(stem)] == list(stem)]


def _unknown(words: Sequence[str]) -> TerselyError:
    """The error for words that begin no command."""
    typed = " ".join(words[:2])
    begin = _begin(words[:1])
    if not begin:
        hint = suggestion(typed, table.NAMES, "relay help lists the commands")
    else:
        seconds = [name for name in begin if name != words[0]]
        near = [name for name in seconds if suggestion("".join(words[1:2]), name.split()[1:], "")]
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(begin)}"
    return TerselyError("unknown_command", f"there is no command {typed!r} of the relay", hint)


def _with_json(declared: Sequence[Parameter], words: Sequence[str]) -> list[str]:
    """The words with JSON where an option takes it: behind `--json` too, and from standard input
    for `-`.
    """
    flag = next((parameter.flag for parameter in declared if parameter.type in {list, dict}), "")
    return [
        sys.stdin.read(MAX_WEB_BODY_BYTES) if flag and (before, word) == (flag, "-") else word
        for before, word in pairwise(["", *_with_payload(flag, words)])
    ]


def _with_payload(flag: str, words: Sequence[str]) -> list[str]:
    """The words with `--json` that has a JSON value behind it as the option that takes it."""
    return [
        flag if flag and word == "--json" and after[:1] in {"[", "{"} else word
        for word, after in pairwise([*words, ""])
    ]
