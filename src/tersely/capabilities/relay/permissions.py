"""What an agent waits for permission to do: asked by its hook. To answer is no capability: agents
never do.
"""

from __future__ import annotations

from dataclasses import dataclass

from tersely.capabilities.declaration import (
    Effect,
    RelayCapability,
    option,
    positional,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.text import Style

MAX_PERMISSION_CHARACTERS = 2_000  # of what is shown of a call
MAX_PERMISSION_SECONDS = 5  # for an answer, within one question


@dataclass(frozen=True, slots=True)
class PermissionParameters:
    """The thing that an agent wants to do, and how long it waits; asked again with the `id` of the
    first answer.
    """

    tool: str = positional("the tool that it wants to use", minimum=1, maximum=200)
    what: str = positional(
        "what for: a command, a path", metavar="TEXT", maximum=MAX_PERMISSION_CHARACTERS
    )
    id: str = option("", "of a question that was asked before", maximum=40)
    seconds: int = option(
        0, "how long to wait for an answer", minimum=0, maximum=MAX_PERMISSION_SECONDS
    )


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """A question, and `allow` or `deny` where the person has answered it."""

    id: str
    decision: str


def wait(context: RelayContext, parameters: PermissionParameters) -> PermissionAnswer:
    """The person's answer."""
    asked = context.relay.permissions.ask(
        context.agent, parameters.tool, parameters.what, parameters.id, parameters.seconds
    )
    return PermissionAnswer(asked.id, asked.decision)


def _text(answer: PermissionAnswer, style: Style) -> str:
    return f"{style.symbol(answer.id)}: {answer.decision or 'not answered yet'}"


CAPABILITY = RelayCapability(
    name="permission.ask",
    summary="Have the person asked whether a tool may be used, wherever the person is",
    description="Hooks of agents ask it while their dialog is open. The person alone answers, on the page of agents or "
    "by `tersely agents approve`.",
    parameters=PermissionParameters,
    run=wait,
    text=_text,
    effect=Effect.WRITE,
    fails=("permission_not_found", "busy"),
)
