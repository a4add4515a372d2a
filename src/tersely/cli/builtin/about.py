"""Help, the version and the tour."""

from __future__ import annotations

from tersely import __version__
from tersely.capabilities.declaration.declaration import positional
from tersely.cli.help import manual
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.types import JsonObject, Strings


@command("help")
def _help(
    asked: CommandCall,
    *,
    topic: Strings = positional("a command, or a topic", default=(), metavar="COMMAND"),
) -> JsonObject:
    return {"text": manual.text(asked.program, topic, asked.style)}


@command("version")
def _version(asked: CommandCall) -> JsonObject:
    return {"version": __version__, "text": f"{asked.program} {__version__}\n"}


@command("tour")
def _tour(asked: CommandCall) -> JsonObject:
    from tersely.cli.help.tour import run_tour

    return run_tour(asked)
