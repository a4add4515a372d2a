"""Equal questions that are asked at the same time are answered once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from tersely.foundation.types import entity, field

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress

AnswerT = TypeVar("AnswerT")


class Shared(NamedTuple, Generic[AnswerT]):
    """An answer, and whether it was worked out for whoever asked this time."""

    answer: AnswerT
    is_own: bool


@entity
class _Question(Generic[AnswerT]):
    """One that is being answered, and who is told of it."""

    work: asyncio.Task[AnswerT]
    waiting: int = 0
    listeners: list[Progress] = field(default_factory=list)


class Sharing(Generic[AnswerT]):
    """The questions that are being answered, by all that their answers depend on. Used on one loop."""

    def __init__(self) -> None:
        self._questions: dict[Hashable, _Question[AnswerT]] = {}

    async def ask(
        self,
        key: Hashable,
        work: Callable[[Progress], Awaitable[AnswerT]],
        on_progress: Progress | None = None,
    ) -> Shared[AnswerT]:
        """The answer of the work that is under way for `key`, else that of `work`, which tells of
        its progress.

        Raises what the work raises. Work for which nobody waits any more is cancelled.
        """
        question = self._questions.get(key)
        is_own = question is None
        if question is None:
            question = self._begun(key, work)
        question.waiting += 1
        if on_progress is not None:
            question.listeners.append(on_progress)
        try:
            return Shared(await asyncio.shield(question.work), is_own)
        finally:
            question.waiting -= 1
            if on_progress is not None:
                question.listeners.remove(on_progress)
            if not question.waiting:
                self._forget(key, question)
                question.work.cancel()

    def _begun(
        self, key: Hashable, work: Callable[[Progress], Awaitable[AnswerT]]
    ) -> _Question[AnswerT]:
        def tell(done: int, total: int) -> None:
            for listener in question.listeners:
                listener(done, total)

        async def run() -> AnswerT:
            return await work(tell)

        question = _Question(asyncio.get_running_loop().create_task(run()))
        self._questions[key] = question
        question.work.add_done_callback(lambda _: self._forget(key, question))
        return question

    def _forget(self, key: Hashable, question: _Question[AnswerT]) -> None:
        if self._questions.get(key) is question:
            del self._questions[key]
