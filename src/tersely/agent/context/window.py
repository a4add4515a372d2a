"""The window of a model: its shares, and how full it is."""

from __future__ import annotations

import math

from tersely.agent.models.protocol import ModelMessage, Prompt, RawCall, RequestUsage
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MIN_WINDOW_TOKENS
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import frozen

MAX_REPLY_TOKENS = 8_000
MAX_COUNTED_REASONING = 256  # answers whose reasoning is sent back, the newest

# The shares are tokens of a window of SHARED_TOKENS, and grow and shrink with it.
SHARED_TOKENS = 8_192
AGENTS_TOKENS = 300  # for AGENTS.md
RETRIEVAL_TOKENS = 1_200  # for code in front of a message
OBSERVATIONS_TOKENS = 2_800  # for results of calls
HISTORY_TOKENS = 2_000  # for turns that stay when others leave
REPLY_TOKENS = 1_000  # for one answer, where the user has set no limit
COMPACT_PERCENT = 70  # of the window, above which old turns leave
LARGEST_REPLY_SHARE = 5  # 1 in so many tokens of the window may be set as the limit of an answer
OBSERVATIONS_OF_TURN = 7  # that the share of observations is meant for
PICTURE_TOKENS = 1_400  # of a picture of a page, about: 1,000 to 1,400 by the rules of providers
LEAST_PICTURES = 2  # for which the share of observations has room, where pictures are sent
MESSAGE_TOKENS = 6  # that a template adds to each message, about
SUMMARY_SHARE = 5  # 1 in so many tokens of history may be a summary
KEPT_SHARE = 2  # 1 in so many tokens of history stays when old turns leave


@frozen
class Budget:
    """Tokens of one window."""

    window: int
    reply: int  # of one answer, thoughts included

    @classmethod
    def of(cls, window: int, reply_tokens: int = 0) -> Budget:
        """The budget of a window; an answer has at most `reply_tokens`, its usual share for 0.

        Raises `window_exceeded` for a window that is too small to work in, `invalid_setting` for a
        limit on answers that leaves too little of it.
        """
        if window < MIN_WINDOW_TOKENS:
            hint = f"start the server with a context of at least {MIN_WINDOW_TOKENS:,} tokens, better 8,192"
            raise TerselyError(
                "window_exceeded", f"a window of {window:,} tokens is too small", hint
            )
        largest = window // LARGEST_REPLY_SHARE
        if reply_tokens > largest:
            message = f"chat_reply_tokens of {reply_tokens:,} is too much for a window of {window:,} tokens"
            raise TerselyError(
                "invalid_setting",
                message,
                f"set at most {largest:,}, or a larger window of the server",
            )
        usual = min(_share(REPLY_TOKENS, window), MAX_REPLY_TOKENS)
        return cls(window, reply_tokens or usual)

    @property
    def agents(self) -> int:
        """Tokens for AGENTS.md."""
        return _share(AGENTS_TOKENS, self.window)

    @property
    def retrieval(self) -> int:
        """Tokens for code in front of a message."""
        return _share(RETRIEVAL_TOKENS, self.window)

    @property
    def observations(self) -> int:
        """Tokens for the results of a turn's calls."""
        return _share(OBSERVATIONS_TOKENS, self.window)

    @property
    def history(self) -> int:
        """Tokens for the last turn, when others leave."""
        return _share(HISTORY_TOKENS, self.window)

    @property
    def threshold(self) -> int:
        """Tokens of a prompt above which old turns leave."""
        return self.window * COMPACT_PERCENT // 100

    @property
    def observation(self) -> int:
        """The tokens that one observation may have."""
        return self.observations // OBSERVATIONS_OF_TURN

    @property
    def has_pictures(self) -> bool:
        """True if there is room for pictures of pages."""
        return self.observations >= LEAST_PICTURES * PICTURE_TOKENS

    @property
    def message(self) -> int:
        """The tokens that one message of the user's may have before its middle is left out."""
        return self.history

    @property
    def kept(self) -> int:
        """The tokens that the turns may have that stay when others leave.

        Less than history has: what stays has moved, so a server evaluates it again, and the next
        turns leave later.
        """
        return self.history // KEPT_SHARE

    @property
    def summary(self) -> int:
        """The tokens that a summary may have: it is an answer too."""
        return min(self.history // SUMMARY_SHARE, self.reply)

    @property
    def room(self) -> int:
        """The tokens that a prompt may have, so that a reply fits."""
        return self.window - self.reply


def _share(tokens: int, window: int) -> int:
    return tokens * window // SHARED_TOKENS


class Gauge:
    """The count of the tokens of a prompt: what the server counted last, and an estimate of what
    came since.

    `declared_tokens` is our count of the functions or the schema that go with each request, which
    templates put into the prompt.
    """

    def __init__(self, counter: Tokenizer) -> None:
        self.declared_tokens = 0
        self._counter = counter
        self._known: Prompt = ()
        self._known_tokens = 0
        self._known_declared = 0
        # tokens that are sent back before these calls
        self._reasoning: dict[tuple[RawCall, ...], int] = {}
        self._factor = 1.0  # of the server's tokens to ours, as far as it is known; at least 1

    def tokens(self, prompt: Prompt) -> int:
        """The tokens of a prompt."""
        is_known = bool(self._known) and prompt[: len(self._known)] == self._known
        known, declared = (self._known_tokens, self._known_declared) if is_known else (0, 0)
        rest = prompt[len(self._known) :] if is_known else prompt
        new = max(0, self.declared_tokens - declared) + sum(map(self._estimated, rest))
        return known + math.ceil(self._factor * new)

    def own(self, tokens: int) -> int:
        """As many tokens of ours as so many of the server's."""
        return int(tokens / self._factor)

    def told(self, prompt: Prompt, usage: RequestUsage) -> None:
        """Learn what the server counted for a prompt."""
        estimated = self.declared_tokens + sum(map(self._estimated, prompt))
        self._factor = max(1.0, usage.prompt_tokens / max(estimated, 1))
        self._known = prompt
        self._known_tokens = usage.prompt_tokens
        self._known_declared = self.declared_tokens

    def reasoned(self, calls: tuple[RawCall, ...], tokens: int) -> None:
        """Count so many of the server's tokens of reasoning with the calls that they led to, from
        now on.
        """
        self._reasoning.pop(calls, None)
        self._reasoning[calls] = self.own(tokens)
        while len(self._reasoning) > MAX_COUNTED_REASONING:
            del self._reasoning[next(iter(self._reasoning))]

    def _estimated(self, message: ModelMessage) -> int:
        reasoning = self._reasoning.get(message.calls, 0) if message.calls else 0
        calls = sum(
            self._counter.count(call.name + call.arguments) + MESSAGE_TOKENS
            for call in message.calls
        )
        pictures = PICTURE_TOKENS * len(message.pictures)
        return self._counter.count(message.content) + pictures + calls + reasoning + MESSAGE_TOKENS
