"""The one module that knows the database driver: SQLite through `apsw`, which brings its own recent
SQLite.

The SQLite of many Pythons and distributions has a WAL-reset defect that can corrupt a database
while several processes use it, and a context pack is no place to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple, NoReturn, TypeVar

import apsw

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DATABASE_BUSY_MILLISECONDS
from tersely.foundation.types import Closing, JsonObject

DATABASE_RETRY_SECONDS = 0.01
# a longer write-ahead log is copied into its database when that is closed
DATABASE_KEPT_LOG_BYTES = 2_000_000

IN_MEMORY = Path(":memory:")  # the path of a database of its connection's own

ResultT = TypeVar("ResultT")
Row = tuple[Any, ...]
OnDamage = Callable[[TerselyError], None]
Values = Sequence[Any] | JsonObject

FULL = "make room: nothing was lost, what was written before can be read, and writing goes on by itself"

# Where a page is damaged, SQLite may give text that is none: what was written was UTF-8.
# Of a database that another program wrote
MAX_FOREIGN_STEPS = 2_000_000_000  # of SQLite's machine; a row that is read takes about ten
_STEPS_AT_ONCE = 1_000_000  # between two looks at how many there were
_LEAST_LENGTH_BYTES = 100_000  # that a value may have, and a statement of ours
_NOT_PLAIN = "select 1 from sqlite_schema where type not in ('table', 'index') or sql like '%virtual%' limit 1"
_GENERATED = "select 1 from sqlite_schema s, pragma_table_xinfo(s.name) c where s.type = 'table' and c.hidden limit 1"

_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
_FAILURES = (apsw.Error, UnicodeDecodeError)
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)
_UNAVAILABLE = (
    apsw.CantOpenError, apsw.IOError, apsw.FullError, apsw.ReadOnlyError, apsw.PermissionsError,
)  # fmt: skip
_GONE = ("no such table", "no such column")


def _unheard(damage: TerselyError) -> None:
    """Nobody wants to know."""


class Schema(NamedTuple):
    """The tables of a derived database. Raise `version` with every change of `sql` or of what the
    rows mean.
    """

    version: int
    sql: str


class Database(Closing):
    """One open SQLite database. Not for use from two threads at once, nor across a fork."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        *,
        is_kept: bool = False,
        on_damage: OnDamage = _unheard,
    ) -> None:
        """`is_kept` says that it is the only copy of what it holds; `on_damage` is told where that
        is damaged.
        """
        self._connection = connection
        self._is_kept = is_kept
        self._on_damage = on_damage
        self.path = path

    @classmethod
    def open_derived(cls, path: Path, schema: Schema) -> Database:
        """Open for writing a database that can be computed again, making it, or emptying it, as
        `schema` asks.

        A database of another schema version is emptied, table by table in one transaction, so that
        processes which have it open see either the old tables or the new, empty ones. The path
        `:memory:` is a database of this connection's own.
        """
        if path != IN_MEMORY:
            _make_folder(path.parent)
        database = cls(_connect(path), path)
        try:
            database._use_write_ahead_log()
            database.execute("pragma synchronous = normal")
            database.execute("pragma foreign_keys = on")
            database._fit(schema)
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def open_kept(
        cls,
        path: Path,
        migrations: Sequence[str],
        *,
        durable: bool = True,
        on_damage: OnDamage = _unheard,
    ) -> Database:
        """Open for writing a database that is the only copy of what it holds, making it where there
        is none.

        `migrations` are all the scripts that ever changed its tables, the oldest first; those it
        has not seen are run. One that a newer program has changed is left alone. A commit waits for
        the disk; without `durable`, the last commits may be gone after a power failure.
        """
        _make_folder(path.parent, 0o700, "; TERSELY_HOME names another place")
        database = cls(_connect(path), path, is_kept=True, on_damage=on_damage)
        try:
            database._use_write_ahead_log()
            database.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            database.execute("pragma foreign_keys = on")
            database._migrate(migrations)
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def open_reader(cls, path: Path, *, on_damage: OnDamage = _unheard) -> Database:
        """Open a database of `open_kept` that exists for reading alone, beside whoever writes it."""
        database = cls(_connect(path), path, is_kept=True, on_damage=on_damage)
        database.execute("pragma query_only = on")
        return database

    def attach(self, path: Path, name: str) -> None:
        """Have the tables of a database that nobody writes any more under a name before theirs."""
        self.execute(f"attach ? as {name}", (f"{path.as_uri()}?immutable=1",))
        if not self.value(f"select 1 from {name}.sqlite_schema"):
            raise damaged(path)

    def copy_to(self, path: Path) -> None:
        """Write the database as it is at this moment to a new file, beside whoever writes it."""
        self.execute("pragma query_only = off")  # the copy is what is written
        self.execute("vacuum into ?", (str(path),))
        self.execute("pragma query_only = on")

    def execute(self, sql: str, values: Values = ()) -> None:
        """Run one or several statements for their effect."""
        try:
            self._connection.execute(sql, values)
        except apsw.Error as error:
            self._reraise(error)

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run one statement once a row."""
        try:
            self._connection.executemany(sql, rows)
        except apsw.Error as error:
            self._reraise(error)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except _FAILURES as error:
            self._reraise(error)

    def stream(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """The rows of a query one by one, for answers too long to hold."""
        try:
            yield from self._connection.execute(sql, values)
        except _FAILURES as error:
            self._reraise(error)

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """The first row of a query, if it has one."""
        try:
            found: Row | None = self._connection.execute(sql, values).fetchone()
        except _FAILURES as error:
            self._reraise(error)
        return found

    def row_each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[Row | None]:
        """The first row that a statement gives, run once a row in their order; None where it gives
        none.
        """
        return [self.row(sql, values) for values in rows]

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row, None without a row."""
        row = self.row(sql, values)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing. Takes the write lock at once, so it never fails half-way for lack
        of it.
        """
        self.execute("begin immediate")
        try:
            yield
            self.execute("commit")
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything as of one moment, whatever other processes write meanwhile."""
        self.execute("begin")
        try:
            yield
        finally:
            self._roll_back()

    def check(self) -> None:
        """Read every page and see that they fit together; raises `database_corrupt` where they do
        not.
        """
        found = self.value("pragma quick_check(1)")
        if found != "ok":
            self._reraise(apsw.CorruptError(str(found)))

    def close(self) -> None:
        """Let go of the file. Closing twice is fine.

        The last to close a database would copy its log into it and wait for the disk, with every
        refresh. Reading a short log costs less, and SQLite copies it by itself once it has grown.
        """
        with suppress(apsw.ConnectionClosedError):
            if self._log_bytes() <= DATABASE_KEPT_LOG_BYTES:
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._connection.close()

    def _reraise(self, error: apsw.Error | UnicodeDecodeError) -> NoReturn:
        if self._is_kept and _is_damage(error):
            hint = f"Nothing else holds it: keep a copy, then try `sqlite3 {self.path.name} .recover`, or a backup."
            damage = TerselyError("database_corrupt", f"{self.path} is damaged", hint)
            self._on_damage(damage)
            raise damage from error
        _reraise(error, self.path)

    def _log_bytes(self) -> int:
        try:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size
        except OSError:
            return 0

    def _roll_back(self) -> None:
        # Some failures (a full disk, for one) have already ended the transaction by themselves.
        if self._connection.in_transaction:
            self.execute("rollback")

    def _use_write_ahead_log(self) -> None:
        if self.value("pragma journal_mode") == "wal":
            return
        # SQLite does not wait for a lock here, so of several processes that make a database at once
        # some fail.
        watch = Stopwatch()
        while True:
            try:
                # stays without effect where there can be none: in memory
                self.execute("pragma journal_mode = wal")
            except TerselyError as error:
                if (
                    error.code != "database_locked"
                    or watch.seconds() * 1000 > DATABASE_BUSY_MILLISECONDS
                ):
                    raise
                sleep(DATABASE_RETRY_SECONDS)
            else:
                return

    def _fit(self, schema: Schema) -> None:
        if self.value("pragma user_version") == schema.version:
            return
        self.execute("pragma foreign_keys = off")
        with self.transaction():
            # Another process may have been quicker while this one waited for the lock.
            if self.value("pragma user_version") != schema.version:
                self._drop_everything()
                self.execute(schema.sql)
                self.execute(f"pragma user_version = {schema.version:d}")
        self.execute("pragma foreign_keys = on")

    def _migrate(self, migrations: Sequence[str]) -> None:
        done: int = self.value("pragma user_version")
        if done > len(migrations):
            hint = "Use the version of Tersely that wrote it, or a newer one."
            raise TerselyError(
                "database_unavailable", f"{self.path} was written by a newer Tersely", hint
            )
        for number, script in enumerate(migrations[done:], start=done + 1):
            with self.transaction():
                self.execute(script)
                self.execute(f"pragma user_version = {number:d}")

    def _drop_everything(self) -> None:
        # Virtual tables first: dropping one takes its shadow tables along.
        found = self.rows(
            "select type, name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' "
            "escape '\\' order by sql like 'create virtual%' desc"
        )
        for kind, name in found:
            quoted = name.replace('"', '""')
            self.execute(f'drop {kind} if exists "{quoted}"')


