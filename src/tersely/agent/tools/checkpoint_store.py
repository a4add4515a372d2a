"""The store of what must outlive the program: what files were before they were changed, and what
was too long to be shown.

A change is written down, and is on the disk, before the file is touched: `before` and `after` say
by the file itself whether it came to pass, so that a program that is killed at any moment has lost
nothing and left nothing unclear.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tersely.foundation.clock import wall_ms, wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.database import Database
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import Strings

MAX_ARTIFACTS = 500  # kept of one session; the oldest give way
# of what undoing needs, of all sessions; the oldest steps give way
MAX_CHECKPOINT_BYTES = 1_000_000_000
SNAPSHOT_DAYS = 7  # after which what a program that was killed has left of them is removed
REF_CHARACTERS = 8
_TREES = "trees"
_DAY_SECONDS = 86_400
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
        undone integer not null default 0,
        step integer not null default 0,        -- changes that are undone together, as those of one command are
        note text not null default ''
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
    create table running (
        session text primary key,
        command text not null,
        snapshot text not null
    ) without rowid;
    """,
)
DONE, UNDONE, LEFT = 0, 1, 2  # what has become of a change


class Checkpoint(NamedTuple):
    """One change of one file: `before` is None where there was none, `after` the hash of what was
    written.

    `after` is empty where the file was removed; `mode`, as `stat(2)` has it, is what the file had
    before. `folders` are those that were made for the file, the innermost first. All changes of one
    `step` are undone together.
    """

    id: int
    path: str
    before: bytes | None
    mode: int
    after: bytes
    folders: Strings
    step: int
    # "" for an edit, else the command that made the change, and what else is to be known of it, as
    # JSON
    note: str


class Recorded(NamedTuple):
    """A change that a command has made, to be written down."""

    path: str
    before: bytes | None
    mode: int
    after: bytes
    folders: Strings


