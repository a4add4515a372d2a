"""The texts that readers have been shown, on disk beside the index: those of sessions, and versions
given out with a tag.

A session is a name that a reader chooses. Several processes may use it at once: what one of them
sends is written in one transaction, and of two that send the same symbol the later counts. What is
forgotten, by age or for room, is sent whole again; nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Self
from zlib import compress, decompress

from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.database import Database, Schema, remove

MAX_SESSIONS = 200
SESSION_SECONDS = 14 * 86_400  # without a question, until a session is forgotten
MAX_SESSION_BYTES = 4_000_000  # of what one session was sent, compressed
MAX_VERSION_BYTES = 400_000  # of a text that is kept to compare the next version with
MAX_VERSIONS_BYTES = 8_000_000  # of all of them, compressed
SESSIONS_FILE = "sessions.db"
SCHEMA = Schema(
    1,
    """
    create table session (id integer primary key, name text not null unique, used real not null) strict;
    create table shown (
        session integer not null references session on delete cascade,
        key text not null,
        sent integer not null,  -- larger for what was sent or referred to later
        etag text not null,
        signature text not null,
        skeleton blob not null,
        body blob not null,
        primary key (session, key)
    ) strict, without rowid;
    create table version (
        number integer primary key,  -- larger for what was given out later
        symbol text not null,
        etag text not null,
        size integer not null,
        text blob not null,
        unique (symbol, etag)
    ) strict;
    """,
)


class SentTexts(NamedTuple):
    """The last texts of one symbol that a reader was sent, each "" for none; `etag` is the symbol's
    as of the longest.

    A skeleton is the one that lists all members. For lines of a file, all of them are the `body`.
    """

    etag: str = ""
    signature: str = ""
    skeleton: str = ""
    body: str = ""


class Sessions:
    """An open database of sessions. For one thread at a time; close it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the sessions kept in a directory, anew if they are damaged."""
        path = directory / SESSIONS_FILE
        if path.is_symlink():  # a repository is not trusted to say where we write
            raise TerselyError("database_unavailable", f"{path} is a symbolic link")
        try:
            return cls(Database.open_derived(path, SCHEMA))
        except TerselyError as error:
            if error.code != "database_corrupt":
                raise
        remove(path)
        return cls(Database.open_derived(path, SCHEMA))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Sessions

    def shown(self, name: str) -> dict[str, SentTexts]:
        """All that a session has been shown, by key."""
        rows = self._database.rows(
            "select key, etag, signature, skeleton, body from shown join session on session.id = session "
            "where name = ? and used > ?",
            (name, wall_seconds() - SESSION_SECONDS),
        )
        return {
            key: SentTexts(etag, signature, _text(skel), _text(body))
            for key, etag, signature, skel, body in rows
        }

    def record(self, name: str, sent: Mapping[str, SentTexts], referred: Iterable[str]) -> None:
        """Write down what a session was sent, and what it was told that it has; forget what is old
        or too much.
        """
        with self._database.transaction():
            self._database.execute(
                "insert into session (name, used) values (?1, ?2) on conflict (name) do update set used = ?2",
                (name, wall_seconds()),
            )
            session = self._database.value("select id from session where name = ?", (name,))
            latest = self._database.value(
                "select coalesce(max(sent), 0) + 1 from shown where session = ?", (session,)
            )
            self._database.execute_many(
                "update shown set sent = ? where session = ? and key = ?",
                [(latest, session, key) for key in referred],
            )
            self._database.execute_many(
                "insert or replace into shown values (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        session,
                        key,
                        latest,
                        one.etag,
                        one.signature,
                        _packed(one.skeleton),
                        _packed(one.body),
                    )
                    for key, one in sent.items()
                ],
            )
            self._forget(session)

    def reset(self, name: str) -> None:
        """Forget a session."""
        with self._database.transaction():
            self._database.execute("delete from session where name = ?", (name,))

    def _forget(self, session: int) -> None:
        """Forget sessions that are old or too many, and of this one what was sent longest ago, if
        it is too much.
        """
        self._database.execute(
            "delete from session where used <= ?", (wall_seconds() - SESSION_SECONDS,)
        )
        self._database.execute(
            "delete from session where id in (select id from session order by used desc, id desc limit -1 offset ?)",
            (MAX_SESSIONS,),
        )
        self._database.execute(
            "delete from shown where session = ?1 and key in (select key from (select key, "
            "sum(length(key) + length(signature) + length(skeleton) + length(body)) over (order by sent desc, key) "
            "as size from shown where session = ?1) where size > ?2)",
            (session, MAX_SESSION_BYTES),
        )

    # Versions

    def version(self, symbol_id: str, etag: str) -> str | None:
        """The text of a symbol that was given out with a tag, if it is still here."""
        text = self._database.value(
            "select text from version where symbol = ? and etag = ?", (symbol_id, etag)
        )
        return None if text is None else _text(text)

    def keep_version(self, symbol_id: str, etag: str, text: str) -> None:
        """Remember a text that is given out with a tag, and forget the oldest if there are too
        many.
        """
        known = "select 1 from version where symbol = ? and etag = ?"
        if len(text) > MAX_VERSION_BYTES or self._database.value(known, (symbol_id, etag)):
            return
        packed = _packed(text)
        with self._database.transaction():
            self._database.execute(
                "insert or ignore into version (symbol, etag, size, text) values (?, ?, ?, ?)",
                (symbol_id, etag, len(packed), packed),
            )
            self._database.execute(
                "delete from version where number in (select number from (select number, "
                "sum(size) over (order by number desc) as total from version) where total > ?)",
                (MAX_VERSIONS_BYTES,),
            )


def _packed(text: str) -> bytes:
    return compress(text.encode("utf-8", "surrogatepass")) if text else b""


def _text(packed: bytes) -> str:
    return decompress(packed).decode("utf-8", "surrogatepass") if packed else ""
