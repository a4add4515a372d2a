"""The programs that agents of a thread start: what runs them asks before it starts another."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import (
    Effect,
    RelayCapability,
    option,
)
from tersely.capabilities.relay.answers.documents import THREAD_ERRORS, SpentTold
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.threads import spent_line, spent_told
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.relay.threads.threads import Thread


@dataclass(frozen=True, slots=True)
class SpendParameters:
    """The programs that an agent of a thread is to start."""

    thread: str = option(MISSING, "the id of a thread")
    programs: int = option(0, "that the agent is about to start", minimum=0, maximum=100)


def spend(context: RelayContext, parameters: SpendParameters) -> SpentTold:
    """The programs of the thread's agents today, with those."""
    from tersely.relay.teams import spending
    from tersely.relay.threads import threads

    relay = context.relay
    thread = threads.get(relay.store, parameters.thread)
    _check_own(context, thread)
    programs = spending.start(relay.store, thread, parameters.programs, relay.policy)
    return spent_told(context, thread, programs)


def _check_own(context: RelayContext, thread: Thread) -> None:
    """Raise `not_permitted` for an agent that neither works in a thread nor has made it."""
    is_own = context.is_of_person or thread.created_by == context.agent
    if not (is_own or context.relay.mail.identities.works_in(context.agent, thread.thread_id)):
        message = f"{context.agent} does not work in the thread {thread.thread_id[:80]}"
        hint = "an agent starts programs in the thread that it was started in, or made"
        raise TerselyError("not_permitted", message, hint)


CAPABILITY = RelayCapability(
    name="thread.spend",
    summary="Ask before an agent of a thread starts another program",
    description="Programs are refused once the agents of the thread have started in a day (UTC) as many as the policy "
    "allows.",
    parameters=SpendParameters,
    run=spend,
    text=lambda told, style: spent_line(told),
    effect=Effect.WRITE,
    fails=(*THREAD_ERRORS, "spending_limit", "not_permitted"),
)
