"""An editor: the client of the official SDK at a `tersely acp` process, and what it is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    FileSystemCapabilities,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    ToolCallUpdate,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)
from tests.agent.core.command_line import environment

LIMIT_BYTES = 50_000_000
Answer = Callable[[ToolCallUpdate, list[PermissionOption]], str]


class Editor:
    """Buffers, what was asked about, and every update; `answer` chooses an option by its id, ""
    cancels.
    """

    def __init__(
        self, answer: str = "allow_once", buffers: Mapping[str, str] | None = None
    ) -> None:
        self.answer = answer
        self.buffers = dict(buffers or {})
        self.updates: list[Any] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.written: dict[str, str] = {}
        self.terminals: dict[str, asyncio.subprocess.Process] = {}
        self.printed: dict[str, bytes] = {}
        self.released: set[str] = set()
        self._changed = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self._changed:
            self.updates.append(update)
            self._changed.notify_all()

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(is_so)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        async with self._changed:
            self.asked.append((tool_call, options))
            self._changed.notify_all()
        if self.answer == "wait":
            await asyncio.Event().wait()
        if not self.answer:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=self.answer)
        )

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        if path in self.buffers:
            return ReadTextFileResponse(content=self.buffers[path])
        if not Path(path).is_file():
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=Path(path).read_text())

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self.buffers[path] = self.written[path] = content
        return WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        cwd: str | None = None,
        **_: Any,
    ) -> CreateTerminalResponse:
        name = f"terminal-{len(self.terminals)}"
        self.terminals[name] = await asyncio.create_subprocess_exec(
            command, *(args or ()), cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        return CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> WaitForTerminalExitResponse:
        process = self.terminals[terminal_id]
        self.printed[terminal_id], _none = await process.communicate()
        return WaitForTerminalExitResponse(exit_code=process.returncode)

    async def terminal_output(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> TerminalOutputResponse:
        output = self.printed.get(terminal_id, b"").decode()
        status = TerminalExitStatus(exit_code=self.terminals[terminal_id].returncode)
        return TerminalOutputResponse(output=output, truncated=False, exit_status=status)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        if self.terminals[terminal_id].returncode is None:
            self.terminals[terminal_id].kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.released.add(terminal_id)
        await self.kill_terminal(session_id, terminal_id)

    def on_connect(self, conn: Any) -> None:
        pass

    def of_kind(self, kind: type) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]

    def said(self, kind: type) -> str:
        return "".join(update.content.text for update in self.of_kind(kind))


class Running:
    """The agent as the editor has started it."""

    def __init__(self, connection: Any, process: asyncio.subprocess.Process) -> None:
        self.connection = connection
        self.process = process

    async def prompt(self, session: str, *blocks: Any) -> str:
        """The reason why a turn has ended."""
        prompt = [text_block(block) if isinstance(block, str) else block for block in blocks]
        async with asyncio.timeout(120):
            response = await self.connection.prompt(prompt=prompt, session_id=session)
        return response.stop_reason


@asynccontextmanager
async def running(
    editor: Editor,
    root: Path,
    url: str,
    *,
    files: bool = False,
    terminal: bool = False,
    **variables: str,
) -> AsyncIterator[Running]:
    """`tersely acp` about a repository, initialized; ended when the caller is done."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tersely", "acp", cwd=root, env={**environment(root, url), **variables},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LIMIT_BYTES,
    )  # fmt: skip
    connection = connect_to_agent(editor, process.stdin, process.stdout, use_unstable_protocol=True)  # type: ignore[arg-type]
    able = ClientCapabilities(
        fs=FileSystemCapabilities(read_text_file=files, write_text_file=files), terminal=terminal
    )
    try:
        async with asyncio.timeout(60):
            await connection.initialize(protocol_version=PROTOCOL_VERSION, client_capabilities=able)
        yield Running(connection, process)
    finally:
        await connection.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
