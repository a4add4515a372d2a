"""The database driver: versions, transactions, several processes, and what goes wrong with files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tersely.foundation.errors import TerselyError
from tersely.foundation.storage import database as module
from tersely.foundation.storage.database import DATABASE_KEPT_LOG_BYTES, Database, Schema, remove

FIRST = Schema(
    1,
    "create table item (name text primary key, size integer); create index by_size on item (size);",
)
SECOND = Schema(
    2,
    "create table item (name text primary key, weight real); create view heavy as select * from item;",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sub" / "index.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    with Database.open_derived(path, FIRST) as opened:
        yield opened


def names(database: Database) -> list[str]:
    return [name for (name,) in database.rows("select name from item order by name")]


def test_opening_makes_the_directory_and_the_tables(database: Database, path: Path) -> None:
    assert path.exists()
    assert names(database) == []
    assert database.value("pragma journal_mode") == "wal"
    assert database.value("pragma foreign_keys") == 1
    assert database.value("pragma synchronous") == 1


def test_a_database_in_memory_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        Database.open_derived(Path(":memory:"), FIRST) as one,
        Database.open_derived(Path(":memory:"), FIRST) as two,
    ):
        one.execute("insert into item values ('a', 1)")
        assert (names(one), names(two)) == (["a"], [])
    assert list(tmp_path.iterdir()) == []


def test_the_driver_brings_an_sqlite_without_the_wal_reset_defect() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 51, 3)


def test_rows_values_and_streams(database: Database) -> None:
    database.execute_many("insert into item values (?, ?)", [("a", 1), ("b", 2)])
    assert database.row("select * from item where name = ?", ("b",)) == ("b", 2)
    assert database.row("select * from item where name = :n", {"n": "z"}) is None
    assert database.value("select sum(size) from item") == 3
    assert database.value("select size from item where name = 'z'") is None
    assert list(database.stream("select size from item order by size")) == [(1,), (2,)]


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    with pytest.raises(apsw.ConstraintError), database.transaction():
        database.execute("insert into item values ('a', 1); insert into item values ('a', 1)")
    assert names(database) == []
    with database.transaction():
        database.execute("insert into item values ('a', 1)")
    assert names(database) == ["a"]


def test_a_snapshot_does_not_see_what_is_written_meanwhile(database: Database, path: Path) -> None:
    with Database.open_derived(path, FIRST) as writer, database.snapshot():
        assert names(database) == []
        writer.execute("insert into item values ('a', 1)")
        assert names(database) == []
    assert names(database) == ["a"]


def test_another_version_of_the_schema_starts_empty(path: Path) -> None:
    with Database.open_derived(path, FIRST) as first:
        first.execute("insert into item values ('a', 1)")
        first.execute("create virtual table words using fts5(body)")
        first.execute("create table child (name text references item (name))")
    with Database.open_derived(path, SECOND) as second:
        assert names(second) == []
        assert second.rows("select * from heavy") == []
        tables = second.rows(
            "select name from sqlite_schema where name not like 'sqlite%' order by name"
        )
        assert tables == [("heavy",), ("item",)]
        assert second.value("pragma foreign_keys") == 1
    with Database.open_derived(path, FIRST) as again:
        assert again.rows("select size from item") == []


def test_the_same_version_keeps_what_is_there(path: Path) -> None:
    for name in ("a", "b"):
        with Database.open_derived(path, FIRST) as database:
            database.execute("insert into item values (?, 1)", (name,))
    with Database.open_derived(path, FIRST) as database:
        assert names(database) == ["a", "b"]


def test_a_short_log_waits_for_later_and_a_long_one_does_not(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    for name, length, is_kept in (("a", 10, True), ("b", DATABASE_KEPT_LOG_BYTES, False)):
        with Database.open_derived(path, FIRST) as database:
            database.execute("insert into item values (?, 1)", (name * length,))
        assert log.exists() == is_kept
    with Database.open_derived(path, FIRST) as database:
        assert [name[0] for name in names(database)] == ["a", "b"]
    database.close()


def test_a_wrong_statement_is_a_defect_and_stays_the_driver_s_error(database: Database) -> None:
    with pytest.raises(apsw.SQLError):
        database.rows("select nothing from nowhere")
    with pytest.raises(apsw.ConstraintError):
        database.execute("insert into item values ('a', 1); insert into item values ('a', 1)")


def test_a_damaged_file_is_said_to_be_one(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"This is no database. " * 100)
    with pytest.raises(TerselyError) as caught:
        Database.open_derived(path, FIRST)
    assert caught.value.code == "database_corrupt"
    assert "delete it" in caught.value.hint


def test_removing_lets_a_damaged_database_be_made_again(path: Path) -> None:
    path.parent.mkdir()
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).write_bytes(b"garbage" * 1000)
    remove(path)
    remove(path)
    with Database.open_derived(path, FIRST) as database:
        assert names(database) == []


def test_a_lock_that_is_never_released_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DATABASE_BUSY_MILLISECONDS", 20)
    with Database.open_derived(path, FIRST) as holder, Database.open_derived(path, FIRST) as waiter:
        with (
            holder.transaction(),
            pytest.raises(TerselyError, match="database_locked") as caught,
            waiter.transaction(),
        ):
            pass
        assert "try again" in caught.value.hint
        with waiter.transaction():
            waiter.execute("insert into item values ('a', 1)")
        assert names(holder) == ["a"]


def test_a_place_that_cannot_hold_a_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TerselyError, match="database_unavailable"):
        Database.open_derived(tmp_path / "file" / "index.db", FIRST)
    (tmp_path / "directory.db").mkdir()
    with pytest.raises(TerselyError, match="database_unavailable"):
        Database.open_derived(tmp_path / "directory.db", FIRST)


WRITER = """
import sys
from pathlib import Path
from tersely.foundation.storage.database import Database, Schema
schema = Schema(int(sys.argv[2]), "create table item (name text primary key, size integer)")
with Database.open_derived(Path(sys.argv[1]), schema) as database:
    for number in range(20):
        with database.transaction():
            database.execute("insert into item values (?, ?)", (f"{sys.argv[3]} {number}", number))
