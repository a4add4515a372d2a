"""Help, the version and the tour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tersely import __version__
from tersely.capabilities.declaration.declaration import positional
from tersely.cli.builtin.own_command import NoParameters, OwnCommand, OwnCommandCall
from tersely.cli.help import manual


@dataclass(frozen=True, slots=True)
class _HelpParameters:
    topic: tuple[str, ...] = positional("a command, or a topic", default=(), metavar="COMMAND")


def _help(asked: OwnCommandCall, parameters: _HelpParameters) -> dict[str, Any]:
    return {"text": manual.text(asked.program, parameters.topic, asked.style)}


def _version(asked: OwnCommandCall, parameters: NoParameters) -> dict[str, Any]:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


def _tour(asked: OwnCommandCall, parameters: NoParameters) -> dict[str, Any]:
    from tersely.cli.builtin.tour import run_tour

    return run_tour(asked)


HELP = OwnCommand(_HelpParameters, _help)
VERSION = OwnCommand(NoParameters, _version)
TOUR = OwnCommand(NoParameters, _tour)
