"""What fits into a model's window: how it is shared out, and how full it is.

The shares are those of a window of 8,192 tokens and grow with it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

from tersely.agent.models.protocol import Message, Prompt
from tersely.agent.models.protocol import Usage as RequestUsage
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_REPLY_TOKENS, MIN_WINDOW_TOKENS

SHARED_TOKENS = 8_192  # the window that shares are given for
OBSERVATIONS_OF_TURN = 7  # that the share of observations is meant for
MESSAGE_TOKENS = 6  # that a template adds to each message, about
SUMMARY_SHARE = 5  # 1 in so many tokens of history may be a summary
KEPT_SHARE = 2  # 1 in so many tokens of history stays when old turns leave


class Counter(Protocol):
    """Counts the tokens of a text, as `foundation.tokens.Tokenizer` does."""

    def count(self, text: str) -> int:
        """Its tokens."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens of a window of `SHARED_TOKENS`, and how full in percent it may be before old turns leave."""

    agents: int = 300  # what AGENTS.md asks for
    retrieval: int = 1_200
    observations: int = 2_800
    history: int = 2_000
    reply: int = 1_000
    compact_percent: int = 70


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of one window."""

    window: int
    agents: int
    retrieval: int
    observations: int
    history: int
    reply: int
    threshold: int  # above which old turns leave

    @classmethod
    def of(cls, window: int, shares: Shares) -> Budget:
        """The shares of a window; raises `window_exceeded` for one that is too small to work in."""
        if window < MIN_WINDOW_TOKENS:
            hint = f"start the server with a context of at least {MIN_WINDOW_TOKENS:,} tokens, better 8,192"
            raise TerselyError("window_exceeded", f"a window of {window:,} tokens is too small", hint)
        sized = {
            share.name: getattr(shares, share.name) * window // SHARED_TOKENS
            for share in fields(shares)
            if share.name != "compact_percent"
        }
        parts = [name for name in sized if name != "observations"]
        if sum(sized[name] for name in parts) + sized["observations"] // OBSERVATIONS_OF_TURN > window * 4 // 5:
            hint = "they are meant for 8,192 tokens, of which prefix and results of calls need some too"
            raise TerselyError("invalid_setting", f"the chat_*_tokens do not fit into {window:,} tokens", hint)
        sized["reply"] = min(sized["reply"], MAX_REPLY_TOKENS)
        return cls(window, **sized, threshold=window * shares.compact_percent // 100)

    @property
    def observation(self) -> int:
        """What one observation may have."""
        return self.observations // OBSERVATIONS_OF_TURN

    @property
    def message(self) -> int:
        """What one message of the user's may have before its middle is left out."""
        return self.history

    @property
    def kept(self) -> int:
        """What the turns may have that stay when others leave.

        Less than history has: what stays has moved, so a server evaluates it again, and the next turns leave later.
        """
        return self.history // KEPT_SHARE

    @property
    def summary(self) -> int:
        """What a summary may have."""
        return self.history // SUMMARY_SHARE

    @property
    def room(self) -> int:
        """What a prompt may have, so that a reply fits."""
        return self.window - self.reply


class Gauge:
    """How many tokens a prompt has: what the server counted last, and an estimate of what came since."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: Prompt = ()
        self._known_tokens = 0
        self._factor = 1.0  # of the server's tokens to ours, as far as it is known; at least 1

    def tokens(self, prompt: Prompt) -> int:
        """The tokens of a prompt."""
        known = self._known_tokens if self._known and prompt[: len(self._known)] == self._known else 0
        rest = prompt[len(self._known) :] if known else prompt
        return known + int(self._factor * sum(map(self._estimated, rest)))

    def own(self, tokens: int) -> int:
        """As many tokens of ours as so many of the server's."""
        return int(tokens / self._factor)

    def told(self, prompt: Prompt, usage: RequestUsage) -> None:
        """Learn what the server counted for a prompt."""
        estimated = sum(map(self._estimated, prompt))
        self._factor = max(1.0, usage.prompt_tokens / max(estimated, 1))
        self._known, self._known_tokens = prompt, usage.prompt_tokens

    def _estimated(self, message: Message) -> int:
        calls = sum(self._counter.count(call.arguments) + MESSAGE_TOKENS for call in message.calls)
        return self._counter.count(message.content) + calls + MESSAGE_TOKENS
