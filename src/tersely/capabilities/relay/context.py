"""The context of capabilities of the relay: the relay, and who asks it under which name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import frozen
from tersely.foundation.errors import TerselyError

PERSON = "cli"  # as whom commands ask where no agent is named
USER = "user"  # what somebody is who only asks, without a connection
AGENT = "agent"  # and who is introduced, as programs of agents have it done

if TYPE_CHECKING:
    from tersely.relay.access.principals import Principal
    from tersely.relay.relay import Relay


@frozen
class RelayContext:
    """One question to a relay: the agent that asks, and the key under which a repetition happens
    once.
    """

    relay: Relay
    agent: str
    key: str = ""
    expected: str = ""  # the version of a state that a change is for, "" for any
    # the identity for which the agent asks; None: the relay's own user
    principal: Principal | None = None
    # whether the person has typed it at a terminal that no agent was started in
    is_typed: Callable[[], bool] = lambda: False
    # whether an agent that can be seen has started the program that asks
    is_of_agent: Callable[[], bool] = lambda: False
    token: str = ""  # that shows that the name of the agent is its own

    @property
    def is_of_person(self) -> bool:
        """True if a person asks rather than a program of hers."""
        if self.principal is None:
            return self.agent == PERSON
        return self.agent == self.principal.name and self.principal.kind == "person"


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
    from tersely.foundation.git.project import project_name  # which runs git

    mail = context.relay.mail
    write = mail.identities.place(context.agent, project_name(root), root)
    if write is not None:
        mail.do(write)
