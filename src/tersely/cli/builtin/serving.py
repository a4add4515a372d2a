"""Servers and daemons."""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.declaration.declaration import group, option, positional
from tersely.cli.own_command import CommandCall, command
from tersely.foundation.types import JsonObject, frozen


class Verb(StrEnum):
    """The verbs for daemons."""

    START = "start"
    STOP = "stop"
    STATUS = "status"
    LIST = "list"


@command("daemon")
def _daemon(
    asked: CommandCall,
    *,
    verb: Verb = positional("what to do", metavar="start|stop|status|list"),
) -> JsonObject:
    from tersely.cli.builtin.daemon import VERBS

    return VERBS[verb](asked.options.root, asked.style)


@command("warm")
def _warm(asked: CommandCall) -> JsonObject:
    from tersely.cli.builtin.daemon import run_warm

    return run_warm(asked.options.root)


@frozen
class McpParameters:
    """What `mcp` is asked for."""

    all_tools: bool = option(False, "list every capability as a tool of its own")
    structured: bool = option(
        False, "for clients that are programs: answers as data, too, and the schemas of these"
    )


@command("mcp")
def _mcp(asked: CommandCall, *, wanted: McpParameters = group(McpParameters)) -> JsonObject:
    from tersely.cli.builtin.mcp import run_mcp

    run_mcp(asked.options.root, wanted)
    return {"text": ""}


@command("lsp")
def _lsp(asked: CommandCall) -> JsonObject:
    from tersely.cli.builtin.daemon import ANSWER_WORDS
    from tersely.doors.lsp.server import serve

    serve(ANSWER_WORDS)
    return {"text": ""}