def read_foreign(content: bytes, read: Callable[[Database], ResultT]) -> ResultT:
    """The result of reading a database that another program wrote; raises `database_corrupt` for
    whatever is wrong with it.

    It is held in memory, and nothing that it says makes a file be read or written. It may have
    tables and indexes alone: a view is a program, and so is a generated column. What takes longer
    than any whole file can is given up.
    """
    path = IN_MEMORY
    steps = iter(range(MAX_FOREIGN_STEPS // _STEPS_AT_ONCE))
    try:
        with Database(_connect(path), path) as database:
            database._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            database._connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            database._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
            database._connection.limit(
                apsw.SQLITE_LIMIT_LENGTH, max(len(content), _LEAST_LENGTH_BYTES)
            )
            database._connection.set_progress_handler(
                lambda: next(steps, None) is None, _STEPS_AT_ONCE
            )
            database._connection.deserialize("main", content)
            if database.value(_NOT_PLAIN) or database.value(_GENERATED):
                raise damaged(path)
            return read(database)
    except _FAILURES as error:
        raise damaged(path) from error


def left_nothing(error: BaseException) -> bool:
    """True if what could not be written for this error is certain not to be there after a crash
    either.

    A full disk takes no whole transaction. Where waiting for the disk has failed, the transaction
    may have reached it.
    """
    return isinstance(error.__cause__, apsw.FullError)


def remove(path: Path) -> None:
    """Delete a derived database with its companions. No process may have it open."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(path), _FLAGS)
        connection.set_busy_timeout(DATABASE_BUSY_MILLISECONDS)
    except apsw.Error as error:
        _reraise(error, path)
    return connection


def _make_folder(folder: Path, mode: int = 0o777, elsewhere: str = "") -> None:
    """Make a folder of that mode, and those above it that are missing; `elsewhere` ends the hint where it fails."""
    try:
        for each in reversed((folder, *folder.parents)):
            if not each.exists():
                each.mkdir(mode, exist_ok=True)
    except OSError as error:
        raise TerselyError(
            "database_unavailable",
            f"{folder} cannot be made: {error.strerror}",
            f"check the disk, and who may write there{elsewhere}",
        ) from error


def _is_full(folder: Path) -> bool:
    from shutil import disk_usage  # only who cannot write needs it

    try:
        return disk_usage(folder).free == 0
    except OSError:
        return False


def _is_damage(error: Exception) -> bool:
    """True if the database is not what was written; statements are ours, so what they name was there."""
    return isinstance(error, _DAMAGE) or str(error).startswith(_GONE)


def damaged(path: Path) -> TerselyError:
    """The error for a derived database that holds what nobody wrote into it."""
    hint = "It holds only what can be computed again: delete it and repeat the command."
    return TerselyError("database_corrupt", f"{path} is damaged", hint)


def _reraise(error: apsw.Error | UnicodeDecodeError, path: Path) -> NoReturn:
    """Turn what the surroundings did into an error for people; a wrong statement stays the driver's
    error.
    """
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        hint = "Another process is writing; try again when it is done."
        raise TerselyError("database_locked", f"{path} is in use", hint) from error
    if _is_damage(error):
        raise damaged(path) from error
    if isinstance(error, _UNAVAILABLE):
        if isinstance(error, apsw.FullError) or _is_full(path.parent):
            raise TerselyError("database_unavailable", f"{path}: the disk is full", FULL) from error
        hint = "check the disk, who owns the file, and the log of the system"
        raise TerselyError("database_unavailable", f"{path}: {error}", hint) from error
    raise error