class CheckpointStore:
    """The database of checkpoints and artifacts, of one session at a time. Not for two threads at
    once.
    """

    def __init__(self, database: Database, session: str, trees: Path) -> None:
        self._database = database
        self._session = session
        self.snapshots = trees / session  # the files before the command that runs

    @classmethod
    def open(cls, folder: Path, session: str) -> CheckpointStore:
        """The one of a folder, which is made if there is none."""
        kept = cls(
            Database.open_kept(folder / "tools.sqlite", _MIGRATIONS), session, folder / _TREES
        )
        kept._clear()
        return kept

    def add_checkpoint(
        self,
        path: str,
        before: bytes | None,
        mode: int,
        after: bytes,
        folders: Strings = (),
    ) -> int:
        """Write down a change that is about to be made; it is on the disk when this returns."""
        change = Recorded(path, before, mode, content_hash(after), folders)
        with self._database.transaction():
            return self._add(change, self._next_step(), "")

    def begin_command(self, command: str, snapshot: str) -> None:
        """A command is about to run, and these are the files as they were; it is on the disk when
        this returns.
        """
        values = (self._session, command, snapshot)
        self._database.execute("insert or replace into running values (?, ?, ?)", values)

    def running_command(self) -> tuple[str, str] | None:
        """The command that has begun and not ended, with the files before it."""
        row = self._database.row(
            "select command, snapshot from running where session = ?", (self._session,)
        )
        return None if row is None else (str(row[0]), str(row[1]))

    def end_command(self, changes: Iterable[Recorded], note: str) -> None:
        """Write down the changes of the command, all or nothing."""
        with self._database.transaction():
            step = self._next_step()
            for change in changes:
                self._add(change, step, note)
            self._database.execute("delete from running where session = ?", (self._session,))
            self._shed()

    def last_step(self) -> list[Checkpoint]:
        """The changes of the latest step that was not undone, the last first."""
        sql = "select max(step) from checkpoint where session = ? and undone = ?"
        step = self._database.value(sql, (self._session, DONE))
        return self._checkpoints("step = ? and undone = ?", (step, DONE))

    def left(self) -> list[Checkpoint]:
        """The changes that were left when their steps were undone, the last first."""
        return self._checkpoints("undone = ?", (LEFT,))

    def mark(self, becomes: Mapping[int, int]) -> None:
        """Write down what has become of changes, by their ids."""
        with self._database.transaction():
            for checkpoint, state in becomes.items():
                self._database.execute(
                    "update checkpoint set undone = ? where id = ?", (state, checkpoint)
                )

    def _shed(self) -> None:
        """Forget the oldest steps of all sessions where there is more of them than is kept."""
        sizes = "select id, sum(ifnull(length(before), 0)) over (order by step desc) as bytes from checkpoint"
        self._database.execute(
            f"delete from checkpoint where id in (select id from ({sizes}) where bytes > ?)",
            (MAX_CHECKPOINT_BYTES,),
        )

    def _next_step(self) -> int:
        return int(self._database.value("select coalesce(max(step), 0) + 1 from checkpoint"))

    def _add(self, change: Recorded, step: int, note: str) -> int:
        columns = "session, path, before, mode, after, folders, created_at, step, note"
        path, before, mode, after, folders = change
        values = (
            self._session,
            path,
            before,
            mode,
            after,
            "\n".join(folders),
            int(wall_seconds()),
            step,
            note,
        )
        found: int = self._database.value(
            f"insert into checkpoint ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id",
            values,
        )
        return found

    def _checkpoints(self, where: str, values: tuple[Any, ...]) -> list[Checkpoint]:
        columns = "id, path, before, mode, after, folders, step, note"
        sql = f"select {columns} from checkpoint where session = ? and {where} order by id desc"
        return [
            Checkpoint(
                number,
                path,
                before,
                mode,
                after,
                tuple(filter(None, folders.split("\n"))),
                step,
                note,
            )
            for number, path, before, mode, after, folders, step, note in self._database.rows(
                sql, (self._session, *values)
            )
        ]

    def add_artifact(self, content: str) -> str:
        """Keep a text that was too long; the reference under which it is read on."""
        ref = content_hash(content.encode("utf-8", "replace")).hex()[:REF_CHARACTERS]
        with self._database.transaction():
            self._database.execute(
                "insert or replace into artifact values (?, ?, ?, ?)",
                (self._session, ref, content, wall_ms()),
            )
            self._database.execute(
                "delete from artifact where session = ?1 and ref not in (select ref from artifact where session = ?1 "
                "order by created_at desc limit ?2)",
                (self._session, MAX_ARTIFACTS),
            )
        return ref

    def artifact(self, ref: str) -> str:
        """The text behind a reference; raises `artifact_not_found`. A fork knows those of its
        origin.
        """
        sql = "select content from artifact where ref = ? order by session = ? desc limit 1"
        row = self._database.row(sql, (ref, self._session))
        if row is None:
            raise TerselyError(
                "artifact_not_found",
                f"there is no ref {ref!r} in this session",
                "call the tool again",
            )
        return str(row[0])

    def forget(self) -> None:
        """Keep nothing of the session any longer."""
        with self._database.transaction():
            for table in ("checkpoint", "artifact", "running"):
                self._database.execute(f"delete from {table} where session = ?", (self._session,))
        shutil.rmtree(self.snapshots, ignore_errors=True)

    def close(self) -> None:
        """Let go of the file."""
        if self.running_command() is None:
            shutil.rmtree(self.snapshots, ignore_errors=True)
        self._database.close()

    def _clear(self) -> None:
        """Remove what programs have left that were killed, and whose sessions did not go on."""
        with suppress(OSError), os.scandir(self.snapshots.parent) as entries:
            for entry in entries:
                if (
                    wall_seconds() - entry.stat(follow_symlinks=False).st_mtime
                    > SNAPSHOT_DAYS * _DAY_SECONDS
                ):
                    shutil.rmtree(entry.path, ignore_errors=True)
