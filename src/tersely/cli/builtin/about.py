"""Help, the version and the tour."""

from __future__ import annotations

from tersely import __version__
from tersely.capabilities.declaration.declaration import positional
from tersely.cli.builtin.own_command import NoParameters, OwnCommand, OwnCommandCall
from tersely.cli.help import manual
from tersely.foundation.types import JsonObject, frozen


@frozen
class _HelpParameters:
    topic: tuple[str, ...] = positional("a command, or a topic", default=(), metavar="COMMAND")


def _help(asked: OwnCommandCall, parameters: _HelpParameters) -> JsonObject:
    return {"text": manual.text(asked.program, parameters.topic, asked.style)}


def _version(asked: OwnCommandCall, parameters: NoParameters) -> JsonObject:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


def _tour(asked: OwnCommandCall, parameters: NoParameters) -> JsonObject:
    from tersely.cli.builtin.tour import run_tour

    return run_tour(asked)


HELP = OwnCommand(_HelpParameters, _help)
VERSION = OwnCommand(NoParameters, _version)
TOUR = OwnCommand(NoParameters, _tour)
