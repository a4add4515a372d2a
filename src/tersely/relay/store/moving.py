"""All that one store keeps, written into another that is empty, whichever engine has it.

The tables are the same on all engines but for the numbers that an engine gives to rows, which are
given anew, for what is found by words, which is made anew, and for the bytes of large blobs, which
are in the place that the engine has for them. Who is connected is not written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.relay.store.commands import KeptBlob
from tersely.relay.store.engines.engine import Row, Statements, StoreEngine
from tersely.relay.store.mailboxes import forget_indexed, make_up_attempts

MOVED_ROWS = 200  # read at one go


class _Table(NamedTuple):
    """A table whose rows are written as they are. `keys` are the first of its columns."""

    name: str
    columns: str
    keys: int = 1


_PLAIN = (
    _Table("cached", "key, at_ms, expires_ms, used_ms, body"),
    _Table("counter", "scope, name, amount", 2),
    _Table("receipt", "key, at_ms, fingerprint, given"),
    _Table("identity", "name, kind, project, details, token, session, resume, first_ms, last_ms"),
    _Table("member", "channel, name, at_ms", 2),
    _Table(
        "message",
        "number, sender, sender_kind, id, at_ms, addressed, topic, thread, kind, payload, treatment",
    ),
    _Table(
        "delivery",
        "mailbox, message, seq, stage, attempts, size, expires_ms, delivered_ms, injected_ms, seen_ms, dead_ms, note",
        2,
    ),
    _Table("sequence", "name, last"),
    _Table("total", "name, amount"),
)
_BLOB = _Table("blob", "digest, size, at_ms, body")
_ATTACHMENT = _Table("attachment", "id, owner, number, name, digest, at_ms, body")
# what has a number of the engine's, and what it numbers
_NUMBERED = (
    (
        _Table("stream", "id, name, last"),
        _Table("entry", "stream, number, at_ms, kind, body", 2),
    ),
    (
        _Table("document", "id, name, version, body"),
        _Table("version", "document, number, at_ms, author, change, body", 2),
    ),
)
_KEPT = ("stream", "document", "blob", "message", "identity")  # of which an empty store has nothing


class OpenedStore(NamedTuple):
    """A store that is read or written: its engine, and its connection, in a transaction."""

    engine: StoreEngine
    database: Statements


def is_empty(database: Statements) -> bool:
    """True if a store keeps nothing yet."""
    return not any(database.value(f"select 1 from {table} limit 1") for table in _KEPT)


def move(source: OpenedStore, target: OpenedStore, drafts: Path) -> None:
    """Write all that one keeps into another that is empty.

    Large blobs come by way of files in the folder `drafts`, on the disk of the target. Raises
    `artifact_damaged`.
    """
    for owner, owned in _NUMBERED:
        numbers = _move_numbered(source, target, owner)
        for rows in _pages(source.database, owned):
            _write(target, owned, [(numbers[row[0]], *row[1:]) for row in rows])
    _move_blobs(source, target, drafts)
    _move_attachments(source, target)
    target.database.execute("delete from total")  # of when it was opened
    for table in _PLAIN:
        for rows in _pages(source.database, table):
            _write(target, table, rows)
    make_up_attempts(target.database)
    forget_indexed(target.database)


def _move_numbered(source: OpenedStore, target: OpenedStore, table: _Table) -> dict[int, int]:
    """The numbers that the target has given to rows, by those that they had."""
    columns = table.columns.partition(", ")[2]
    marks = ", ".join("?" * len(columns.split(", ")))
    sql = f"insert into {table.name} ({columns}) values ({marks}) returning id"
    numbers: dict[int, int] = {}
    for rows in _pages(source.database, table):
        for row in rows:
            numbers[row[0]] = target.database.value(sql, row[1:])
    return numbers


def _move_blobs(source: OpenedStore, target: OpenedStore, drafts: Path) -> None:
    for rows in _pages(source.database, _BLOB):
        for digest, size, _, body in rows:
            if body is None:
                draft = _draft(source, drafts, digest)
                target.engine.blobs.put(target.database, KeptBlob(digest, size, file=draft))
                draft.unlink(missing_ok=True)
        _write(target, _BLOB, rows)


def _draft(source: OpenedStore, drafts: Path, digest: str) -> Path:
    """A file with the bytes of a large blob, which are on the disk."""
    path = drafts / secrets.token_hex(16)
    hashed = sha256()
    with path.open("xb") as file:
        for chunk in source.engine.blobs.chunks(source.database, digest):
            hashed.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    if hashed.hexdigest() != digest:
        path.unlink()
        hint = "store it again from where it came, or remove it from its thread; nothing was moved"
        raise TerselyError("artifact_damaged", f"artifact {digest} is not what was stored", hint)
    return path


def _move_attachments(source: OpenedStore, target: OpenedStore) -> None:
    sql = (
        "insert into attachment (owner, number, name, digest, at_ms, body) "
        "values (?, ?, ?, ?, ?, ?) returning id"
    )
    for rows in _pages(source.database, _ATTACHMENT):
        for row in rows:
            number: int = target.database.value(sql, row[1:])
            text = source.database.value("select text from words where rowid = ?", row[:1])
            if text is not None:
                target.engine.words.add(target.database, number, row[1], text)


def _pages(database: Statements, table: _Table) -> Iterator[list[Row]]:
    """The rows of a table in the order of its keys, some at a time."""
    keys = ", ".join(table.columns.split(", ")[: table.keys])
    marks = ", ".join("?" * table.keys)
    select = f"select {table.columns} from {table.name}"
    end = f"order by {keys} limit {MOVED_ROWS}"
    rows = database.rows(f"{select} {end}")
    while rows:
        yield rows
        last: tuple[Any, ...] = rows[-1][: table.keys]
        rows = database.rows(f"{select} where ({keys}) > ({marks}) {end}", last)


def _write(target: OpenedStore, table: _Table, rows: list[Row]) -> None:
    marks = ", ".join("?" * len(table.columns.split(", ")))
    sql = f"insert into {table.name} ({table.columns}) values ({marks})"
    target.database.execute_many(sql, rows)
