"""PostgreSQL: for relays that share one database, whichever machines they are on, and for tenants
in it.

One process writes at a time for each tenant: a transaction begins with an advisory lock, which
PostgreSQL takes back with the transaction or the connection, so nobody is elected and nothing has
to be cleaned up. What is numbered is therefore committed in the order of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.postgresql import DatabaseSession, PostgresDatabase
from tersely.relay.store.commands import Match
from tersely.relay.store.engines import lexemes
from tersely.relay.store.engines.chunks import BlobChunks
from tersely.relay.store.engines.engine import Condition, Statements
from tersely.relay.store.engines.postgresql_schema import MIGRATIONS, TENANT
from tersely.relay.store.engines.sharing import StoreSharing

# of a process that has stopped inside of one, after which others may write again
IDLE_TRANSACTION_SECONDS = 30
MAX_WEIGHED_TEXTS = 10_000  # that have the words looked for; the best are found among these
_LOCK = "select pg_advisory_xact_lock(hashtextextended('tersely writes for ' || current_setting('tersely.tenant'), 0))"
_MIGRATING = "select pg_advisory_xact_lock(hashtextextended('tersely migrates', 0))"


class PostgresEngine:
    """The rows of one tenant in a database."""

    def __init__(
        self,
        url: str,
        tenant: str,
        *,
        durable: bool,
        idle_seconds: int = IDLE_TRANSACTION_SECONDS,
    ) -> None:
        """`idle_seconds` is how long a transaction may stand still, 0 for as long as it likes."""
        self.words = Lexemes()
        self.blobs = BlobChunks()
        settings = {
            TENANT: tenant,
            "search_path": "tersely",
            "application_name": "tersely relay",
            "synchronous_commit": "on" if durable else "off",
            "idle_in_transaction_session_timeout": f"{idle_seconds}s",
            # a plan that was made while the tables were empty would be kept, and read all of them
            "plan_cache_mode": "force_custom_plan",
        }
        self._session = DatabaseSession(url, settings, _keyed, _LOCK)
        self.sharing = StoreSharing(self._session, tenant)

    def writer(self) -> PostgresDatabase:
        """The connection that writes; the tables are there, and up to date."""
        _migrate(self._session)
        return PostgresDatabase(self._session)

    def reader(self) -> PostgresDatabase:
        """A connection for reading alone."""
        settings = {**self._session.settings, "default_transaction_read_only": "on"}
        return PostgresDatabase(self._session._replace(settings=settings))

    def left_nothing(self, error: BaseException) -> bool:
        """True if a transaction that has failed is certain never to be found written: its blobs are
        in it, anyway.
        """
        return True


class Lexemes:
    """Full text by the vectors of PostgreSQL, of words as SQLite parts and compares them."""

    def add(self, database: Statements, row: int, owner: str, text: str) -> None:
        """Have an attachment be found by the words of a text."""
        database.execute(
            "insert into words (rowid, owner, text) values (?, ?, ?)", (row, owner, text)
        )
        sql = "insert into word_lexemes (rowid, lexemes) values (?, ?::tsvector)"
        database.execute(sql, (row, lexemes.vector(text, joins_underscore=True)))

    def remove(self, database: Statements, row: int) -> None:
        """Have an attachment be found no longer."""
        for table in ("words", "word_lexemes"):
            database.execute(f"delete from {table} where rowid = ?", (row,))

    def search(
        self, database: Statements, owner: str, words: Sequence[str], *, all_of: bool, limit: int
    ) -> list[Match]:
        """The attachments of an owner, of all without one, with all or any of some words, the best
        first.
        """
        wanted = lexemes.query(words, all_of=all_of, joins_underscore=True)
        rows = database.rows(
            "with found as (select rowid, ts_rank_cd(lexemes, wanted.query) as score from word_lexemes, "
            f"(select ?::tsquery as query) wanted where lexemes @@ wanted.query limit {MAX_WEIGHED_TEXTS}) "
            "select attachment.owner, attachment.name, attachment.digest, attachment.body, words.text, found.score "
            "from found join words using (rowid) join attachment on attachment.id = rowid "
            "where ? in ('', words.owner) order by found.score desc, attachment.number limit ?",
            (wanted, owner, limit),
        )
        return [Match._make((*row[:4], lexemes.snippet(row[4], words), row[5])) for row in rows]

    def add_messages(self, database: Statements, texts: Iterable[tuple[int, str]]) -> None:
        """Have messages be found by their words, by their numbers."""
        sql = "insert into message_words (rowid, lexemes) values (?, ?::tsvector)"
        vectors = [(number, lexemes.vector(text, joins_underscore=False)) for number, text in texts]
        database.execute_many(sql, vectors)

    def of_messages(self, words: Sequence[str]) -> Condition:
        """The condition that the message of a row has all of some words."""
        sql = "message.number in (select rowid from message_words where lexemes @@ ?::tsquery)"
        return Condition(sql, (lexemes.query(words, all_of=True, joins_underscore=False),))


def _keyed(sql: str) -> str:
    """A statement with the tenant in the keys that it names."""
    return sql.replace("on conflict (", "on conflict (tenant, ")


def _migrate(session: DatabaseSession) -> None:
    """Run the scripts that the database has not seen, once whoever else comes at the same time."""
    database = PostgresDatabase(session._replace(lock=_MIGRATING, rewritten=str))
    try:
        with database.transaction():
            database.execute("create schema if not exists tersely_base")
            database.execute(
                "create table if not exists tersely_base.migration (number bigint primary key)"
            )
            done: int = database.value(
                "select coalesce(max(number), 0) from tersely_base.migration"
            )
            if done > len(MIGRATIONS):
                hint = "Use the version of Tersely that wrote it, or a newer one."
                raise TerselyError(
                    "database_unavailable", "the database was written by a newer Tersely", hint
                )
            for number, script in enumerate(MIGRATIONS[done:], done + 1):
                database.execute(script)
                database.execute("insert into tersely_base.migration values (?)", (number,))
    finally:
        database.close()
