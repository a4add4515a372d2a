"""Names, and who acts under them."""

from __future__ import annotations

from tersely.capabilities.relay.context import PERSON, RelayContext
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import project_name

USER = "user"  # what somebody is who only asks, without a connection
AGENT = "agent"  # and who is introduced, as programs of agents have it done


def meet(context: RelayContext, kind: str = USER) -> None:
    """Let somebody act under a name, which is of a kind where it is new; raises `unauthorized`,
    `name_taken`, or `not_permitted` where an agent says to be the person.
    """
    if context.agent == PERSON and context.is_of_agent():
        raise no_person()
    mail, name = context.relay.mail, context.agent
    write = mail.identities.meet(
        name, kind, context.token, is_live=name in mail.presence.connected()
    )
    if write is not None:
        mail.do(write)


def no_person() -> TerselyError:
    """The error for an agent that says to be the person."""
    message = f"an agent speaks neither as a person nor as {PERSON}"
    return TerselyError("not_permitted", message, "take another name, and be an agent")


def register(context: RelayContext, root: str) -> None:
    """Note in which directory somebody works who is known."""
    mail = context.relay.mail
    write = mail.identities.place(context.agent, project_name(root), root)
    if write is not None:
        mail.do(write)
