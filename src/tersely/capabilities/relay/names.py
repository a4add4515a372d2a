"""Who acts under which name."""

from __future__ import annotations

from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.git.project import project_name

USER = "user"  # what somebody is who only asks, without a connection


def meet(context: RelayContext, token: str) -> None:
    """Let somebody act under a name; raises `unauthorized` or `name_taken`."""
    mail, name = context.relay.mail, context.agent
    write = mail.identities.meet(name, USER, token, is_live=name in mail.presence.connected())
    if write is not None:
        mail.do(write)


def register(context: RelayContext, root: str) -> None:
    """Note in which directory somebody works who is known."""
    mail = context.relay.mail
    write = mail.identities.place(context.agent, project_name(root), root)
    if write is not None:
        mail.do(write)
