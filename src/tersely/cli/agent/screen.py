"""The agent on the screen of this terminal."""

from __future__ import annotations

import sys
from functools import partial

from tersely.agent.models.connecting import Model
from tersely.agent.opening import WantedAgent
from tersely.cli.agent.front import open_front
from tersely.cli.agent.servers import Server, connected
from tersely.doors.screen.app import chat
from tersely.doors.screen.starting import until_found
from tersely.foundation.errors import EXIT_OK, TerselyError


async def show(wanted: WantedAgent, server: Server, *, retrieves: bool) -> int:
    """Talk on the screen until the user ends it; the exit status."""
    shown = await open_front(wanted, *await _found(server), retrieves=retrieves)
    try:
        await chat(shown, wanted.root)
    finally:
        await shown.close()
    return EXIT_OK


async def _found(server: Server) -> tuple[Server, Model]:
    """The model; on a terminal the user may start its server now."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return await connected(server)
    found = await until_found(partial(connected, server))
    if isinstance(found, TerselyError):
        raise found
    return found
