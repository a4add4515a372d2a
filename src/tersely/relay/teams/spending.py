"""The programs that agents of a thread start in a day, and the bound beyond which none starts another."""

from __future__ import annotations

from tersely.foundation.errors import TerselyError
from tersely.relay.policy import CONFIG, Policy
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables, add, forget_counters
from tersely.relay.threads.accounting import day_scope
from tersely.relay.threads.threads import Thread

SPENT = "spent/"  # how the scopes begin of what was used in a day
SPENDING_KEPT_SECONDS = 40 * 86_400  # after which the figures of a day are forgotten
PROGRAMS = "programs"


def bound(policy: Policy, thread: Thread) -> int:
    """The most programs that the agents of a thread start in a day."""
    return thread.most.get(PROGRAMS, policy.thread_programs)


def programs(store: Store, thread_id: str) -> int:
    """The number of programs that the agents of a thread have started today."""
    return store.counts(_scope(store, thread_id)).get(PROGRAMS, 0)


def start(store: Store, thread: Thread, more: int, policy: Policy) -> int:
    """Count programs that are about to be started; the number of today. Raises `spending_limit`
    where that is beyond the bound: none is counted then.
    """
    scope, most = _scope(store, thread.thread_id), bound(policy, thread)

    def do(tables: Tables) -> int:
        known = add(tables, scope, PROGRAMS, 0)
        if more and known + more > most:
            raise _beyond(thread, known, most)
        add(tables, scope, PROGRAMS, more)
        return known + more

    return store.write(do).result()


def forget(store: Store) -> None:
    """Forget the figures of days that are longer ago than `SPENDING_KEPT_SECONDS`."""
    end = SPENT + day_scope(store.now_ms() - SPENDING_KEPT_SECONDS * 1000)
    store.write(lambda tables: forget_counters(tables, SPENT, end)).result()


def _beyond(thread: Thread, known: int, most: int) -> TerselyError:
    raised = f"raise thread_programs in {CONFIG} and start the relay anew"
    made = "make a thread with more programs, by `tersely relay thread new`"
    return TerselyError(
        "spending_limit",
        f"the agents of this thread have started {known:,} of {most:,} programs today (UTC): no agent "
        "starts another",
        f"a person may {made if PROGRAMS in thread.most else raised}, or start the program",
    )


def _scope(store: Store, thread_id: str) -> str:
    return f"{SPENT}{day_scope(store.now_ms())}/thread/{thread_id}"
