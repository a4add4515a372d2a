"""The cache of the server by its own figures: what it evaluated again, and whether it can keep a
changed prompt.

Hybrid and recurrent models keep a state, not a row for each token: a server cannot cut it back to
where two prompts part, nor move what stays. That is seen in `cached_tokens`, whatever the model is
called.
"""

from __future__ import annotations

from tersely.agent.context.window import MESSAGE_TOKENS, Counter
from tersely.agent.models.protocol import Prompt, Usage

LEAST_PROMISED_TOKENS = 128  # of a common beginning, below which nothing follows
LOST_SHARE = 2  # a cache with less than 1 in so many of the promised tokens is lost
LOST_REQUESTS = 2  # until a cache counts as fragile


class CacheWatch:
    """Compares what each prompt has in common with the one before with what the server found in its
    cache.
    """

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._before: Prompt = ()
        self._before_tokens = 0
        self._kept = self._lost = 0  # requests that found what was promised, and that did not
        self._is_promised = True

    def reevaluated(self, prompt: Prompt, usage: Usage) -> int:
        """The tokens of a prompt that had been evaluated for the one before, and were evaluated
        again.

        0 where the server does not report its cache, and for the first prompt.
        """
        before, before_tokens = self._before, self._before_tokens
        self._before, self._before_tokens = prompt, usage.prompt_tokens
        if usage.cached_tokens is None or not before:
            return 0
        promised = self._promised(before, before_tokens, prompt)
        is_promised = self._is_promised and promised >= LEAST_PROMISED_TOKENS
        self._is_promised = True
        if is_promised:
            is_lost = usage.cached_tokens < promised // LOST_SHARE
            self._lost += is_lost
            self._kept += not is_lost
        return max(0, min(before_tokens, usage.prompt_tokens) - usage.cached_tokens)

    def _promised(self, before: Prompt, before_tokens: int, prompt: Prompt) -> int:
        """The tokens that two prompts begin with in common, as far as whole messages are the same."""
        if prompt[: len(before)] == before:
            return before_tokens
        common = 0
        for one, other in zip(before, prompt, strict=False):
            if one != other:
                break
            common += self._counter.count(one.content) + MESSAGE_TOKENS
        return common

    def forget(self) -> None:
        """The functions that stand before every message have changed: nothing is promised of the
        next prompt.
        """
        self._is_promised = False

    @property
    def is_fragile(self) -> bool:
        """True if the server has lost what it had evaluated, though prompts began alike,
        LOST_REQUESTS times.

        One that never finds anything has no cache that could be spared.
        """
        return self._kept > 0 and self._lost >= LOST_REQUESTS
