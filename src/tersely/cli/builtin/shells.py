"""What shells complete."""

from __future__ import annotations

from tersely.capabilities.declaration.declaration import positional
from tersely.cli.help import completion
from tersely.cli.help.overview import CANDIDATES_COMMAND
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.types import JsonObject


@command("completion")
def _completion(
    asked: CommandCall, *, shell: completion.Shell = positional("bash, zsh or fish")
) -> JsonObject:
    return {"text": completion.script(asked.program, shell)}


@command(CANDIDATES_COMMAND)
def _candidates(
    asked: CommandCall, *, line: str = positional("the command line up to the cursor")
) -> JsonObject:
    return {"text": "".join(f"{candidate}\n" for candidate in completion.candidates(line))}
