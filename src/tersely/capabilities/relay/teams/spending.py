"""The spending of the agents of a thread: told by what runs them, which asks before it starts
another.
"""

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

MAX_SPENT_AT_ONCE = 1_000_000_000  # tokens or turns that one report tells of


@dataclass(frozen=True, slots=True)
class SpendParameters:
    """The use of an agent of a thread since it was last told, and the programs that it is to start."""

    thread: str = option(MISSING, "the id of a thread")
    programs: int = option(0, "that the agent is about to start", minimum=0, maximum=100)
    turns: int = option(0, "prompts that it has worked at", minimum=0, maximum=MAX_SPENT_AT_ONCE)
    tokens: int = option(0, "that it has used", minimum=0, maximum=MAX_SPENT_AT_ONCE)


def spend(context: RelayContext, parameters: SpendParameters) -> SpentTold:
    """The use of the thread's agents today, with that."""
    from tersely.relay.teams import spending
    from tersely.relay.threads import threads

    relay = context.relay
    thread = threads.get(relay.store, parameters.thread)
    _check_own(context, thread)
    more = spending.Spent(parameters.programs, parameters.turns, parameters.tokens)
    spent = spending.spend(relay.store, thread, context.agent, more, relay.policy)
    return spent_told(context, thread, spent)


def _check_own(context: RelayContext, thread: Thread) -> None:
    """Raise `not_permitted` for an agent that neither works in a thread nor has made it."""
    is_own = context.is_of_person or thread.created_by == context.agent
    if not (is_own or context.relay.mail.identities.works_in(context.agent, thread.thread_id)):
        message = f"{context.agent} does not work in the thread {thread.thread_id[:80]}"
        hint = "an agent tells what it uses to the thread that it was started in, or made"
        raise TerselyError("not_permitted", message, hint)


CAPABILITY = RelayCapability(
    name="thread.spend",
    summary="Tell what an agent of a thread has used, and ask before it starts another program",
    description="`tersely run` tells the turns of its program, and the tokens that the program writes down. Programs "
    "are refused once the agents of the thread have used in a day (UTC) what the policy allows.",
    parameters=SpendParameters,
    run=spend,
    text=lambda told, style: spent_line(told),
    effect=Effect.WRITE,
    fails=(*THREAD_ERRORS, "spending_limit", "not_permitted"),
)
