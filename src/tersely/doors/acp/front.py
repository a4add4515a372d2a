"""The front of the agent for editors, beside what the screen asks, and opening its sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tersely.agent.opening import OpenFiles, Terminals, ToolServer
from tersely.agent.sessions.store import ListedSession
from tersely.doors.screen.shown import ShownAgent


class EditorAgent(ShownAgent, Protocol):
    """An agent and its session, in an editor."""

    @property
    def root(self) -> Path:
        """The repository, resolved."""

    async def close(self) -> None:
        """Let go of everything."""


class Wish(NamedTuple):
    """The session that an editor wants in a folder: a new one for "", else one that goes on, or a
    copy of it.
    """

    folder: str
    opened: OpenFiles | None
    terminals: Terminals | None
    servers: Mapping[str, ToolServer]
    session: str = ""
    forks: bool = False


Opening = Callable[[Wish], Awaitable[EditorAgent]]
Listing = Callable[[str], Sequence[ListedSession]]  # the sessions of the repository around a folder