"""


@pytest.mark.parametrize("made_before", [True, False])
def test_processes_that_open_and_write_at_once_all_succeed(path: Path, made_before: bool) -> None:
    # Either all of them want to make it, or all want to empty what another version has made.
    if made_before:
        Database.open_derived(path, SECOND).close()
    command = [sys.executable, "-c", WRITER, str(path), "7"]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(6)]
    assert [writer.wait() for writer in writers] == [0] * 6
    with Database.open_derived(path, Schema(7, "")) as database:
        assert database.value("select count(*) from item") == 6 * 20


def test_a_writer_that_is_killed_leaves_the_last_commit(path: Path) -> None:
    Database.open_derived(path, FIRST).close()
    program = WRITER.replace(
        "for number", "database.execute('begin immediate')\n    for number"
    ).replace("with database.transaction()", "if True")
    program += "\n    import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    killed = subprocess.run([sys.executable, "-c", program, str(path), "1", "x"], check=False)
    assert killed.returncode < 0
    with Database.open_derived(path, FIRST) as database:
        assert names(database) == []
        database.execute("insert into item values ('a', 1)")
        assert database.value("pragma integrity_check") == "ok"


def test_a_read_only_directory_is_said(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    Database.open_derived(path, FIRST).close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    with (
        pytest.raises(TerselyError, match="database_unavailable"),
        Database.open_derived(path, FIRST) as database,
    ):
        database.execute("insert into item values ('a', 1)")


def test_tables_of_another_database_stand_beside_ours(path: Path) -> None:
    other = path.parent / "an#odd ?name"
    with Database.open_derived(other, FIRST) as database:
        database.execute("pragma journal_mode = delete")
        database.execute("insert into item values ('a', 1)")
    other.chmod(0o400)
    with Database.open_derived(path, FIRST) as database:
        database.attach(other, "other")
        assert database.rows("select name from other.item") == [("a",)]
        assert database.rows("select * from main.item") == []
        for damage in (b"", b"SQLite format 3\0", b"\xa5" * 5_000):
            damaged = path.parent / "damaged"
            damaged.write_bytes(damage)
            with pytest.raises(TerselyError, match="database_corrupt"):
                database.attach(damaged, f"damaged{len(damage)}")
