"""The messages between processes that share one database of PostgreSQL, and who is connected to
which of them.

The tables are the truth: what is told says where to look again. It is told with the transaction
that it is about, and whoever was not listening looks at everything again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from threading import Event, Thread

import msgspec

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.postgresql import DatabaseSession, PostgresDatabase
from tersely.relay.store.engines.engine import Statements
from tersely.relay.store.news import Here, News

# for which the listener waits at one go; between looks for processes that are gone
LISTEN_SECONDS = 1.0
LISTEN_RETRY_SECONDS = 0.5  # until it connects again
MAX_TOLD_BYTES = 7_000  # of one notification; PostgreSQL takes 8,000
MAX_TOLD_NAMES = 10_000  # of one transaction, beyond which everybody looks at everything again
_PROCESSES = 0x7E25E  # the class of the advisory locks that say which processes are there
_THERE = (
    "select objid::bigint from pg_locks where locktype = 'advisory' and granted "
    f"and classid = {_PROCESSES} and database = (select oid from pg_database where datname = current_database())"
)
_LIVE = f"process in ({_THERE})"


Hear = Callable[[int, News | None], None]


class _ToldNews(msgspec.Struct, array_like=True):
    process: int
    serial: int
    part: int
    news: News


class StoreSharing:
    """This process among those that share a database. Its connections hold a lock that says that it
    is there.
    """

    def __init__(self, session: DatabaseSession, tenant: str) -> None:
        self.process = secrets.randbits(31)
        self._session = session
        self._channel = "tersely_" + sha256(tenant.encode()).hexdigest()[:32]
        self._is_closing = Event()
        self._listener: Thread | None = None

    def listen(self, hear: Hear) -> None:
        """Have a function called, on a thread of its own, with what other processes have told.

        It is given the number of the transaction where this process told it itself, else 0; and
        None for news where some may have been missed.
        """
        begun = Event()
        self._listener = Thread(
            target=self._run, args=(hear, begun), name="tersely-store-listener", daemon=True
        )
        self._listener.start()
        begun.wait(LISTEN_SECONDS * 10)

    def tell(self, database: Statements, serial: int, news: News) -> None:
        """Tell the others what the transaction has changed, once it is committed."""
        for part, one in enumerate(_parts(news)):
            told = msgspec.json.encode(_ToldNews(self.process, serial, part, one)).decode()
            database.value("select pg_notify(?, ?)", (self._channel, told))

    def close(self, database: Statements) -> None:
        """End listening; nobody is connected here any more."""
        self._is_closing.set()
        try:
            database.execute("delete from presence where process = ?", (self.process,))
            database.value("select pg_notify(?, '')", (self._channel,))
        except TerselyError:  # the others see that the lock is gone
            pass
        if self._listener is not None:
            self._listener.join()

    def appear(self, database: Statements, name: str, here: Here, *, takes_over: bool) -> bool:
        """Have a name be connected to this process; False where it is to another that does not give
        it up.
        """
        other = f"select 1 from presence where name = ? and process <> ? and {_LIVE}"
        if not takes_over and database.value(other, (name, self.process)):
            return False
        sql = (
            "insert into presence (name, process, kind, activity, topics) values (?, ?, ?, ?, ?) "
            "on conflict (name) do update set process = excluded.process, kind = excluded.kind, "
            "activity = excluded.activity, topics = excluded.topics"
        )
        database.execute(
            sql,
            (
                name,
                self.process,
                here.kind,
                here.activity,
                msgspec.json.encode(sorted(here.topics)),
            ),
        )
        return True

    def change(self, database: Statements, changed: Mapping[str, Here | None]) -> None:
        """Note what those say who are connected to this process, and who of them is gone (None)."""
        for name, here in changed.items():
            if here is None:
                database.execute(
                    "delete from presence where name = ? and process = ?", (name, self.process)
                )
            else:
                sql = "update presence set activity = ?, topics = ? where name = ? and process = ?"
                topics = msgspec.json.encode(sorted(here.topics))
                database.execute(sql, (here.activity, topics, name, self.process))

    def is_used(self, database: Statements) -> bool:
        """True if processes are there that share the database, other than this one."""
        return bool(_there(database) - {self.process})

    def others(self, database: Statements, names: Iterable[str] | None = None) -> dict[str, Here]:
        """The agents that are connected to other processes, by name: all, or those of some names."""
        sql = f"select name, kind, activity, topics from presence where process <> ? and {_LIVE}"
        if names is None:
            rows = database.rows(sql, (self.process,))
        else:
            one = f"{sql} and name = ?"
            rows = [row for name in names for row in database.rows(one, (self.process, name))]
        return {
            row[0]: Here(row[1], row[2], frozenset(msgspec.json.decode(row[3]))) for row in rows
        }

    def _run(self, hear: Hear, begun: Event) -> None:
        while not self._is_closing.is_set():
            try:
                with PostgresDatabase(self._session) as database:
                    database.execute(f"listen {self._channel}")
                    database.value(
                        "select pg_advisory_lock_shared(?::int, ?::int)", (_PROCESSES, self.process)
                    )
                    begun.set()
                    self._follow(database, hear)
                    # the server may see only later that the connection has ended
                    database.value("select pg_advisory_unlock_all()")
            except TerselyError:
                self._is_closing.wait(LISTEN_RETRY_SECONDS)

    def _follow(self, database: PostgresDatabase, hear: Hear) -> None:
        """Hear what is told, and what nobody can tell: that a process is gone."""
        watch, there = Stopwatch(), _there(database)
        hear(0, None)
        while not self._is_closing.is_set():
            there |= self._hear(database.heard(LISTEN_SECONDS), hear)
            if watch.seconds() < LISTEN_SECONDS:
                continue
            before, there, watch = there, _there(database), Stopwatch()
            if not before <= there:
                hear(0, News(is_process_gone=True))

    def _hear(self, payloads: Iterable[str], hear: Hear) -> set[int]:
        """Have called what is to be told; the processes that have told something."""
        processes = set()
        for payload in payloads:
            try:
                told = msgspec.json.decode(payload, type=_ToldNews)
            except msgspec.MsgspecError:  # somebody else's, or the end
                continue
            processes.add(told.process)
            hear(
                told.serial if told.process == self.process else 0,
                None if told.news.is_cut else told.news,
            )
        return processes


def _there(database: Statements) -> set[int]:
    """The processes that are there."""
    return {row[0] for row in database.rows(_THERE)}


def _parts(news: News) -> list[News]:
    """News in pieces that each fit into a notification."""
    if news.is_empty():
        return []
    if news.length() > MAX_TOLD_NAMES:
        return [News(is_cut=True)]
    parts, size = [News(is_process_gone=news.is_process_gone)], 0
    for member in ("streams", "names", "channels", "present"):
        for name in sorted(getattr(news, member)):
            parts, size = _room(parts, size, name)
            getattr(parts[-1], member).add(name)
    for name, load in news.loads.items():
        parts, size = _room(parts, size, name)
        parts[-1].loads[name] = load
        if name in news.revived:
            parts[-1].revived[name] = news.revived[name]
    return parts


def _room(parts: list[News], size: int, name: str) -> tuple[list[News], int]:
    needed = len(msgspec.json.encode(name)) + 40
    if size + needed > MAX_TOLD_BYTES:
        return [*parts, News()], needed
    return parts, size + needed
