"""Results that come later, from others whom no thread should wait for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from tersely.capabilities.declaration.declaration import frozen

ResultT = TypeVar("ResultT")
MadeT = TypeVar("MadeT")


@frozen
class Later(Generic[ResultT]):
    """An answer that is waited for, and the function that makes the result of it, which may take a
    while.
    """

    awaited: Future[Any]
    finish: Callable[[Any], ResultT]

    def then(self, make: Callable[[ResultT], MadeT]) -> Later[MadeT]:
        """A later answer, made of the result of this one."""
        return Later(self.awaited, lambda found: make(self.finish(found)))
