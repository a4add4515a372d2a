"""The interface that the store needs of a database. The statements are the same for all; this is
where they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tersely.relay.store.commands import KeptBlob, Match

if TYPE_CHECKING:  # it knows the driver
    from tersely.relay.store.engines.sharing import StoreSharing

Row = tuple[Any, ...]


class Statements(Protocol):
    """One connection: statements with `?` for values, of the SQL that all databases here
    understand.
    """

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one or, without values, several statements for their effect."""

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement once a row."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, if it has one."""

    def row_each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[Row | None]:
        """The first row that a statement gives, run once a row in their order; None where it gives
        none.
        """

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, None without a row."""

    def transaction(self) -> AbstractContextManager[None]:
        """Write all or nothing; no other process writes at the same time."""

    def check(self) -> None:
        """Raise `database_corrupt` where the database is found to be damaged."""

    def close(self) -> None:
        """Let go of it. Closing twice is fine."""


class Condition(NamedTuple):
    """A part of a statement that is true or false, and the values in it."""

    sql: str
    values: tuple[Any, ...]


class FullText(Protocol):
    """The texts that are found by their words: those that are attached to owners, and messages."""

    def add(self, database: Statements, row: int, owner: str, text: str) -> None:
        """Have an attachment be found by the words of a text."""

    def remove(self, database: Statements, row: int) -> None:
        """Have an attachment be found no longer."""

    def search(
        self, database: Statements, owner: str, words: Sequence[str], *, all_of: bool, limit: int
    ) -> list[Match]:
        """The attachments of an owner, of all without one, with all or any of some words, the best
        first.
        """

    def add_messages(self, database: Statements, texts: Iterable[tuple[int, str]]) -> None:
        """Have messages be found by their words, by their numbers."""

    def of_messages(self, words: Sequence[str]) -> Condition:
        """The condition that the message of a row has all of some words."""


class Blobs(Protocol):
    """The bytes of large blobs, by their digest."""

    def put(self, database: Statements, keep: KeptBlob) -> None:
        """Bring the bytes of a file to their place, before any row tells of them."""

    def dropped(self, database: Statements, digests: Iterable[str]) -> None:
        """The rows of these blobs are gone with this transaction."""

    def settle(self, database: Statements) -> None:
        """Remove what a transaction that is over has left without a row."""

    def chunks(self, database: Statements, digest: str) -> Iterator[bytes]:
        """The bytes of one; ends early, or with others, where they are damaged."""

    def strays(self, older_than_ms: int) -> Iterator[list[str]]:
        """Digests whose bytes are there since before a time, some at a time: those without a row
        can go.
        """

    def suspect(self, digests: Iterable[str]) -> None:
        """These may have no row: `settle` sees to it."""


class StoreEngine(Protocol):
    """A database, and what is done with it in its own way."""

    @property
    def words(self) -> FullText:
        """The texts that are found by their words."""

    @property
    def blobs(self) -> Blobs:
        """The bytes of large blobs."""

    def writer(self) -> Statements:
        """The connection that writes; the tables are there, and up to date."""

    def reader(self) -> Statements:
        """Another connection, for reading alone."""

    @property
    def sharing(self) -> StoreSharing | None:
        """The processes that share the database; None where this is the only one."""

    def left_nothing(self, error: BaseException) -> bool:
        """True if a transaction that has failed for this error is certain never to be found
        written.
        """
