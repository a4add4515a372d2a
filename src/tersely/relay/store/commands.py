"""The commands by which the store is written, as plain data.

A batch of commands is written as a whole or not at all, in their order, in one transaction. What
each command gives is a whole number, said with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.types import Numbers, frozen


class DocumentEdit(NamedTuple):
    """The next version of a document, and the change that led to it, which the store keeps beside
    it unread.
    """

    body: bytes
    change: bytes


@frozen
class Append:
    """An entry at the end of a stream. Gives its number: 1, 2, … without gaps in each stream.

    A body may be made of what the commands before it in the batch gave, as an event that tells a
    version.
    """

    stream: str
    kind: str
    body: bytes | Callable[[Sequence[int]], bytes]
    at_ms: int | None = None  # when it happened, if that was before now


@frozen
class Write:
    """The next version of a document. Gives its version: 1, 2, …

    `edit` is a pure function of the present body, None where there is none; it may be called more
    than once, and what it raises refuses the batch. With `expected`, the present version has to be
    that one (0: none yet), or the batch is refused with `version_conflict`.
    """

    document: str
    edit: Callable[[bytes | None], DocumentEdit]
    author: str = ""
    expected: int | None = None
    at_ms: int | None = None  # when it was made, if that was before now


@frozen
class KeptBlob:
    """A blob, by the SHA-256 of its bytes in hexadecimal; one that is there already stays. Gives
    its size in bytes.

    Its bytes are in `body`, or in a `file` beside the store's own, which is then moved to its
    place.
    """

    digest: str
    size_bytes: int
    body: bytes | None = None
    file: Path | None = None


@frozen
class Attach:
    """A blob as something of an owner's, under a name of the owner's choice that says what it is.
    Gives its number.

    A name that the owner has already stays with what it was. `text` is what full-text search finds
    it by.
    """

    owner: str
    name: str
    digest: str
    body: bytes
    text: str = ""
    at_ms: int | None = None  # when it was attached, if that was before now


@frozen
class Detach:
    """The end of an attachment. Gives 1, or 0 where there was none."""

    owner: str
    name: str


@frozen
class Cache:
    """An answer to be remembered until a time. Gives its size in bytes."""

    key: str
    body: bytes
    expires_ms: int


@frozen
class Count:
    """An amount to be added to a counter of a scope. Gives the new sum."""

    scope: str
    name: str
    amount: int = 1


Command = Append | Write | KeptBlob | Attach | Detach | Cache | Count


@frozen
class StoreBatch:
    """Commands that belong together.

    With a `key`, the batch happens once however often it is sent: for a while the store answers a
    repetition with what it gave the first time, and refuses another content under the same key
    (`key_reused`). `fingerprint` identifies that content.
    """

    commands: tuple[Command, ...]
    key: str = ""
    fingerprint: bytes = b""


@frozen
class Committed:
    """The results of a batch's commands, in order, and whether that had happened before."""

    given: Numbers
    is_repetition: bool = False


class StreamEntry(NamedTuple):
    """One entry of a stream."""

    number: int
    at_ms: int  # since 1970
    kind: str
    body: bytes


class Version(NamedTuple):
    """One version of a document."""

    number: int
    at_ms: int
    author: str
    change: bytes
    body: bytes


class Attached(NamedTuple):
    """One attachment of an owner."""

    number: int
    name: str
    digest: str
    size_bytes: int
    at_ms: int
    body: bytes


class Match(NamedTuple):
    """One attachment whose text holds what was looked for."""

    owner: str
    name: str
    digest: str
    body: bytes
    snippet: str  # the words that were found stand between « and »
    score: float  # higher is better
