"""Servers and daemons."""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.builtin.own_command import NoParameters, OwnCommand, OwnCommandCall
from tersely.foundation.types import JsonObject, frozen


class Verb(StrEnum):
    """The verbs for daemons."""

    START = "start"
    STOP = "stop"
    STATUS = "status"
    LIST = "list"


@frozen
class _DaemonParameters:
    verb: Verb = positional("what to do", metavar="start|stop|status|list")


def _daemon(asked: OwnCommandCall, parameters: _DaemonParameters) -> JsonObject:
    from tersely.cli.builtin.daemon import run_daemon

    return run_daemon(parameters.verb, asked.options.root, asked.style)


def _warm(asked: OwnCommandCall, parameters: NoParameters) -> JsonObject:
    from tersely.cli.builtin.daemon import run_warm

    return run_warm(asked.options.root)


@frozen
class McpParameters:
    """What `mcp` is asked for."""

    all_tools: bool = option(False, "list every capability as a tool of its own")
    structured: bool = option(
        False, "for clients that are programs: answers as data, too, and the schemas of these"
    )
    # For the conformance suite, which drives servers over HTTP alone.
    http: bool = option(
        False, "serve over HTTP on this machine rather than over the standard streams", hidden=True
    )
    port: int = option(
        0, "where to listen for HTTP, 0 for any free port", minimum=0, maximum=65_535, hidden=True
    )


def _mcp(asked: OwnCommandCall, parameters: McpParameters) -> JsonObject:
    from tersely.cli.builtin.mcp import run_mcp

    run_mcp(asked.options.root, parameters)
    return {"text": ""}


def _lsp(asked: OwnCommandCall, parameters: NoParameters) -> JsonObject:
    from tersely.cli.builtin.daemon import ANSWER_WORDS
    from tersely.doors.lsp.server import serve

    serve(ANSWER_WORDS)
    return {"text": ""}


DAEMON = OwnCommand(_DaemonParameters, _daemon)
WARM = OwnCommand(NoParameters, _warm)
MCP = OwnCommand(McpParameters, _mcp)
LSP = OwnCommand(NoParameters, _lsp)
