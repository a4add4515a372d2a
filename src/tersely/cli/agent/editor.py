"""`tersely acp`: the agent in an editor, with the sessions that the terminal has."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from tersely.agent.opening import Choices
from tersely.agent.sessions.store import ListedSession, SessionStore
from tersely.cli.agent.chat import folder, server_of, wanted
from tersely.cli.agent.command_spec import ChatParameters
from tersely.cli.agent.front import open_front
from tersely.cli.agent.servers import connected
from tersely.doors.acp.front import EditorAgent, Wish
from tersely.foundation.errors import TerselyError
from tersely.foundation.settings import load
from tersely.foundation.storage.roots import find_root
from tersely.foundation.types import replace


def run_acp(parameters: ChatParameters) -> None:
    """Serve the editor until it leaves."""
    from tersely.doors.acp.server import serve

    if not _has_editor():
        raise TerselyError(
            "invalid_argument", "an editor talks to `tersely acp` through a pipe, its input is none"
        )
    gc.enable()  # a server lives long, unlike other commands
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def opened(wish: Wish) -> EditorAgent:
        return await _open_agent(wish, parameters)

    asyncio.run(serve(opened, _sessions_around))


def _has_editor() -> bool:
    """True if something can talk through the standard input: not where it is closed, a file, or
    /dev/null.
    """
    if sys.stdin is None:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return sys.stdin.isatty() or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _open_agent(wish: Wish, parameters: ChatParameters) -> EditorAgent:
    """The agent for a session of an editor."""
    root = find_root(Path(wish.folder))
    settings = load(root)
    asked = replace(parameters, resume=wish.session, fork=wish.forks)
    opening = wanted(root, asked, settings, can_ask=True)
    choices: Choices = replace(
        opening.choices,
        opened=wish.opened,
        terminals=wish.terminals,
        servers={**opening.choices.servers, **wish.servers},
    )
    server, model = await connected(server_of(asked, settings))
    return await open_front(replace(opening, choices=choices), server, model, retrieves=True)


def _sessions_around(inside: str) -> Sequence[ListedSession]:
    """The sessions of the repository around a folder."""
    with SessionStore.open(folder()) as store:
        return store.every(str(find_root(Path(inside))))
