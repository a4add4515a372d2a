"""The commands that speak about the program itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from laconic import __version__
from laconic.capabilities.binding import bind, read_words
from laconic.capabilities.declaration import option, parameters_of, positional
from laconic.capabilities.invoke import Outcome
from laconic.cli.completion import Shell, candidates, script
from laconic.cli.manual import print_manual
from laconic.cli.options import Color, Options
from laconic.cli.output import Output
from laconic.foundation.errors import EXIT_OK


def _help(program: str, words: Sequence[str]) -> int:
    return print_manual(program, [word for word in words if not word.startswith("-")])


def _version(program: str, words: Sequence[str]) -> int:
    options = bind(Options, read_words(parameters_of(Options), words))
    if options.json:
        return Output(program, options).print_json(Outcome("", {"version": __version__}))
    sys.stdout.write(f"{program} {__version__}\n")
    return EXIT_OK


@dataclass(frozen=True, slots=True)
class _CompletionParameters:
    shell: Shell = positional("the shell that is to learn the commands")
    color: Color = option(Color.AUTO, "ignored: a script has no colours")


def _completion(program: str, words: Sequence[str]) -> int:
    parameters = bind(_CompletionParameters, read_words(parameters_of(_CompletionParameters), words))
    sys.stdout.write(script(program, parameters.shell))
    return EXIT_OK


def _complete(program: str, words: Sequence[str]) -> int:
    """What the completion scripts call: the line up to the cursor in, one candidate a line out."""
    sys.stdout.writelines(f"{candidate}\n" for candidate in candidates(" ".join(words)))
    return EXIT_OK


OWN_COMMANDS: Mapping[str, Callable[[str, Sequence[str]], int]] = {
    "help": _help,
    "version": _version,
    "completion": _completion,
    "complete": _complete,
}
