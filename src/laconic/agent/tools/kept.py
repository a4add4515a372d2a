"""What must outlive the program: what files were before they were changed, and what was too long to be shown.

A change is written down, and is on the disk, before the file is touched: `before` and `after` say by the file itself
whether it came to pass, so that a program that is killed at any moment has lost nothing and left nothing unclear.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from laconic.foundation.clock import wall_seconds
from laconic.foundation.database import Database
from laconic.foundation.errors import LaconicError
from laconic.foundation.hashing import content_hash
from laconic.foundation.limits import MAX_ARTIFACTS

REF_CHARACTERS = 8
_MIGRATIONS = (
    """
    create table checkpoint (
        id integer primary key autoincrement,
        session text not null,
        path text not null,
        before blob,
        mode integer,
        after blob not null,
        folders text not null default '',
        created_at integer not null,
        undone integer not null default 0
    );
    create index checkpoint_of_session on checkpoint (session, undone, id);
    create table artifact (
        session text not null,
        ref text not null,
        content text not null,
        created_at integer not null,
        primary key (session, ref)
    ) without rowid;
    create index artifact_of_ref on artifact (ref);
    """,
)


class Checkpoint(NamedTuple):
    """One change of one file: `before` is None where there was none, `after` the hash of what was written.

    `folders` are those that were made for the file, the innermost first.
    """

    id: int
    path: str
    before: bytes | None
    mode: int
    after: bytes
    folders: tuple[str, ...]


class Kept:
    """The database of checkpoints and artifacts, of one session at a time. Not for two threads at once."""

    def __init__(self, database: Database, session: str) -> None:
        self._database = database
        self._session = session

    @classmethod
    def open(cls, folder: Path, session: str) -> Kept:
        """The one of a folder, which is made if there is none."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(Database.open_kept(folder / "tools.sqlite", _MIGRATIONS), session)

    def add_checkpoint(
        self, path: str, before: bytes | None, mode: int, after: bytes, folders: tuple[str, ...] = ()
    ) -> int:
        """Write down a change that is about to be made; it is on the disk when this returns."""
        values = (self._session, path, before, mode, content_hash(after), "\n".join(folders), int(wall_seconds()))
        columns = "session, path, before, mode, after, folders, created_at"
        found: int = self._database.value(
            f"insert into checkpoint ({columns}) values (?, ?, ?, ?, ?, ?, ?) returning id", values
        )
        return found

    def last_checkpoint(self) -> Checkpoint | None:
        """The latest change of the session that was not undone."""
        row = self._database.row(
            "select id, path, before, mode, after, folders from checkpoint where session = ? and not undone "
            "order by id desc limit 1",
            (self._session,),
        )
        if row is None:
            return None
        number, path, before, mode, after, folders = row
        return Checkpoint(number, path, before, mode, after, tuple(filter(None, folders.split("\n"))))

    def mark_undone(self, checkpoint: int) -> None:
        """The change is no longer there."""
        self._database.execute("update checkpoint set undone = 1 where id = ?", (checkpoint,))

    def add_artifact(self, content: str) -> str:
        """Keep a text that was too long; the reference under which it is read on."""
        ref = content_hash(content.encode("utf-8", "replace")).hex()[:REF_CHARACTERS]
        with self._database.transaction():
            self._database.execute(
                "insert or replace into artifact values (?, ?, ?, ?)",
                (self._session, ref, content, int(wall_seconds() * 1000)),
            )
            self._database.execute(
                "delete from artifact where session = ?1 and ref not in (select ref from artifact where session = ?1 "
                "order by created_at desc limit ?2)",
                (self._session, MAX_ARTIFACTS),
            )
        return ref

    def artifact(self, ref: str) -> str:
        """The text behind a reference; raises `artifact_not_found`. A fork knows those of its origin."""
        sql = "select content from artifact where ref = ? order by session = ? desc limit 1"
        row = self._database.row(sql, (ref, self._session))
        if row is None:
            raise LaconicError("artifact_not_found", f"there is no ref {ref!r} in this session", "call the tool again")
        return str(row[0])

    def forget(self) -> None:
        """Keep nothing of the session any longer."""
        with self._database.transaction():
            for table in ("checkpoint", "artifact"):
                self._database.execute(f"delete from {table} where session = ?", (self._session,))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
