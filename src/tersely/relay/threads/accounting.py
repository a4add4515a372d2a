"""The savings of agents: the tokens that they would have sent by pasting, and those that they were
sent instead.

*naive* is what a thread's artifacts come to, with the files that packs stand for; *actual* is the
previews and headers that were handed out in their place; *avoided* is the difference. Both are
counted in real tokens and, for comparison with tools that do so, as characters divided by four.
"""

from __future__ import annotations

from collections.abc import Iterable

from tersely.foundation.types import JsonObject, frozen
from tersely.relay.encoding import timestamp
from tersely.relay.store.commands import Count
from tersely.relay.store.store import Store
from tersely.relay.threads.state import METRICS

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


@frozen
class ScopeSavings:
    """The tokens and calls that a thread, capability or agent has cost and saved."""

    counts: dict[str, int]

    def told(self) -> JsonObject:
        """The figures as doors send them."""
        naive, actual = self.counts.get("naive_tokens", 0), self.counts.get("actual_tokens", 0)
        naive_estimate = self.counts.get("naive_estimate", 0)
        actual_estimate = self.counts.get("actual_estimate", 0)
        return {
            "naive_tokens": naive,
            "actual_tokens": actual,
            "avoided_tokens": naive - actual,
            "estimate": {
                "naive_tokens": naive_estimate,
                "actual_tokens": actual_estimate,
                "avoided_tokens": naive_estimate - actual_estimate,
            },
            "artifacts": self.counts.get("artifacts", 0),
            "invocations": self.counts.get("invocations", 0),
            "cache_hits": self.counts.get("cache_hits", 0),
            "cache_misses": self.counts.get("cache_misses", 0),
            "hops": self.counts.get("hops", 0),
        }


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


def savings(store: Store, scope: str) -> ScopeSavings:
    """The figures of a scope."""
    return ScopeSavings(store.counts(scope))


def metrics_of(store: Store, thread_id: str) -> dict[str, int]:
    """The metrics of a thread's state."""
    told = savings(store, f"thread/{thread_id}").told()
    values = (
        told["cache_hits"], told["cache_misses"], told["actual_tokens"], told["avoided_tokens"], told["hops"],
    )  # fmt: skip
    return dict(zip(METRICS, values, strict=True))
