"""The one module that knows the driver of PostgreSQL: `psycopg`, which is there where
`tersely[postgresql]` is.

Its `PostgresDatabase` has the verbs of `foundation/storage/database.py` and takes the same statements, with
`?` for values. Text is stored as it is but for NUL, which PostgreSQL has none of: it is escaped on
the way in and back on the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple, NoReturn, TypeVar

import psycopg
from psycopg import conninfo, errors, pq
from psycopg.types.numeric import Int8Dumper

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Closing

POSTGRES_CONNECT_SECONDS = 4
# of a server that was sent something, after which it is asked over another connection whether it
# works on it; the connection is given up where it does not say so in time
POSTGRES_SILENCE_SECONDS = 3
POSTGRES_UNSENT_MILLISECONDS = 12_000  # for which what was sent may not arrive
_POLL_SECONDS = 0.1  # between looks at how long a server has been silent
POSTGRES_STATEMENT_SECONDS = 60  # for which a statement may run, or wait for another process
MAX_POSTGRES_STATEMENTS = 1_000  # whose translation is remembered
_TEXT_OID = 25
_DAMAGE = (errors.DataCorrupted, errors.IndexCorrupted)
_IN_USE = (
    errors.LockNotAvailable,
    errors.QueryCanceled,
    errors.DeadlockDetected,
    errors.SerializationFailure,
)
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)

_LOST_BY_SERVER = "it does not answer, and does not work on what it was sent"
_UNKNOWN = "whether the last of what was sent is written is not known"

GivenT = TypeVar("GivenT")
Row = tuple[Any, ...]


class DatabaseSession(NamedTuple):
    """The way connections to one server are made: its address, and what is set in each of them.

    `rewritten` gives a statement as this database needs it, `lock` is the statement that begins
    each transaction.
    """

    url: str
    settings: Mapping[str, str]
    rewritten: Callable[[str], str] = str
    lock: str = ""

    def place(self) -> str:
        """The database as people are told of it, without the password."""
        try:
            given = conninfo.conninfo_to_dict(self.url)
        except psycopg.Error:
            return "the database of PostgreSQL"
        return f"the database {given.get('dbname') or 'postgres'!s} at {given.get('host') or 'this machine'!s}"


class PostgresDatabase(Closing):
    """One connection, made again when it was lost. Not for use from two threads at once, nor across
    a fork.

    What is read outside of a transaction is read again over a new connection; a transaction in
    which the connection was lost raises `database_unavailable`, and whether its commit has reached
    the disk is not known.
    """

    def __init__(self, session: DatabaseSession) -> None:
        """Raises `database_unavailable` where nobody answers."""
        self._session = session
        self._is_inside = False  # a transaction
        self._is_committing = False
        self._connection = _connect(session)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one or, without values, several statements for their effect."""
        self._run(lambda cursor, statement: _sent(cursor, statement, values), sql)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement once a row."""
        values = [tuple(row) for row in rows]
        if values:
            self._run(lambda cursor, statement: cursor.executemany(statement, values), sql)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        found: list[Row] = self._run(
            lambda cursor, statement: _sent(cursor, statement, values).fetchall(), sql
        )
        return found

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, if it has one."""
        found: Row | None = self._run(
            lambda cursor, statement: _sent(cursor, statement, values).fetchone(), sql
        )
        return found

    def row_each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[Row | None]:
        """The first row that a statement gives, run once a row in their order; None where it gives
        none. All of them go to the server at once.
        """
        values = [tuple(row) for row in rows]
        if not values:
            return []
        return self._run(lambda cursor, statement: _firsts(cursor, statement, values), sql)

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, None without a row."""
        row = self.row(sql, values)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, behind whoever holds the lock of the session."""
        self.execute("begin")  # over a new connection, if the one before was lost
        self._is_inside = True
        try:
            if self._session.lock:
                self.execute(self._session.lock)
            yield
            self._is_committing = True
            self.execute("commit")
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._is_inside = self._is_committing = False

    def heard(self, seconds: float) -> list[str]:
        """The messages that `notify` has sent to the channels that this connection listens to,
        waiting for a while.
        """
        try:
            return [one.payload for one in self._connection.notifies(timeout=seconds, stop_after=1)]
        except _LOST as error:
            self._reraise(error)

    def check(self) -> None:
        """See that the server answers; whether its pages are whole is its own care (`pg_amcheck`)."""
        self.value("select 1")

    def close(self) -> None:
        """Let go of the connection. Closing twice is fine."""
        self._connection.close()

    def _run(self, do: Callable[[Any, str], GivenT], sql: str) -> GivenT:
        statement = _numbered(self._session.rewritten(sql))
        if not self._is_inside and self._connection.closed:
            self._connection = _connect(self._session)
        try:
            return do(self._cursor(), statement)
        except _LOST as error:
            if self._is_inside or not self._connection.closed:
                self._reraise(error)
        self._connection = _connect(self._session)
        try:
            return do(self._cursor(), statement)
        except _LOST as error:
            self._reraise(error)

    def _cursor(self) -> Any:
        return psycopg.RawCursor(self._connection)

    def _roll_back(self) -> None:
        if self._connection.closed:
            return
        with suppress(TerselyError):
            if self._connection.info.transaction_status != pq.TransactionStatus.IDLE:
                self.execute("rollback")

    def _reraise(self, error: psycopg.Error) -> NoReturn:
        """Turn what the surroundings did into an error for people."""
        place = self._session.place()
        if isinstance(error, _DAMAGE):
            hint = "Nothing else holds it: see to the server's disk, then restore a backup."
            raise TerselyError("database_corrupt", f"{place} is damaged", hint) from error
        if isinstance(error, _IN_USE):
            hint = "Another process is writing; try again when it is done."
            raise TerselyError("database_locked", f"{place} is in use", hint) from error
        raise _unavailable(place, error, _UNKNOWN if self._is_committing else "") from error


