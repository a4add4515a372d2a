"""SQLite: one file, for the relay of one machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tersely.foundation.storage.database import Database, OnDamage, left_nothing
from tersely.relay.store.commands import Match
from tersely.relay.store.engines.engine import Condition, Statements
from tersely.relay.store.engines.files import BlobFiles
from tersely.relay.store.schema import MIGRATIONS


class SqliteEngine:
    """The database of a home."""

    def __init__(self, path: Path, blobs: Path, *, durable: bool, on_damage: OnDamage) -> None:
        self.words = Fts5()
        self.blobs = BlobFiles(blobs)
        self.sharing = None
        self._path = path
        self._is_durable = durable
        self._on_damage = on_damage

    def writer(self) -> Database:
        """The one connection that writes."""
        return Database.open_kept(
            self._path, MIGRATIONS, durable=self._is_durable, on_damage=self._on_damage
        )

    def reader(self) -> Database:
        """A connection for reading alone."""
        return Database.open_reader(self._path, on_damage=self._on_damage)

    def left_nothing(self, error: BaseException) -> bool:
        """True if a transaction that has failed for this error is certain never to be found
        written.
        """
        return left_nothing(error)


class Fts5:
    """Full text by the FTS5 of SQLite."""

    def add(self, database: Statements, row: int, owner: str, text: str) -> None:
        """Have an attachment be found by the words of a text."""
        sql = "insert into words (rowid, owner, text) values (?, ?, ?)"
        database.execute(sql, (row, _owner_word(owner), text))

    def remove(self, database: Statements, row: int) -> None:
        """Have an attachment be found no longer."""
        database.execute("delete from words where rowid = ?", (row,))

    def search(
        self, database: Statements, owner: str, words: Sequence[str], *, all_of: bool, limit: int
    ) -> list[Match]:
        """The attachments of an owner, of all without one, with all or any of some words, the best
        first.
        """
        joined = (" AND " if all_of else " OR ").join(_quoted(words))
        wanted = (
            f"owner : {_owner_word(owner)} AND text : ({joined})" if owner else f"text : ({joined})"
        )
        rows = database.rows(
            "select attachment.owner, attachment.name, attachment.digest, attachment.body, "
            "snippet(words, 1, '«', '»', ' … ', 24), -bm25(words, 0, 1) "
            "from words join attachment on attachment.id = words.rowid "
            "where words match ? order by bm25(words, 0, 1), attachment.number limit ?",
            (wanted, limit),
        )
        return [Match(*row) for row in rows]

    def add_messages(self, database: Statements, texts: Iterable[tuple[int, str]]) -> None:
        """Have messages be found by their words, by their numbers."""
        database.execute_many("insert into message_words (rowid, text) values (?, ?)", texts)

    def of_messages(self, words: Sequence[str]) -> Condition:
        """The condition that the message of a row has all of some words."""
        sql = "message.number in (select rowid from message_words where message_words match ?)"
        return Condition(sql, (" AND ".join(_quoted(words)),))


def _quoted(words: Sequence[str]) -> list[str]:
    return ['"' + word.replace('"', " ") + '"' for word in words]


def _owner_word(owner: str) -> str:
    """An owner as one word of the full-text index."""
    return "o" + owner.encode().hex()
