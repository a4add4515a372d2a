"""The bounds that a computation met, with the sentence about them, and the questions that it asked.

Bounds are cached with the result that they limit, so an answer names the same bounds whichever
questions came before. An answer holds as long as the questions that it asked of the index and of
files have the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonObject, Strings

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)

# (class, method, arguments, keyword arguments, hash of the result), the first two by name
Question = tuple[str, str, tuple[Any, ...], JsonObject, bytes]

# methods whose results are no part of an answer, or that are recorded by themselves
_UNRECORDED = frozenset(
    {"is_current", "revision", "data_version", "snapshot", "writing", "known", "file_facts"}
)

NONE: frozenset[str] = frozenset()


class Findings(NamedTuple):
    """The reasons why an answer may lack something, or be about something else than was meant."""

    bounds: frozenset[str] = NONE  # that were met, as sentences
    other_definitions: frozenset[str] = NONE  # sentences about further definitions of a name
    unread: Strings = ()  # files that may matter, each with the reason, in order
    changed: frozenset[str] = NONE  # files that have changed since they were indexed

    def joined(self, other: Findings) -> Findings:
        """The findings of both."""
        return Findings(
            self.bounds | other.bounds,
            self.other_definitions | other.other_definitions,
            (*dict.fromkeys((*self.unread, *other.unread)),),
            self.changed | other.changed,
        )


class Bounds:
    """Collects the bounds met by a computation; a nested `collect` collects for itself."""

    def __init__(self) -> None:
        self._collected: list[frozenset[str]] = []

    def add(self, *bounds: str) -> None:
        """Say that something stays unknown because of some bounds."""
        if bounds and self._collected:
            self._collected[-1] = self._collected[-1].union(bounds)

    def collect(
        self, compute: Callable[..., Result], *arguments: object
    ) -> tuple[Result, frozenset[str]]:
        """The result of a function, and the bounds that it met, which enclosing calls do not
        receive.
        """
        collected = self._collected
        collected.append(NONE)
        try:
            found = compute(*arguments)
            return found, collected[-1]
        finally:
            collected.pop()

    def once(
        self,
        known: dict[Key, tuple[Result, frozenset[str]]],
        key: Key,
        compute: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        """The result of a function, computed once a key; each call meets the bounds of the
        computation.
        """
        answer = known.get(key)
        if answer is None:
            answer = known[key] = self.collect(compute, *arguments)
        self.add(*answer[1])
        return answer[0]


def missing_text(bounds: Collection[str]) -> list[str]:
    """The one sentence about bounds for which an answer may lack something, none for no bounds."""
    wide = "search for the name in double quotes to see all places that write it"
    return [f"not complete: {min(bounds)}; {wide}"] if bounds else []


class QuestionLog:
    """Records calls of methods with the hashes of their results, while a caller needs them."""

    # in order; None while no caller needs them, or once a call has failed
    questions: list[Question] | None = None

    def record(self, call: Callable[..., Result], *given: Any, **named: Any) -> Result:
        """The result of a method, whose call is recorded."""
        try:
            found = call(*given, **named)
        except BaseException:
            self.questions = None  # a caller may go on without the result
            raise
        if self.questions is not None:
            whom: Any = call.__self__  # type: ignore[attr-defined]
            self.questions.append(
                (type(whom).__name__, call.__name__, given, named, hash_of(found))
            )
        return found


class RecordingProxy:
    """Stands for an object and records the calls of its methods."""

    def __init__(self, log: QuestionLog, inner: Any) -> None:
        self._log = log
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in _UNRECORDED or not callable(found):
            return found
        return partial(self._log.record, found)


def hash_of(found: object) -> bytes:
    """The hash of a plain value."""
    return content_hash(repr(found).encode("utf-8", "surrogatepass"))
