"""Terminals of the editor: the commands of the agent run in them, where the editor offers that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from acp import RequestError
from acp.interfaces import Client

from tersely.agent.opening import TellTerminal
from tersely.doors.acp.files import EDITOR_SECONDS
from tersely.foundation.limits import MAX_ARTIFACT_BYTES


class EditorTerminals:
    """See `agent.tools.running.terminal.Terminals`; of one session."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.session = ""  # known once the session is open

    async def open(
        self, words: Sequence[str], folder: str, tell: TellTerminal
    ) -> EditorTerminal | None:
        """Start a program in a terminal, and tell its id; None where the editor starts none."""
        program, *arguments = words
        try:
            async with asyncio.timeout(EDITOR_SECONDS):
                created = await self._client.create_terminal(
                    self.session,
                    program,
                    arguments,
                    cwd=folder,
                    output_byte_limit=MAX_ARTIFACT_BYTES,
                )
        except (RequestError, TimeoutError):
            return None
        await tell(created.terminal_id)
        return EditorTerminal(self._client, self.session, created.terminal_id)


class EditorTerminal:
    """See `agent.tools.running.terminal.TerminalOfEditor`."""

    def __init__(self, client: Client, session: str, id: str) -> None:
        self._client = client
        self._session = session
        self._id = id

    async def output(self) -> str:
        """The output of the program once it has ended, "" where the editor does not say."""
        try:
            await self._client.wait_for_terminal_exit(self._session, self._id)
            async with asyncio.timeout(EDITOR_SECONDS):
                return (await self._client.terminal_output(self._session, self._id)).output
        except (RequestError, TimeoutError):
            return ""

    async def close(self) -> None:
        """End the program if it runs, and let go of the terminal, which goes on showing it."""
        with suppress(RequestError, TimeoutError):
            async with asyncio.timeout(EDITOR_SECONDS):
                await self._client.release_terminal(self._session, self._id)
