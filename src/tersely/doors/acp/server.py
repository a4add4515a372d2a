"""The Agent Client Protocol, version 1: what an editor may ask, each answered by the agent that the
terminal has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, cast

from acp import PROTOCOL_VERSION, RequestError, run_agent
from acp.interfaces import Agent, Client
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    FileSystemCapabilities,
    ForkSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
)

from tersely import __version__
from tersely.agent.opening import ToolServer
from tersely.capabilities.invoke import defect
from tersely.doors.acp import choices, commands
from tersely.doors.acp.files import EditorFiles
from tersely.doors.acp.front import Listing, Opening, Wish
from tersely.doors.acp.places import EditorPlaces
from tersely.doors.acp.session import EditorSession
from tersely.doors.acp.terminals import EditorTerminals
from tersely.foundation.background import Background
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject

MAX_EDITOR_SESSIONS = 16  # that one editor has open at a time
_FAILED, _INVALID, _NOT_FOUND = -32603, -32602, -32002  # of JSON-RPC, and of the protocol
_CODES = {
    "invalid_argument": _INVALID,
    "usage": _INVALID,
    "session_not_found": _NOT_FOUND,
    "root_not_found": _INVALID,
}


async def serve(opening: Opening, listing: Listing) -> None:
    """Serve the editor at the standard streams until it leaves."""
    server = AgentServer(opening, listing)
    try:
        # to fork, resume and close sessions
        await run_agent(cast("Agent", server), use_unstable_protocol=True)
    finally:
        await server.close()


class AgentServer:
    """See `acp.interfaces.Agent`, which names what an editor may ask."""

    def __init__(self, opening: Opening, listing: Listing) -> None:
        self._opening = opening
        self._listing = listing
        self._client: Client | None = None
        self._offered = ClientCapabilities()
        self._sessions: dict[str, EditorSession] = {}
        self._telling = Background()

    def on_connect(self, conn: Client) -> None:
        """The editor is there."""
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        **more: Any,
    ) -> InitializeResponse:
        """The abilities of both sides. There is nothing to log in to: the model is found as in the
        terminal.
        """
        self._offered = client_capabilities or ClientCapabilities()
        able = AgentCapabilities(
            load_session=True,
            prompt_capabilities=PromptCapabilities(embedded_context=True),
            mcp_capabilities=McpCapabilities(http=True, sse=True),
            session_capabilities=SessionCapabilities(
                list=SessionListCapabilities(), fork=SessionForkCapabilities(), resume=SessionResumeCapabilities(),
                close=SessionCloseCapabilities(),
            ),
        )  # fmt: skip
        info = Implementation(name="tersely", title="Tersely", version=__version__)
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=able,
            agent_info=info,
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **more: Any) -> AuthenticateResponse:
        """Nobody has to."""
        return AuthenticateResponse()

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> NewSessionResponse:
        """Begin a session in the repository around a folder."""
        session, chosen = await self._begun(cwd, mcp_servers)
        return NewSessionResponse(session_id=session.id, **chosen)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> LoadSessionResponse:
        """Go on with a session, also one of the terminal, and tell what was said in it."""
        _, chosen = await self._begun(cwd, mcp_servers, session_id, replays=True)
        return LoadSessionResponse(**chosen)

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> ResumeSessionResponse:
        """The same for an editor that knows what was said."""
        _, chosen = await self._begun(cwd, mcp_servers, session_id)
        return ResumeSessionResponse(**chosen)

    async def fork_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> ForkSessionResponse:
        """Begin a session with all that was said in another."""
        session, chosen = await self._begun(cwd, mcp_servers, session_id, forks=True)
        return ForkSessionResponse(session_id=session.id, **chosen)

    async def list_sessions(self, cwd: str | None = None, **more: Any) -> ListSessionsResponse:
        """The sessions of the repository around a folder, the newest first."""
        with _told():
            found = self._listing(cwd or ".")
        infos = [
            SessionInfo(
                session_id=each.id, cwd=each.repository, title=each.name or None,
                updated_at=datetime.fromtimestamp(each.updated_at / 1000, UTC).isoformat(),
            )
            for each in found
        ]  # fmt: skip
        return ListSessionsResponse(sessions=infos)

    async def close_session(self, session_id: str, **more: Any) -> CloseSessionResponse:
        """Let go of a session, so that the terminal can go on with it."""
        with _told():
            session = self._session(session_id)
        del self._sessions[session_id]
        await session.agent.close()
        return CloseSessionResponse()

    async def prompt(self, session_id: str, prompt: Sequence[Any], **more: Any) -> PromptResponse:
        """One turn."""
        with _told():
            return await self._session(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **more: Any) -> None:
        """Have the running turn of a session end."""
        if session := self._sessions.get(session_id):
            session.cancel()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **more: Any
    ) -> SetSessionModeResponse:
        """Work in another mode."""
        with _told():
            choices.set_mode(self._session(session_id).agent, mode_id)
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **more: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose a mode or a model."""
        with _told():
            session = self._session(session_id)
            await choices.choose(session.agent, config_id, str(value))
            return SetSessionConfigOptionResponse(
                config_options=await choices.options(session.agent)
            )

    async def close(self) -> None:
        """Let go of every session."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            with suppress(TerselyError):
                await session.agent.close()

    def _session(self, id: str) -> EditorSession:
        if id not in self._sessions:
            raise TerselyError(
                "session_not_found", f"the session {id} is not open here", "load it first"
            )
        return self._sessions[id]

    async def _begun(
        self,
        folder: str,
        servers: Sequence[Any] | None,
        session_id: str = "",
        *,
        forks: bool = False,
        replays: bool = False,
    ) -> tuple[EditorSession, JsonObject]:
        """A session that an editor may go on with, and what it is told of its choices."""
        with _told():
            session = await self._opened(folder, servers, session_id, forks=forks)
            if replays:
                await session.replay()
            chosen = await choices.options(session.agent)
        # right behind the answer that is about to be sent: before it the session has no name
        self._telling.begin(session.tell(commands.available()))
        return session, {"modes": choices.modes(session.agent), "config_options": chosen}

    async def _opened(
        self, folder: str, servers: Sequence[Any] | None, session: str = "", *, forks: bool = False
    ) -> EditorSession:
        assert self._client is not None
        if session in self._sessions and not forks:
            return self._sessions[session]
        if len(self._sessions) >= MAX_EDITOR_SESSIONS:
            message = f"{MAX_EDITOR_SESSIONS} sessions are open here"
            raise TerselyError("busy", message, "close one first")
        files = EditorFiles(self._client, self._offered.fs or FileSystemCapabilities())
        terminals = EditorTerminals(self._client) if self._offered.terminal else None
        handed = _servers(servers or ())
        agent = await self._opening(Wish(folder, files, terminals, handed, session, forks))
        opened = EditorSession(self._client, agent, EditorPlaces.of(folder, agent.root))
        files.session, files.places = opened.id, EditorPlaces.of(folder, agent.root)
        if terminals is not None:
            terminals.session = opened.id
        self._sessions[opened.id] = opened
        return opened


def _servers(given: Sequence[Any]) -> Mapping[str, ToolServer]:
    """The servers of the Model Context Protocol that an editor hands over; raises
    `invalid_argument`.
    """
    servers: dict[str, ToolServer] = {}
    for each in given:
        if isinstance(each, McpServerStdio):
            variables = {one.name: one.value for one in each.env}
            servers[each.name] = ToolServer((each.command, *each.args), environment=variables)
        elif isinstance(each, HttpMcpServer | SseMcpServer):
            headers = {one.name: one.value for one in each.headers}
            sends_events = isinstance(each, SseMcpServer)
            servers[each.name] = ToolServer(
                url=each.url, headers=headers, sends_events=sends_events
            )
        else:
            message = f"the server {each.name} cannot be asked: it wants another transport"
            raise TerselyError("invalid_argument", message, "servers that are started, or HTTP")
    return servers


@contextmanager
def _told() -> Iterator[None]:
    """Errors as those of the protocol, with our code and what to do."""
    try:
        yield
    except TerselyError as error:
        raise _request_error(error.code, error.message, error.hint) from error
    except RequestError:
        raise
    except Exception as error:
        found = defect(error)
        raise _request_error(found.code, found.message, found.hint) from error


def _request_error(code: str, message: str, hint: str) -> RequestError:
    text = f"{message} ({hint})" if hint else message
    return RequestError(_CODES.get(code, _FAILED), text, {"code": code, "hint": hint})