class _Connection(psycopg.Connection[Any]):
    """One that is given up where the server is silent and does not work on what it was sent: the
    network may have lost it, or the answer, and tell nobody.
    """

    url = ""  # by which it is asked over another connection; "" for that
    process = 0  # of the server, that works for this one

    def wait(self, gen: Any, interval: float = _POLL_SECONDS, timeout: float | None = None) -> Any:
        """The result of a generator of the driver; raises `psycopg.OperationalError` for silence."""
        if timeout is None:
            gen = self._watched(gen)
        return (
            super().wait(gen, interval) if timeout is None else super().wait(gen, interval, timeout)
        )

    def _watched(self, gen: Any) -> Generator[Any, Any, Any]:
        watch, ready = Stopwatch(), None
        while True:
            try:
                state = gen.send(ready)
            except StopIteration as end:
                return end.value
            ready = yield state
            if ready:
                watch = Stopwatch()
            elif watch.seconds() > POSTGRES_SILENCE_SECONDS:
                # the answer may have come while the server was asked
                if not self._is_at_work() and not (ready := (yield state)):
                    self.pgconn.finish()
                    raise psycopg.OperationalError(_LOST_BY_SERVER)
                watch = Stopwatch()

    def _is_at_work(self) -> bool:
        """True if the server says over another connection that it works for this one."""
        if not self.url:
            return False
        sql = "select 1 from pg_stat_activity where pid = $1 and state = 'active'"
        try:
            with closing(_connected(self.url)) as asked:
                found = psycopg.RawCursor(asked).execute(sql, (self.process,))
                return found.fetchone() is not None
        except psycopg.Error:
            return False


class _EscapedText:
    """Text on its way to PostgreSQL. NUL becomes two characters, and so does the first of these;
    the order stays.
    """

    format = pq.Format.TEXT
    oid = 0  # of whatever type the place of the value has

    def __init__(self, cls: type, context: object = None) -> None:
        """As the driver makes those of its own."""

    def dump(self, text: str) -> bytes:
        """The bytes that are sent."""
        if "\0" in text or "\1" in text:
            text = text.replace("\1", "\1b").replace("\0", "\1a")
        return text.encode()

    def quote(self, text: str) -> bytes:
        """Never asked for: values are not put into statements."""
        raise NotImplementedError

    def get_key(self, text: str, format: object) -> type:
        """All text is sent alike."""
        return str

    def upgrade(self, text: str, format: object) -> _EscapedText:
        """All text is sent alike."""
        return self


class _PlainText:
    """Text on its way back."""

    format = pq.Format.BINARY

    def __init__(self, oid: int, context: object = None) -> None:
        """As the driver makes those of its own."""

    def load(self, data: bytes | bytearray | memoryview) -> str:
        """The text as it was given."""
        text = str(data, "utf-8")
        return text.replace("\1a", "\0").replace("\1b", "\1") if "\1" in text else text


class _TextFromText(_PlainText):
    """Likewise, of statements without values."""

    format = pq.Format.TEXT


def _firsts(cursor: Any, statement: str, values: Sequence[Any]) -> list[Row | None]:
    cursor.format = pq.Format.BINARY
    cursor.executemany(statement, values, returning=True)
    found = [cursor.fetchone()]
    while cursor.nextset():
        found.append(cursor.fetchone())
    return found


def _sent(cursor: Any, statement: str, values: Sequence[Any]) -> Any:
    return cursor.execute(statement, tuple(values) or None, binary=bool(values))


def _connect(session: DatabaseSession) -> Any:
    try:
        connection = _connected(session.url)
        # one type for all, or each size is another statement
        connection.adapters.register_dumper(int, Int8Dumper)
        connection.adapters.register_dumper(str, _EscapedText)
        for loader in (_PlainText, _TextFromText):
            connection.adapters.register_loader(_TEXT_OID, loader)
        settings = {"statement_timeout": f"{POSTGRES_STATEMENT_SECONDS}s", **session.settings}
        for name, value in settings.items():
            psycopg.RawCursor(connection).execute("select set_config($1, $2, false)", (name, value))
        # not what the protocol tells, which is a proxy's where there is one
        told = psycopg.RawCursor(connection).execute("select pg_backend_pid()").fetchone()
        connection.url, connection.process = session.url, told[0] if told else 0
    except psycopg.Error as error:
        raise _unavailable(session.place(), error) from error
    return connection


def _connected(url: str) -> _Connection:
    return _Connection.connect(
        url, autocommit=True, connect_timeout=POSTGRES_CONNECT_SECONDS,
        tcp_user_timeout=POSTGRES_UNSENT_MILLISECONDS,
        keepalives_idle=5, keepalives_interval=2, keepalives_count=5,
    )  # fmt: skip


def _unavailable(place: str, error: psycopg.Error, more: str = "") -> TerselyError:
    said = "; ".join(filter(None, [" ".join(str(error).split())[:300], more]))
    hint = (
        "see that PostgreSQL runs and lets this user in; nothing that was acknowledged is lost, and what was "
        "not may have been written"
    )
    return TerselyError("database_unavailable", f"{place}: {said}", hint)


@lru_cache(MAX_POSTGRES_STATEMENTS)
def _numbered(sql: str) -> str:
    """A statement whose values are marked by `?` with their numbers instead."""
    first, *rest = sql.split("?")
    numbers = count(1)
    return first + "".join(f"${next(numbers)}{part}" for part in rest)
