"""Changes to the index, all inside one transaction of `Store.writing`."""

from __future__ import annotations

from collections.abc import Iterable

from tersely.code.index.fingerprint import extraction_fingerprint
from tersely.code.index.storage.schema import (
    ADOPTION,
    ENCODING,
    INDEXES,
    TABLES_BY_FILE,
    WITHOUT_INDEXES,
    Batch,
    KnownFile,
    decode_ids,
    encode_ids,
    read_facts,
)
from tersely.foundation.storage.database import Database
from tersely.foundation.storage.hashing import Revision

_INSERT_FILE = "insert into file values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
_INSERT_SYMBOL = "insert into main.symbol values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PATH, _HASH, _SKIPPED = 1, 7, 9  # columns of `file`


class Writer:
    """Collects what changes in postings and revision, and writes both when it is finished."""

    def __init__(self, database: Database) -> None:
        self._database = database
        files = database.value("select value from meta where key = 'files'")
        self._revision = Revision(files or "0")
        self._mentioned: dict[str, list[int]] = {}
        self._unmentioned: dict[str, set[int]] = {}

    def clear(self) -> None:
        """Forget everything."""
        self._database.execute(WITHOUT_INDEXES)
        for table in ("meta", "file", "mention", *TABLES_BY_FILE):
            self._database.execute(f"delete from main.{table}")
        self._revision = Revision()

    def adopt(self, base: str) -> None:
        """Replace everything by what the attached base of this name knows."""
        self.clear()
        self._database.execute(ADOPTION)
        self._database.execute("insert into meta values ('base', ?)", (base,))
        self._revision = Revision(
            self._database.value("select value from base.meta where key = 'files'")
        )

    def next_file_id(self) -> int:
        """From here on, ids are free."""
        return int(self._database.value("select coalesce(max(id), 0) + 1 from file"))

    def forget(self, files: Iterable[tuple[str, KnownFile]]) -> None:
        """Take out files with all that is known of them."""
        gone = [(path, known) for path, known in files]
        for path, known in gone:
            if not known.skipped:
                self._revision.remove(path, known.hash)
                self._unmention(known.id)
        ids = [(known.id,) for _, known in gone]
        for table in TABLES_BY_FILE:
            self._database.execute_many(f"delete from main.{table} where file_id = ?", ids)
        self._database.execute_many("delete from file where id = ?", ids)

    def add(self, batch: Batch) -> None:
        """Put in files that are not there."""
        database = self._database
        database.execute_many(_INSERT_FILE, batch.files)
        database.execute_many("insert into main.facts values (?, ?)", batch.facts)
        database.execute_many(_INSERT_SYMBOL, batch.symbols)
        database.execute_many("insert into main.import values (?, ?, ?, ?, ?, ?)", batch.imports)
        database.execute_many("insert into main.problem values (?, ?, ?, ?)", batch.problems)
        for name, ids in batch.mentions.items():
            self._mentioned.setdefault(name, []).extend(ids)
        for row in batch.files:
            if not row[_SKIPPED]:
                self._revision.add(row[_PATH], row[_HASH])

    def note_stat(self, files: Iterable[KnownFile]) -> None:
        """Remember that these files have not changed although their `stat` has."""
        rows = [(file.size, file.mtime_ns, file.ctime_ns, file.id) for file in files]
        self._database.execute_many(
            "update file set size = ?, mtime_ns = ?, ctime_ns = ? where id = ?", rows
        )

    def finish(self) -> None:
        """Write what was collected."""
        self._write_mentions()
        self._database.execute(INDEXES)
        entries = {
            "files": str(self._revision),
            "encoding": ENCODING,
            "extraction": extraction_fingerprint(),
        }
        self._database.execute_many("insert or replace into meta values (?, ?)", entries.items())

    def _unmention(self, file_id: int) -> None:
        for name in read_facts(self._database, file_id).mentions:
            self._unmentioned.setdefault(name, set()).add(file_id)

    def _write_mentions(self) -> None:
        database = self._database
        is_empty = database.value("select not exists (select 1 from mention)")
        rows = []
        for name in sorted(self._mentioned.keys() | self._unmentioned.keys()):
            ids = self._mentioned.get(name, [])
            before = (
                None
                if is_empty
                else database.value("select files from mention where name = ?", (name,))
            )
            if before is not None:
                lost = self._unmentioned.get(name, set())
                ids = sorted(
                    {*ids, *(file_id for file_id in decode_ids(before) if file_id not in lost)}
                )
            posting = encode_ids(ids)
            if posting != before:
                rows.append((name, posting))
        database.execute_many("insert or replace into main.mention values (?, ?)", rows)
