"""The spending of a thread's agents in a day: programs that agents start, turns, and tokens; and
the bounds beyond which no agent starts another.
"""

from __future__ import annotations

from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.relay.policy import CONFIG, Policy
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables, add, forget_counters
from tersely.relay.threads.accounting import day_scope
from tersely.relay.threads.threads import Thread

SPENT = "spent/"  # how the scopes begin of what was used in a day
SPENDING_KEPT_SECONDS = 40 * 86_400  # after which the figures of a day are forgotten
_NAMES = ("programs", "turns", "tokens")


class Spent(NamedTuple):
    """The use of a day, in UTC: programs that agents have started, prompts that agents have worked
    at, and tokens, as far as agents write them down: of prompts but what was cached, and of
    answers.
    """

    programs: int = 0
    turns: int = 0
    tokens: int = 0


def bounds(policy: Policy, thread: Thread) -> Spent:
    """The most that the agents of a thread use in a day before no agent starts another."""
    everywhere = Spent(policy.thread_programs, policy.thread_turns, policy.thread_tokens)
    return everywhere._replace(**thread.most)


def of_thread(store: Store, thread_id: str) -> Spent:
    """The use of a thread's agents today."""
    return _spent(store, _scope(store, "thread", thread_id))


def of_agent(store: Store, name: str) -> Spent:
    """The use of an agent today."""
    return _spent(store, _scope(store, "agent", name))


def spend(store: Store, thread: Thread, actor: str, more: Spent, policy: Policy) -> Spent:
    """Add what an agent of a thread has used; the sums of the thread today.

    Turns and tokens have been used and are taken in any case. Programs are yet to be started:
    nothing is taken, and `spending_limit` raised, where that is beyond a bound.
    """
    of_thread, of_agent = _scope(store, "thread", thread.thread_id), _scope(store, "agent", actor)

    def do(tables: Tables) -> Spent:
        known = Spent(*(add(tables, of_thread, name, 0) for name in _NAMES))
        if more.programs:
            _check(known, more, bounds(policy, thread), thread)
        for scope in (of_thread, of_agent):
            for name, amount in zip(_NAMES, more, strict=True):
                add(tables, scope, name, amount)
        return Spent(*(a + b for a, b in zip(known, more, strict=True)))

    return store.write(do).result()


def forget(store: Store) -> None:
    """Forget the figures of days that are longer ago than `SPENDING_KEPT_SECONDS`."""
    end = SPENT + day_scope(store.now_ms() - SPENDING_KEPT_SECONDS * 1000)
    store.write(lambda tables: forget_counters(tables, SPENT, end)).result()


def _check(known: Spent, more: Spent, most: Spent, thread: Thread) -> None:
    """Raise `spending_limit` where programs that are to be started are beyond a bound."""
    used = known._replace(programs=known.programs + more.programs - 1)
    for name, count, bound in zip(_NAMES, used, most, strict=True):
        if count >= bound:
            raised = f"raise thread_{name} in {CONFIG} and start the relay anew"
            made = f"make a thread with more {name}, by `tersely relay thread new`"
            raise TerselyError(
                "spending_limit",
                f"the agents of this thread have used {count:,} of {bound:,} {name} today (UTC): "
                "no agent starts another",
                f"a person may {made if name in thread.most else raised}, or start the program",
            )


def _scope(store: Store, kind: str, name: str) -> str:
    return f"{SPENT}{day_scope(store.now_ms())}/{kind}/{name}"


def _spent(store: Store, scope: str) -> Spent:
    counts = store.counts(scope)
    return Spent(*(counts.get(name, 0) for name in _NAMES))
