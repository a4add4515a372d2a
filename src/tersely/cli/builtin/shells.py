"""What shells complete."""

from __future__ import annotations

from tersely.capabilities.declaration.declaration import positional
from tersely.cli.builtin.own_command import OwnCommand, OwnCommandCall
from tersely.cli.help import completion
from tersely.foundation.types import JsonObject, frozen


@frozen
class _CompletionParameters:
    shell: completion.Shell = positional("bash, zsh or fish")


def _completion(asked: OwnCommandCall, parameters: _CompletionParameters) -> JsonObject:
    return {"text": completion.script(asked.program, parameters.shell)}


@frozen
class _CandidatesParameters:
    line: str = positional("the command line up to the cursor")


def _candidates(asked: OwnCommandCall, parameters: _CandidatesParameters) -> JsonObject:
    return {
        "text": "".join(f"{candidate}\n" for candidate in completion.candidates(parameters.line))
    }


COMPLETION = OwnCommand(_CompletionParameters, _completion)
COMPLETE = OwnCommand(_CandidatesParameters, _candidates)
