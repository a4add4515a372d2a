"""Who acts under which name."""

from __future__ import annotations

from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.git.project import project_name

USER = "user"  # what somebody is who only asks, without a connection


def meet(context: RelayContext, token: str, root: str = "") -> None:
    """Let somebody act under a name, perhaps in a directory; raises `unauthorized` or `name_taken`."""
    mail, name = context.relay.mail, context.agent
    writes = [mail.identities.meet(name, USER, token, is_live=name in mail.presence.connected())]
    if root:
        writes.append(mail.identities.place(name, project_name(root), root))
    for write in writes:
        if write is not None:
            mail.do(write)
