"""The permissions that agents wait for: asked by a hook, or by `run` for a dialog. To answer is no
capability: agents never do.
"""

from __future__ import annotations

from tersely.capabilities.answers.later import Later
from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import (
    Effect,
    frozen,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.context import RelayContext

MAX_TOOL_CHARACTERS = 200  # of the name of a tool, or the first row of a dialog
MAX_PERMISSION_CHARACTERS = 2_000  # of what is shown of a call
MAX_PERMISSION_SECONDS = 5  # for an answer, within one question


@frozen
class PermissionAnswer:
    """A question, and `allow` or `deny` where the person has answered it."""

    id: str
    decision: str


def _text(answer: PermissionAnswer, style: Style) -> str:
    return f"{style.symbol(answer.id)}: {answer.decision or 'not answered yet'}"


@relay_capability(
    "permission.ask", _text, effect=Effect.WRITE, fails=("permission_not_found", "busy")
)
def wait(
    context: RelayContext,
    *,
    tool: str = positional("the tool that it wants to use", minimum=1, maximum=MAX_TOOL_CHARACTERS),
    what: str = positional(
        "what for: a command, a path", metavar="TEXT", maximum=MAX_PERMISSION_CHARACTERS
    ),
    id: str = option("", "of a question that was asked before", maximum=40),
    seconds: int = option(
        0, "how long to wait for an answer", minimum=0, maximum=MAX_PERMISSION_SECONDS
    ),
    over: bool = option(False, "it waits no more: the question is taken back"),
) -> PermissionAnswer | Later[PermissionAnswer]:
    """Have the person asked whether a tool may be used, wherever the person is.

    Hooks of agents, and `run`, ask it while a dialog is open. The person alone answers, on the page
    of agents or by `tersely agents approve`.
    """
    permissions = context.relay.permissions
    if over:
        ended = permissions.close(context.agent, id)
        return PermissionAnswer(ended.id, ended.decision)
    asked = permissions.ask(context.agent, tool, what, id)

    def told(answered: None = None) -> PermissionAnswer:
        return PermissionAnswer(asked.id, asked.decision)

    if not seconds:
        return told()
    return Later(permissions.wait(asked, seconds), told)
