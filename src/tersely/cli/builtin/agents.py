"""The coding agent and its sessions."""

from __future__ import annotations

from tersely.capabilities.declaration.declaration import group, option
from tersely.cli.agent.command_spec import (
    LAST,
    ChatParameters,
    ServerKind,
    SessionParameters,
    SessionVerb,
)
from tersely.cli.own_command import EXIT_STATUS, CommandCall, command
from tersely.foundation.types import JsonObject


@command("chat")
def _chat(asked: CommandCall, *, chosen: ChatParameters = group(ChatParameters)) -> JsonObject:
    return _talk(asked, chosen)


def _talk(asked: CommandCall, chosen: ChatParameters) -> JsonObject:
    from tersely.cli.agent.chat import run_chat

    return {"text": "", EXIT_STATUS: run_chat(asked.options, chosen)}


@command("acp")
def _acp(
    asked: CommandCall,
    *,
    url: str = option("", "where the model is served, as for chat"),
    model: str = option("", "which of its models"),
    kind: ServerKind = option(ServerKind.AUTO, "what the server speaks"),
    window: int = option(0, "tokens of context, as for chat", minimum=0),
) -> JsonObject:
    from tersely.cli.agent.editor import run_acp

    run_acp(ChatParameters(url=url, model=model, kind=kind, window=window))
    return {"text": ""}


@command("sessions")
def _sessions(
    asked: CommandCall, *, wanted: SessionParameters = group(SessionParameters)
) -> JsonObject:
    from tersely.cli.agent.sessions import run_sessions

    if wanted.verb is SessionVerb.RESUME:
        return _talk(asked, ChatParameters(resume=wanted.session or LAST))
    return run_sessions(asked.options.root, wanted, asked.style)
