"""The effect of each command on the tables. Runs inside the writer's transaction, for one batch at
a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import RECEIPT_SECONDS, SNAPSHOT_VERSIONS
from tersely.foundation.types import Numbers
from tersely.relay.store.commands import (
    Append,
    Attach,
    Cache,
    Committed,
    Count,
    Detach,
    KeptBlob,
    StoreBatch,
    Write,
)
from tersely.relay.store.engines.engine import Blobs, FullText, Statements
from tersely.relay.store.news import News

MAX_CACHE_BYTES = 256_000_000  # of answers
MAX_EVICTED_ANSWERS = 64  # that make room at one go
_NUMBER_BYTES = 8
_LAST_MS = "last written"


class Tables(NamedTuple):
    """The place where commands are written: the database, and the time at which it happens."""

    database: Statements
    words: FullText
    blobs: Blobs
    now_ms: int
    news: News  # what others are to be told


def commit(tables: Tables, batch: StoreBatch) -> Committed:
    """Write a batch, or find that it was written before; raises what refuses it."""
    if batch.key:
        found = _receipt(tables, batch)
        if found is not None:
            return Committed(found, is_repetition=True)
    given: list[int] = []
    for command in batch.commands:
        given.append(_DO[type(command)](tables, command, given))
    if batch.key:
        packed = b"".join(number.to_bytes(_NUMBER_BYTES, "big", signed=True) for number in given)
        sql = "insert into receipt values (?, ?, ?, ?)"
        tables.database.execute(sql, (batch.key, tables.now_ms, batch.fingerprint, packed))
    return Committed(tuple(given))


def note_time(tables: Tables) -> None:
    """Remember when was written last, so that time does not go back with the next start."""
    sql = (
        "insert into total values (?, ?) on conflict (name) do update "
        "set amount = case when excluded.amount > total.amount then excluded.amount else total.amount end"
    )
    tables.database.execute(sql, (_LAST_MS, tables.now_ms))


def last_ms(database: Statements) -> int:
    """The time of the last command, in ms since 1970; 0 where nothing was."""
    found: int | None = database.value("select amount from total where name = ?", (_LAST_MS,))
    return found or 0


def set_total(database: Statements, name: str, amount: int) -> None:
    """Remember one number under a name."""
    sql = (
        "insert into total values (?, ?) on conflict (name) do update set amount = excluded.amount"
    )
    database.execute(sql, (name, amount))


def touch_cached(tables: Tables, key: str) -> None:
    """Remember that an answer was used."""
    sql = "update cached set used_ms = ? where key = ?"
    tables.database.execute(sql, (tables.now_ms, key))


def _append(tables: Tables, command: Append, given: list[int]) -> int:
    stream, number = _next(tables, command.stream)
    body = command.body if isinstance(command.body, bytes) else command.body(given)
    sql = "insert into entry values (?, ?, ?, ?, ?)"
    tables.database.execute(
        sql, (stream, number, command.at_ms or tables.now_ms, command.kind, body)
    )
    return number


def _write(tables: Tables, command: Write, given: list[int]) -> int:
    database = tables.database
    row = database.row("select id, version, body from document where name = ?", (command.document,))
    version = row[1] if row else 0
    if command.expected is not None and command.expected != version:
        if row is None:
            command.edit(None)  # an edit of something that is not there says what is missing
        message = f"{command.document} is at version {version}, not {command.expected}"
        raise TerselyError(
            "version_conflict", message, "read it again and send a change that fits it"
        )
    body, change = command.edit(row[2] if row else None)
    version += 1
    saved = body if version % SNAPSHOT_VERSIONS == 1 else None
    if row:
        database.execute(
            "update document set version = ?, body = ? where id = ?", (version, body, row[0])
        )
        document = row[0]
    else:
        sql = "insert into document (name, version, body) values (?, ?, ?) returning id"
        document = database.value(sql, (command.document, version, body))
    sql = "insert into version values (?, ?, ?, ?, ?, ?)"
    database.execute(
        sql, (document, version, command.at_ms or tables.now_ms, command.author, change, saved)
    )
    tables.news.streams.add(command.document)
    return version


def _keep(tables: Tables, command: KeptBlob, given: list[int]) -> int:
    database = tables.database
    stored = database.row("select body is null from blob where digest = ?", (command.digest,))
    if command.file is not None:
        tables.blobs.put(database, command)
    if stored:  # its time is when it was last wanted, so that it is not swept away meanwhile
        database.execute(
            "update blob set at_ms = ? where digest = ?", (tables.now_ms, command.digest)
        )
    else:
        sql = "insert into blob values (?, ?, ?, ?)"
        database.execute(sql, (command.digest, command.size_bytes, tables.now_ms, command.body))
    return command.size_bytes


def _attach(tables: Tables, command: Attach, given: list[int]) -> int:
    database = tables.database
    if not database.value("select count(*) from blob where digest = ?", (command.digest,)):
        raise TerselyError(
            "artifact_not_found", f"there is no artifact {command.digest}", "store it first"
        )
    sql = "select number from attachment where owner = ? and name = ?"
    there: int | None = database.value(sql, (command.owner, command.name))
    if there is not None:
        return there
    _, number = _next(tables, _numbers_of(command.owner))
    sql = "insert into attachment (owner, number, name, digest, at_ms, body) values (?, ?, ?, ?, ?, ?) returning id"
    values = (
        command.owner,
        number,
        command.name,
        command.digest,
        command.at_ms or tables.now_ms,
        command.body,
    )
    row = database.value(sql, values)
    if command.text:
        tables.words.add(database, row, command.owner, command.text)
    return number


def _detach(tables: Tables, command: Detach, given: list[int]) -> int:
    database = tables.database
    sql = "delete from attachment where owner = ? and name = ? returning id"
    row = database.value(sql, (command.owner, command.name))
    if row is None:
        return 0
    tables.words.remove(database, row)
    return 1


def _cache(tables: Tables, command: Cache, given: list[int]) -> int:
    database = tables.database
    before: int | None = database.value(
        "select length(body) from cached where key = ?", (command.key,)
    )
    size = len(command.body)
    sql = (
        "insert into cached (key, at_ms, expires_ms, used_ms, body) values (?, ?, ?, ?, ?) on conflict (key) do update "
        "set at_ms = excluded.at_ms, expires_ms = excluded.expires_ms, used_ms = excluded.used_ms, body = excluded.body"
    )
    database.execute(
        sql, (command.key, tables.now_ms, command.expires_ms, tables.now_ms, command.body)
    )
    total = _add_total(database, "cached bytes", size - (before or 0))
    while total > MAX_CACHE_BYTES:
        freed = _evict(tables)
        if not freed:
            break
        total = _add_total(database, "cached bytes", -freed)
    return size


def _evict(tables: Tables) -> int:
    """Forget the answers that were longest not used; the bytes that they took."""
    oldest = "select key from cached order by used_ms limit ?"
    sql = f"delete from cached where key in ({oldest}) returning length(body)"
    return sum(row[0] for row in tables.database.rows(sql, (MAX_EVICTED_ANSWERS,)))


def add(tables: Tables, scope: str, name: str, amount: int) -> int:
    """Add an amount to a counter of a scope; the new sum. Until the transaction ends, nobody else
    adds to it.
    """
    sql = (
        "insert into counter values (?, ?, ?) "
        "on conflict (scope, name) do update set amount = counter.amount + excluded.amount returning amount"
    )
    total: int = tables.database.value(sql, (scope, name, amount))
    return total


def _count(tables: Tables, command: Count, given: list[int]) -> int:
    return add(tables, command.scope, command.name, command.amount)


_DO: dict[type, Callable[[Tables, Any, list[int]], int]] = {
    Append: _append,
    Write: _write,
    KeptBlob: _keep,
    Attach: _attach,
    Detach: _detach,
    Cache: _cache,
    Count: _count,
}


def discard(tables: Tables, name: str, limit: int) -> int:
    """Forget some rows of the stream and the document of a name, and of what is attached to it; how
    many.
    """
    database, removed = tables.database, 0
    for table, column, of in (("entry", "stream", "stream"), ("version", "document", "document")):
        sql = f"select number from {table} where {column} = (select id from {of} where name = ?) limit ?"
        numbers = [row[0] for row in database.rows(sql, (name, limit))]
        sql = f"delete from {table} where {column} = (select id from {of} where name = ?) and number = ?"
        database.execute_many(sql, [(name, number) for number in numbers])
        if not numbers:
            database.execute(f"delete from {of} where name = ?", (name,))
        removed += len(numbers)
    database.execute("delete from stream where name = ?", (_numbers_of(name),))
    places = [
        row[0]
        for row in database.rows(
            "select name from attachment where owner = ? limit ?", (name, limit)
        )
    ]
    for place in places:
        _detach(tables, Detach(name, place), [])
    return removed + len(places)


def forget_counters(tables: Tables, begin: str, end: str) -> None:
    """Forget the counters of the scopes from `begin` on and before `end`, by their names."""
    tables.database.execute("delete from counter where scope >= ? and scope < ?", (begin, end))


def sweep(tables: Tables, older_than_ms: int, limit: int) -> int:
    """Forget blobs that nobody has attached since a time, and receipts that nobody will ask for;
    how many blobs.
    """
    database = tables.database
    database.execute(
        "delete from receipt where at_ms < ?", (tables.now_ms - RECEIPT_SECONDS * 1000,)
    )
    unused = (
        "select digest from blob where at_ms < ? and not exists "
        "(select 1 from attachment where attachment.digest = blob.digest) limit ?"
    )
    sql = f"delete from blob where digest in ({unused}) returning digest"
    swept = [row[0] for row in database.rows(sql, (older_than_ms, limit))]
    tables.blobs.dropped(database, swept)
    return len(swept)


def _receipt(tables: Tables, batch: StoreBatch) -> Numbers | None:
    row = tables.database.row(
        "select at_ms, fingerprint, given from receipt where key = ?", (batch.key,)
    )
    if row is None:
        return None
    at_ms, fingerprint, given = row
    if tables.now_ms - at_ms > RECEIPT_SECONDS * 1000:
        tables.database.execute("delete from receipt where key = ?", (batch.key,))
        return None
    if fingerprint != batch.fingerprint:
        message = f"{batch.key!r} was used before, for something else"
        raise TerselyError("key_reused", message, "use a new idempotency key for a new request")
    parts = range(0, len(given), _NUMBER_BYTES)
    return tuple(int.from_bytes(given[at : at + _NUMBER_BYTES], "big", signed=True) for at in parts)


def _next(tables: Tables, name: str) -> tuple[int, int]:
    """The stream of a name, made if need be, and the number of its next entry."""
    sql = (
        "insert into stream (name, last) values (?, 1) "
        "on conflict (name) do update set last = stream.last + 1 returning id, last"
    )
    row = tables.database.row(sql, (name,))
    assert row is not None
    tables.news.streams.add(name)
    return row[0], row[1]


def _numbers_of(owner: str) -> str:
    """The stream in which the attachments of an owner are numbered."""
    return f"attachments of {owner}"


def _add_total(database: Statements, name: str, amount: int) -> int:
    sql = (
        "insert into total values (?, ?) "
        "on conflict (name) do update set amount = total.amount + excluded.amount returning amount"
    )
    total: int = database.value(sql, (name, amount))
    return total
