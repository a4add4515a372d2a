"""The programs that agents of a thread start: what runs them asks before it starts another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import Effect, option, relay_capability
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.threads import OF_THREAD, spent_line, spent_told
from tersely.foundation.errors import TerselyError
from tersely.relay.wire.documents import THREAD_ERRORS, SpentTold

if TYPE_CHECKING:
    from tersely.relay.threads.threads import Thread


def _text(spent: SpentTold, style: Style) -> str:
    return spent_line(spent)


@relay_capability(
    "thread.spend",
    _text,
    effect=Effect.WRITE,
    fails=(*THREAD_ERRORS, "spending_limit", "not_permitted"),
)
def spend(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
    programs: int = option(0, "that the agent is about to start", minimum=0, maximum=100),
) -> SpentTold:
    """Ask before an agent of a thread starts another program.

    Programs are refused once the agents of the thread have started in a day (UTC) as many as the
    policy allows.
    """
    from tersely.relay.teams import spending
    from tersely.relay.threads import threads

    relay = context.relay
    of = threads.get(relay.store, thread)
    _check_own(context, of)
    started = spending.start(relay.store, of, programs, relay.policy)
    return spent_told(context, of, started)


def _check_own(context: RelayContext, thread: Thread) -> None:
    """Raise `not_permitted` for an agent that neither works in a thread nor has made it."""
    is_own = context.is_of_person or thread.created_by == context.agent
    if not (is_own or context.relay.mail.identities.works_in(context.agent, thread.thread_id)):
        message = f"{context.agent} does not work in the thread {thread.thread_id[:80]}"
        hint = "an agent starts programs in the thread that it was started in, or made"
        raise TerselyError("not_permitted", message, hint)
