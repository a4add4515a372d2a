"""The tokens that one session may use: a request that may exceed them is not sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from tersely.agent.context.window import Gauge
from tersely.agent.models.protocol import Abilities, Chunk, Constraint, Model, Prompt
from tersely.agent.sessions.session import ChatSession
from tersely.foundation.errors import TerselyError

SPENT = "session_budget_spent"
_HINT = "allow more: --session-tokens N with --continue, or /budget N"


class BudgetedModel:
    """A model as one session may ask it. `limit_tokens` is for prompts and answers together, 0 for
    no limit.
    """

    def __init__(self, model: Model, session: ChatSession, gauge: Gauge, limit_tokens: int) -> None:
        self.limit_tokens = limit_tokens
        self._model = model
        self._session = session
        self._gauge = gauge

    @property
    def abilities(self) -> Abilities:
        """Those of the model."""
        return self._model.abilities

    def spent(self) -> int:
        """The tokens of all requests of the session so far, cached ones included."""
        return self._session.spent_tokens()

    def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        *rest: Any,
        **more: Any,
    ) -> AsyncGenerator[Chunk]:
        """As `Model.stream`; raises `session_budget_spent` where prompt and answer may be more than
        is left.
        """
        coming = self._gauge.tokens(prompt) + most_tokens
        self._check(coming)
        return self._within(
            coming, self._model.stream(prompt, constraint, most_tokens, *rest, **more)
        )

    async def _within(self, coming: int, chunks: AsyncIterator[Chunk]) -> AsyncGenerator[Chunk]:
        """The chunks, up to an attempt that there are no tokens for."""
        async with aclosing(chunks) as stream:  # type: ignore[type-var]
            async for chunk in stream:
                yield chunk
                if chunk.begins_attempt:
                    self._check(coming)

    def _check(self, coming: int) -> None:
        if self.limit_tokens and self.spent() + coming > self.limit_tokens:
            message = (
                f"the session has used {self.spent():,} of its {self.limit_tokens:,} tokens, "
                f"and the next request may take {coming:,}"
            )
            raise TerselyError(SPENT, message, _HINT)

    async def close(self) -> None:
        """Let go of the model."""
        await self._model.close()
