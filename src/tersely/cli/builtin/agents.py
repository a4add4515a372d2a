"""The coding agent and its sessions."""

from __future__ import annotations

from tersely.capabilities.declaration.declaration import option
from tersely.cli.agent.command_spec import (
    LAST,
    ChatParameters,
    ServerKind,
    SessionParameters,
    SessionVerb,
)
from tersely.cli.builtin.own_command import EXIT_STATUS, OwnCommand, OwnCommandCall
from tersely.foundation.types import JsonObject, frozen


def _chat(asked: OwnCommandCall, parameters: ChatParameters) -> JsonObject:
    from tersely.cli.agent.chat import run_chat

    return {"text": "", EXIT_STATUS: run_chat(asked.options, parameters)}


@frozen
class _AcpParameters:
    url: str = option("", "where the model is served, as for chat")
    model: str = option("", "which of its models")
    kind: ServerKind = option(ServerKind.AUTO, "what the server speaks")
    window: int = option(0, "tokens of context, as for chat", minimum=0)


def _acp(asked: OwnCommandCall, given: _AcpParameters) -> JsonObject:
    from tersely.cli.agent.editor import run_acp

    run_acp(ChatParameters(url=given.url, model=given.model, kind=given.kind, window=given.window))
    return {"text": ""}


def _sessions(asked: OwnCommandCall, parameters: SessionParameters) -> JsonObject:
    from tersely.cli.agent.sessions import run_sessions

    if parameters.verb is SessionVerb.RESUME:
        return _chat(asked, ChatParameters(resume=parameters.session or LAST))
    return run_sessions(asked.options.root, parameters, asked.style)


CHAT = OwnCommand(ChatParameters, _chat)
ACP = OwnCommand(_AcpParameters, _acp)
SESSIONS = OwnCommand(SessionParameters, _sessions)
