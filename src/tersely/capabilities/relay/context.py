"""The context of capabilities of the relay: the relay, and who asks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import frozen

PERSON = "cli"  # as whom commands ask where no agent is named

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
