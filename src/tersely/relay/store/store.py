"""The store: one writer for all, readers as many as there are threads, on SQLite or on PostgreSQL.

What is answered is on the disk (`synchronous = full`), unless the store was opened to trade the
last moments before a power failure for speed. Reading never waits for writing.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from tersely.foundation.clock import wall_ms, wall_seconds
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.limits import (
    MAX_BLOB_BYTES,
    MAX_READ_ENTRIES,
    MAX_SWEPT_BLOBS,
    SNAPSHOT_VERSIONS,
)
from tersely.foundation.storage.database import FULL, Database
from tersely.foundation.storage.disk import is_full
from tersely.foundation.types import Closing
from tersely.relay.store import tables as on
from tersely.relay.store.commands import (
    Attached,
    Committed,
    KeptBlob,
    Match,
    StoreBatch,
    StreamEntry,
    Version,
)
from tersely.relay.store.engines.engine import FullText, Statements, StoreEngine
from tersely.relay.store.engines.sqlite import SqliteEngine
from tersely.relay.store.news import Everything, News, OwnNews
from tersely.relay.store.writer import StoreWriter

if TYPE_CHECKING:  # it knows the driver
    from tersely.relay.store.engines.sharing import StoreSharing

INLINE_BLOB_BYTES = 32_768  # larger blobs are files
DEFAULT_TENANT = "default"
TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
TENANTS = "tenants"
# by which the clock may be set back without stamps going back with it
MAX_CLOCK_STEP_MS = 60_000
_DAY_MS = 86_400_000
_SCHEMES = ("postgresql://", "postgres://")
DATABASE = "relay.db"
_DAMAGED = "relay.damaged"  # says that the database was found to be, since it was opened
_SHARED = "relay.shared"  # says that what the home keeps is in PostgreSQL
BLOBS = "blobs"
_INCOMING = "incoming"

_LOG = logging.getLogger("tersely.relay")

ResultT = TypeVar("ResultT")
NumberedT = TypeVar("NumberedT", StreamEntry, Attached)
Watcher = Callable[[frozenset[str]], None]
Attendant = Callable[[News | None], None]
Replay = Callable[[bytes, bytes], bytes]


def paged(
    read: Callable[[str, int], list[NumberedT]], name: str, after: int = 0
) -> Iterator[NumberedT]:
    """All that `Store.entries` or `Store.attachments` has of a name after a number; no more than a
    page of it is in memory.
    """
    while found := read(name, after):
        yield from found
        if len(found) < MAX_READ_ENTRIES:
            return
        after = found[-1].number


def check(home: Path) -> None:
    """See whether the database of a home is whole, if there is one; raises `database_corrupt`, which
    a relay that runs is told by a file: it acknowledges nothing more.
    """
    if not (home / DATABASE).exists():
        return
    try:
        with Database.open_reader(home / DATABASE) as database:
            database.check()
    except TerselyError as error:
        if error.code == "database_corrupt":
            with suppress(OSError):
                (home / _DAMAGED).touch(mode=0o600)
        raise


def ahead_ms(home: Path) -> int:
    """By how much the latest stamp in the database of a home is ahead of the clock; 0 where it is not
    or only for a moment.
    """
    if not (home / DATABASE).exists():
        return 0
    with Database.open_reader(home / DATABASE) as database:
        ahead = on.last_ms(database) - wall_ms()
    return ahead if ahead > MAX_CLOCK_STEP_MS else 0


def is_made(home: Path) -> bool:
    """True if a home directory has a database, or had one of PostgreSQL."""
    return (home / DATABASE).exists() or (home / _SHARED).exists()


def check_url(url: str) -> None:
    """Raise `invalid_setting` for what is no address of a database, or where the driver for it is
    missing.
    """
    if not url.startswith(_SCHEMES):
        hint = "it is written postgresql://USER@HOST/DATABASE; without it, SQLite is used"
        raise TerselyError("invalid_setting", "the store is at no address that is understood", hint)
    if find_spec("psycopg") is None:
        hint = "install Tersely again, from where it came, with the extra `postgresql`"
        raise TerselyError("invalid_setting", "the driver of PostgreSQL is not installed", hint)


class Store(Closing):
    """The memory of the relay. Every verb may be used from any thread; close it once, from one.

    Once a page was found to be damaged, nothing more is written: every verb that writes raises
    `database_corrupt`.
    """

    def __init__(
        self, home: Path, url: str, tenant: str, *, durable: bool, clock: Callable[[], float]
    ) -> None:
        self.home = home
        self._clock = clock
        self._incoming = home / _INCOMING
        self._incoming.mkdir(mode=0o700, exist_ok=True)
        self.is_durable = durable  # whether what was answered is on the disk
        self._damage: TerselyError | None = None
        self._mark = home / _DAMAGED
        self._mark.unlink(missing_ok=True)  # who opens it looks for itself
        self._engine = self._engine_of(url, tenant)
        self._database = self._engine.writer()
        self._latest_ms = on.last_ms(self._database)
        self._watchers: tuple[Watcher, ...] = ()
        self._changing = Lock()
        self._readers: list[Statements] = []
        self._reader = local()
        self._attendants: tuple[Attendant, ...] = ()
        self._serial = 0  # of the transaction that is being written
        self._own_news = OwnNews()
        self._writer = StoreWriter(self._database, self._tables, self._before, self._after)
        self._clear_incoming()
        if self.sharing is not None:
            self.sharing.listen(self._heard)

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        url: str = "",
        tenant: str = DEFAULT_TENANT,
        durable: bool = True,
        clock: Callable[[], float] = wall_seconds,
    ) -> Self:
        """Open the store of a home directory of this user alone, making it where there is none.

        One process at a time: who starts it holds the lock of the home. With the `url` of a
        database of PostgreSQL, what is kept is there, and several homes may share it. A `tenant`
        sees nothing of the others: in PostgreSQL it has rows of its own, else a home of its own
        below this one. Without `durable`, what was answered in the last moments may be missing
        after a power failure (not after a crash of the process); nothing is damaged.
        """
        if not TENANT_NAME.fullmatch(tenant):
            hint = "a tenant is called by small letters, digits and -, at most 63 of them"
            raise TerselyError("invalid_argument", f"{tenant[:80]!r} is no name of a tenant", hint)
        if tenant != DEFAULT_TENANT:
            home = home / TENANTS / tenant
        with failing_as("database_unavailable", home, "check its disk and owner"):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(home, url, tenant, durable=durable, clock=clock)

    # Writing

    def commit(self, batch: StoreBatch) -> Committed:
        """Write a batch as a whole, and wait until it is on the disk; raises what refuses it."""
        try:
            return self.submit(batch).result()
        finally:
            # what was refused, or happened before, has left the files of its blobs where they came
            # in
            for command in batch.commands:
                if isinstance(command, KeptBlob):
                    self.let_go(command)

    def submit(self, batch: StoreBatch) -> Future[Committed]:
        """As `commit`, without waiting; blobs that the batch does not keep are the caller's to let
        go of.
        """
        return self._submit(lambda tables: on.commit(tables, batch))

    def write(self, do: Callable[[on.Tables], ResultT]) -> Future[ResultT]:
        """Have the modules beside this one write in one transaction with others, without waiting."""
        return self._submit(do)

    def discard(self, name: str) -> None:
        """Forget the stream and the document of a name, and what is attached to it, a few rows at a
        time.
        """
        self.remove_in_parts(partial(on.discard, name=name))

    def sweep(self, older_than_ms: int) -> int:
        """Remove blobs that nobody has attached since a time (ms since 1970); how many there were."""
        swept = self.remove_in_parts(partial(on.sweep, older_than_ms=older_than_ms))
        return swept + self._sweep_strays(older_than_ms)

    def remove_in_parts(self, remove: Callable[..., int]) -> int:
        """Have `remove(tables, limit=…)` remove MAX_SWEPT_BLOBS at most in a transaction, until
        nothing is left; how many there were.
        """
        removed = 0
        while part := self._submit(partial(remove, limit=MAX_SWEPT_BLOBS)).result():
            removed += part
        return removed

    def check(self) -> None:
        """See whether the database is whole; raises `database_corrupt` where it is not, and nothing
        is written then.
        """
        with closing(self._engine.reader()) as database:
            database.check()

    # Reading

    @property
    def reader(self) -> Statements:
        """This thread's connection for reading, for the modules beside this one."""
        return self._read

    @property
    def words(self) -> FullText:
        """The messages, as they are found by their words, likewise."""
        return self._engine.words

    def last(self, stream: str) -> int:
        """The number of the latest entry of a stream, 0 without one."""
        last: int | None = self._read.value("select last from stream where name = ?", (stream,))
        return last or 0

    def entries(
        self, stream: str, after: int = 0, limit: int = MAX_READ_ENTRIES
    ) -> list[StreamEntry]:
        """The entries of a stream after a number, the oldest first."""
        rows = self._read.rows(
            "select number, at_ms, kind, body from entry "
            "where stream = (select id from stream where name = ?) and number > ? order by number limit ?",
            (stream, after, min(limit, MAX_READ_ENTRIES)),
        )
        return [StreamEntry(*row) for row in rows]

    def grown_since(self, prefix: str, at_ms: int) -> list[str]:
        """The streams whose names begin with a prefix and that have an entry of a time or later."""
        rows = self._read.rows(
            "select name from stream join entry on entry.stream = stream.id and entry.number = stream.last "
            "where name >= ? and name < ? and at_ms >= ? order by name",
            (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1), at_ms),
        )
        return [row[0] for row in rows]

    def last_before(self, stream: str, at_ms: int) -> int:
        """The number of the latest entry of a stream before a time, 0 without one."""
        found: int | None = self._read.value(
            "select number from entry where stream = (select id from stream where name = ?) and at_ms < ? "
            "order by number desc limit 1",
            (stream, at_ms),
        )
        return found or 0

    def document(self, name: str) -> tuple[int, bytes] | None:
        """The present version of a document and its body."""
        row = self._read.row("select version, body from document where name = ?", (name,))
        return (row[0], row[1]) if row else None

    def version(self, name: str, number: int, replay: Replay) -> Version | None:
        """Any version of a document; `replay` gives the next body from a body and the change that
        followed.
        """
        kept = (number - 1) // SNAPSHOT_VERSIONS * SNAPSHOT_VERSIONS + 1
        rows = self._read.rows(
            "select number, at_ms, author, change, body from version "
            "where document = (select id from document where name = ?) and number between ? and ? order by number",
            (name, kept, number),
        )
        if not rows or rows[-1][0] != number:
            return None
        body = rows[0][4]
        for row in rows[1:]:
            body = replay(body, row[3])
        number, at_ms, author, change, _ = rows[-1]
        return Version(number, at_ms, author, change, body)

    def versions(
        self, name: str, before: int | None = None, limit: int = MAX_READ_ENTRIES
    ) -> list[Version]:
        """The versions of a document without their bodies, the newest first."""
        rows = self._read.rows(
            "select number, at_ms, author, change from version "
            "where document = (select id from document where name = ?) and number < ? order by number desc limit ?",
            (name, before or 1 << 62, min(limit, MAX_READ_ENTRIES)),
        )
        return [
            Version(number, at_ms, author, change, b"") for number, at_ms, author, change in rows
        ]

    def snapshot_bytes(self, name: str) -> int:
        """The bytes of those versions of a document whose bodies are kept, one of
        `SNAPSHOT_VERSIONS`.
        """
        sql = (
            "select cast(sum(length(body)) as bigint) from version "
            "where document = (select id from document where name = ?)"
        )
        found: int | None = self._read.value(sql, (name,))
        return found or 0

    def names(self, prefix: str, before: str = "", limit: int = MAX_READ_ENTRIES) -> list[str]:
        """The names of documents that begin with a prefix, those made last first; with `before` those
        made before that one.
        """
        sql = "select name from document where name >= ? and name < ?"
        values: tuple[Any, ...] = (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))
        if before:
            sql += " and id < (select id from document where name = ?)"
            values = (*values, before)
        rows = self._read.rows(
            f"{sql} order by id desc limit ?", (*values, min(limit, MAX_READ_ENTRIES))
        )
        return [row[0] for row in rows]

    def attached(self, owner: str, digest: str) -> list[Attached]:
        """The attachments of an owner that are one blob, under its names, the oldest first."""
        return self._attached(
            "owner = ? and attachment.digest = ?", (owner, digest), MAX_READ_ENTRIES
        )

    def attachments(
        self, owner: str, after: int = 0, limit: int = MAX_READ_ENTRIES
    ) -> list[Attached]:
        """The attachments of an owner after a number, the oldest first."""
        return self._attached(
            "owner = ? and number > ?", (owner, after), min(limit, MAX_READ_ENTRIES)
        )

    def owners(self, digest: str) -> list[str]:
        """Whom a blob is attached to, the first at first."""
        sql = (
            "select owner from attachment where digest = ? group by owner order by min(id) limit ?"
        )
        return [row[0] for row in self._read.rows(sql, (digest, MAX_READ_ENTRIES))]

    def digests(self, prefix: str, limit: int) -> list[str]:
        """The blobs whose digest begins like this, which is hexadecimal."""
        sql = "select digest from blob where digest >= ? and digest < ? order by digest limit ?"
        return [row[0] for row in self._read.rows(sql, (prefix, prefix + "g", limit))]

    def search(
        self, owner: str, words: Sequence[str], limit: int, *, all_words: bool
    ) -> list[Match]:
        """The attachments of an owner, of all without one, whose indexed text has all of these
        words, or any.
        """
        if not words:
            return []
        return self._engine.words.search(self._read, owner, words, all_of=all_words, limit=limit)

    def long_texts(
        self, owner: str, least_bytes: int, limit: int
    ) -> tuple[list[tuple[str, Attached]], int]:
        """The attachments of an owner, of all without one, that are found by their words and are
        longer, the latest first, each behind its owner; and how many there are beyond the limit.
        """
        condition = (
            "blob.size > ? and exists (select 1 from words where words.rowid = attachment.id)"
        )
        values: tuple[Any, ...] = (least_bytes,)
        if owner:
            condition, values = f"owner = ? and {condition}", (owner, *values)
        joined = f"from attachment join blob using (digest) where {condition}"
        rows = self._read.rows(
            "select owner, number, name, attachment.digest, blob.size, attachment.at_ms, attachment.body "
            f"{joined} order by attachment.id desc limit ?",
            (*values, limit),
        )
        total = (
            self._read.value(f"select count(*) {joined}", values)
            if len(rows) == limit
            else len(rows)
        )
        return [(row[0], Attached(*row[1:])) for row in rows], total - len(rows)

    def cached(self, key: str) -> bytes | None:
        """A remembered answer that has not expired. That it was used is noted without waiting for
        it.
        """
        row = self._read.row("select body, at_ms, expires_ms from cached where key = ?", (key,))
        if row is None or not self.is_in_force(row[1], row[2]):
            return None
        with suppress(TerselyError):  # the note is not worth a refusal
            self._submit(lambda tables: on.touch_cached(tables, key))
        return bytes(row[0])

    def counts(self, scope: str) -> dict[str, int]:
        """The counters of a scope."""
        return dict(
            self._read.rows(
                "select name, amount from counter where scope = ? order by name", (scope,)
            )
        )

    # Blobs

    def take_in(self, chunks: Iterable[bytes], most_bytes: int = MAX_BLOB_BYTES) -> KeptBlob:
        """Bring the bytes of a blob to the disk, as the command that makes a batch keep them.

        Raises `payload_too_large` above `most_bytes`. `commit` takes the blobs of its batch along,
        whatever comes of it; one that is in no batch is to be let go of with `let_go`, and is else
        removed at the next start.
        """
        return _Intake(self._incoming, most_bytes).run(chunks)

    def let_go(self, keep: KeptBlob) -> None:
        """Forget a blob that was taken in, where no batch has kept it."""
        if keep.file is not None:
            keep.file.unlink(missing_ok=True)

    def blob(self, digest: str) -> Iterator[bytes]:
        """The bytes of a blob in chunks. Raises `artifact_damaged` at the end if they are not what
        was kept.
        """
        row = self._read.row("select size, body from blob where digest = ?", (digest,))
        if row is None:
            raise TerselyError(
                "artifact_not_found",
                f"there is no artifact {digest}",
                "it may have been swept away",
            )
        chunks = (
            iter((row[1],)) if row[1] is not None else self._engine.blobs.chunks(self._read, digest)
        )
        return _verified(digest, chunks)

    def size(self, digest: str) -> int | None:
        """The size of a blob in bytes; None where there is none."""
        found: int | None = self._read.value("select size from blob where digest = ?", (digest,))
        return found

    # Watching

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Have a function called, on the writer's thread, with the streams that have grown; the way
        to end it.

        It must not wait, and it may be called though nothing has changed. Whoever looks after it
        was called sees what it was called for.
        """
        with self._changing:
            self._watchers = (*self._watchers, watcher)
        return lambda: self._forget(watcher)

    def attend(self, attendant: Attendant) -> None:
        """Have a function called, on a thread of its own, with what other processes change; None:
        with anything.
        """
        with self._changing:
            self._attendants = (*self._attendants, attendant)

    @property
    def sharing(self) -> StoreSharing | None:
        """The processes that share the database; None where this is the only one."""
        return self._engine.sharing

    def now_ms(self) -> int:
        """The time by the store's clock, in ms since 1970.

        It stands still for a moment where the clock is set back a little. One that was far ahead is
        no longer followed once it is right: what is stamped later has the true time, and its place
        in the order by its number.
        """
        now_ms = int(self._clock() * 1000)
        if now_ms < self._latest_ms <= now_ms + MAX_CLOCK_STEP_MS:
            return self._latest_ms
        if self._latest_ms > now_ms:
            _LOG.warning("%s", _ahead_text(self._latest_ms - now_ms))
        self._latest_ms = now_ms
        return now_ms

    def is_in_force(self, from_ms: int, until_ms: int) -> bool:
        """True if a time has begun and is not over. What begins in the future was stamped by a clock
        that was ahead.
        """
        now_ms = self.now_ms()
        return from_ms <= now_ms + MAX_CLOCK_STEP_MS and now_ms < until_ms

    def close(self) -> None:
        """Write what waits, and let go of all files."""
        self._writer.close()
        if self.sharing is not None:
            self.sharing.close(self._database)
        with self._changing:
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.close()
        self._database.close()

    @property
    def _read(self) -> Statements:
        reader: Statements | None = getattr(self._reader, "database", None)
        if reader is None:
            reader = self._reader.database = self._engine.reader()
            with self._changing:
                self._readers.append(reader)
        return reader

    def _engine_of(self, url: str, tenant: str) -> StoreEngine:
        if not url:
            blobs = self.home / BLOBS
            return SqliteEngine(
                self.home / DATABASE, blobs, durable=self.is_durable, on_damage=self._note_damage
            )
        check_url(url)
        from tersely.relay.store.engines.postgresql import PostgresEngine

        (self.home / _SHARED).touch(mode=0o600)
        return PostgresEngine(url, tenant, durable=self.is_durable)

    def _note_damage(self, damage: TerselyError) -> None:
        self._damage = self._damage or damage

    def _submit(self, do: Callable[[on.Tables], ResultT]) -> Future[ResultT]:
        if self._damage is None and self._mark.exists():
            self._note_damage(_found_damaged(self.home / DATABASE))
        if self._damage is not None:  # whatever is written over it makes less of it be recovered
            raise TerselyError(self._damage.code, self._damage.message, self._damage.hint)
        return self._writer.submit(do)

    def _tables(self) -> on.Tables:
        return on.Tables(
            self._database, self._engine.words, self._engine.blobs, self.now_ms(), News()
        )

    def _before(self, tables: on.Tables) -> None:
        """Note when was written, and tell the other processes what."""
        on.note_time(tables)
        if self.sharing is not None:
            self._serial += 1
            self.sharing.tell(self._database, self._serial, tables.news)

    def _heard(self, serial: int, news: News | None) -> None:
        """Pass on what has changed, unless this process changed it itself and knows so."""
        if serial and not self._own_news.is_news(serial, news):
            return
        self._pass_on(news)

    def _pass_on(self, news: News | None) -> None:
        touched = Everything() if news is None else frozenset(news.streams)
        for watcher in self._watchers:
            watcher(touched)
        for attendant in self._attendants:
            try:
                attendant(news)
            except TerselyError:
                _LOG.exception("what another process has changed cannot be read")

    def _after(self, tables: on.Tables, failure: Exception | None) -> None:
        """Tell of what was written, and remove the files of blobs that were not, or are not any
        more.

        A transaction that failed may have reached the disk, and be there after a crash; the next
        one writes over it.
        """
        if failure is None or self._engine.left_nothing(failure):
            self._engine.blobs.settle(self._database)
        for news in self._own_news.settle(self._serial, has_failed=failure is not None):
            self._pass_on(news)
        if failure is None:
            touched = frozenset(tables.news.streams)
            for watcher in self._watchers:
                watcher(touched)

    def _forget(self, watcher: Watcher) -> None:
        with self._changing:
            self._watchers = tuple(one for one in self._watchers if one is not watcher)

    def _attached(self, condition: str, values: tuple[Any, ...], limit: int) -> list[Attached]:
        rows = self._read.rows(
            "select number, name, attachment.digest, size, attachment.at_ms, attachment.body "
            f"from attachment join blob using (digest) where {condition} order by number limit ?",
            (*values, limit),
        )
        return [Attached(*row) for row in rows]

    def _sweep_strays(self, older_than_ms: int) -> int:
        """Remove files that no row tells of, left over from crashes; how many there were."""
        removed = 0
        for old in self._engine.blobs.strays(older_than_ms):
            strays = [digest for digest in old if self.size(digest) is None]
            if strays:
                self._submit(partial(_suspect, strays)).result()
            removed += len(strays)
        return removed

    def _clear_incoming(self) -> None:
        for left_over in self._incoming.iterdir():
            left_over.unlink(missing_ok=True)


class _Intake(NamedTuple):
    """The way of a blob's bytes to the disk: the small in memory, the large through a file."""

    folder: Path
    most_bytes: int

    def run(self, chunks: Iterable[bytes]) -> KeptBlob:
        held = bytearray()
        hashed = sha256()
        rest = iter(chunks)
        for chunk in rest:
            hashed.update(chunk)
            held += chunk
            if len(held) > INLINE_BLOB_BYTES:
                return self._through_file(hashed, bytes(held), rest)
        self._check(len(held))
        return KeptBlob(hashed.hexdigest(), len(held), body=bytes(held))

    def _through_file(self, hashed: Any, held: bytes, rest: Iterator[bytes]) -> KeptBlob:
        path = self.folder / secrets.token_hex(16)
        size = len(held)
        try:
            with path.open("xb") as file:
                file.write(held)
                self._check(size)
                for chunk in rest:
                    hashed.update(chunk)
                    size += len(chunk)
                    self._check(size)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            path.unlink(missing_ok=True)
            if is_full(error):
                raise TerselyError(
                    "database_unavailable", f"{path}: the disk is full", FULL
                ) from error
            raise TerselyError(
                "database_unavailable", f"{path}: {error.strerror}", "look at its disk"
            ) from error
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return KeptBlob(hashed.hexdigest(), size, file=path)

    def _check(self, size: int) -> None:
        if size > self.most_bytes:
            message = f"at most {self.most_bytes:,} bytes are taken"
            raise TerselyError(
                "payload_too_large", message, "send less, or raise the limit in the settings"
            )


def _found_damaged(path: Path) -> TerselyError:
    hint = "end the relay and restore a backup"
    return TerselyError("database_corrupt", f"{path} was found to be damaged", hint)


def _ahead_text(ahead_ms: int) -> str:
    return (
        f"stamps lie up to {ahead_ms / _DAY_MS:.1f} days ahead: the clock was wrong when they were made. "
        "They stay; what is stamped from now on has the true time"
    )


def _suspect(digests: list[str], tables: on.Tables) -> None:
    tables.blobs.suspect(digests)


def _verified(digest: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    hashed = sha256()
    for chunk in chunks:
        hashed.update(chunk)
        yield chunk
    if hashed.hexdigest() != digest:
        raise _damaged(digest)


def _damaged(digest: str) -> TerselyError:
    hint = "the disk or somebody has changed it; store it again from where it came"
    return TerselyError("artifact_damaged", f"artifact {digest} is not what was stored", hint)
