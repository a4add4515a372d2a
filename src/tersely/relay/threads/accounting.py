"""The savings of agents: the tokens that they would have sent by pasting, and those that they were
sent instead.

*naive* is what a thread's artifacts come to, with the files that packs stand for; *actual* is the
previews and headers that were handed out in their place; *avoided* is the difference. Both are
counted in real tokens and, for comparison with tools that do so, as characters divided by four.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tersely.foundation.types import frozen
from tersely.relay.encoding import timestamp
from tersely.relay.store.commands import Count
from tersely.relay.store.store import Store
from tersely.relay.threads.state import METRICS
from tersely.relay.wire.documents import Estimate, Savings

ALL = "all"  # the scope of everything
_DATE_CHARACTERS = len("1970-01-01")
CHARACTERS_A_TOKEN = 4  # of the estimate that is common, and wrong by up to a quarter on code


@frozen
class Size:
    """The length of a text in tokens and in characters."""

    tokens: int
    characters: int

    @property
    def estimate(self) -> int:
        """Tokens by the common estimate."""
        return self.characters // CHARACTERS_A_TOKEN


def scopes(thread_id: str, actor: str, capability: str, at_ms: int) -> list[str]:
    """The scopes whose figures something counts to that happened at a time (ms since 1970): its
    own, those of its day and of all.
    """
    named = (("thread", thread_id), ("agent", actor), ("capability", capability))
    return [*(f"{kind}/{name}" for kind, name in named if name), day_scope(at_ms), ALL]


def day_scope(at_ms: int) -> str:
    """The scope of what happened on the day of a time (ms since 1970), in UTC."""
    return f"day/{timestamp(at_ms)[:_DATE_CHARACTERS]}"


def spent(where: Iterable[str], naive: Size, actual: Size, **counts: int) -> list[Count]:
    """The commands that note what something would have cost and what it did, with other counts."""
    amounts = {
        "naive_tokens": naive.tokens,
        "actual_tokens": actual.tokens,
        "naive_estimate": naive.estimate,
        "actual_estimate": actual.estimate,
        **counts,
    }
    return [
        Count(scope, name, amount) for scope in where for name, amount in amounts.items() if amount
    ]


def savings(store: Store, scope: str) -> Savings:
    """The figures of a scope."""
    counts = Counter(store.counts(scope))
    naive, actual = counts["naive_tokens"], counts["actual_tokens"]
    of_estimate = counts["naive_estimate"], counts["actual_estimate"]
    return Savings(
        naive,
        actual,
        naive - actual,
        Estimate(*of_estimate, of_estimate[0] - of_estimate[1]),
        counts["artifacts"],
        counts["invocations"],
        counts["cache_hits"],
        counts["cache_misses"],
        counts["hops"],
    )


def metrics_of(store: Store, thread_id: str) -> dict[str, int]:
    """The metrics of a thread's state."""
    found = savings(store, f"thread/{thread_id}")
    values = (
        found.cache_hits, found.cache_misses, found.actual_tokens, found.avoided_tokens, found.hops,
    )  # fmt: skip
    return dict(zip(METRICS, values, strict=True))
